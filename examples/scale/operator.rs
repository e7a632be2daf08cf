//! The operator as a process of its own.

use crate::usage::Usage;
use anyhow::{Context as _, Result, bail};
use k8s_openapi::api::rbac::v1::ClusterRoleBinding;
use kube::Api;
use kube::api::PostParams;
use serde_json::json;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use whipstaff_test_support::{Access, ControlPlane};

/// The user that the operator is.
pub(crate) const USER: &str = "system:serviceaccount:default:operator";
/// How often its metrics are looked at.
const LOOK: Duration = Duration::from_millis(20);
/// Longest time to settle.
const PATIENCE: Duration = Duration::from_mins(5);

/// A running operator; it is killed when it is dropped.
pub(crate) struct Operator {
    process: Child,
    metrics: SocketAddr,
}

/// The operator's account, so that its requests can be told from those of the measuring program.
pub(crate) async fn account(plane: &ControlPlane) -> Result<Access> {
    let access = plane.service_account("default", "operator").await?;
    let binding: ClusterRoleBinding = serde_json::from_value(json!({
        "metadata": {"name": "operator"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "name": "operator", "namespace": "default"}],
    }))?;
    let bindings = Api::all(plane.client());
    bindings.create(&PostParams::default(), &binding).await?;
    Ok(access)
}

/// The program that was built together with this one.
pub(crate) fn beside() -> Result<PathBuf> {
    let example = std::env::current_exe()?;
    let folder = example.parent().and_then(Path::parent);
    let program = folder.context("no folder of programs")?.join("whipstaff");
    if !program.exists() {
        bail!(
            "there is no {}: build it with `cargo build --release`, or name another with --operator",
            program.display()
        );
    }
    Ok(program)
}

impl Operator {
    /// Starts an operator.
    pub(crate) fn start(program: &Path, kubeconfig: &Path, concurrency: usize) -> Result<Self> {
        let metrics = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let process = Command::new(program)
            .args(["operator", "--log", "warn", "--concurrency"])
            .arg(concurrency.to_string())
            .args(["--metrics-address", &metrics.to_string()])
            .env("KUBECONFIG", kubeconfig)
            .stdin(Stdio::null())
            .spawn();
        let process = process.with_context(|| format!("cannot start {}", program.display()))?;
        Ok(Self { process, metrics })
    }

    /// What it used so far.
    pub(crate) fn usage(&self) -> Result<Usage> {
        Usage::of(self.process.id())
    }

    /// Waits until it counts so many ready components.
    pub(crate) async fn settled(&self, components: usize) -> Result<()> {
        let line = format!("whipstaff_components{{state=\"ready\"}} {components}\n");
        let looking = async {
            while !self
                .read_metrics()
                .await
                .unwrap_or_default()
                .contains(&line)
            {
                tokio::time::sleep(LOOK).await;
            }
        };
        tokio::time::timeout(PATIENCE, looking)
            .await
            .context("the operator does not settle")
    }

    async fn read_metrics(&self) -> Result<String> {
        let mut connection = TcpStream::connect(self.metrics).await?;
        let request = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        connection.write_all(request).await?;
        let mut answer = String::new();
        connection.read_to_string(&mut answer).await?;
        Ok(answer)
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
