//! The built-in facts about the types of Kubernetes.
//!
//! `merges.txt` has a line for each definition, with its name and the fields that lead to a merged list: `field=7` is definition 7, `field=*7`
//! a map of it, `field=-7` a list of it, and `+name` at the end means that the list is merged by `name`. Behind `--` the types
//! follow. `scopes.txt` lists the types whose scope is known without a schema.

use super::{Schema, Schemas};
use std::collections::HashMap;
use std::sync::OnceLock;

/// The version of Kubernetes that the facts are of.
pub(super) const VERSION: &str = "v1.21.2";

const MERGES: &str = include_str!("merges.txt");
const SCOPES: &str = include_str!("scopes.txt");

pub(super) fn schemas() -> &'static Schemas {
    static SCHEMAS: OnceLock<Schemas> = OnceLock::new();
    SCHEMAS.get_or_init(|| read(MERGES))
}

/// Whether objects of a type have a namespace, if it is known.
pub(super) fn is_namespaced(api_version: &str, kind: &str) -> Option<bool> {
    static TABLE: OnceLock<HashMap<&'static str, Scopes>> = OnceLock::new();
    let scopes = TABLE.get_or_init(read_scopes).get(api_version)?;
    let lists = |kinds: &str| kinds.split(' ').any(|listed| listed == kind);
    if lists(scopes.namespaced) {
        return Some(true);
    }
    lists(scopes.cluster).then_some(false)
}

/// The kinds of a version, with spaces between them: few builds ask for more than a handful.
#[derive(Default)]
struct Scopes {
    namespaced: &'static str,
    cluster: &'static str,
}

fn read_scopes() -> HashMap<&'static str, Scopes> {
    let mut table: HashMap<_, Scopes> = HashMap::new();
    for line in SCOPES.lines() {
        let mut parts = line.splitn(3, ' ');
        let (Some(version), Some(scope), Some(kinds)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let scopes = table.entry(version).or_default();
        if scope == "namespaced" {
            scopes.namespaced = kinds;
        } else {
            scopes.cluster = kinds;
        }
    }
    table
}

fn read(text: &str) -> Schemas {
    let mut schemas = Schemas::default();
    let (definitions, types) = text.split_once("\n--\n").unwrap_or((text, ""));
    let lines: Vec<_> = definitions.lines().collect();
    schemas.all.resize_with(lines.len(), Schema::default);
    for (index, line) in lines.iter().enumerate() {
        let mut words = line.split(' ');
        schemas
            .definitions
            .insert(full_name(words.next().unwrap_or_default()), index);
        for field in words {
            let Some((name, target)) = field.split_once('=') else {
                continue;
            };
            let target = read_target(&mut schemas, target);
            if let Some(definition) = schemas.all.get_mut(index) {
                definition.fields.insert(name.to_owned(), target);
            }
        }
    }
    for line in types.lines() {
        let mut words = line.split(' ');
        let version = words.next().unwrap_or_default();
        for (kind, index) in words.filter_map(|word| word.split_once('=')) {
            if let Ok(index) = index.parse() {
                schemas
                    .types
                    .insert((version.to_owned(), kind.to_owned()), index);
            }
        }
    }
    schemas
}

/// The name of a definition, which is shortened in the table.
fn full_name(short: &str) -> String {
    match short.strip_prefix('~') {
        Some(rest) => format!("io.k8s.{rest}"),
        None => format!("io.k8s.api.{short}"),
    }
}

fn read_target(schemas: &mut Schemas, target: &str) -> usize {
    if let Ok(index) = target.parse::<usize>() {
        return index;
    }
    let mut schema = Schema::default();
    if let Some(index) = target.strip_prefix('*') {
        schema.values = index.parse().ok();
    } else if let Some(list) = target.strip_prefix('-') {
        let (items, keys) = list
            .split_once('+')
            .map_or((list, None), |(i, k)| (i, Some(k)));
        schema.is_array = true;
        schema.items = items.parse().ok();
        if let Some(keys) = keys {
            "merge".clone_into(&mut schema.strategy);
            schema.keys = keys
                .split(',')
                .filter(|key| !key.is_empty())
                .map(str::to_owned)
                .collect();
        }
    }
    schemas.all.push(schema);
    schemas.all.len() - 1
}

#[cfg(test)]
mod tests {
    use super::super::Types;

    #[test]
    fn containers_of_a_deployment_are_merged_by_name() {
        let types = Types::default();
        let path = ["spec", "template", "spec", "containers"];
        let containers = path.iter().try_fold(
            types.of_type("apps/v1", "Deployment").unwrap(),
            |schema, field| types.field(schema, field),
        );
        let containers = containers.unwrap();
        assert!(types.is_merged(containers));
        assert_eq!(types.merge_keys(containers), ["name"]);
        let ports = types
            .field(types.items(containers).unwrap(), "ports")
            .unwrap();
        assert_eq!(types.merge_keys(ports), ["containerPort", "protocol"]);
    }

    #[test]
    fn scopes_are_known_for_builtin_types_only() {
        let types = Types::default();
        assert!(types.is_cluster_scoped("v1", "Namespace"));
        assert!(!types.is_cluster_scoped("v1", "ConfigMap"));
        assert!(!types.is_cluster_scoped("example.com/v1", "Thing"));
    }
}
