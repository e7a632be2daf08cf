//! A real Kubernetes control plane for tests and examples.
//!
//! etcd, kube-apiserver, kube-controller-manager, kube-scheduler and KWOK are built once from the
//! Go module in `tests/controlplane` and started in a few seconds: Deployments become available,
//! Jobs finish, namespaces go away, and annotations on a pod make it fail instead (see [`pods`]).
//!
//! ```no_run
//! # async fn example() {
//! let plane = whipstaff_test_support::shared().await;
//! let namespace = whipstaff_test_support::namespace("shop").await;
//! let client = plane.client();
//! # }
//! ```

mod access;
mod archive;
mod audit;
mod chart_server;
mod control_plane;
mod error;
mod extension_server;
mod fault_proxy;
mod helm;
mod https_server;
mod peers;
pub mod pods;
mod program;
mod progress;
mod shared;
mod supervisor;
mod wait;
mod webhook_server;

pub use access::Access;
pub use archive::{pack_files, pack_folder};
pub use audit::{AuditEntry, AuditLog, AuditMark};
pub use chart_server::{ChartServer, ReceivedRequest, Serving};
pub use control_plane::{ControlPlane, ControlPlaneOptions, Parts};
pub use error::Error;
pub use extension_server::ExtensionServer;
pub use fault_proxy::{Effect, FaultProxy, ProxiedRequest};
pub use peers::{Helm, kustomize_program};
pub use progress::Progress;
pub use shared::{namespace, shared};
pub use wait::eventually;
pub use webhook_server::WebhookServer;
