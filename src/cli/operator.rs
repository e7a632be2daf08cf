//! `whipstaff operator`.

use crate::{
    DEFAULT_LOG_FILTER, LeaseOptions, LogFormat, OperatorOptions, default_generators,
    default_generators_with_remote, init_telemetry, lease_identity, run_operator,
};
use anyhow::Context as _;
use clap::Args;
use std::net::SocketAddr;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use whipstaff_generator::Limits;

/// Longest name of a shard: the lease that is named after it must fit a name, too.
const MAX_SHARD_BYTES: usize = 40;

/// Arguments of `whipstaff operator`.
#[derive(Debug, Args)]
pub(super) struct OperatorArgs {
    /// Address that serves `/metrics`; left out, metrics are not served.
    #[arg(long, value_name = "ADDRESS")]
    metrics_address: Option<SocketAddr>,

    /// Address that serves `/healthz` and `/readyz`; left out, they are not served.
    #[arg(long, value_name = "ADDRESS")]
    health_address: Option<SocketAddr>,

    /// Let only one of several replicas work: the one that holds a lease.
    #[arg(long)]
    leader_elect: bool,

    /// Reconcile only components with this value of the label `whipstaff.dev/shard`; left out, only those without the label.
    #[arg(long, value_name = "NAME", value_parser = label_value)]
    shard: Option<String>,

    /// Name of the lease; the name of the shard is appended.
    #[arg(long, default_value = "whipstaff", requires = "leader_elect")]
    lease_name: String,

    /// Namespace of the lease.
    #[arg(long, env = "POD_NAMESPACE", default_value = "default")]
    lease_namespace: String,

    /// Name that this replica holds the lease under; the host's name when left out.
    #[arg(long, env = "POD_NAME")]
    identity: Option<String>,

    /// Components that are reconciled at the same time.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    concurrency: u16,

    /// Service account in a component's namespace that everything is read and written as when the component names none; the
    /// operator's own identity when left out.
    #[arg(long, value_name = "NAME")]
    default_service_account: Option<String>,

    /// Fetch files and git repositories that kustomizations name by address, as the operator.
    #[arg(long)]
    allow_remote: bool,

    #[command(flatten)]
    limits: LimitArgs,

    /// What is logged: a level, or levels by module.
    #[arg(long, env = "WHIPSTAFF_LOG", default_value = DEFAULT_LOG_FILTER)]
    log: String,

    /// How it is logged.
    #[arg(long, value_enum, default_value = "text")]
    log_format: LogFormat,
}

/// What one rendering may use up before it is stopped with an error.
#[derive(Debug, Args)]
struct LimitArgs {
    /// Steps of the template engine that one rendering may take.
    #[arg(long = "render-steps", default_value_t = Limits::default().steps)]
    steps: u64,

    /// Bytes that one rendering may write, intermediate texts included.
    #[arg(long = "render-output-bytes", default_value_t = Limits::default().output_bytes)]
    output_bytes: u64,

    /// Nesting of template calls in one rendering.
    #[arg(long = "render-depth", default_value_t = Limits::default().depth, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    depth: u32,

    /// Seconds that one rendering may take.
    #[arg(long = "render-seconds", default_value_t = Limits::default().time.as_secs())]
    seconds: u64,
}

impl LimitArgs {
    fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        limits.steps = self.steps;
        limits.output_bytes = self.output_bytes;
        limits.depth = self.depth;
        limits.time = Duration::from_secs(self.seconds);
        limits
    }
}

/// A value that a label may have, in lower case so that a lease can be named after it.
fn label_value(text: &str) -> Result<String, String> {
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_outer = |c: Option<char>| c.is_some_and(|c| c != '-' && is_inner(c));
    let fits = is_outer(text.chars().next()) && is_outer(text.chars().last());
    if fits && text.len() <= MAX_SHARD_BYTES && text.chars().all(is_inner) {
        Ok(text.to_owned())
    } else {
        Err(format!(
            "at most {MAX_SHARD_BYTES} lower-case letters, digits and dashes, with a letter or digit at both ends"
        ))
    }
}

/// Runs the operator until a signal comes.
pub(super) fn run(args: OperatorArgs) -> anyhow::Result<()> {
    let OperatorArgs {
        metrics_address,
        health_address,
        leader_elect,
        shard,
        lease_name,
        lease_namespace,
        identity,
        concurrency,
        default_service_account,
        allow_remote,
        limits,
        log,
        log_format,
    } = args;
    init_telemetry(&log, log_format)?;
    let options = OperatorOptions {
        concurrency,
        default_service_account,
        limits: limits.limits(),
        metrics_address,
        health_address,
        leader_election: leader_elect.then(|| {
            let identity = lease_identity(identity.as_deref());
            let lease = match &shard {
                Some(shard) => format!("{lease_name}-{shard}"),
                None => lease_name,
            };
            LeaseOptions::new(lease_namespace, lease, identity)
        }),
        shard,
        generators: if allow_remote {
            default_generators_with_remote()?
        } else {
            default_generators()
        },
        ..OperatorOptions::default()
    };
    tokio::runtime::Runtime::new()?.block_on(async {
        let config = kube::Config::infer()
            .await
            .context("cannot find a cluster")?;
        let stop = CancellationToken::new();
        tokio::spawn(stop_on_signal(stop.clone()));
        Ok(Box::pin(run_operator(config, options, stop)).await?)
    })
}

/// The first signal stops gracefully.
async fn stop_on_signal(stop: CancellationToken) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
    ) else {
        tracing::warn!("signals cannot be caught: the operator stops without finishing its runs");
        return;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    tracing::info!("stopping");
    stop.cancel();
}
