//! Helm's global flags.

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
