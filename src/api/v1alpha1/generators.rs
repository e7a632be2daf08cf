//! Options of the generators, and several generators in one Component.

#![expect(unreachable_pub, reason = "what the derive macros make of it")]

use super::Source;
use super::component::{free_form, null_as_empty};
use super::hooks::OnReturn;
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Options of the Helm generator.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Default)]
#[serde(rename_all = "camelCase")]
pub struct HelmOptions {
    /// Which Helm's output is reproduced: `v3`, `v4.1`, `v4.2`, `v4.3`, or `v4` for the newest. Default is `v4`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Dialect>,

    /// Whether objects in the chart's `crds` folder are applied. Unlike with Helm they are upgraded too. Default is true.
    #[serde(
        default,
        rename = "includeCRDs",
        skip_serializing_if = "Option::is_none"
    )]
    pub include_crds: Option<bool>,

    /// Whether the chart's hooks run; tests run in any case when they are asked for. Objects of hooks that have no
    /// `helm.sh/hook-delete-policy` which deletes them stay when they are no longer in the chart, and when the Component is deleted:
    /// they are what the hooks left on purpose, as with Helm. Default is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks: Option<bool>,

    /// Which hooks run when the Component goes back to an input that was ready before: those of an upgrade, or those of a rollback.
    /// Default is `Upgrade`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_return: Option<OnReturn>,

    /// Kubernetes version that the chart sees, instead of the cluster's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub kube_version: Option<String>,

    /// API versions that the chart sees beside the cluster's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), inner(length(max = 317)))]
    pub api_versions: Vec<String>,

    /// What random values (passwords, keys, certificates) and the time do in templates. With `stable` they stay the same for as
    /// long as the Component exists: nothing rotates because something else changed. With `fidelity` they are new with every
    /// revision, as with every `helm upgrade`. Default is `stable`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub randomness: Option<Randomness>,
}

/// What random values and the time do in templates: `stable` keeps them, `fidelity` makes new ones with every revision, as Helm
/// does. Default is `stable`.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "camelCase")]
pub enum Randomness {
    /// The same random values as long as the Component exists; the time is that at which the same input was first rendered.
    #[default]
    Stable,
    /// New random values with every revision.
    Fidelity,
}

/// Which Helm's output is reproduced: `v3`, `v4.1` (also for 4.0), `v4.2`, `v4.3`, or `v4` for the newest. Default is `v4`.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Helm 3.
    #[serde(rename = "v3")]
    V3,
    /// The newest Helm 4.
    #[serde(rename = "v4")]
    V4,
    /// Helm 4.0 and 4.1.
    #[serde(rename = "v4.1")]
    V4_1,
    /// Helm 4.2.
    #[serde(rename = "v4.2")]
    V4_2,
    /// Helm 4.3.
    #[serde(rename = "v4.3")]
    V4_3,
}

/// Options of the kustomize generator.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq, Default)]
#[serde(rename_all = "camelCase")]
pub struct KustomizeOptions {
    /// Which files a kustomization may read: `rootOnly` for those in its own folder and below, `none` for all of the source.
    /// Folders with kustomizations of their own are found in any case. Default is `rootOnly`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_restrictor: Option<LoadRestrictor>,

    /// Order of the objects where the kustomization names none: `legacy` for kustomize's own, `none` for that of the files. Default
    /// is `legacy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reorder: Option<Reorder>,

    /// Whether the charts of kustomizations (`helmCharts`) are rendered, as with `kustomize build --enable-helm`. They must be in the
    /// source, in the folder `charts` beside the kustomization or in its `chartHome`; nothing is fetched. Their templates see the
    /// cluster and its objects, and draw the Component's random values, as those of a chart do. Default is false: a kustomization that
    /// names a chart is an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enable_helm: Option<bool>,

    /// Whether the files of the kustomization are templates. Default is whether there is a `.component-config.yaml`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<bool>,

    /// What the names of templates end with; without it all files are templates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub template_suffix: Option<String>,

    /// What actions of templates begin with. Default is `{{`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32))]
    pub left_template_delimiter: Option<String>,

    /// What actions of templates end with. Default is `}}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32))]
    pub right_template_delimiter: Option<String>,

    /// Files and folders of the source outside of the kustomization that templates may read, relative to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), inner(length(max = 1024)))]
    pub included_files: Vec<String>,

    /// Folders of the source outside of the kustomization whose templates are rendered too, relative to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), inner(length(max = 1024)))]
    pub included_kustomizations: Vec<String>,

    /// Whether files that end in `.tera` are Tera templates. Default is false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tera: Option<bool>,
}

/// Which files a kustomization may read: `rootOnly` or `none`. Default is `rootOnly`.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub enum LoadRestrictor {
    /// Those in its own folder and below.
    RootOnly,
    /// All of the source.
    None,
}

/// Order of the objects where the kustomization names none: `legacy` or `none`. Default is `legacy`.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub enum Reorder {
    /// Kustomize's own.
    Legacy,
    /// That of the files.
    None,
}

/// Options of the directory generator.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq, Default)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryOptions {
    /// Languages of templates: `go` for files that end in `.gotmpl`, `tera` for those that end in `.tera`. Default is none: files are
    /// taken as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 2))]
    pub templates: Vec<TemplateLanguage>,

    /// What the names of Go templates end with instead; when it is empty all manifests are templates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub template_suffix: Option<String>,

    /// What actions of Go templates begin with. Default is `{{`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32))]
    pub left_template_delimiter: Option<String>,

    /// What actions of Go templates end with. Default is `}}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32))]
    pub right_template_delimiter: Option<String>,
}

/// What templates are written in: `go` or `tera`.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub enum TemplateLanguage {
    /// Go templates.
    Go,
    /// Tera templates.
    Tera,
}

/// One of several generators.
#[derive(KubeSchema, Serialize, Deserialize, Debug, Clone, PartialEq)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = ("!has(self.helm) || !has(self.helm.hooks) && !has(self.helm.onReturn) && !has(self.helm.randomness)", "hooks, onReturn and randomness are those of the Component: spec.helm"))]
pub struct GeneratorPart {
    /// What it is called in messages. Random values of its templates depend on it.
    #[schemars(
        length(min = 1, max = 63),
        regex(pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
    )]
    pub name: String,

    /// Where its files come from. Default is the Component's source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,

    /// Folder inside the source. Default is the source's root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub path: Option<String>,

    /// What turns the files into objects; detected when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub generator: Option<String>,

    /// Options of the Helm generator; `hooks`, `onReturn` and `randomness` are the Component's and must be left out here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub helm: Option<HelmOptions>,

    /// Options of the kustomize generator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kustomize: Option<KustomizeOptions>,

    /// Options of the directory generator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<DirectoryOptions>,

    /// Options of a generator that the operator was built with.
    #[serde(
        default,
        deserialize_with = "null_as_empty",
        skip_serializing_if = "Map::is_empty"
    )]
    #[schemars(schema_with = "free_form")]
    pub options: Map<String, Value>,

    /// Its own parameters, merged over those of the Component.
    #[serde(
        default,
        deserialize_with = "null_as_empty",
        skip_serializing_if = "Map::is_empty"
    )]
    #[schemars(schema_with = "free_form")]
    pub values: Map<String, Value>,
}
