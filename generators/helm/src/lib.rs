//! Renders Helm charts as Helm does, in the dialect of Helm 3 or of Helm 4.
//!
//! ```text
//! .tgz ── unpack_chart_archive ──► FileTree ── load ──► Chart ── CompiledChart::render ──► Rendered ── render_text ──► text
//!                                                          (values, release, capabilities)     │
//!                                                                       HelmGenerator ◄────────┘
//! ```
//!
//! No cluster and no network is needed, and nothing is read but what is handed in: files come from anywhere as a
//! [`FileTree`](whipstaff_generator::FileTree), live objects from a [`LookupSnapshot`](whipstaff_generator::LookupSnapshot) that the
//! host fills (the questions are in [`Rendered::consulted`]), and functions of your own join Helm's through
//! [`CompiledChart::with_functions`]. `examples/embed.rs` does all three.
//!
//! [`HelmGenerator`] stands behind the [`Generator`](whipstaff_generator::Generator) trait and gives objects; [`CompiledChart`] gives
//! what `helm template` prints.

mod archive;
mod capabilities;
mod chart;
mod chart_object;
mod coalesce;
mod compile;
mod context;
mod decode;
mod dependencies;
mod error;
mod files;
mod generator;
mod ignore;
mod kinds;
mod lint;
mod load;
mod manifest;
mod metadata;
mod name_template;
mod options;
mod path_pattern;
mod release_name;
mod render;
mod schema;
mod split;
mod strvals;
mod template_error;
mod text;
mod tree;
mod values;
mod version;

pub use archive::{
    ArchiveError, MAX_ARCHIVE_BYTES, MAX_ARCHIVE_ENTRIES, MAX_ARCHIVE_FILE_BYTES,
    unpack_chart_archive,
};
pub use capabilities::{
    DEFAULT_API_VERSIONS, DEFAULT_KUBE_VERSION, KubeVersionError, RenderCapabilities,
    RenderKubeVersion,
};
pub use chart::{Chart, ChartFile, Lock, NotInstallable};
pub use coalesce::TypeMismatch;
pub use compile::CompileError;
pub use context::ReleaseObject;
pub use decode::DecodeError;
pub use dependencies::DependencyError;
pub use error::RenderError;
pub use generator::HelmGenerator;
pub use ignore::{IGNORE_FILE, IgnoreError, IgnoreRules, MAX_IGNORE_RULES};
pub use lint::{CODES as LINT_CODES, Finding, LintInput, Severity, lint, lint_rendering};
pub use load::{LoadError, MAX_CHART_DEPTH, MAX_CHARTS, MAX_UNPACKED_BYTES, load, without_ignored};
pub use manifest::{HookManifest, Manifest, ManifestError};
pub use metadata::{Dependency, MAX_DECLARED_DEPENDENCIES, Maintainer, Metadata, MetadataError};
pub use name_template::{NameTemplateError, render_release_name};
pub use options::HelmOptions;
pub use release_name::{
    MAX_RELEASE_NAME, ReleaseNameError, check_release_name, generated_release_name,
};
pub use render::{CompiledChart, CrdFile, RenderInput, Rendered};
pub use schema::SchemaError;
pub use strvals::{
    Assignment, AssignmentError, MAX_LIST_DEPTH, MAX_LIST_INDEX, MAX_NAME_DEPTH, ReadFile, assign,
    assign_json,
};
pub use template_error::TemplateError;
pub use text::{
    NoSuchTemplate, TextOptions, TextPart, render_text, show_only, text_parts, write_part,
    write_text,
};
pub use values::{
    MAX_VALUES_DEPTH, MAX_VALUES_ENTRIES, ValuesError, merge_values, read_values, values_from_json,
};
pub use whipstaff_gotemplate as gotemplate;
pub use whipstaff_gotemplate::{Dialect, DialectError, Map};
pub use whipstaff_sprig::functions;
