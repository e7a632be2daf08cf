//! A chart and its subcharts as one rendering sees them: some renamed, some left out, some there twice.

use crate::{chart::Chart, metadata::Dependency, values::values_from_json};
use std::{cell::RefCell, rc::Rc, sync::Arc};
use whipstaff_gotemplate::Map;

/// Index of a chart in a [`ChartTree`].
pub(crate) type NodeId = usize;

/// A declared dependency. Copies of a chart share it in Helm 3, so that a renaming shows in all of them.
pub(crate) type Declared = Rc<RefCell<Dependency>>;

/// All charts of one rendering. The root is the first.
#[derive(Debug)]
pub(crate) struct ChartTree {
    nodes: Vec<Node>,
}

/// A chart's place in a rendering.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// Where files, schema and metadata are.
    pub(crate) chart: Arc<Chart>,
    /// The chart's name, or its alias.
    pub(crate) name: String,
    /// Declared dependencies, if the chart has a list of them.
    pub(crate) declared: Option<Vec<Declared>>,
    /// Default values: those of the chart, with imported ones.
    pub(crate) values: Map,
    /// Subcharts in the order in which they are processed.
    pub(crate) children: Vec<NodeId>,
    /// The chart that this one belongs to.
    pub(crate) parent: Option<NodeId>,
}

impl ChartTree {
    /// The root chart.
    pub(crate) const ROOT: NodeId = 0;

    /// A tree of all charts that were loaded.
    pub(crate) fn new(chart: &Arc<Chart>) -> Self {
        let mut tree = Self { nodes: Vec::new() };
        tree.add_chart(chart, None);
        tree
    }

    fn add_chart(&mut self, chart: &Arc<Chart>, parent: Option<NodeId>) -> NodeId {
        let declared = chart.metadata.dependencies.as_ref();
        let share = |dependency: &Dependency| Rc::new(RefCell::new(dependency.clone()));
        let node = self.add(Node {
            chart: Arc::clone(chart),
            name: chart.name().to_owned(),
            declared: declared.map(|list| list.iter().map(share).collect()),
            values: values_from_json(&chart.values),
            children: Vec::new(),
            parent,
        });
        for subchart in &chart.dependencies {
            let child = self.add_chart(subchart, Some(node));
            self.nodes[node].children.push(child);
        }
        node
    }

    /// Adds a chart that nothing refers to yet.
    pub(crate) fn add(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Number of charts, left out ones included.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// A chart.
    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id]
    }

    /// A chart, to change it.
    pub(crate) fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id]
    }

    /// Replaces the subcharts of a chart and makes it their parent.
    pub(crate) fn set_children(&mut self, id: NodeId, children: Vec<NodeId>) {
        for child in &children {
            self.nodes[*child].parent = Some(id);
        }
        self.nodes[id].children = children;
    }

    /// The path that a chart's files have in output: `shop/charts/database`.
    pub(crate) fn full_path(&self, id: NodeId) -> String {
        let mut names = vec![self.nodes[id].name.as_str()];
        let mut at = id;
        while let Some(parent) = self.nodes[at].parent {
            names.push(self.nodes[parent].name.as_str());
            at = parent;
        }
        names.reverse();
        names.join("/charts/")
    }
}
