//! Fields that change the generated objects.

#![expect(unreachable_pub, reason = "what the derive macros make of it")]

use super::component::{free_form, null_as_empty};
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A patch: a strategic merge patch, which may name its object itself, or a JSON patch (RFC 6902), which needs a target.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Patch {
    /// The patch as YAML or JSON.
    #[schemars(length(min = 1, max = 131_072))]
    pub patch: String,

    /// The objects that are patched. When left out, the patch names its object by kind and name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<PatchTarget>,

    /// What the patch may change beside its fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<PatchOptions>,
}

/// Which objects a patch is for: those that fit everything that is given. `group`, `version`, `kind`, `name` and `namespace` are regular
/// expressions for the whole text. Names are those before `namePrefix` and `nameSuffix`.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq, Default)]
#[serde(rename_all = "camelCase")]
pub struct PatchTarget {
    /// API group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub group: Option<String>,

    /// API version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub version: Option<String>,

    /// Kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub kind: Option<String>,

    /// Name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub name: Option<String>,

    /// Namespace as it was generated: objects without one get the target namespace after the patches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub namespace: Option<String>,

    /// Labels, in the language of `kubectl get --selector`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub label_selector: Option<String>,

    /// Annotations, in the same language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub annotation_selector: Option<String>,
}

/// What a patch may change beside its fields.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "camelCase")]
pub struct PatchOptions {
    /// Whether the patch may change names. Default is false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_name_change: Option<bool>,

    /// Whether the patch may change kinds. Default is false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_kind_change: Option<bool>,
}

/// What becomes of a container image, wherever it is used.
#[derive(KubeSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = ("!(has(self.newTag) && has(self.digest))", "an image has a tag or a digest, not both"))]
pub struct Image {
    /// Name of the image as it is used, without tag and digest.
    #[schemars(length(min = 1, max = 1024))]
    pub name: String,

    /// Another name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub new_name: Option<String>,

    /// Another tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub new_tag: Option<String>,

    /// A digest instead of a tag, for example `sha256:` and 64 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    pub digest: Option<String>,
}

/// Variables that replace `${name}` in the texts of the objects, and what becomes of those that are not defined.
///
/// Values are put into parsed objects and cannot change their structure. `${name:-default}`, `${name:?text}`, `${#name}`,
/// `${name:offset:length}`, `${name^^}`, `${name#prefix}`, `${name/from/to}` and their like work as in a shell, and `$${` is a literal
/// `${`. Objects with the annotation `whipstaff.dev/substitute: disabled` stay as they are.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Default)]
#[serde(rename_all = "camelCase")]
pub struct Substitute {
    /// Values by name. A text that is nothing but `${name}` takes the type of the value, but in metadata.
    #[serde(
        default,
        deserialize_with = "null_as_empty",
        skip_serializing_if = "Map::is_empty"
    )]
    #[schemars(schema_with = "free_form")]
    pub variables: Map<String, Value>,

    /// ConfigMaps and Secrets in the Component's namespace whose entries are variables, too; all of them are texts, and entries that
    /// are no text are left out. They are read as the Component's service account, and the objects follow when they change. Later ones
    /// come over earlier ones, and `variables` over all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub from: Vec<VariableSource>,

    /// What becomes of `${name}` when there is no such variable and no default: `Refuse` fails, `Empty` puts nothing, `Keep` leaves it.
    /// Default is `Refuse`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undefined: Option<UndefinedVariable>,
}

/// A ConfigMap or Secret whose entries are variables.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct VariableSource {
    /// What it is: `ConfigMap` or `Secret`.
    pub kind: VariableSourceKind,

    /// Its name.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,

    /// Whether it may be missing. Default is false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
}

/// What variables come from: `ConfigMap` or `Secret`.
#[derive(
    JsonSchema, Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord,
)]
pub enum VariableSourceKind {
    /// A ConfigMap.
    ConfigMap,
    /// A Secret; its values are kept out of messages.
    Secret,
}

impl std::fmt::Display for VariableSourceKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(self, f)
    }
}

/// What becomes of `${name}` when there is no such variable: `Refuse`, `Empty` or `Keep`. Default is `Refuse`.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UndefinedVariable {
    /// It is an error.
    #[default]
    Refuse,
    /// It becomes an empty text.
    Empty,
    /// It stays as it is.
    Keep,
}
