//! How default values of charts and the user's values become one (Helm 3.22, `pkg/chartutil/coalesce.go`; Helm 4.3,
//! `pkg/chart/common/util/coalesce.go`).
//!
//! Maps are shared as they are in Helm: the values of a subchart *are* the map under its name in the parent's values.

use crate::{
    tree::{ChartTree, NodeId},
    values::{MAX_VALUES_DEPTH, deep_copy, empty_map, fresh},
};
use std::collections::BTreeSet;
use whipstaff_gotemplate::{Bytes, Dialect, Map, Value, format};

const GLOBAL: &[u8] = b"global";

/// A value in the place of a subchart's table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("type mismatch on {chart}: {value}")]
pub struct TypeMismatch {
    /// Name of the subchart.
    pub chart: String,
    /// The value as Go prints it where it wanted a boolean.
    pub value: String,
}

/// Whether nulls are worked off or kept for a later coalescing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nulls {
    /// A null removes the default that it stands over.
    Remove,
    /// Nulls stay.
    Keep,
}

/// One coalescing of a tree's values.
#[derive(Debug)]
pub(crate) struct Coalescer<'a> {
    tree: &'a ChartTree,
    /// From Helm 4.2 on, nulls in default values are dropped.
    drops_default_nulls: bool,
    warnings: BTreeSet<String>,
}

impl<'a> Coalescer<'a> {
    pub(crate) fn new(tree: &'a ChartTree, dialect: Dialect) -> Self {
        Self {
            tree,
            drops_default_nulls: dialect >= Dialect::V4_2,
            warnings: BTreeSet::new(),
        }
    }

    /// The values of a chart: a copy of the given ones over the defaults of the chart and its subcharts.
    ///
    /// # Errors
    /// [`TypeMismatch`] when a subchart's name holds something other than a table.
    pub(crate) fn coalesce(
        &mut self,
        chart: NodeId,
        values: &Map,
        nulls: Nulls,
    ) -> Result<Map, TypeMismatch> {
        let values = deep_copy(values);
        self.chart(chart, &values, "", nulls)?;
        Ok(values)
    }

    /// What a user should know: values that did not fit over defaults. Sorted, without repetition.
    pub(crate) fn into_warnings(self) -> Vec<String> {
        self.warnings.into_iter().collect()
    }

    fn warn(&mut self, text: String) {
        self.warnings.insert(text);
    }

    fn chart(
        &mut self,
        chart: NodeId,
        values: &Map,
        prefix: &str,
        nulls: Nulls,
    ) -> Result<(), TypeMismatch> {
        self.defaults(chart, values, prefix, nulls);
        let prefix = join(prefix, &self.tree.node(chart).name);
        for child in &self.tree.node(chart).children {
            let name = self.tree.node(*child).name.as_str();
            let table = match values.get(name.as_bytes()) {
                Some(Value::Map(table)) => table,
                Some(other) => return Err(type_mismatch(name, other)),
                None => {
                    let table = empty_map();
                    values.insert(name, Value::Map(table.clone()));
                    table
                }
            };
            self.globals(&table, values, &prefix);
            self.chart(*child, &table, &prefix, nulls)?;
        }
        Ok(())
    }

    /// Merges the globals of a parent down into a subchart; the parent's win.
    fn globals(&mut self, child: &Map, parent: &Map, prefix: &str) {
        let table = |map: &Map| match map.get(GLOBAL) {
            None => Some(empty_map()),
            Some(Value::Map(table)) => Some(table),
            Some(_) => None,
        };
        let Some(below) = table(child) else {
            self.warn(
                "warning: skipping globals because destination global is not a table.".into(),
            );
            return;
        };
        let Some(above) = table(parent) else {
            self.warn("warning: skipping globals because source global is not a table.".into());
            return;
        };
        for (key, value) in above.entries() {
            match (&value, below.get(&key)) {
                (Value::Map(table), None) => below.insert(key, Value::Map(fresh(table))),
                (Value::Map(table), Some(Value::Map(old))) => {
                    let table = fresh(table);
                    self.tables(&table, &old, &join(prefix, &key.to_text()), Nulls::Keep);
                    below.insert(key, Value::Map(table));
                }
                (Value::Map(_), Some(_)) => self.warn(format!(
                    "Conflict: cannot merge map onto non-map for {:?}. Skipping.",
                    key.to_text()
                )),
                (_, Some(Value::Map(_))) => {
                    self.warn(format!("key {} is table. Skipping", key.to_text()));
                }
                _ => below.insert(key, value),
            }
        }
        child.insert(Bytes::from(GLOBAL), Value::Map(below));
    }

