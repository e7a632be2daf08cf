//! Flags of `helm template` that are taken although they do nothing here, and those that cannot be followed.

use anyhow::{Result, bail};

/// Flags about installing, which `helm template` has and does not heed either.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of its own, with Helm's name"
)]
#[derive(Debug, clap::Args)]
pub(super) struct AcceptedArguments {
    #[arg(long, hide = true)]
    atomic: bool,
    #[arg(long, hide = true)]
    create_namespace: bool,
    #[arg(long, hide = true)]
    description: Option<String>,
    #[arg(long, hide = true)]
    enable_dns: bool,
    #[arg(long, hide = true)]
    force: bool,
    #[arg(long, hide = true)]
    force_conflicts: bool,
    #[arg(long, hide = true)]
    force_replace: bool,
    #[arg(long, hide = true)]
    hide_notes: bool,
    #[arg(short, long, hide = true, value_delimiter = ',')]
    labels: Vec<String>,
    #[arg(long, hide = true)]
    replace: bool,
    #[arg(long, hide = true)]
    rollback_on_failure: bool,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    server_side: Option<String>,
    #[arg(long, hide = true)]
    take_ownership: bool,
    #[arg(long, hide = true)]
    timeout: Option<String>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "watcher")]
    wait: Option<String>,
    #[arg(long, hide = true)]
    wait_for_jobs: bool,
    #[arg(long, hide = true)]
    post_renderer: Option<String>,
    #[arg(long, hide = true, allow_hyphen_values = true)]
    post_renderer_args: Vec<String>,
}

impl AcceptedArguments {
    /// # Errors
    /// When a flag is given without which the output would be another one.
    pub(super) fn check(&self) -> Result<()> {
        if self.post_renderer.is_some() || !self.post_renderer_args.is_empty() {
            bail!(
                "`--post-renderer` is not supported, because whipstaff runs no other programs: pipe its output into the program instead"
            );
        }
        if self.enable_dns {
            bail!(
                "`--enable-dns` is not supported, because templates may not ask anybody but the cluster"
            );
        }
        match self.labels.iter().find(|label| !label.contains('=')) {
            Some(label) => bail!("{label} must be formatted as key=value"),
            None => Ok(()),
        }
    }
}
