//! Helm's global flags.

use anyhow::{Context, Result};
use kube::{
    Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use std::fs;

/// Flags that every command of Helm has. Those that say where the cluster is are used by commands that talk to one; the others have no
/// effect and are taken for the sake of scripts.
#[derive(Debug, Default, clap::Args)]
pub(super) struct GlobalArguments {
    /// Kubeconfig file
    #[arg(long, value_name = "FILE", hide = true)]
    pub(super) kubeconfig: Option<String>,
    /// Context of the kubeconfig
    #[arg(long, env = "HELM_KUBECONTEXT", value_name = "NAME", hide = true)]
    pub(super) kube_context: Option<String>,
    /// Address of the API server
    #[arg(long, env = "HELM_KUBEAPISERVER", value_name = "URL", hide = true)]
    pub(super) kube_apiserver: Option<String>,
    /// User to act as
    #[arg(long, env = "HELM_KUBEASUSER", value_name = "NAME", hide = true)]
    pub(super) kube_as_user: Option<String>,
    /// Group to act as (may be given several times)
    #[arg(long, value_name = "NAME", hide = true)]
    pub(super) kube_as_group: Vec<String>,
    /// Certificate authority of the API server
    #[arg(long, env = "HELM_KUBECAFILE", value_name = "FILE", hide = true)]
    pub(super) kube_ca_file: Option<std::path::PathBuf>,
    /// Do not check the API server's certificate
    #[arg(long, hide = true)]
    pub(super) kube_insecure_skip_tls_verify: bool,
    /// Name in the API server's certificate
    #[arg(
        long,
        env = "HELM_KUBETLS_SERVER_NAME",
        value_name = "NAME",
        hide = true
    )]
    pub(super) kube_tls_server_name: Option<String>,
    /// Bearer token
    #[arg(
        long,
        env = "HELM_KUBETOKEN",
        value_name = "TOKEN",
        hide = true,
        hide_env_values = true
    )]
    pub(super) kube_token: Option<String>,
    #[arg(long, hide = true)]
    debug: bool,
    #[arg(long, hide = true)]
    burst_limit: Option<i64>,
    #[arg(long, hide = true)]
    qps: Option<f32>,
    #[arg(long, hide = true, alias = "colour")]
    color: Option<String>,
    #[arg(long, hide = true)]
    no_color: bool,
    #[arg(long, hide = true)]
    content_cache: Option<String>,
    #[arg(long, hide = true)]
    registry_config: Option<String>,
    #[arg(long, hide = true)]
    repository_cache: Option<String>,
    #[arg(long, hide = true)]
    repository_config: Option<String>,
}

impl GlobalArguments {
    /// The cluster of the kubeconfig, or the one that flags name.
    pub(super) async fn config(&self) -> Result<Config> {
        let options = KubeConfigOptions {
            context: self.kube_context.clone(),
            ..KubeConfigOptions::default()
        };
        let mut config = match &self.kubeconfig {
            Some(path) => {
                let kubeconfig = Kubeconfig::read_from(path)
                    .with_context(|| format!("cannot read the kubeconfig {path}"))?;
                Config::from_custom_kubeconfig(kubeconfig, &options).await?
            }
            None if self.kube_context.is_some() => Config::from_kubeconfig(&options).await?,
            None => Config::infer().await.context("cannot find a cluster")?,
        };
        if let Some(url) = &self.kube_apiserver {
            config.cluster_url = url.parse().context("`--kube-apiserver` is no address")?;
        }
        if let Some(path) = &self.kube_ca_file {
            fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
            config.root_cert = None;
            config.root_cert_file = Some(path.clone());
        }
        if self.kube_insecure_skip_tls_verify {
            config.accept_invalid_certs = true;
        }
        if let Some(name) = &self.kube_tls_server_name {
            config.tls_server_name = Some(name.clone());
        }
        if let Some(token) = &self.kube_token {
            config.auth_info.token = Some(token.clone().into());
        }
        if let Some(user) = &self.kube_as_user {
            config.auth_info.impersonate = Some(user.clone());
        }
        if !self.kube_as_group.is_empty() {
            config.auth_info.impersonate_groups = Some(self.kube_as_group.clone());
        }
        Ok(config)
    }
}
