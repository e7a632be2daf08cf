//! Objects that templates see as Go's structs: by the names of Go's fields as well as by those of JSON.

use serde_json::{Map, Value as Json};
use std::any::Any;
use whipstaff_generator::{Capabilities, KubeVersion};
use whipstaff_gotemplate::{Host, Kind, Method, Signature, Value, format, grow_stack};

/// A JSON object behind a pointer to a Go struct.
///
/// A field is found by its JSON name, and by a name that begins with a capital letter and differs in nothing but case:
/// `Status.LastAttemptedRevision`, `UID`, `APIVersion`. What is absent is empty. The object itself has the fields of its metadata
/// too, and what Go has as a method `GetName` is a field `GetName`.
#[derive(Debug)]
pub(crate) struct GoObject {
    type_name: &'static str,
    entries: Vec<(String, Value)>,
    is_root: bool,
}

/// Go's names of fields that JSON has other names for.
const ALIASES: [(&str, &str); 1] = [("APIResources", "resources")];

const NOTHING: Signature = Signature {
    parameters: &[],
    variadic: None,
};

impl GoObject {
    /// A Kubernetes object.
    pub(crate) fn component(object: &Json) -> Value {
        let empty = Map::new();
        let entries = object.as_object().unwrap_or(&empty);
        Value::host(Self::new("*component.Component", entries, true))
    }

    fn new(type_name: &'static str, entries: &Map<String, Json>, is_root: bool) -> Self {
        let entry = |(key, value): (&String, &Json)| (key.clone(), wrap(value));
        Self {
            type_name,
            entries: entries.iter().map(entry).collect(),
            is_root,
        }
    }

    fn entry(&self, name: &str) -> Option<&Value> {
        let alias = ALIASES.iter().find(|(go_name, _)| *go_name == name);
        let name = alias.map_or(name, |(_, json_name)| json_name);
        let exact = self.entries.iter().find(|(key, _)| key == name);
        let found = exact.or_else(|| {
            let is_go_name = name.starts_with(|c: char| c.is_ascii_uppercase());
            let mut entries = self.entries.iter().filter(|_| is_go_name);
            entries.find(|(key, _)| key.eq_ignore_ascii_case(name))
        });
        found.map(|(_, value)| value)
    }

    /// What only the object itself has: its metadata's fields, and those that Go embeds.
    fn promoted(&self, name: &str) -> Option<Value> {
        if !self.is_root {
            return None;
        }
        let getter = name.strip_prefix("Get").filter(|rest| !rest.is_empty());
        let metadata = self.entry("metadata");
        let Some(field) = getter else {
            return match (name, metadata) {
                ("ObjectMeta", Some(metadata)) => Some(metadata.clone()),
                ("TypeMeta", _) => Some(Value::host(Self {
                    type_name: self.type_name,
                    entries: self.entries.clone(),
                    is_root: false,
                })),
                (_, Some(Value::Host(metadata))) => {
                    metadata.field(name).filter(|v| !matches!(v, Value::Nil))
                }
                _ => None,
            };
        };
        self.field(field)
    }
}

impl Host for GoObject {
    fn type_name(&self) -> &str {
        self.type_name
    }

    fn kind(&self) -> Kind {
        Kind::Map
    }

    fn truth(&self) -> bool {
        self.is_root || !self.entries.is_empty()
    }

    fn field(&self, name: &str) -> Option<Value> {
        let found = self.entry(name).cloned();
        Some(found.or_else(|| self.promoted(name)).unwrap_or_default())
    }

    fn entries(&self) -> Option<Vec<(Value, Value)>> {
        let entry = |(key, value): &(String, Value)| (Value::from(key.as_str()), value.clone());
        Some(self.entries.iter().map(entry).collect())
    }

    fn print(&self) -> Vec<u8> {
        let map = Value::map(
            self.entries
                .iter()
                .map(|(key, value)| (key.as_str(), value.clone())),
        );
        format::sprint(&[map])
    }

