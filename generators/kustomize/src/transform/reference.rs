//! Names of objects in other objects.
//!
//! Mirrors `filters/nameref` and `internal/accumulator/namereferencetransformer.go` of kustomize api v0.21.1. Candidates are found
//! by their previous names and namespaces, so that objects are not compared with each other.

use super::field::visit_field;
use crate::configuration::{FieldSpec, NameReference};
use crate::error::{Result, fail};
use crate::go_text::json_of;
use crate::node::{Kind, Node, NodeId};
use crate::resource::{Gvk, Id, Resource, Store, annotation};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

/// Rewrites names of objects that have been renamed or moved.
///
/// # Errors
/// When a name may mean several objects.
pub(crate) fn fix_references(
    store: &mut Store,
    resources: &[Resource],
    references: &[NameReference],
) -> Result<()> {
    let index = Index::new(store, resources)?;
    let by_kind = SpecIndex::new(references);
    for (at, resource) in resources.iter().enumerate() {
        let Some(original) = index.originals.get(at) else {
            continue;
        };
        let specs = by_kind.of(&original.gvk);
        if specs.is_empty() {
            continue;
        }
        let scope = Scope::new(store, resource)?;
        for (target, spec) in specs {
            let fixer = Fixer {
                index: &index,
                resources,
                referrer: resource,
                scope: &scope,
                target,
                spec,
            };
            fixer.run(store)?;
        }
    }
    Ok(())
}

/// Field specifications by the kinds of the referrers.
struct SpecIndex<'r> {
    all: Vec<(&'r NameReference, &'r FieldSpec)>,
    by_kind: HashMap<&'r str, Vec<usize>>,
    any_kind: Vec<usize>,
}

impl<'r> SpecIndex<'r> {
    fn new(references: &'r [NameReference]) -> Self {
        let mut index = Self {
            all: Vec::new(),
            by_kind: HashMap::new(),
            any_kind: Vec::new(),
        };
        for reference in references {
            for spec in &*reference.field_specs.0 {
                let at = index.all.len();
                index.all.push((reference, spec));
                if spec.kind.is_empty() {
                    index.any_kind.push(at);
                } else {
                    index.by_kind.entry(&spec.kind).or_default().push(at);
                }
            }
        }
        index
    }

    fn of(&self, gvk: &Gvk) -> Vec<(Gvk, &'r FieldSpec)> {
        let own = self
            .by_kind
            .get(gvk.kind.as_str())
            .map_or(&[][..], Vec::as_slice);
        let places: BTreeSet<usize> = own.iter().chain(&self.any_kind).copied().collect();
        places
            .into_iter()
            .filter_map(|at| self.all.get(at))
            .filter(|(_, spec)| spec.selects(gvk))
            .map(|(reference, spec)| (reference.gvk(), *spec))
            .collect()
    }
}

/// The objects that were renamed or moved.
struct Index {
    /// Original ids of all objects.
    originals: Vec<Id>,
    /// Places by previous names, and by the current namespaces in them.
    by_name: HashMap<String, HashMap<String, Vec<usize>>>,
    by_original_namespace: HashMap<String, Vec<usize>>,
    previous: Vec<Vec<Id>>,
    current: Vec<Id>,
}

impl Index {
    fn new(store: &Store, resources: &[Resource]) -> Result<Self> {
        let mut index = Self {
            originals: Vec::with_capacity(resources.len()),
            by_name: HashMap::new(),
            by_original_namespace: HashMap::new(),
            previous: Vec::with_capacity(resources.len()),
            current: Vec::with_capacity(resources.len()),
        };
        for (at, resource) in resources.iter().enumerate() {
            let previous = resource.previous_ids(store)?;
            let current = resource.current_id(store);
            for id in &previous {
                let namespaces = index.by_name.entry(id.name.clone()).or_default();
                let places = namespaces
                    .entry(current.effective_namespace().to_owned())
                    .or_default();
                if places.last() != Some(&at) {
                    places.push(at);
                }
            }
            let original = previous.first().unwrap_or(&current).clone();
            let namespace = original.effective_namespace().to_owned();
            index
                .by_original_namespace
                .entry(namespace)
                .or_default()
                .push(at);
            index.originals.push(original);
            index.previous.push(previous);
            index.current.push(current);
        }
        Ok(index)
    }

