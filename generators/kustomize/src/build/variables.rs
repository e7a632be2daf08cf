//! Variables of kustomizations.
//!
//! Mirrors `types/var.go` and `internal/accumulator/resaccumulator.go` of kustomize api v0.21.1.

use crate::configuration::FieldSpecs;
use crate::error::{Result, fail};
use crate::kustomization::Var;
use crate::node::{Create, Kind, Tag};
use crate::resource::{Gvk, Id, Resource, ResourceSet, Store};
use crate::transform::{Variable, replace_variables, split_dotted};
use std::collections::BTreeMap;

/// The field that is read where none is named.
const DEFAULT_FIELD: &str = "metadata.name";

/// Variables by their names.
#[derive(Debug, Default)]
pub(super) struct Variables(BTreeMap<String, Var>);

/// The type of the object that a variable reads.
fn gvk(var: &Var) -> Gvk {
    let target = &var.objref;
    let mut gvk = Gvk {
        group: target.group.clone(),
        version: target.version.clone(),
        kind: target.kind.clone(),
    };
    let parts: Vec<&str> = target.api_version.split('/').collect();
    match parts.as_slice() {
        [""] => {}
        [version] => (*version).clone_into(&mut gvk.version),
        [group, version] => {
            (*group).clone_into(&mut gvk.group);
            (*version).clone_into(&mut gvk.version);
        }
        _ => {}
    }
    gvk
}

/// What `%v` of Go prints for a variable.
fn describe(var: &Var, gvk: &Gvk, field: &str) -> String {
    format!("{{{} {gvk} {{{field}}}}}", var.name)
}

impl Variables {
    /// Adds the variables of a kustomization, and marks the objects that they read.
    pub(super) fn register(
        &mut self,
        store: &Store,
        set: &mut ResourceSet,
        vars: &[Var],
    ) -> Result<()> {
        self.try_register(store, set, vars).map_err(|error| {
            let list: Vec<_> = vars
                .iter()
                .map(|var| {
                    let raw = Gvk {
                        group: var.objref.group.clone(),
                        version: var.objref.version.clone(),
                        kind: var.objref.kind.clone(),
                    };
                    describe(var, &raw, &var.fieldref.field_path)
                })
                .collect();
            error.within(format!("merging vars [{}]", list.join(" ")))
        })
    }

    fn try_register(&mut self, store: &Store, set: &mut ResourceSet, vars: &[Var]) -> Result<()> {
        for var in vars {
            let gvk = gvk(var);
            let matched = matches(store, set.items(), var, &gvk)?;
            if matched.len() > 1 {
                return Err(fail(format!(
                    "found {} resId matches for var {} (unable to disambiguate)",
                    matched.len(),
                    describe(var, &gvk, &var.fieldref.field_path)
                )));
            }
            let items = set.items_mut_keeping_ids();
            if let Some(resource) = matched.first().and_then(|at| items.get_mut(*at)) {
                resource.variables.push(var.name.clone());
            }
        }
        for var in vars {
            self.add(var.clone())?;
        }
        Ok(())
    }

    fn add(&mut self, var: Var) -> Result<()> {
        if self.0.contains_key(&var.name) {
            return Err(fail(format!("var '{}' already encountered", var.name)));
        }
        self.0.insert(var.name.clone(), var);
        Ok(())
    }

    /// Adds the variables of a base.
    pub(super) fn merge(&mut self, other: Self) -> Result<()> {
        other.0.into_values().try_for_each(|var| self.add(var))
    }

    /// Replaces variables by what they stand for.
    pub(super) fn resolve(
        &self,
        store: &mut Store,
        resources: &[Resource],
        specs: &FieldSpecs,
        warnings: &mut Vec<String>,
    ) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut sources: BTreeMap<&str, &Resource> = BTreeMap::new();
        for resource in resources {
            for name in &resource.variables {
                sources.entry(name).or_insert(resource);
            }
        }
        let mut values = BTreeMap::new();
        for (name, var) in &self.0 {
            let value = value(store, var, sources.get(name.as_str()).copied())?;
            values.insert(name.clone(), value);
        }
        let used = replace_variables(store, resources, &values, specs)?;
        let unused: Vec<&str> = values
            .keys()
            .filter(|name| !used.contains(*name))
            .map(String::as_str)
            .collect();
        if !unused.is_empty() {
            warnings.push(format!(
                "well-defined vars that were never replaced: {}",
                unused.join(",")
            ));
        }
        Ok(())
    }
}

fn matches(store: &Store, resources: &[Resource], var: &Var, gvk: &Gvk) -> Result<Vec<usize>> {
    let wanted = Id {
        gvk: gvk.clone(),
        name: var.objref.name.clone(),
        namespace: var.objref.namespace.clone(),
        is_cluster_scoped: false,
    };
    let mut places = Vec::new();
    for (at, resource) in resources.iter().enumerate() {
        if resource.is_empty(store) || resource.kind(store).is_empty() {
            continue;
        }
        let ids = resource.all_ids(store)?;
        let fits = |id: &Id| {
            if wanted.namespace.is_empty() {
                id.name == wanted.name && id.gvk == wanted.gvk
            } else {
                id.is_same(&wanted)
            }
        };
        if ids.iter().any(fits) {
            places.push(at);
        }
    }
    Ok(places)
}

fn value(store: &mut Store, var: &Var, source: Option<&Resource>) -> Result<Variable> {
    let field = if var.fieldref.field_path.is_empty() {
        DEFAULT_FIELD
    } else {
        &var.fieldref.field_path
    };
    let shown = describe(var, &gvk(var), field);
    let Some(resource) = source else {
        return Err(fail(format!(
            "var '{shown}' cannot be mapped to a field in the set of known resources"
        )));
    };
    let missing = || {
        fail(format!(
            "field specified in var '{shown}' not found in corresponding resource"
        ))
    };
    let parts: Vec<String> = split_dotted(field)
        .into_iter()
        .flat_map(split_index)
        .collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let root = resource.root(store);
    let node = store
        .arena
        .lookup(root, &parts, Create::Never)
        .ok()
        .flatten()
        .ok_or_else(missing)?;
    let node = store.arena.get(node);
    if node.kind != Kind::Scalar {
        return Ok(Variable::Collection);
    }
    let text = node.text.as_str();
    Ok(match node.tag {
        Tag::Int => Variable::Int(text.parse().map_err(|_| missing())?),
        Tag::Float => Variable::Float(text.parse().map_err(|_| missing())?),
        Tag::Bool => Variable::Bool(text.to_ascii_lowercase().parse().map_err(|_| missing())?),
        _ => Variable::Text(text.to_owned()),
    })
}

/// A part like `ports[0]`, as `ports` and `0`.
fn split_index(part: String) -> Vec<String> {
    let split = part
        .strip_suffix(']')
        .and_then(|rest| rest.rsplit_once('['));
    match split {
        Some((name, index))
            if !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            let mut parts = Vec::new();
            if !name.is_empty() {
                parts.push(name.to_owned());
            }
            parts.push(index.to_owned());
            parts
        }
        _ => vec![part],
    }
}
