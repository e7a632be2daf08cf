//! Which subcharts take part in a rendering, under which names, and which of their values a chart takes over (Helm 3.22,
//! `pkg/chartutil/dependencies.go`; Helm 4.3, `pkg/chart/v2/util/dependencies.go`).

use crate::{
    coalesce::{Coalescer, Nulls, TypeMismatch, merge_tables},
    load::MAX_CHARTS,
    metadata::Dependency,
    tree::{ChartTree, Declared, NodeId},
    values::{deep_copy, empty_map, path_value, table},
    version::is_compatible,
};
use serde_json::{Value as Json, json};
use std::{cell::RefCell, collections::BTreeSet, rc::Rc};
use whipstaff_gotemplate::{Dialect, Map, Value};

/// Why dependencies cannot be processed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DependencyError {
    /// A value in the place of a subchart's table.
    #[error(transparent)]
    TypeMismatch(#[from] TypeMismatch),
    /// Aliases multiply subcharts over [`MAX_CHARTS`].
    #[error("aliases make more than {MAX_CHARTS} charts")]
    TooMany,
}

/// Removes disabled subcharts, makes the copies that aliases ask for and takes over imported values.
pub(crate) fn process_dependencies(
    tree: &mut ChartTree,
    values: &Map,
    dialect: Dialect,
) -> Result<(), DependencyError> {
    enable(tree, ChartTree::ROOT, values, "", dialect)?;
    import_values(tree, ChartTree::ROOT, dialect)?;
    Ok(())
}

fn enable(
    tree: &mut ChartTree,
    chart: NodeId,
    values: &Map,
    path: &str,
    dialect: Dialect,
) -> Result<(), DependencyError> {
    let Some(declared) = tree.node(chart).declared.clone() else {
        return Ok(());
    };
    let children = choose_children(tree, chart, &declared, dialect)?;
    tree.set_children(chart, children);
    let values = Coalescer::new(tree, dialect).coalesce(chart, values, Nulls::Remove)?;
    for dependency in &declared {
        let mut dependency = dependency.borrow_mut();
        dependency.enabled = is_enabled(&dependency, &values, path);
    }
    let disabled: BTreeSet<String> = declared
        .iter()
        .filter(|dependency| !dependency.borrow().enabled)
        .map(|dependency| dependency.borrow().name.clone())
        .collect();
    let mut children = tree.node(chart).children.clone();
    children.retain(|child| !disabled.contains(&tree.node(*child).name));
    for child in &children {
        let path = format!("{path}{}.", tree.node(*child).name);
        enable(tree, *child, &values, &path, dialect)?;
    }
    let mut declared = declared;
    declared.retain(|dependency| !disabled.contains(&dependency.borrow().name));
    tree.node_mut(chart).declared = (!declared.is_empty()).then_some(declared);
    tree.set_children(chart, children);
    Ok(())
}

/// The subcharts that nothing declares, then the declared ones in the order of their declaration. Declarations with an alias go by
/// the alias from here on.
fn choose_children(
    tree: &mut ChartTree,
    chart: NodeId,
    declared: &[Declared],
    dialect: Dialect,
) -> Result<Vec<NodeId>, DependencyError> {
    let present = tree.node(chart).children.clone();
    let matches = |tree: &ChartTree, child: NodeId, dependency: &Dependency| {
        let node = tree.node(child);
        node.name == dependency.name
            && is_compatible(&dependency.version, &node.chart.metadata.version)
    };
    let undeclared =
        |child: &&NodeId| !declared.iter().any(|d| matches(tree, **child, &d.borrow()));
    let mut children: Vec<NodeId> = present.iter().filter(undeclared).copied().collect();
    for dependency in declared {
        let found = present
            .iter()
            .find(|child| matches(tree, **child, &dependency.borrow()));
        if let Some(child) = found.copied() {
            if tree.len() >= MAX_CHARTS * 2 {
                return Err(DependencyError::TooMany);
            }
            let alias = dependency.borrow().alias.clone();
            children.push(copy(tree, child, &alias, dialect));
        }
        let mut dependency = dependency.borrow_mut();
        if !dependency.alias.is_empty() {
            let alias = dependency.alias.clone();
            dependency.name = alias;
        }
    }
    Ok(children)
}