    fn current(&self, at: usize) -> Option<&Id> {
        self.current.get(at)
    }
}

/// What a referrer may refer to.
struct Scope {
    id: Id,
    /// Namespaces of the service accounts that a role binding is for.
    binding_namespaces: BTreeSet<String>,
    role: Option<Gvk>,
}

impl Scope {
    fn new(store: &mut Store, referrer: &Resource) -> Result<Self> {
        let id = referrer.current_id(store);
        Ok(Self {
            binding_namespaces: binding_namespaces(store, referrer, &id)?,
            role: role_gvk(store, referrer),
            id,
        })
    }

    /// The objects with a previous name, in their order.
    fn candidates(&self, index: &Index, name: &str) -> Vec<usize> {
        let Some(namespaces) = index.by_name.get(name) else {
            return Vec::new();
        };
        let mut places: Vec<usize> = if self.id.is_cluster_scoped {
            namespaces.values().flatten().copied().collect()
        } else {
            let none = Id {
                is_cluster_scoped: true,
                ..Id::default()
            };
            let mut wanted = BTreeSet::from([
                none.effective_namespace().to_owned(),
                self.id.effective_namespace().to_owned(),
            ]);
            wanted.extend(self.binding_namespaces.iter().map(|namespace| {
                let id = Id {
                    namespace: namespace.clone(),
                    ..Id::default()
                };
                id.effective_namespace().to_owned()
            }));
            let found = wanted
                .iter()
                .filter_map(|namespace| namespaces.get(namespace));
            found.flatten().copied().collect()
        };
        places.sort_unstable();
        places
    }
}

fn binding_namespaces(store: &Store, referrer: &Resource, id: &Id) -> Result<BTreeSet<String>> {
    let mut namespaces = BTreeSet::new();
    let arena = &store.arena;
    let subjects = referrer
        .node()
        .and_then(|root| arena.field(root, "subjects"));
    let Some(subjects) = subjects.filter(|_| id.gvk.kind == "RoleBinding") else {
        return Ok(namespaces);
    };
    if arena.get(subjects).kind != Kind::Sequence {
        return Ok(namespaces);
    }
    for subject in &arena.get(subjects).children {
        let Some(namespace) = arena
            .field(*subject, "namespace")
            .map(|node| arena.get(node))
        else {
            continue;
        };
        if arena.field_text(*subject, "kind") != "ServiceAccount" {
            continue;
        }
        if namespace.is_null() || namespace.kind != Kind::Scalar {
            return Err(fail(format!(
                "Invalid Input: namespace is blank for resource {:?}\n",
                id.to_string()
            )));
        }
        namespaces.insert(namespace.text.clone());
    }
    Ok(namespaces)
}

/// The type that a role reference names.
fn role_gvk(store: &mut Store, referrer: &Resource) -> Option<Gvk> {
    let root = referrer.node()?;
    let arena = &store.arena;
    let role = arena.field(root, "roleRef")?;
    let group = arena.field(role, "apiGroup")?;
    let kind = arena.field(role, "kind")?;
    Some(Gvk {
        group: arena.get(group).text.clone(),
        version: String::new(),
        kind: arena.get(kind).text.clone(),
    })
}

struct Fixer<'a> {
    index: &'a Index,
    resources: &'a [Resource],
    referrer: &'a Resource,
    scope: &'a Scope,
    target: Gvk,
    spec: &'a FieldSpec,
}

