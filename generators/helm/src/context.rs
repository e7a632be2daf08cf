//! What templates see: `.Values`, `.Release`, `.Chart`, `.Files`, `.Capabilities`, `.Subcharts` (Helm 4.3, `pkg/engine/engine.go`).
//!
//! All templates of a chart share one map, so that what one of them sets is seen by those that run after it.

use crate::{
    capabilities::RenderCapabilities,
    chart_object::chart_object,
    files::Files,
    tree::{ChartTree, NodeId},
    values::{empty_map, table},
};
use std::{collections::BTreeMap, sync::Arc};
use whipstaff_gotemplate::{Dialect, Map, MapType, Value};

/// What a rendering is for: `.Release`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseObject {
    /// Name of the release.
    pub name: String,
    /// Namespace of the release.
    pub namespace: String,
    /// Counts from one.
    pub revision: i64,
    /// Whether something was installed before.
    pub is_upgrade: bool,
}

/// A template and the context that it is rendered with.
#[derive(Debug)]
pub(crate) struct Renderable {
    /// The text.
    pub(crate) source: Arc<[u8]>,
    /// The map that all templates of its chart share.
    pub(crate) context: Map,
    /// `shop/templates`.
    pub(crate) base_path: String,
}

/// The map type of Helm's `Values`.
pub(crate) fn values_type(dialect: Dialect) -> MapType {
    if dialect.is_v4() {
        MapType::VALUES_V4
    } else {
        MapType::VALUES_V3
    }
}

/// Everything that contexts are made of.
#[derive(Debug)]
pub(crate) struct ContextBuilder<'a> {
    pub(crate) tree: &'a ChartTree,
    pub(crate) dialect: Dialect,
    pub(crate) release: Value,
    pub(crate) capabilities: Value,
}

impl<'a> ContextBuilder<'a> {
    pub(crate) fn new(
        tree: &'a ChartTree,
        dialect: Dialect,
        release: &ReleaseObject,
        capabilities: &RenderCapabilities,
    ) -> Self {
        let release = Value::map([
            ("Name", Value::from(release.name.as_str())),
            ("Namespace", Value::from(release.namespace.as_str())),
            ("IsUpgrade", Value::Bool(release.is_upgrade)),
            ("IsInstall", Value::Bool(!release.is_upgrade)),
            ("Revision", Value::int(release.revision)),
            ("Service", Value::from("Helm")),
        ]);
        Self {
            tree,
            dialect,
            release,
            capabilities: capabilities.to_value(dialect),
        }
    }

    /// All templates by their paths, with their contexts. Of two charts with the same path, the later one's templates are kept.
    pub(crate) fn renderables(&self, values: &Map) -> BTreeMap<String, Renderable> {
        let mut templates = BTreeMap::new();
        let values = values.with_type(values_type(self.dialect));
        self.add_chart(ChartTree::ROOT, &values, &mut templates);
        templates
    }

    fn add_chart(
        &self,
        chart: NodeId,
        values: &Map,
        templates: &mut BTreeMap<String, Renderable>,
    ) -> Map {
        let node = self.tree.node(chart);
        let subcharts = empty_map();
        let context = Value::map([
            ("Chart", chart_object(self.tree, chart, self.dialect)),
            (
                "Files",
                Value::host(Files::new(&node.chart.files, self.dialect)),
            ),
            ("Release", self.release.clone()),
            ("Capabilities", self.capabilities.clone()),
            ("Values", Value::Map(values.clone())),
            ("Subcharts", Value::Map(subcharts.clone())),
        ]);
        let Value::Map(context) = context else {
            return subcharts;
        };
        for child in &node.children {
            let name = &self.tree.node(*child).name;
            let below = table(values, name).unwrap_or_else(empty_map);
            let below = below.with_type(values_type(self.dialect));
            let subchart = self.add_chart(*child, &below, templates);
            subcharts.insert(name.as_str(), Value::Map(subchart));
        }
        let path = self.tree.full_path(chart);
        for template in &node.chart.templates {
            if node.chart.is_library() && !is_partial(&template.name) {
                continue;
            }
            let renderable = Renderable {
                source: Arc::clone(&template.data),
                context: context.clone(),
                base_path: format!("{path}/templates"),
            };
            templates.insert(format!("{path}/{}", template.name), renderable);
        }
        context
    }
}

/// Whether a file only defines templates: its name starts with `_`.
pub(crate) fn is_partial(path: &str) -> bool {
    path.rsplit('/').next().unwrap_or_default().starts_with('_')
}
