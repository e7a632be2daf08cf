//! Where the lease is kept.

use k8s_openapi::api::coordination::v1::Lease;
use kube::{Api, Client, api::PostParams};

/// Reads and writes one lease. A write states the resource version that it is based on.
pub(super) trait Store: Send + Sync {
    fn read(&self) -> impl Future<Output = Result<Option<Lease>, kube::Error>> + Send;
    fn create(&self, lease: &Lease) -> impl Future<Output = Result<Lease, kube::Error>> + Send;
    fn replace(&self, lease: &Lease) -> impl Future<Output = Result<Lease, kube::Error>> + Send;
}

/// A lease in a cluster.
#[derive(Debug)]
pub(super) struct ClusterStore {
    api: Api<Lease>,
    name: String,
}

impl ClusterStore {
    pub(super) fn new(client: Client, namespace: &str, name: &str) -> Self {
        Self {
            api: Api::namespaced(client, namespace),
            name: name.to_owned(),
        }
    }
}

impl Store for ClusterStore {
    async fn read(&self) -> Result<Option<Lease>, kube::Error> {
        self.api.get_opt(&self.name).await
    }

    async fn create(&self, lease: &Lease) -> Result<Lease, kube::Error> {
        self.api.create(&PostParams::default(), lease).await
    }

    async fn replace(&self, lease: &Lease) -> Result<Lease, kube::Error> {
        self.api
            .replace(&self.name, &PostParams::default(), lease)
            .await
    }
}