    fn to_json(&self) -> Option<Json> {
        let entry = |(key, value): &(String, Value)| (key.clone(), unwrap(value));
        Some(Json::Object(self.entries.iter().map(entry).collect()))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn wrap(value: &Json) -> Value {
    match value {
        Json::Object(entries) => grow_stack(|| {
            let object = GoObject::new("map[string]interface {}", entries, false);
            Value::host(object)
        }),
        Json::Array(items) => grow_stack(|| Value::list(items.iter().map(wrap).collect())),
        scalar => Value::from_json_integers(scalar),
    }
}

/// What [`wrap`] made a value of.
fn unwrap(value: &Value) -> Json {
    match value {
        Value::Bool(truth) => Json::Bool(*truth),
        Value::Int(_, number) => Json::from(*number),
        Value::Float(number) => Json::from(*number),
        Value::String(text) => Json::from(text.to_text()),
        Value::List(items) => grow_stack(|| items.iter().map(unwrap).collect()),
        Value::Host(host) => grow_stack(|| host.to_json()).unwrap_or_default(),
        Value::Nil | Value::Uint(..) | Value::Map(_) => Json::Null,
    }
}

/// `*version.Info` of apimachinery: it prints as the git version.
#[derive(Debug)]
pub(crate) struct VersionInfo(KubeVersion);

impl VersionInfo {
    pub(crate) fn value(version: &KubeVersion) -> Value {
        Value::host(Self(version.clone()))
    }
}

impl Host for VersionInfo {
    fn type_name(&self) -> &'static str {
        "*version.Info"
    }

    fn kind(&self) -> Kind {
        Kind::Ptr
    }

    fn method(&self, name: &str) -> Option<Method> {
        (name == "String").then_some(Method {
            signature: NOTHING,
            call: |host, _, _| Ok(Value::string(host.print())),
        })
    }

    fn field(&self, name: &str) -> Option<Value> {
        Some(Value::from(match name {
            "Major" => self.0.major.as_str(),
            "Minor" => self.0.minor.as_str(),
            "GitVersion" => self.0.version.as_str(),
            // What a build says of itself is not known here.
            "EmulationMajor"
            | "EmulationMinor"
            | "MinCompatibilityMajor"
            | "MinCompatibilityMinor"
            | "GitCommit"
            | "GitTreeState"
            | "BuildDate"
            | "GoVersion"
            | "Compiler"
            | "Platform" => "",
            _ => return None,
        }))
    }

    fn print(&self) -> Vec<u8> {
        self.0.version.clone().into_bytes()
    }

    fn to_json(&self) -> Option<Json> {
        Some(serde_json::json!({
            "major": self.0.major,
            "minor": self.0.minor,
            "gitVersion": self.0.version,
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// `[]*metav1.APIResourceList`: the kinds of each group and version, in order. Of a kind only its name is known.
pub(crate) fn api_resources(capabilities: &Capabilities) -> Value {
    let mut lists: Vec<(&str, Vec<Json>)> = Vec::new();
    for served in &capabilities.api_versions {
        let (group_version, kind) = parts(served);
        if lists.last().is_none_or(|(last, _)| *last != group_version) {
            lists.push((group_version, Vec::new()));
        }
        if let (Some(kind), Some((_, kinds))) = (kind, lists.last_mut()) {
            kinds.push(serde_json::json!({"kind": kind}));
        }
    }
    lists.sort_by_key(|(group_version, _)| *group_version);
    let list = |(group_version, kinds): (&str, Vec<Json>)| {
        let entries = Map::from_iter([
            ("groupVersion".to_owned(), Json::from(group_version)),
            ("resources".to_owned(), Json::Array(kinds)),
        ]);
        Value::host(GoObject::new("*v1.APIResourceList", &entries, false))
    };
    Value::list(lists.into_iter().map(list).collect())
}

/// `apps/v1/Deployment` and `v1/Pod` in group with version, and kind.
fn parts(served: &str) -> (&str, Option<&str>) {
    match served.rsplit_once('/') {
        Some((group_version, kind)) if kind.starts_with(|c: char| c.is_ascii_uppercase()) => {
            (group_version, Some(kind))
        }
        _ => (served, None),
    }
}