impl Fixer<'_> {
    fn run(&self, store: &mut Store) -> Result<()> {
        let gvk = self.referrer.gvk(store);
        let spec = FieldSpec {
            group: gvk.group.into(),
            version: gvk.version.into(),
            kind: gvk.kind.into(),
            path: self.spec.path.clone(),
            create: false,
        };
        visit_field(store, self.referrer, &spec, &None, &mut |store, node| {
            self.fix(store, node)
        })
        .map_err(|error| {
            error.within(format!(
                "updating name reference in '{}' field of '{}'",
                self.spec.path, self.scope.id
            ))
        })
    }

    fn fix(&self, store: &mut Store, node: NodeId) -> Result<()> {
        let found = store.arena.get(node);
        if found.is_null() {
            return Ok(());
        }
        match found.kind {
            Kind::Scalar => self.fix_scalar(store, node),
            Kind::Mapping => self.fix_mapping(store, node),
            Kind::Sequence => {
                for item in found.children.clone() {
                    let item_node = store.arena.get(item);
                    if item_node.is_null() {
                        continue;
                    }
                    match item_node.kind {
                        Kind::Scalar => self.fix_scalar(store, item)?,
                        Kind::Mapping => self.fix_mapping(store, item)?,
                        _ => {
                            return Err(fail(
                                "item is expected to be either a string or a map of string",
                            ));
                        }
                    }
                }
                Ok(())
            }
            Kind::Zero => Err(fail("node must be a scalar, sequence or map")),
        }
    }

    fn fix_scalar(&self, store: &mut Store, node: NodeId) -> Result<()> {
        let old = store.arena.get(node).text.clone();
        let candidates = self.scope.candidates(self.index, &old);
        let Some(referral) = self.choose(store, candidates, false)? else {
            return Ok(());
        };
        let name = referral.name(store).to_owned();
        // Go drops a text that is empty instead of writing it.
        if name == old || name.is_empty() {
            return Ok(());
        }
        let new = store.arena.add(Node::scalar(name));
        store.arena.set_scalar(node, new)
    }

    fn fix_mapping(&self, store: &mut Store, node: NodeId) -> Result<()> {
        let Some(name_node) = store.arena.field(node, "name") else {
            return Err(fail("path config error; no 'name' field in node"));
        };
        let old = store.arena.get(name_node).text.clone();
        let namespace = store.arena.field(node, "namespace");
        let namespace = namespace.map(|node| store.arena.get(node).text.clone());
        let mut candidates = self.scope.candidates(self.index, &old);
        if let Some(namespace) = namespace {
            candidates = self.in_namespace(candidates, &namespace);
        }
        let Some(referral) = self.choose(store, candidates, true)? else {
            return Ok(());
        };
        let (name, namespace) = (
            referral.name(store).to_owned(),
            referral.namespace(store).to_owned(),
        );
        if name == old && namespace.is_empty() {
            return Ok(());
        }
        for (field, text) in [("name", name), ("namespace", namespace)] {
            if !text.is_empty() {
                let new = store.arena.add(Node::scalar(text));
                store.arena.set_field(node, field, new)?;
            }
        }
        Ok(())
    }

    /// The candidates whose original namespace is this one; if any object is from it at all, else by the current one.
    fn in_namespace(&self, candidates: Vec<usize>, namespace: &str) -> Vec<usize> {
        let is_original = |at: &usize| {
            self.index
                .originals
                .get(*at)
                .is_some_and(|id| id.effective_namespace() == namespace)
        };
        let is_current = |at: &usize| {
            self.index
                .current(*at)
                .is_some_and(|id| id.effective_namespace() == namespace)
        };
        let (from, others): (Vec<_>, Vec<_>) = candidates.into_iter().partition(is_original);
        if from.is_empty() && !self.has_original(namespace) {
            return others.into_iter().filter(is_current).collect();
        }
        from
    }

    /// Whether any object that may be referred to is from a namespace.
    fn has_original(&self, namespace: &str) -> bool {
        let places = self.index.by_original_namespace.get(namespace);
        places.is_some_and(|places| places.iter().any(|at| self.is_reachable(*at)))
    }

    fn is_reachable(&self, at: usize) -> bool {
        let Some(id) = self.index.current(at) else {
            return false;
        };
        self.scope.id.is_cluster_scoped
            || id.is_cluster_scoped
            || id.effective_namespace() == self.scope.id.effective_namespace()
            || self.scope.binding_namespaces.contains(&id.namespace)
    }

    /// The object that a name means.
    fn choose(
        &self,
        store: &Store,
        mut places: Vec<usize>,
        with_namespace: bool,
    ) -> Result<Option<&Resource>> {
        places.retain(|at| self.fits(store, *at));
        if places.len() > 1 || places.is_empty() {
            places.retain(|at| self.has_same_affixes(store, *at, true));
            if places.len() > 1 {
                places.retain(|at| self.has_same_affixes(store, *at, false));
            }
        }
        let found: Vec<&Resource> = places
            .iter()
            .filter_map(|at| self.resources.get(*at))
            .collect();
        let Some((first, others)) = found.split_first() else {
            return Ok(None);
        };
        let is_same = |other: &&&Resource| {
            other.name(store) == first.name(store)
                && (!with_namespace || other.namespace(store) == first.namespace(store))
        };
        if others.iter().all(|other| is_same(&other)) {
            return Ok(Some(first));
        }
        Err(self.ambiguous(store, &found))
    }

    fn fits(&self, store: &Store, at: usize) -> bool {
        let (Some(previous), Some(current), Some(resource)) = (
            self.index.previous.get(at),
            self.index.current(at),
            self.resources.get(at),
        ) else {
            return false;
        };
        let had = |gvk: &Gvk| previous.iter().any(|id| id.gvk.is_selected_by(gvk));
        let fits_role =
            !self.spec.path.ends_with("roleRef/name") || self.scope.role.as_ref().is_none_or(had);
        had(&self.target)
            && fits_role
            && (self.scope.id.is_cluster_scoped
                || current.is_cluster_scoped
                || resource.kind(store) == "ServiceAccount"
                || current.effective_namespace() == self.scope.id.effective_namespace())
    }

    fn has_same_affixes(&self, store: &Store, at: usize, lenient: bool) -> bool {
        let Some(resource) = self.resources.get(at) else {
            return false;
        };
        [annotation::PREFIXES, annotation::SUFFIXES]
            .into_iter()
            .all(|name| {
                let one = resource.annotation(store, name);
                let other = self.referrer.annotation(store, name);
                match (one, other) {
                    (Some(one), Some(other)) => is_tail(one, other) || is_tail(other, one),
                    (None, None) => true,
                    _ => lenient,
                }
            })
    }

    fn ambiguous(&self, store: &Store, found: &[&Resource]) -> crate::error::BuildError {
        let ids: Vec<_> = found
            .iter()
            .map(|resource| resource.current_id(store).to_string())
            .collect();
        let yaml = |resource: &Resource| match resource.value(store) {
            Ok(value) => whipstaff_generator::yaml::to_string(&value),
            Err(_) => json_of(store, resource),
        };
        let mut text = format!(
            "found multiple possible referrals: {}\n\n**** Too many possible referral targets to referrer:\n{}\n",
            ids.join(", "),
            yaml(self.referrer)
        );
        for (at, resource) in found.iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = write!(text, "--- possible referral {at}:\n{}\n", yaml(resource));
        }
        fail(text)
    }
}

/// Whether a list with commas ends in another.
fn is_tail(list: &str, tail: &str) -> bool {
    list.strip_suffix(tail)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with(','))
}

#[cfg(test)]
mod tests {
    use super::is_tail;

    #[test]
    fn lists_end_in_whole_words() {
        assert!(is_tail("a-,b-", "b-"));
        assert!(is_tail("b-", "b-"));
        assert!(!is_tail("ab-", "b-"));
    }
}
