//! What stands in a kustomization file.
//!
//! Mirrors the structs of `types` in kustomize api v0.21.1; the names of the fields are those of the file.

use crate::configuration::FieldSpecs;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for this signature"
)]
fn is_false(value: &bool) -> bool {
    !value
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for this signature"
)]
fn is_zero(value: &i64) -> bool {
    *value == 0
}

/// A kustomization or a component.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Kustomization {
    pub(crate) kind: String,
    pub(crate) api_version: String,
    pub(crate) openapi: BTreeMap<String, String>,
    pub(crate) name_prefix: String,
    pub(crate) name_suffix: String,
    pub(crate) namespace: String,
    pub(crate) common_labels: Option<BTreeMap<String, String>>,
    pub(crate) labels: Vec<Label>,
    pub(crate) common_annotations: BTreeMap<String, String>,
    pub(crate) patches_strategic_merge: Option<Vec<String>>,
    #[serde(rename = "patchesJson6902")]
    pub(crate) patches_json6902: Option<Vec<Patch>>,
    pub(crate) patches: Vec<Patch>,
    pub(crate) images: Vec<Image>,
    pub(crate) image_tags: Option<Vec<Image>>,
    pub(crate) replacements: Vec<ReplacementField>,
    pub(crate) replicas: Vec<Replica>,
    pub(crate) vars: Option<Vec<Var>>,
    pub(crate) sort_options: Option<SortOptions>,
    pub(crate) resources: Vec<String>,
    pub(crate) components: Vec<String>,
    pub(crate) crds: Vec<String>,
    pub(crate) bases: Option<Vec<String>>,
    pub(crate) config_map_generator: Vec<GeneratorArgs>,
    pub(crate) secret_generator: Vec<GeneratorArgs>,
    pub(crate) helm_globals: Option<HelmGlobals>,
    pub(crate) helm_charts: Vec<HelmChart>,
    pub(crate) helm_chart_inflation_generator: Vec<HelmChartArgs>,
    pub(crate) generator_options: Option<GeneratorOptions>,
    pub(crate) configurations: Vec<String>,
    pub(crate) generators: Vec<String>,
    pub(crate) transformers: Vec<String>,
    pub(crate) validators: Vec<String>,
    pub(crate) build_metadata: Vec<String>,
}

/// Labels and where they go.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Label {
    pub(crate) pairs: BTreeMap<String, String>,
    pub(crate) include_selectors: bool,
    pub(crate) include_templates: bool,
    #[serde(rename = "fields")]
    pub(crate) field_specs: FieldSpecs,
}

/// A patch, by a file or as text.
#[expect(clippy::struct_field_names, reason = "the names are those of the file")]
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Patch {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) path: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) patch: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<Selector>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) options: Option<PatchOptions>,
}

/// What a patch may change beside its target's content.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct PatchOptions {
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) allow_name_change: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) allow_kind_change: bool,
}

/// Chooses objects; empty parts are any.
#[expect(clippy::struct_field_names, reason = "the names are those of the file")]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Selector {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) group: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) version: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) kind: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) namespace: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) annotation_selector: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) label_selector: String,
}

/// What an image becomes.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Image {
    pub(crate) name: String,
    pub(crate) new_name: String,
    pub(crate) tag_suffix: String,
    pub(crate) new_tag: String,
    pub(crate) digest: String,
}

/// A count of replicas.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Replica {
    pub(crate) name: String,
    pub(crate) count: i64,
}

/// A replacement, or the file that holds some.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ReplacementField {
    #[serde(flatten)]
    pub(crate) replacement: Replacement,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) path: String,
}

/// A value and the places that it goes to.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Replacement {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<SourceSelector>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) targets: Option<Vec<TargetSelector>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source_value: Option<String>,
}

/// Where a value comes from.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SourceSelector {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) group: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) version: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) kind: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) namespace: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) field_path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) options: Option<FieldOptions>,
}

/// Where a value goes to.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct TargetSelector {
    pub(crate) select: Option<Selector>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) reject: Vec<Selector>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) field_paths: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) options: Option<FieldOptions>,
}

/// Which part of a text is meant.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct FieldOptions {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) delimiter: String,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) index: i64,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) encoding: String,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) create: bool,
}

/// A variable and what it stands for.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Var {
    pub(crate) name: String,
    pub(crate) objref: VarTarget,
    pub(crate) fieldref: FieldSelector,
}

/// The object that a variable reads.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct VarTarget {
    pub(crate) api_version: String,
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) namespace: String,
}

/// The field that a variable reads.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct FieldSelector {
    pub(crate) field_path: String,
}

/// The order of the output.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SortOptions {
    pub(crate) order: String,
    pub(crate) legacy_sort_options: Option<LegacySortOptions>,
}

/// Kinds that come first and last.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct LegacySortOptions {
    pub(crate) order_first: Vec<String>,
    pub(crate) order_last: Vec<String>,
}

/// What a `ConfigMap` or a `Secret` is made of.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct GeneratorArgs {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) behavior: String,
    pub(crate) literals: Vec<String>,
    pub(crate) files: Vec<String>,
    pub(crate) envs: Vec<String>,
    pub(crate) env: String,
    pub(crate) options: Option<GeneratorOptions>,
    /// Of a `Secret`.
    #[serde(rename = "type")]
    pub(crate) secret_type: String,
}

/// What generated objects are given.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct GeneratorOptions {
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) annotations: BTreeMap<String, String>,
    pub(crate) disable_name_suffix_hash: bool,
    pub(crate) immutable: bool,
}

/// Where charts are.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct HelmGlobals {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) chart_home: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) config_home: String,
}

/// A chart and its values.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own, with Helm's name"
)]
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct HelmChart {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) version: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) repo: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) release_name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) namespace: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) additional_values_files: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) values_file: String,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(crate) values_inline: Map<String, Value>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) values_merge: String,
    #[serde(rename = "includeCRDs", skip_serializing_if = "is_false")]
    pub(crate) include_crds: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) skip_hooks: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) api_versions: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) kube_version: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) name_template: String,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) skip_tests: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) debug: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) devel: bool,
}

/// A chart in the older form.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct HelmChartArgs {
    pub(crate) chart_name: String,
    pub(crate) chart_version: String,
    pub(crate) chart_repo_url: String,
    pub(crate) chart_home: String,
    pub(crate) helm_home: String,
    pub(crate) values: String,
    pub(crate) values_local: Map<String, Value>,
    pub(crate) values_merge: String,
    pub(crate) release_name: String,
}
