//! The identities that components act as.

use crate::cluster::{FlowControl, Objects, connect};
use kube::{Client, Config};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Most clients that are kept; beyond, the kept ones are dropped and made anew when they are needed.
const MAX_CLIENTS: usize = 256;

/// A client for an identity cannot be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot act as the service account `{account}`")]
pub(crate) struct IdentityError {
    account: String,
    #[source]
    cause: Box<kube::Error>,
}

/// Clients by identity: the operator's own, and one for each service account that a component names.
#[derive(Clone)]
pub(crate) struct Identities {
    config: Config,
    own: Client,
    flow: FlowControl,
    accounts: Arc<Mutex<HashMap<String, Client>>>,
}

impl std::fmt::Debug for Identities {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identities").finish_non_exhaustive()
    }
}

impl Identities {
    /// Identities on the cluster of a configuration; `own` is the operator's client, and all count as one for the flow control.
    pub(crate) fn new(config: Config, own: Client, flow: FlowControl) -> Self {
        Self {
            config,
            own,
            flow,
            accounts: Arc::default(),
        }
    }

    /// Requests as a service account of a namespace, or as the operator when none is named. Needs the right to impersonate it.
    pub(crate) fn objects(
        &self,
        namespace: &str,
        account: Option<&str>,
    ) -> Result<Objects, IdentityError> {
        self.client(namespace, account).map(Objects::new)
    }

    /// The client of a service account of a namespace, or the operator's own when none is named.
    pub(crate) fn client(
        &self,
        namespace: &str,
        account: Option<&str>,
    ) -> Result<Client, IdentityError> {
        let Some(account) = account else {
            return Ok(self.own.clone());
        };
        let user = format!("system:serviceaccount:{namespace}:{account}");
        // Nothing that holds the lock can leave the map half changed.
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = accounts.get(&user) {
            return Ok(client.clone());
        }
        let mut config = self.config.clone();
        // The API server adds the groups of a service account by itself; to name them would take the right to impersonate groups.
        config.auth_info.impersonate = Some(user.clone());
        let client = connect(config, &self.flow).map_err(|cause| IdentityError {
            account: account.to_owned(),
            cause: Box::new(cause),
        })?;
        if accounts.len() >= MAX_CLIENTS {
            accounts.clear();
        }
        accounts.insert(user, client.clone());
        Ok(client)
    }
}
