//! Managed fields: who owns what in a live object.

use super::plan::Stray;
use serde_json::{Map, Value, json};
use whipstaff_generator::Digest;

/// Hexadecimal digits that tell one state of our fields from another.
const DIGEST_LENGTH: usize = 16;
/// The field manager of Helm's own command.
const HELM: &str = "helm";
/// The annotation that Helm marks its objects with.
const HELM_MARK: &str = "meta.helm.sh/release-name";
/// What the names of kubectl's field managers begin with.
const KUBECTL: &str = "kubectl";

/// Digest of the fields that we own in a live object, and of when they were last changed.
///
/// Whoever changes a field that we own takes it from our entries, and a write of ours that changes a value moves an entry's time: the
/// entries are as we left them exactly when nobody touched what is ours.
pub(crate) fn owned_fields(object: &Value, manager: &str) -> String {
    let ours: String = entries(object)
        .filter(|entry| is_of(entry, manager))
        .map(Value::to_string)
        .collect();
    if ours.is_empty() {
        return ours;
    }
    let mut digest = Digest::of(ours.as_bytes()).hex();
    digest.truncate(DIGEST_LENGTH);
    digest
}

/// Which fields a plain apply would leave although they are not in the manifest.
pub(crate) fn stray(object: &Value, manager: &str) -> Stray {
    Stray {
        ours: entries(object).any(|entry| is_of(entry, manager) && !is_apply(entry)),
        kubectl: entries(object).any(is_kubectl),
    }
}

/// The managed fields of an object with our fields, and those of kubectl if that is wanted, all in our entry of apply: what of them is
/// not in the next manifest goes.
pub(super) fn absorbed(object: &Value, manager: &str, kubectl: bool) -> Vec<Value> {
    let is_ours = |entry: &&Value| is_of(entry, manager) || kubectl && is_kubectl(entry);
    let mut fields = Map::new();
    for entry in entries(object).filter(is_ours) {
        if let Some(Value::Object(more)) = entry.get("fieldsV1") {
            join(&mut fields, more);
        }
    }
    let known = entries(object).find(|entry| is_of(entry, manager) && is_apply(entry));
    let mut ours = known.cloned().unwrap_or_else(|| {
        json!({
            "manager": manager,
            "operation": "Apply",
            "apiVersion": object.get("apiVersion"),
            "fieldsType": "FieldsV1",
        })
    });
    if let Some(entry) = ours.as_object_mut() {
        entry.insert("fieldsV1".to_owned(), Value::Object(fields));
    }
    let others = entries(object).filter(|entry| !is_ours(entry)).cloned();
    std::iter::once(ours).chain(others).collect()
}

