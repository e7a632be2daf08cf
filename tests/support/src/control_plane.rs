use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use kube::api::{Api, ObjectMeta, PostParams};

use crate::supervisor::{Description, Supervisor};
use crate::{Access, AuditLog, Error, Progress, access};

/// The parts that run beside etcd and kube-apiserver, which always do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// `kube-controller-manager`: Deployments make pods, owners take dependents with them,
    /// namespaces can be deleted, Jobs and endpoints are counted.
    pub controller_manager: bool,
    /// `kube-scheduler`: pods get a node.
    pub scheduler: bool,
    /// KWOK, with one node: scheduled pods run, or do what their annotations say.
    pub kwok: bool,
}

impl Parts {
    /// Everything: pods run, and Jobs finish.
    pub const fn all() -> Self {
        Self {
            controller_manager: true,
            scheduler: true,
            kwok: true,
        }
    }

    /// Only the API: objects stay as they are written, and deleting a namespace does not end.
    pub const fn api_only() -> Self {
        Self {
            controller_manager: false,
            scheduler: false,
            kwok: false,
        }
    }

    pub(crate) fn names(self) -> Vec<&'static str> {
        [
            (self.controller_manager, "kube-controller-manager"),
            (self.scheduler, "kube-scheduler"),
            (self.kwok, "kwok"),
        ]
        .into_iter()
        .filter_map(|(wanted, name)| wanted.then_some(name))
        .collect()
    }
}

/// How to start a [`ControlPlane`]. The default is all parts, and progress on the standard error.
#[derive(Debug, Clone, Copy)]
pub struct ControlPlaneOptions {
    /// What runs beside the API server.
    pub parts: Parts,
    /// Who hears of the start.
    pub progress: Progress,
}

impl Default for ControlPlaneOptions {
    fn default() -> Self {
        Self {
            parts: Parts::all(),
            progress: Progress::default(),
        }
    }
}

/// A control plane of one's own on free loopback ports, with its data in a temporary folder.
///
/// Its processes and its folder are gone when the value is dropped, and also when the process that
/// holds it ends in any way whatever, by `SIGKILL` for example.
#[derive(Debug)]
pub struct ControlPlane {
    supervisor: Supervisor,
    description: Description,
    admin: Access,
    namespaces: AtomicUsize,
}

impl ControlPlane {
    /// Starts a control plane and waits until it is of use: with all parts, until a pod could run.
    ///
    /// The programs are built first if they are not there: minutes the first time, never again while
    /// `tests/controlplane` stays the same. `KUBEBUILDER_ASSETS` names a folder with programs that
    /// are used instead.
    ///
    /// # Errors
    ///
    /// When the Go toolchain is missing or a build fails, and when a part does not start, which
    /// then comes with the end of that part's log.
    pub async fn start(options: ControlPlaneOptions) -> Result<Self, Error> {
        tokio::task::spawn_blocking(move || Self::start_blocking(options)).await?
    }

    fn start_blocking(options: ControlPlaneOptions) -> Result<Self, Error> {
        let (supervisor, description) = Supervisor::start(options)?;
        let admin = Access::new(
            &description.server,
            &description.authority,
            &description.token,
        );
        Ok(Self {
            supervisor,
            description,
            admin,
            namespaces: AtomicUsize::new(0),
        })
    }

    /// Ends the control plane and waits until nothing of it is left. Dropping does the same, but
    /// blocks the thread meanwhile.
    pub async fn stop(mut self) {
        let _ = tokio::task::spawn_blocking(move || self.supervisor.stop()).await;
    }

    /// The access of the administrator, a member of `system:masters`.
    pub fn admin(&self) -> &Access {
        &self.admin
    }

    /// A new client of the administrator. Every Tokio runtime needs a client of its own, so every
    /// test does.
    pub fn client(&self) -> kube::Client {
        self.admin.client()
    }

    /// The administrator's client configuration.
    pub fn config(&self) -> kube::Config {
        self.admin.config()
    }

    /// The administrator's kubeconfig as YAML; it refers to no other file.
    pub fn kubeconfig(&self) -> &str {
        &self.description.kubeconfig
    }

    /// A file with [`ControlPlane::kubeconfig`]; it goes away with the control plane.
    pub fn kubeconfig_path(&self) -> &Path {
        &self.description.kubeconfig_path
    }

    /// Where the API server listens, `https://127.0.0.1:<port>`.
    pub fn server_url(&self) -> &str {
        &self.description.server
    }

    /// The certificate of the authority that the API server's certificate is signed by.
    pub fn ca_pem(&self) -> &str {
        &self.description.authority
    }

    /// The administrator's bearer token.
    pub fn admin_token(&self) -> &str {
        &self.description.token
    }

    /// The name of the one node, when KWOK runs.
    pub fn node(&self) -> Option<&str> {
        self.description.node.as_deref()
    }

    /// The folder that holds all files of the control plane, among them a log `<part>.log` of each part.
    pub fn data_folder(&self) -> &Path {
        &self.description.data_folder
    }

    /// The process ids of the parts by name, and of their `supervisor`.
    pub fn processes(&self) -> BTreeMap<String, u32> {
        let mut processes = self.description.processes.clone();
        processes.insert("supervisor".to_owned(), self.description.supervisor);
        processes
    }

    /// What the API server was asked, by whom.
    pub fn audit_log(&self) -> AuditLog {
        AuditLog::new(
            PathBuf::from(&self.description.audit_log),
            self.admin.clone(),
        )
    }

    /// Makes a namespace `<prefix>-<number>` that no one else has.
    ///
    /// # Errors
    ///
    /// When the API server refuses it, for a prefix that is no DNS label for example.
    pub async fn namespace(&self, prefix: &str) -> Result<String, Error> {
        let number = self.namespaces.fetch_add(1, Ordering::Relaxed);
        let name = format!("{prefix}-{number}");
        let namespace = Namespace {
            metadata: ObjectMeta {
                name: Some(name.clone()),
                ..ObjectMeta::default()
            },
            ..Namespace::default()
        };
        Api::all(self.client())
            .create(&PostParams::default(), &namespace)
            .await
            .map_err(Error::api("create the namespace"))?;
        Ok(name)
    }

    /// Makes a service account, unless it is there, and returns the access that its token gives:
    /// what its roles allow, which is next to nothing at first. Its user name is
    /// `system:serviceaccount:<namespace>:<name>`.
    ///
    /// # Errors
    ///
    /// When the API server refuses the account or the token.
    pub async fn service_account(&self, namespace: &str, name: &str) -> Result<Access, Error> {
        let accounts: Api<ServiceAccount> = Api::namespaced(self.client(), namespace);
        let account = ServiceAccount {
            metadata: ObjectMeta {
                name: Some(name.to_owned()),
                ..ObjectMeta::default()
            },
            ..ServiceAccount::default()
        };
        match accounts.create(&PostParams::default(), &account).await {
            Err(kube::Error::Api(answer)) if answer.is_already_exists() => {}
            other => drop(other.map_err(Error::api("create the service account"))?),
        }
        let token = access::request_token(&accounts, name).await?;
        Ok(self.admin.with_token(&token))
    }
}
