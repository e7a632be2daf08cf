//! Components that depend on others: who waits for whom, when they are deleted, and who is woken.

use super::error::ReconcileError;
use super::resource::Component;
use super::run::Run;
use crate::api::v1alpha1::DependsOn;
use crate::cluster::{ComponentName, Resource, Versions, WatchedQuestion};
use crate::status::Expression;
use kube::ResourceExt;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc::UnboundedSender;

/// A resource by kind, namespace and name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Node {
    group: String,
    kind: String,
    namespace: String,
    name: String,
}

impl Node {
    /// A component itself.
    pub(crate) fn of<C: Component>(component: &C) -> Self {
        Self {
            group: C::group(&()).into_owned(),
            kind: C::kind(&()).into_owned(),
            namespace: component.namespace().unwrap_or_default(),
            name: component.name_any(),
        }
    }

    /// What a component depends on.
    fn of_dependency<C: Component>(component: &C, dependency: &DependsOn) -> Self {
        let (api_version, kind) = kind_of::<C>(dependency);
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        let own = || component.namespace().unwrap_or_default();
        Self {
            group: group.to_owned(),
            kind,
            namespace: dependency.namespace.clone().unwrap_or_else(own),
            name: dependency.name.clone(),
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}/{}", self.kind, self.namespace, self.name)
    }
}

/// API version and kind of a dependency: those of the component itself when it names none.
fn kind_of<C: Component>(dependency: &DependsOn) -> (String, String) {
    let api_version = dependency.api_version.clone();
    let kind = dependency.kind.clone();
    (
        api_version.unwrap_or_else(|| C::api_version(&()).into_owned()),
        kind.unwrap_or_else(|| C::kind(&()).into_owned()),
    )
}

/// What the components of an operator depend on, all kinds of them together.
#[derive(Clone, Default)]
pub(crate) struct Graph {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    wake: HashMap<(String, String), UnboundedSender<ComponentName>>,
    dependencies: HashMap<Node, BTreeSet<Node>>,
    dependants: HashMap<Node, BTreeSet<Node>>,
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph")
            .field("nodes", &self.state().dependencies.len())
            .finish_non_exhaustive()
    }
}

impl Graph {
    /// Says how components of a kind are woken.
    pub(crate) fn register<C: Component>(&self, wake: UnboundedSender<ComponentName>) {
        let kind = (C::group(&()).into_owned(), C::kind(&()).into_owned());
        self.state().wake.insert(kind, wake);
    }

    /// Takes a component up as it is now. A change wakes all that depend on it, directly or not: a cycle may have come or gone.
    pub(crate) fn update<C: Component>(&self, component: &C) {
        let wanted = component.depends_on();
        let wanted = wanted.iter().map(|d| Node::of_dependency(component, d));
        self.state()
            .set(&Node::of(component), Some(wanted.collect()));
    }

    /// Forgets a component. What it depended on is woken: it may wait to be deleted.
    pub(crate) fn remove<C: Component>(&self, component: &C) {
        self.state().set(&Node::of(component), None);
    }

    /// Forgets all components of a kind that are not among those that there are.
    pub(crate) fn retain<C: Component>(&self, present: &BTreeSet<ComponentName>) {
        let mut state = self.state();
        let (group, kind) = (C::group(&()), C::kind(&()));
        let known = state.dependencies.keys();
        let gone = known.filter(|node| {
            let name = (node.namespace.clone(), node.name.clone());
            node.group == group && node.kind == kind && !present.contains(&name)
        });
        for node in gone.cloned().collect::<Vec<_>>() {
            state.set(&node, None);
        }
    }

    /// Wakes whatever depends on a component, because its readiness changed.
    pub(crate) fn wake_dependants(&self, node: &Node) {
        let state = self.state();
        for dependant in state.dependants.get(node).into_iter().flatten() {
            state.wake(dependant);
        }
    }