/// A copy of a chart under another name. In Helm 3 the copies share their subcharts and declarations; in Helm 4 they do not.
fn copy(tree: &mut ChartTree, chart: NodeId, alias: &str, dialect: Dialect) -> NodeId {
    let mut node = tree.node(chart).clone();
    if !alias.is_empty() {
        alias.clone_into(&mut node.name);
    }
    if !dialect.is_v4() {
        return tree.add(node);
    }
    let own = |d: &Declared| Rc::new(RefCell::new(d.borrow().clone()));
    node.declared = node.declared.map(|list| list.iter().map(own).collect());
    let subcharts = std::mem::take(&mut node.children);
    let copied = tree.add(node);
    let subcharts = subcharts
        .into_iter()
        .map(|child| tree.add(tree.node(child).clone()));
    let subcharts = subcharts.collect();
    tree.set_children(copied, subcharts);
    copied
}

/// The first of the conditions that is a boolean decides; else tags do: one that is true enables, one that is false disables.
fn is_enabled(dependency: &Dependency, values: &Map, path: &str) -> bool {
    let conditions = dependency
        .condition
        .trim()
        .split(',')
        .filter(|c| !c.is_empty());
    for condition in conditions {
        if let Some(Value::Bool(enabled)) = path_value(values, &format!("{path}{condition}")) {
            return enabled;
        }
    }
    let Some(tags) = table(values, "tags") else {
        return true;
    };
    let found = |wanted: bool| {
        dependency.tags.iter().any(
            |tag| matches!(tags.get(tag.as_bytes()), Some(Value::Bool(value)) if value == wanted),
        )
    };
    found(true) || !found(false)
}

fn import_values(
    tree: &mut ChartTree,
    chart: NodeId,
    dialect: Dialect,
) -> Result<(), DependencyError> {
    for child in tree.node(chart).children.clone() {
        import_values(tree, child, dialect)?;
    }
    let Some(declared) = tree.node(chart).declared.clone() else {
        return Ok(());
    };
    let values = Coalescer::new(tree, dialect).coalesce(chart, &empty_map(), Nulls::Keep)?;
    let imported = empty_map();
    for dependency in &declared {
        let mut dependency = dependency.borrow_mut();
        let name = dependency.name.clone();
        // Helm 3 processes a declaration once for each copy of a chart that shares it, and the second time finds its imports
        // rewritten to a type that it does not know.
        let rewritten = std::mem::replace(&mut dependency.imports_rewritten, true);
        let imports = std::mem::take(&mut dependency.import_values);
        let mut kept = Vec::new();
        for import in imports.iter().filter(|_| !rewritten) {
            let Some((child, parent)) = import_paths(import) else {
                continue;
            };
            kept.push(json!({"child": child, "parent": parent}));
            if let Some(found) = table(&values, &format!("{name}.{child}")) {
                let found = nest(&parent, found);
                merge_tables(&imported, &found, "", Nulls::Keep, &mut |_| {});
            }
        }
        dependency.import_values = kept;
    }
    // What is imported stands below the chart's own values.
    let values = deep_copy(&values);
    merge_tables(&values, &imported, "", Nulls::Keep, &mut |_| {});
    tree.node_mut(chart).values = values;
    Ok(())
}

fn import_paths(import: &Json) -> Option<(String, String)> {
    match import {
        Json::String(name) => Some((format!("exports.{name}"), ".".to_owned())),
        Json::Object(map) => {
            let path = |key| match map.get(key) {
                None | Some(Json::Null) => "<nil>".to_owned(),
                Some(Json::String(path)) => path.clone(),
                Some(other) => other.to_string(),
            };
            Some((path("child"), path("parent")))
        }
        _ => None,
    }
}

/// A table put at a dotted path.
fn nest(path: &str, table: Map) -> Map {
    if path == "." {
        return table;
    }
    path.rsplit('.').fold(table, |table, key| {
        let outer = empty_map();
        outer.insert(key, Value::Map(table));
        outer
    })
}
