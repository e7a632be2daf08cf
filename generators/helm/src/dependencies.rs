//! Which subcharts take part in a rendering, under which names, and which of their values a chart takes over (Helm 3.22,
//! `pkg/chartutil/dependencies.go`; Helm 4.3, `pkg/chart/v2/util/dependencies.go`).

use crate::{
    coalesce::{Coalescer, Nulls, TypeMismatch, merge_tables},
    load::MAX_CHARTS,
    metadata::Dependency,
    tree::{ChartTree, Declared, NodeId},
    values::{deep_copy, empty_map, is_within_limits, path_value, table},
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
    /// Imports make a table contain itself, or values grow over [`MAX_VALUES_DEPTH`](crate::MAX_VALUES_DEPTH) or
    /// [`MAX_VALUES_ENTRIES`](crate::MAX_VALUES_ENTRIES).
    #[error("imported values of chart {chart} contain themselves or are too large")]
    Imports {
        /// Name of the chart that imports.
        chart: String,
    },
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
    let owner = tree.node(chart).name.clone();
    let within = |map: &Map| {
        let refused = || DependencyError::Imports {
            chart: owner.clone(),
        };
        is_within_limits(map).then_some(()).ok_or_else(refused)
    };
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
                // Tables are shared, so that one may have been put into itself.
                within(&imported)?;
                within(&values)?;
            }
        }
        dependency.import_values = kept;
    }
    // What is imported stands below the chart's own values.
    let values = deep_copy(&values);
    merge_tables(&values, &imported, "", Nulls::Keep, &mut |_| {});
    within(&values)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::load;
    use std::sync::Arc;
    use whipstaff_generator::FileTree;

    fn process(files: &[(&str, &str)], dialect: Dialect) -> Result<ChartTree, DependencyError> {
        let mut tree = FileTree::new();
        for (path, text) in files {
            tree.insert(*path, text.as_bytes()).unwrap();
        }
        let mut tree = ChartTree::new(&Arc::new(load(&tree, dialect).unwrap()));
        process_dependencies(&mut tree, &empty_map(), dialect)?;
        Ok(tree)
    }

    #[test]
    fn tables_that_imports_put_into_themselves_are_refused() {
        let files = [
            (
                "Chart.yaml",
                "name: a\nversion: 1.0.0\ndependencies:\n- name: b\n  version: 1.0.0\n  import-values:\n  \
                 - {child: exports.x.w, parent: k}\n  - {child: exports, parent: k}\n",
            ),
            ("charts/b/Chart.yaml", "name: b\nversion: 1.0.0\n"),
            ("charts/b/values.yaml", "exports: {x: {w: {z: 1}}}\n"),
        ];
        for dialect in [Dialect::V3, Dialect::V4_3] {
            let error = process(&files, dialect).unwrap_err();
            assert_eq!(
                error,
                DependencyError::Imports {
                    chart: "a".to_owned()
                }
            );
        }
    }

    #[test]
    fn values_that_imports_multiply_are_refused() {
        let mut files: Vec<(String, String)> = Vec::new();
        let imports: Vec<String> = (0..40)
            .map(|n| format!("  - {{child: v, parent: v.k{n}}}\n"))
            .collect();
        let imports = imports.concat();
        for depth in 0..8 {
            let folder = "charts/c/".repeat(depth);
            let dependency =
                format!("dependencies:\n- name: c\n  version: 1.0.0\n  import-values:\n{imports}");
            let dependency = if depth < 7 { dependency } else { String::new() };
            files.push((
                format!("{folder}Chart.yaml"),
                format!("name: c\nversion: 1.0.0\n{dependency}"),
            ));
            files.push((format!("{folder}values.yaml"), "v: {a: 1}\n".to_owned()));
        }
        let files: Vec<_> = files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect();
        let error = process(&files, Dialect::V4_3).unwrap_err();
        assert_eq!(
            error,
            DependencyError::Imports {
                chart: "c".to_owned()
            }
        );
    }

    #[test]
    fn aliases_that_multiply_charts_are_refused() {
        let mut files: Vec<(String, String)> = Vec::new();
        let aliases: Vec<String> = (0..40)
            .map(|n| format!("- {{name: c, version: 1.0.0, alias: c{n}}}\n"))
            .collect();
        let aliases = aliases.concat();
        for depth in 0..5 {
            let folder = "charts/c/".repeat(depth);
            let dependencies = if depth < 4 {
                format!("dependencies:\n{aliases}")
            } else {
                String::new()
            };
            files.push((
                format!("{folder}Chart.yaml"),
                format!("name: c\nversion: 1.0.0\n{dependencies}"),
            ));
        }
        let files: Vec<_> = files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect();
        assert_eq!(
            process(&files, Dialect::V4_3).unwrap_err(),
            DependencyError::TooMany
        );
    }
}