    /// Whether a component is one of this operator's.
    fn contains(&self, node: &Node) -> bool {
        self.state().dependencies.contains_key(node)
    }

    /// Components that must be gone before this one may go; those that it depends on itself do not count.
    fn dependants(&self, node: &Node) -> Vec<Node> {
        let state = self.state();
        let direct = state.dependants.get(node).into_iter().flatten();
        direct
            .filter(|dependant| state.path(node, dependant).is_none())
            .cloned()
            .collect()
    }

    /// A way from a component to itself, if there is one.
    fn cycle(&self, node: &Node) -> Option<Vec<Node>> {
        self.state().path(node, node)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that holds the lock can leave the maps half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn set(&mut self, node: &Node, wanted: Option<BTreeSet<Node>>) {
        let known = self.dependencies.get(node);
        if known == wanted.as_ref() {
            return;
        }
        let is_new = known.is_none();
        let known = known.cloned().unwrap_or_default();
        for dependency in &known {
            if let Some(dependants) = self.dependants.get_mut(dependency) {
                dependants.remove(node);
                if dependants.is_empty() {
                    self.dependants.remove(dependency);
                }
            }
        }
        for dependency in wanted.iter().flatten() {
            let dependants = self.dependants.entry(dependency.clone()).or_default();
            dependants.insert(node.clone());
        }
        let is_gone = wanted.is_none();
        match wanted {
            Some(wanted) => self.dependencies.insert(node.clone(), wanted),
            None => self.dependencies.remove(node),
        };
        if is_gone || is_new || !known.is_empty() {
            for dependency in &known {
                self.wake(dependency);
            }
        }
        self.wake_all_dependants(node);
    }

    fn wake_all_dependants(&self, node: &Node) {
        let mut seen = BTreeSet::from([node]);
        let mut next = vec![node];
        while let Some(node) = next.pop() {
            for dependant in self.dependants.get(node).into_iter().flatten() {
                if seen.insert(dependant) {
                    self.wake(dependant);
                    next.push(dependant);
                }
            }
        }
    }

    fn wake(&self, node: &Node) {
        if !self.dependencies.contains_key(node) {
            return;
        }
        let kind = (node.group.clone(), node.kind.clone());
        if let Some(wake) = self.wake.get(&kind) {
            // Fails only while the operator stops: then nobody is left to wake.
            let _ = wake.send((node.namespace.clone(), node.name.clone()));
        }
    }

    /// The shortest way from a component over what it depends on to another.
    fn path(&self, from: &Node, to: &Node) -> Option<Vec<Node>> {
        let mut reached_from: BTreeMap<&Node, &Node> = BTreeMap::new();
        let mut next = std::collections::VecDeque::from([from]);
        while let Some(node) = next.pop_front() {
            for dependency in self.dependencies.get(node).into_iter().flatten() {
                if dependency == to {
                    let mut path = vec![to.clone(), node.clone()];
                    let mut at = node;
                    while at != from {
                        let Some(before) = reached_from.get(at) else {
                            break;
                        };
                        at = before;
                        path.push(at.clone());
                    }
                    path.reverse();
                    return Some(path);
                }
                if dependency != from && !reached_from.contains_key(dependency) {
                    reached_from.insert(dependency, node);
                    next.push_back(dependency);
                }
            }
        }
        None
    }
}

impl<C: Component> Run<'_, C> {
    /// Refuses as long as something that the component depends on is not ready, and watches it.
    pub(super) async fn check_dependencies(&mut self) -> Result<(), ReconcileError> {
        let graph = &self.context.graph;
        if let Some(cycle) = graph.cycle(&Node::of(self.component)) {
            let names: Vec<_> = cycle.iter().map(ToString::to_string).collect();
            let cycle = names.join(" → ");
            return Err(ReconcileError::DependencyCycle { cycle });
        }
        let mut waiting = Vec::new();
        let mut questions = BTreeMap::new();
        for dependency in self.component.depends_on() {
            let node = Node::of_dependency(self.component, &dependency);
            let (api_version, kind) = kind_of::<C>(&dependency);
            let Some(resource) = self.local_resource(&api_version, &kind).await? else {
                waiting.push(format!("{node}: the cluster does not serve its kind"));
                continue;
            };
            let found = self
                .local
                .read(&resource, &node.namespace, &node.name)
                .await;
            let found = found.map_err(|cause| ReconcileError::ReadDependency {
                name: node.to_string(),
                cause,
            })?;
            if !graph.contains(&node) {
                questions.extend([question(&node, resource, &self.identity, found.as_ref())]);
            }
            let problem = match &found {
                None => Some("it does not exist".to_owned()),
                Some(object) => unready(object, &dependency)?,
            };
            waiting.extend(problem.map(|problem| format!("{node}: {problem}")));
        }
        let watches = &self.context.dependency_watches;
        watches.require(&self.component_name(), &self.local_client, questions);
        if waiting.is_empty() {
            return Ok(());
        }
        Err(ReconcileError::Dependencies { waiting })
    }

