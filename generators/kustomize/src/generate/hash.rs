//! Names that depend on the content.
//!
//! Mirrors `hasher` and `internal/builtins/HashTransformer.go` of kustomize api v0.21.1.

use crate::error::Result;
use crate::node::{Kind, NodeId, to_value};
use crate::resource::{Resource, Store, annotation};
use serde_json::{Map, Number, Value};
use sha2::{Digest as _, Sha256};
use whipstaff_generator::go_json;

/// How many characters a hash has.
const LENGTH: usize = 10;

/// Adds hashes to the names of the objects that ask for it.
///
/// # Errors
/// When the content cannot be made JSON.
pub(crate) fn add_hashes(store: &mut Store, resources: &[Resource]) -> Result<()> {
    for resource in resources {
        if !resource.has_switch(store, annotation::NEEDS_HASH) {
            continue;
        }
        let hash = encode(&content(store, resource)?);
        resource.store_previous_id(store)?;
        let name = format!("{}-{hash}", resource.name(store));
        resource.set_name(store, &name)?;
    }
    Ok(())
}

/// The text that is hashed. The name in it is always empty.
fn content(store: &Store, resource: &Resource) -> Result<String> {
    let Some(root) = resource.node() else {
        return Ok(String::new());
    };
    let kind = resource.kind(store);
    let mut map = Map::new();
    map.insert("kind".to_owned(), kind.into());
    map.insert("name".to_owned(), "".into());
    let binary = match kind {
        "ConfigMap" => "binaryData",
        "Secret" => {
            map.insert("type".to_owned(), field(store, root, "type")?);
            "stringData"
        }
        // Go hashes the text of its own node structs here, which no one can depend on.
        _ => return Ok(go_json::to_string(&resource.value(store)?)),
    };
    map.insert("data".to_owned(), field(store, root, "data")?);
    let binary_value = field(store, root, binary)?;
    if binary_value.is_object() {
        map.insert(binary.to_owned(), binary_value);
    }
    Ok(go_json::to_string(&Value::Object(map)))
}

fn field(store: &Store, root: NodeId, name: &str) -> Result<Value> {
    let Some(node) = store.arena.field(root, name) else {
        return Ok("".into());
    };
    let found = store.arena.get(node);
    if found.kind == Kind::Scalar {
        return Ok(found.text.clone().into());
    }
    let mut value = to_value(&store.arena, node)?;
    if !value.is_object() {
        return Ok(Value::Null);
    }
    through_floats(&mut value);
    Ok(value)
}

fn through_floats(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(float) = number.as_f64().and_then(Number::from_f64) {
                *number = float;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(through_floats),
        Value::Object(map) => map.values_mut().for_each(through_floats),
        _ => {}
    }
}

/// The hash of a text, without characters that make words.
fn encode(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let hex = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    let letters = *b"gh2k456789mbcdtf";
    hex.take(LENGTH)
        .map(|digit| {
            letters
                .get(usize::from(digit))
                .map_or('0', |letter| char::from(*letter))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::encode;

    #[test]
    fn hashes_are_those_of_kustomize() {
        let text = r#"{"data":{"k":"v"},"kind":"ConfigMap","name":""}"#;
        assert_eq!(encode(text), "bdg947hgcc");
        assert_eq!(
            encode(r#"{"data":"","kind":"ConfigMap","name":""}"#),
            "6ct58987ht"
        );
    }
}
