//! `whipstaff build`: builds a kustomization and prints it as `kustomize build` does.

mod charts;
mod disk;

use crate::remote::Remote;
use anyhow::{Context as _, Result, anyhow, bail};
use charts::Charts;
use disk::Disk;
use std::{
    fs,
    path::{Path, PathBuf},
};
use whipstaff_kustomize::{
    BuildOptions, Built, LoadRestrictor, REMOTE_IS_OFF, RemoteSource, Reorder, build_in,
};

/// The environment variable that has every object labelled.
const MANAGED_BY_VARIABLE: &str = "KUSTOMIZE_ENABLE_MANAGEDBY_LABEL";

/// Build a kustomization and print its objects.
#[derive(Debug, clap::Args)]
pub(crate) struct BuildArguments {
    /// Folder of the kustomization
    #[arg(default_value = ".", value_name = "DIR")]
    folder: String,
    /// File to write to, or a folder to write a file per object to
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Which files may be read: `LoadRestrictionsRootOnly` or `LoadRestrictionsNone`
    #[arg(long, default_value = "LoadRestrictionsRootOnly", value_name = "WORD")]
    load_restrictor: String,
    /// Order of objects where the kustomization names none: `legacy` or `none`
    #[arg(long, default_value = "legacy", value_name = "WORD")]
    reorder: String,
    /// Fetch files and git repositories that kustomizations name by address
    #[arg(long)]
    allow_remote: bool,
    /// Label every object with what manages it
    #[arg(long)]
    enable_managedby_label: bool,
    #[command(flatten)]
    helm: HelmArguments,
    #[command(flatten)]
    unsupported: UnsupportedArguments,
}

/// Charts.
#[derive(Debug, clap::Args)]
struct HelmArguments {
    /// Inflate Helm charts
    #[arg(long)]
    enable_helm: bool,
    /// Accepted for the sake of scripts: charts are rendered here, without a program
    #[arg(long, value_name = "COMMAND", hide = true)]
    helm_command: Option<String>,
    /// API versions that charts see besides the usual ones
    #[arg(long, value_name = "VERSIONS", value_delimiter = ',')]
    helm_api_versions: Vec<String>,
    /// Kubernetes version that charts see
    #[arg(long, value_name = "VERSION", default_value = "")]
    helm_kube_version: String,
    /// Accepted for the sake of scripts: nothing more is printed
    #[arg(long, hide = true)]
    helm_debug: bool,
}

/// Flags for programs and containers, which are not run.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of its own, with kustomize's name"
)]
#[derive(Debug, clap::Args)]
struct UnsupportedArguments {
    #[arg(long, hide = true)]
    enable_alpha_plugins: bool,
    #[arg(long, hide = true)]
    enable_exec: bool,
    #[arg(long, hide = true)]
    network: bool,
    #[arg(long, hide = true, value_name = "NAME")]
    network_name: Option<String>,
    #[arg(long, hide = true, value_name = "MOUNT")]
    mount: Vec<String>,
    /// Accepted for the sake of scripts: there are no functions that could see it
    #[arg(short = 'e', long = "env", hide = true, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// Accepted for the sake of scripts: there are no functions that could run as anybody
    #[arg(long, hide = true)]
    as_current_user: bool,
}

impl UnsupportedArguments {
    fn check(&self) -> Result<()> {
        let flags = [
            (self.enable_alpha_plugins, "--enable-alpha-plugins"),
            (self.enable_exec, "--enable-exec"),
            (self.network, "--network"),
            (self.network_name.is_some(), "--network-name"),
            (!self.mount.is_empty(), "--mount"),
        ];
        match flags.iter().find(|(is_set, _)| *is_set) {
            None => Ok(()),
            Some((_, flag)) => {
                bail!(
                    "`{flag}` is not supported: functions and plugins that are programs are never run"
                )
            }
        }
    }
}

/// Builds and prints.
pub(crate) fn run(arguments: &BuildArguments) -> Result<()> {
    arguments.unsupported.check()?;
    let working_folder = std::env::current_dir().context("no working folder")?;
    let is_labelled = std::env::var(MANAGED_BY_VARIABLE).is_ok_and(|value| value == "on");
    let charts = Charts::default();
    let remote = arguments.allow_remote.then(Remote::new).transpose()?;
    let options = BuildOptions {
        load_restrictor: match arguments.load_restrictor.as_str() {
            "LoadRestrictionsRootOnly" => LoadRestrictor::RootOnly,
            "LoadRestrictionsNone" => LoadRestrictor::None,
            other => bail!(
                "illegal flag value --load-restrictor {other}; legal values: [LoadRestrictionsRootOnly LoadRestrictionsNone]"
            ),
        },
        enable_helm: arguments.helm.enable_helm,
        charts: Some(&charts),
        remote: remote.as_ref().map(|remote| remote as &dyn RemoteSource),
        helm_api_versions: arguments.helm.helm_api_versions.clone(),
        helm_kube_version: arguments.helm.helm_kube_version.clone(),
        reorder: match arguments.reorder.as_str() {
            "legacy" => Reorder::Legacy,
            "none" => Reorder::None,
            other => bail!("illegal flag value --reorder {other}; legal values: [legacy none]"),
        },
        add_managed_by_label: arguments.enable_managedby_label || is_labelled,
        working_folder: working_folder.to_string_lossy().into_owned(),
    };
    let mut warnings = Vec::new();
    let built = build_in(&Disk::default(), &arguments.folder, &options, &mut warnings);
    for warning in warnings {
        super::write_error(&warning);
    }
    let built = built.map_err(|error| {
        let is_off = error.message().contains(REMOTE_IS_OFF);
        if is_off {
            anyhow!("{error}: `--allow-remote` turns them on")
        } else {
            error.into()
        }
    });
    write(&built?, arguments.output.as_deref())
}

fn write(built: &Built, output: Option<&Path>) -> Result<()> {
    let Some(output) = output else {
        return super::write_out(&built.to_yaml());
    };
    if !output.is_dir() {
        return fs::write(output, built.to_yaml())
            .with_context(|| format!("cannot write `{}`", output.display()));
    }
    for (name, text) in built.files() {
        let path = output.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    Ok(())
}