    async fn local_resource(
        &self,
        api_version: &str,
        kind: &str,
    ) -> Result<Option<Resource>, ReconcileError> {
        let discovery = &self.context.local.discovery;
        let known = discovery.resources().await?.get(api_version, kind).cloned();
        if known.is_some() {
            return Ok(known);
        }
        let fresh = discovery.fresh_resources().await?;
        Ok(fresh.get(api_version, kind).cloned())
    }

    /// Refuses as long as others depend on the component that is to be deleted.
    pub(super) fn check_dependants(&self) -> Result<(), ReconcileError> {
        let dependants = self.context.graph.dependants(&Node::of(self.component));
        if dependants.is_empty() {
            return Ok(());
        }
        let dependants = dependants.iter().map(ToString::to_string).collect();
        Err(ReconcileError::DependedOn { dependants })
    }
}

fn question(
    node: &Node,
    resource: Resource,
    identity: &str,
    found: Option<&Value>,
) -> (WatchedQuestion, Versions) {
    let name = (node.namespace.clone(), node.name.clone());
    let version = found.and_then(|object| object.pointer("/metadata/resourceVersion")?.as_str());
    let versions = version.map(|version| (name, version.to_owned()));
    let question = WatchedQuestion {
        identity: identity.to_owned(),
        namespace: if resource.namespaced {
            node.namespace.clone()
        } else {
            String::new()
        },
        resource,
        name: node.name.clone(),
        selector: String::new(),
    };
    (question, Versions::from_iter(versions))
}

/// Why what a dependency leads to is not ready, if it is not.
fn unready(object: &Value, dependency: &DependsOn) -> Result<Option<String>, ReconcileError> {
    if object.pointer("/metadata/deletionTimestamp").is_some() {
        return Ok(Some("it is being deleted".to_owned()));
    }
    let condition = match (&dependency.condition, &dependency.ready) {
        (Some(condition), _) => Some(condition.as_str()),
        (None, Some(_)) => None,
        (None, None) => Some("Ready"),
    };
    let problem = condition.and_then(|condition| without_condition(object, condition));
    if problem.is_some() {
        return Ok(problem);
    }
    let Some(source) = &dependency.ready else {
        return Ok(None);
    };
    let expression = Expression::compile(source).map_err(ReconcileError::DependencyReady)?;
    Ok(match expression.holds(object) {
        Ok(true) => None,
        Ok(false) => Some(format!("{} is false", expression.describe())),
        Err(problem) => Some(problem),
    })
}