    /// Puts a chart's own defaults under its values.
    fn defaults(&mut self, chart: NodeId, values: &Map, prefix: &str, nulls: Nulls) {
        let node = self.tree.node(chart);
        let prefix = join(prefix, &node.name);
        let cleans = self.drops_default_nulls && nulls == Nulls::Remove;
        let is_child = |key: &Bytes| {
            node.children
                .iter()
                .any(|child| self.tree.node(*child).name.as_bytes() == &key[..])
        };
        for (key, default) in deep_copy(&node.values).entries() {
            match (values.get(&key), default) {
                (None, Value::Nil) if cleans => {}
                (None, default) => {
                    if let (true, Value::Map(table)) = (cleans, &default) {
                        remove_nulls(table);
                    }
                    values.insert(key, default);
                }
                (Some(Value::Nil), _) => {
                    if nulls == Nulls::Remove {
                        values.remove(&key);
                    }
                }
                (Some(Value::Map(table)), Value::Map(default)) => {
                    // A subchart's table keeps its nulls, so that the subchart's own defaults can be removed by them.
                    let nulls = if is_child(&key) { Nulls::Keep } else { nulls };
                    if cleans && nulls == Nulls::Remove {
                        remove_nulls(&default);
                    }
                    self.tables(&table, &default, &join(&prefix, &key.to_text()), nulls);
                }
                (Some(Value::Map(_)), default) => {
                    if !matches!(default, Value::Nil) {
                        self.warn(format!(
                            "warning: skipped value for {prefix}.{}: Not a table.",
                            key.to_text()
                        ));
                    }
                }
                (Some(_), _) => {}
            }
        }
    }

    fn tables(&mut self, above: &Map, below: &Map, prefix: &str, nulls: Nulls) {
        merge_tables(above, below, prefix, nulls, &mut |warning| {
            self.warnings.insert(warning);
        });
    }
}

/// Puts one table under another; what is above wins. Maps that are only below become shared.
pub(crate) fn merge_tables(
    above: &Map,
    below: &Map,
    prefix: &str,
    nulls: Nulls,
    warn: &mut dyn FnMut(String),
) {
    merge_at_depth(above, below, prefix, nulls, warn, 0);
}

fn merge_at_depth(
    above: &Map,
    below: &Map,
    prefix: &str,
    nulls: Nulls,
    warn: &mut dyn FnMut(String),
    depth: usize,
) {
    // Only a table that was put into itself is deeper than what was read, and such values are refused afterwards.
    if depth > 2 * MAX_VALUES_DEPTH {
        return;
    }
    let had_value: BTreeSet<Bytes> = below
        .entries()
        .into_iter()
        .filter(|(_, value)| !matches!(value, Value::Nil))
        .map(|(key, _)| key)
        .collect();
    for (key, value) in above.entries() {
        if matches!(value, Value::Nil) {
            below.insert(key, Value::Nil);
        }
    }
    for (key, default) in below.entries() {
        match (above.get(&key), &default) {
            (None, _) => above.insert(key, default),
            // A null of the user's removes a default, but stays where there is none.
            (Some(Value::Nil), _) if nulls == Nulls::Remove && had_value.contains(&key) => {
                above.remove(&key);
            }
            (Some(Value::Map(table)), Value::Map(default)) => {
                let prefix = join(prefix, &key.to_text());
                merge_at_depth(&table, default, &prefix, nulls, warn, depth + 1);
            }
            (Some(_), Value::Map(_)) => warn(format!(
                "warning: cannot overwrite table with non table for {} ({})",
                join(prefix, &key.to_text()),
                printed(&default)
            )),
            (Some(Value::Map(_)), other) if !matches!(other, Value::Nil) => warn(format!(
                "warning: destination for {} is a table. Ignoring non-table value ({})",
                join(prefix, &key.to_text()),
                printed(other)
            )),
            _ => {}
        }
    }
}

fn remove_nulls(map: &Map) {
    for (key, value) in map.entries() {
        match value {
            Value::Nil => {
                map.remove(&key);
            }
            Value::Map(below) => remove_nulls(&below),
            _ => {}
        }
    }
}

fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() {
        name.to_owned()
    } else {
        format!("{prefix}.{name}")
    }
}

fn printed(value: &Value) -> String {
    String::from_utf8_lossy(&format::sprintf(b"%v", std::slice::from_ref(value))).into_owned()
}

fn type_mismatch(chart: &str, value: Value) -> TypeMismatch {
    let value = String::from_utf8_lossy(&format::sprintf(b"%t", &[value])).into_owned();
    TypeMismatch {
        chart: chart.to_owned(),
        value,
    }
}