/// The managed fields of an object without the entries of Helm, whatever it is called there; nothing when there are none. What only
/// Helm owned, its labels and annotations first of all, is nobody's then, and stays.
pub(super) fn without_helm(object: &Value, us: &str) -> Option<Vec<Value>> {
    let mark = [
        Segment::Key("metadata"),
        Segment::Key("annotations"),
        Segment::Key(HELM_MARK),
    ];
    let marks = |entry: &Value| entry.get("fieldsV1").is_some_and(|f| owns(f, &mark));
    let name = |entry: &Value| {
        entry
            .get("manager")
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    let writers = entries(object).filter(|entry| marks(entry) && !is_of(entry, us));
    let mut managers: Vec<_> = writers.filter_map(name).collect();
    managers.push(HELM.to_owned());
    // Status is written by others under any name; whatever Helm wrote is in the object itself.
    let is_helms = |entry: &&Value| {
        let subresource = entry.get("subresource").and_then(Value::as_str);
        subresource.is_none_or(str::is_empty)
            && name(entry).is_some_and(|name| managers.contains(&name))
    };
    let all = object.pointer("/metadata/managedFields")?.as_array()?;
    if !all.iter().any(|entry| is_helms(&entry)) {
        return None;
    }
    let others = all.iter().filter(|entry| !is_helms(entry));
    Some(others.cloned().collect())
}

/// A step on the way to a field.
#[derive(Debug, Clone, Copy)]
pub(super) enum Segment<'a> {
    /// A key of a map.
    Key(&'a str),
    /// An element of a list.
    Element(&'a Value),
}

/// The manager other than `us` that owns a field; the one that wrote last if there are several.
pub(super) fn owner_of<'o>(object: &'o Value, path: &[Segment<'_>], us: &str) -> Option<&'o str> {
    let others = entries(object).filter(|entry| !is_of(entry, us));
    let owners = others.filter(|entry| entry.get("fieldsV1").is_some_and(|f| owns(f, path)));
    let text = |entry: &'o Value, field: &str| entry.get(field).and_then(Value::as_str);
    let last = owners.max_by_key(|entry| text(entry, "time").unwrap_or_default());
    last.and_then(|entry| text(entry, "manager"))
}

fn owns(fields: &Value, path: &[Segment<'_>]) -> bool {
    let Some(fields) = fields.as_object() else {
        return false;
    };
    let Some((first, rest)) = path.split_first() else {
        return true;
    };
    if fields.is_empty() {
        // What is owned as a whole is not listed further.
        return true;
    }
    match first {
        Segment::Key(key) => fields
            .get(&format!("f:{key}"))
            .is_some_and(|f| owns(f, rest)),
        Segment::Element(element) => fields
            .iter()
            .any(|(key, inner)| names(key, element) && owns(inner, rest)),
    }
}

/// Whether a key of managed fields, `k:{…}` or `v:…`, names an element of a list.
fn names(key: &str, element: &Value) -> bool {
    if let Some(keys) = key.strip_prefix("k:") {
        let Ok(Value::Object(keys)) = serde_json::from_str(keys) else {
            return false;
        };
        return keys.iter().all(|(k, v)| element.get(k) == Some(v));
    }
    let value = key.strip_prefix("v:");
    value.is_some_and(|value| serde_json::from_str(value).is_ok_and(|v: Value| v == *element))
}

fn entries(object: &Value) -> impl Iterator<Item = &Value> {
    let entries = object.pointer("/metadata/managedFields");
    let entries = entries.and_then(Value::as_array).into_iter().flatten();
    entries.filter(|entry| {
        let subresource = entry.get("subresource").and_then(Value::as_str);
        subresource.is_none_or(str::is_empty)
    })
}

fn is_of(entry: &Value, manager: &str) -> bool {
    entry.get("manager").and_then(Value::as_str) == Some(manager)
}

fn is_apply(entry: &Value) -> bool {
    entry.get("operation").and_then(Value::as_str) == Some("Apply")
}

fn is_kubectl(entry: &Value) -> bool {
    let manager = entry.get("manager").and_then(Value::as_str);
    manager.is_some_and(|manager| manager.starts_with(KUBECTL))
}

fn join(fields: &mut Map<String, Value>, more: &Map<String, Value>) {
    for (key, value) in more {
        match (fields.get_mut(key), value) {
            (Some(Value::Object(known)), Value::Object(value)) => join(known, value),
            (Some(_), _) => {}
            (None, value) => {
                fields.insert(key.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(entries: Value) -> Value {
        let mut object = json!({"apiVersion": "v1", "metadata": {}});
        object["metadata"]["managedFields"] = entries;
        object
    }

    fn entry(manager: &str, operation: &str, fields: Value) -> Value {
        let mut entry = json!({"manager": manager, "operation": operation, "apiVersion": "v1",
            "fieldsType": "FieldsV1"});
        entry["fieldsV1"] = fields;
        entry
    }

    #[test]
    fn fields_of_kubectl_are_absorbed_only_when_that_is_wanted() {
        let object = object(json!([
            entry("us", "Apply", json!({"f:data": {"f:a": {}}})),
            entry("us", "Update", json!({"f:data": {"f:b": {}}})),
            entry("kubectl-edit", "Update", json!({"f:data": {"f:c": {}}})),
            entry("other", "Update", json!({"f:data": {"f:d": {}}})),
        ]));
        let merged = absorbed(&object, "us", false);
        assert_eq!(merged.len(), 3);
        assert_eq!(
            merged[0]["fieldsV1"],
            json!({"f:data": {"f:a": {}, "f:b": {}}})
        );
        let all = absorbed(&object, "us", true);
        let managers: Vec<_> = all.iter().map(|entry| &entry["manager"]).collect();
        assert_eq!(managers, ["us", "other"]);
        assert_eq!(
            all[0]["fieldsV1"],
            json!({"f:data": {"f:a": {}, "f:b": {}, "f:c": {}}})
        );
        assert_eq!(
            stray(&object, "us"),
            Stray {
                ours: true,
                kubectl: true
            }
        );
    }

    #[test]
    fn entries_of_helm_go_by_any_name_and_those_of_others_stay() {
        let mark = json!({"f:metadata": {"f:annotations": {"f:meta.helm.sh/release-name": {}}}});
        let mut status = entry("helm", "Update", json!({"f:status": {}}));
        status["subresource"] = json!("status");
        let object = object(json!([
            entry("us", "Apply", json!({"f:data": {}})),
            entry("helm-controller", "Update", mark),
            entry("helm", "Apply", json!({"f:data": {}})),
            entry("editor", "Update", json!({"f:data": {}})),
            status,
        ]));
        let left = without_helm(&object, "us").unwrap();
        let managers: Vec<_> = left.iter().map(|entry| &entry["manager"]).collect();
        assert_eq!(managers, ["us", "editor", "helm"]);
        let mut object = object;
        object["metadata"]["managedFields"] = json!(left);
        assert_eq!(without_helm(&object, "us"), None);
    }

    #[test]
    fn owner_of_a_field_is_found_in_maps_and_lists() {
        let object = object(json!([
            entry("us", "Apply", json!({"f:spec": {"f:replicas": {}}})),
            entry("scaler", "Update", json!({"f:spec": {"f:replicas": {}}})),
            entry(
                "tool",
                "Update",
                json!({"f:spec": {"f:containers": {
                "k:{\"name\":\"web\"}": {".": {}, "f:image": {}}, }, "f:args": {}}})
            ),
        ]));
        let web = json!({"name": "web", "image": "x"});
        let path = [
            Segment::Key("spec"),
            Segment::Key("containers"),
            Segment::Element(&web),
            Segment::Key("image"),
        ];
        assert_eq!(owner_of(&object, &path, "us"), Some("tool"));
        let path = [Segment::Key("spec"), Segment::Key("replicas")];
        assert_eq!(owner_of(&object, &path, "us"), Some("scaler"));
        let first = json!("a");
        let path = [
            Segment::Key("spec"),
            Segment::Key("args"),
            Segment::Element(&first),
        ];
        assert_eq!(owner_of(&object, &path, "us"), Some("tool"));
        assert_eq!(owner_of(&object, &[Segment::Key("data")], "us"), None);
    }
}