/// Why one of an object's conditions does not hold, if it does not.
fn without_condition(object: &Value, type_: &str) -> Option<String> {
    let generation = object
        .pointer("/metadata/generation")
        .and_then(Value::as_i64);
    let conditions = object.pointer("/status/conditions");
    let mut conditions = conditions.and_then(Value::as_array).into_iter().flatten();
    let text = |condition: &Value, field: &str| {
        let value = condition.get(field).and_then(Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    let Some(condition) = conditions.find(|condition| text(condition, "type") == type_) else {
        return Some(format!("it has no condition `{type_}`"));
    };
    let observed = condition.get("observedGeneration").and_then(Value::as_i64);
    let observed = observed.or_else(|| {
        let status = object.pointer("/status/observedGeneration");
        status.and_then(Value::as_i64)
    });
    if observed.is_some() && generation.is_some() && observed != generation {
        return Some("its last change was not reconciled yet".to_owned());
    }
    match text(condition, "status").as_str() {
        "True" => None,
        status => {
            let reason = text(condition, "reason");
            Some(format!("`{type_}` is {status} ({reason})"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::v1alpha1::Component as Resource;
    use serde_json::json;

    fn component(name: &str, dependencies: &[&str]) -> Resource {
        let dependencies: Vec<_> = dependencies
            .iter()
            .map(|name| json!({ "name": name }))
            .collect();
        serde_json::from_value(json!({
            "apiVersion": "whipstaff.dev/v1alpha1", "kind": "Component",
            "metadata": {"name": name, "namespace": "n"},
            "spec": {"source": {}, "dependsOn": dependencies},
        }))
        .unwrap()
    }

    fn names(nodes: &[Node]) -> Vec<&str> {
        nodes.iter().map(|node| node.name.as_str()).collect()
    }

    #[test]
    fn cycles_are_found_from_every_member_and_hold_up_no_deletion() {
        let graph = Graph::default();
        let (wake, mut woken) = tokio::sync::mpsc::unbounded_channel();
        graph.register::<Resource>(wake);
        let node = |name| Node::of(&component(name, &[]));
        for (name, dependencies) in [("a", ["b"]), ("b", ["c"]), ("c", ["a"]), ("d", ["a"])] {
            graph.update(&component(name, &dependencies));
        }
        assert_eq!(
            names(&graph.cycle(&node("a")).unwrap()),
            ["a", "b", "c", "a"]
        );
        assert_eq!(
            names(&graph.cycle(&node("b")).unwrap()),
            ["b", "c", "a", "b"]
        );
        assert_eq!(graph.cycle(&node("d")), None);
        assert_eq!(names(&graph.dependants(&node("a"))), ["d"]);

        while woken.try_recv().is_ok() {}
        graph.update(&component("c", &[]));
        let mut told = BTreeSet::new();
        while let Ok((_, name)) = woken.try_recv() {
            told.insert(name);
        }
        assert!(
            told.contains("a") && told.contains("b") && told.contains("d"),
            "{told:?}"
        );
        assert_eq!(graph.cycle(&node("a")), None);
        assert_eq!(names(&graph.dependants(&node("c"))), ["b"]);
        graph.remove(&component("b", &[]));
        assert_eq!(woken.try_recv().unwrap().1, "c");
    }

    #[test]
    fn readiness_is_that_of_the_present_generation() {
        let object = |condition: Value, observed: i64| json!({"metadata": {"generation": 2}, "status": {"observedGeneration": observed, "conditions": [condition]}});
        let ready = json!({"type": "Ready", "status": "True"});
        assert_eq!(without_condition(&object(ready.clone(), 2), "Ready"), None);
        assert!(without_condition(&object(ready.clone(), 1), "Ready").is_some());
        assert!(without_condition(&object(ready, 2), "Available").is_some());
        let old = json!({"type": "Ready", "status": "True", "observedGeneration": 1});
        assert!(without_condition(&object(old, 2), "Ready").is_some());
        let not = json!({"type": "Ready", "status": "False", "reason": "Broken"});
        assert!(
            without_condition(&object(not, 2), "Ready")
                .unwrap()
                .contains("Broken")
        );
        assert!(without_condition(&json!({}), "Ready").is_some());
    }
}
