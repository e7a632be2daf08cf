//! Building a kustomization.

mod accumulate;
mod bookkeeping;
mod crds;
mod generators;
mod origin;
mod output;
mod plugins;
mod session;
mod target;
mod transform_objects;
mod transformer;
mod transformers;
mod variables;

pub use output::{Built, BuiltObject};
pub(crate) use transform_objects::transform_objects;

use crate::error::{BuildError, Result};
use crate::files::{FileSystem, LoadRestrictor, Loader};
use crate::generate::{ChartInflator, HelmSettings};
use crate::kustomization::SortOptions;
use crate::order::sort;
use crate::remote::RemoteSource;
use session::Session;
use target::Target;
use whipstaff_generator::FileTree;

/// The order of the output where the kustomization names none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reorder {
    /// By kinds, and by names.
    #[default]
    Legacy,
    /// As accumulated.
    None,
}

/// What a build may do, and what it is given.
#[derive(Debug, Clone)]
pub struct BuildOptions<'a> {
    /// Which files a kustomization may read.
    pub load_restrictor: LoadRestrictor,
    /// Whether charts may be inflated.
    pub enable_helm: bool,
    /// What the cluster offers to charts, for charts that say nothing.
    pub helm_api_versions: Vec<String>,
    /// The version of the cluster for charts that say nothing.
    pub helm_kube_version: String,
    /// Inflates charts.
    pub charts: Option<&'a dyn ChartInflator>,
    /// Fetches what is remote.
    pub remote: Option<&'a dyn RemoteSource>,
    /// The order of the output.
    pub reorder: Reorder,
    /// Whether every object says that kustomize manages it.
    pub add_managed_by_label: bool,
    /// The absolute path that a relative target is meant from.
    pub working_folder: String,
}

impl Default for BuildOptions<'_> {
    fn default() -> Self {
        Self {
            load_restrictor: LoadRestrictor::default(),
            enable_helm: false,
            helm_api_versions: Vec::new(),
            helm_kube_version: String::new(),
            charts: None,
            remote: None,
            reorder: Reorder::default(),
            add_managed_by_label: false,
            working_folder: "/".to_owned(),
        }
    }
}

/// Builds the kustomization in a folder of a tree.
///
/// # Errors
/// Where kustomize 5.8.1 fails, with its text; and when a limit is reached.
pub fn build(files: &FileTree, target: &str, options: &BuildOptions<'_>) -> Result<Built> {
    let mut warnings = Vec::new();
    let mut built = build_in(files, target, options, &mut warnings)?;
    built.set_warnings(warnings);
    Ok(built)
}

/// Builds the kustomization in a folder of any file system. Warnings are given even when the build fails.
///
/// # Errors
/// As [`build`].
///
/// **Source**: `krusty/kustomizer.go` of kustomize api v0.21.1.
pub fn build_in(
    files: &dyn FileSystem,
    target: &str,
    options: &BuildOptions<'_>,
    warnings: &mut Vec<String>,
) -> Result<Built> {
    // Addresses may hold passwords, which are nobody's business who reads an error.
    let result = build_unguarded(files, target, options, warnings);
    result.map_err(BuildError::without_credentials)
}

fn build_unguarded(
    files: &dyn FileSystem,
    target: &str,
    options: &BuildOptions<'_>,
    warnings: &mut Vec<String>,
) -> Result<Built> {
    let loader = Loader::new(
        files,
        options.remote,
        &options.working_folder,
        target,
        options.load_restrictor,
    )?;
    let mut session = Session::new(
        options.charts,
        HelmSettings {
            enabled: options.enable_helm,
            api_versions: options.helm_api_versions.clone(),
            kube_version: options.helm_kube_version.clone(),
        },
    );
    let result = run(&mut session, loader, options);
    warnings.append(&mut session.warnings);
    result
}

fn run(session: &mut Session<'_>, loader: Loader<'_>, options: &BuildOptions<'_>) -> Result<Built> {
    let target = Target::load(session, loader)?;
    session.set_schema(&target, true)?;
    let mut set = session.make_objects(&target)?;
    let kustomization = target.kustomization();
    let reordered = options.reorder == Reorder::Legacy;
    let fifo = SortOptions {
        order: "fifo".to_owned(),
        legacy_sort_options: None,
    };
    let order = match &kustomization.sort_options {
        Some(order) => Some(order),
        None if reordered => None,
        None => Some(&fifo),
    };
    sort(&session.store, &mut set, order)?;
    let asks = |word: &str| {
        kustomization
            .build_metadata
            .iter()
            .any(|option| option == word)
    };
    bookkeeping::finish(
        &mut session.store,
        set.items(),
        bookkeeping::Kept {
            managed_by_label: options.add_managed_by_label || asks("managedByLabel"),
            origins: asks("originAnnotations"),
            transformations: asks("transformerAnnotations"),
        },
    )?;
    Built::new(&session.store, set.items())
}
