//! Names, namespaces, labels and annotations of objects, and what kustomize keeps in them while it builds.
//!
//! Mirrors `resource/resource.go` of kustomize api v0.21.1 and `yaml/rnode.go` of kyaml v0.21.1.

use super::{Gvk, Id, Resource, Store};
use crate::error::{Result, fail};
use crate::node::{Create, Kind, Node, NodeId, Style};
use std::collections::BTreeMap;

/// The annotations that a build writes for itself.
pub(crate) mod annotation {
    pub(crate) const PREVIOUS_KINDS: &str = "internal.config.kubernetes.io/previousKinds";
    pub(crate) const PREVIOUS_NAMES: &str = "internal.config.kubernetes.io/previousNames";
    pub(crate) const PREVIOUS_NAMESPACES: &str = "internal.config.kubernetes.io/previousNamespaces";
    pub(crate) const PREFIXES: &str = "internal.config.kubernetes.io/prefixes";
    pub(crate) const SUFFIXES: &str = "internal.config.kubernetes.io/suffixes";
    pub(crate) const REF_BY: &str = "internal.config.kubernetes.io/refBy";
    pub(crate) const BEHAVIOR: &str = "internal.config.kubernetes.io/generatorBehavior";
    pub(crate) const NEEDS_HASH: &str = "internal.config.kubernetes.io/needsHashSuffix";
    pub(crate) const ALLOW_NAME_CHANGE: &str = "internal.config.kubernetes.io/allowNameChange";
    pub(crate) const ALLOW_KIND_CHANGE: &str = "internal.config.kubernetes.io/allowKindChange";
    pub(crate) const HELM_GENERATED: &str = "internal.config.kubernetes.io/helm-generated";
    pub(crate) const ORIGIN: &str = "config.kubernetes.io/origin";
    pub(crate) const TRANSFORMATIONS: &str = "alpha.config.kubernetes.io/transformations";
    pub(crate) const LOCAL_CONFIG: &str = "config.kubernetes.io/local-config";
    /// What the names of internal annotations start with.
    pub(crate) const INTERNAL_PREFIX: &str = "internal.config.kubernetes.io/";
    /// Other names that count as internal.
    pub(crate) const LEGACY: [&str; 3] = [
        "config.kubernetes.io/index",
        "config.kubernetes.io/path",
        "config.k8s.io/id",
    ];
    /// The value of a switch that is on.
    pub(crate) const ENABLED: &str = "enabled";
}

/// The annotations that are taken away in the end.
const BUILD_ANNOTATIONS: [&str; 19] = [
    annotation::PREVIOUS_KINDS,
    annotation::PREVIOUS_NAMES,
    annotation::PREFIXES,
    annotation::SUFFIXES,
    annotation::PREVIOUS_NAMESPACES,
    annotation::ALLOW_NAME_CHANGE,
    annotation::ALLOW_KIND_CHANGE,
    annotation::REF_BY,
    annotation::BEHAVIOR,
    annotation::NEEDS_HASH,
    "internal.config.kubernetes.io/path",
    "internal.config.kubernetes.io/index",
    "internal.config.kubernetes.io/seqindent",
    "internal.config.kubernetes.io/id",
    "internal.config.kubernetes.io/annotations-migration-resource-id",
    "config.kubernetes.io/path",
    "config.kubernetes.io/index",
    "config.k8s.io/id",
    annotation::HELM_GENERATED,
];

/// Texts by their keys, in the order of the keys.
pub(crate) type TextMap = BTreeMap<String, String>;

impl Resource {
    fn metadata(&self, store: &Store) -> Option<NodeId> {
        let root = self.node()?;
        if store.arena.get(root).is_null() {
            return None;
        }
        let metadata = store.arena.field(root, "metadata")?;
        (!store.arena.get(metadata).is_empty_value()).then_some(metadata)
    }

    fn metadata_text<'s>(&self, store: &'s Store, field: &str) -> &'s str {
        let value = self
            .metadata(store)
            .and_then(|metadata| store.arena.field(metadata, field));
        match value.map(|value| store.arena.get(value)) {
            Some(node) if !node.is_empty_value() => &node.text,
            _ => "",
        }
    }

    pub(crate) fn name<'s>(&self, store: &'s Store) -> &'s str {
        self.metadata_text(store, "name")
    }

    pub(crate) fn namespace<'s>(&self, store: &'s Store) -> &'s str {
        self.metadata_text(store, "namespace")
    }

    fn map_node(&self, store: &Store, field: &str) -> Option<NodeId> {
        self.metadata(store)
            .and_then(|metadata| store.arena.field(metadata, field))
    }

    fn map(&self, store: &Store, field: &str) -> TextMap {
        let Some(node) = self.map_node(store, field) else {
            return TextMap::new();
        };
        let text = |id| store.arena.get(id).text.clone();
        store
            .arena
            .pairs(node)
            .map(|(key, value)| (text(key), text(value)))
            .collect()
    }

    pub(crate) fn labels(&self, store: &Store) -> TextMap {
        self.map(store, "labels")
    }

    pub(crate) fn annotations(&self, store: &Store) -> TextMap {
        self.map(store, "annotations")
    }

    pub(crate) fn annotation<'s>(&self, store: &'s Store, name: &str) -> Option<&'s str> {
        let annotations = self.map_node(store, "annotations")?;
        let value = store.arena.field(annotations, name)?;
        Some(&store.arena.get(value).text)
    }

    fn set_map(&self, store: &mut Store, field: &str, map: &TextMap) -> Result<()> {
        let Some(root) = self.node() else {
            return Ok(());
        };
        let metadata = store
            .arena
            .lookup(root, &["metadata"], Create::As(Kind::Mapping))?;
        let Some(metadata) = metadata else {
            return Ok(());
        };
        store.arena.clear_field(metadata, field)?;
        if map.is_empty() {
            return Ok(());
        }
        let Some(node) = store.arena.get_or_create(metadata, field, Kind::Mapping)? else {
            return Ok(());
        };
        // There is nothing in the map yet, so that nothing has to be looked for.
        for (key, value) in map {
            let value = store.arena.add(Node::string(value.clone()));
            store.arena.append_pair(node, key, Style::default(), value);
        }
        Ok(())
    }

    pub(crate) fn set_labels(&self, store: &mut Store, labels: &TextMap) -> Result<()> {
        self.set_map(store, "labels", labels)
    }

    pub(crate) fn set_annotations(&self, store: &mut Store, annotations: &TextMap) -> Result<()> {
        self.set_map(store, "annotations", annotations)
    }

    /// Sets one annotation and leaves the others as they are.
    pub(crate) fn set_annotation(&self, store: &mut Store, name: &str, value: &str) -> Result<()> {
        let Some(root) = self.node() else {
            return Ok(());
        };
        clear_if_empty(store, root)?;
        let path = ["metadata", "annotations"];
        let node = store.arena.lookup(root, &path, Create::As(Kind::Mapping))?;
        let Some(node) = node else { return Ok(()) };
        let value = store.arena.add(Node {
            style: Style::SINGLE_QUOTED,
            ..Node::string(value)
        });
        store.arena.set_field(node, name, value)
    }

    pub(crate) fn set_name(&self, store: &mut Store, name: &str) -> Result<()> {
        match self.node() {
            Some(root) => store.arena.set_path(root, &["metadata", "name"], name),
            None => Ok(()),
        }
    }

    pub(crate) fn set_kind(&self, store: &mut Store, kind: &str) -> Result<()> {
        match self.node() {
            Some(root) => store.arena.set_path(root, &["kind"], kind),
            None => Ok(()),
        }
    }

    pub(crate) fn set_api_version(&self, store: &mut Store, version: &str) -> Result<()> {
        match self.node() {
            Some(root) => store.arena.set_path(root, &["apiVersion"], version),
            None => Ok(()),
        }
    }

    /// Sets the namespace, or takes it away.
    pub(crate) fn set_namespace(&self, store: &mut Store, namespace: &str) -> Result<()> {
        let Some(root) = self.node() else {
            return Ok(());
        };
        if !namespace.is_empty() {
            let path = ["metadata", "namespace"];
            return store.arena.set_path(root, &path, namespace);
        }
        match store.arena.get_field(root, "metadata")? {
            Some(metadata) => store.arena.clear_field(metadata, "namespace"),
            None => Ok(()),
        }
    }

    pub(crate) fn gvk(&self, store: &Store) -> Gvk {
        Gvk::new(self.api_version(store), self.kind(store))
    }

    /// The id that the object has now.
    pub(crate) fn current_id(&self, store: &Store) -> Id {
        Id::current(
            &store.types,
            self.api_version(store),
            self.kind(store),
            self.name(store),
            self.namespace(store),
        )
    }

    /// The ids that the object had before, oldest first.
    ///
    /// # Errors
    /// When the annotations that hold them do not fit each other.
    pub(crate) fn previous_ids(&self, store: &Store) -> Result<Vec<Id>> {
        let Some(names) = self.annotation(store, annotation::PREVIOUS_NAMES) else {
            return Ok(Vec::new());
        };
        let list = |name| self.annotation(store, name).unwrap_or_default().split(',');
        let namespaces = list(annotation::PREVIOUS_NAMESPACES);
        let kinds = list(annotation::PREVIOUS_KINDS);
        let count = names.split(',').count();
        if namespaces.clone().count() != count || kinds.clone().count() != count {
            return Err(fail(
                "number of previous names, number of previous namespaces, number of previous kinds not equal",
            ));
        }
        let api_version = self.api_version(store);
        let ids = names.split(',').zip(namespaces.zip(kinds));
        Ok(ids
            .map(|(name, (namespace, kind))| Id {
                gvk: Gvk::new(api_version, kind),
                name: name.to_owned(),
                namespace: namespace.to_owned(),
                is_cluster_scoped: false,
            })
            .collect())
    }

    /// The oldest id.
    pub(crate) fn original_id(&self, store: &Store) -> Result<Id> {
        let first = self.previous_ids(store)?.into_iter().next();
        Ok(first.unwrap_or_else(|| self.current_id(store)))
    }

    /// All ids, the current one first.
    pub(crate) fn all_ids(&self, store: &Store) -> Result<Vec<Id>> {
        let mut ids = vec![self.current_id(store)];
        ids.extend(self.previous_ids(store)?);
        Ok(ids)
    }

    /// Keeps the current id as a previous one.
    pub(crate) fn store_previous_id(&self, store: &mut Store) -> Result<()> {
        let id = self.current_id(store);
        let namespace = id.effective_namespace().to_owned();
        self.append_to_annotation(store, annotation::PREVIOUS_NAMES, &id.name)?;
        self.append_to_annotation(store, annotation::PREVIOUS_NAMESPACES, &namespace)?;
        self.append_to_annotation(store, annotation::PREVIOUS_KINDS, &id.gvk.kind)
    }

    /// Adds a value to an annotation that is a list with commas.
    pub(crate) fn append_to_annotation(
        &self,
        store: &mut Store,
        name: &str,
        value: &str,
    ) -> Result<()> {
        if value.is_empty() {
            return Ok(());
        }
        let new = match self.annotation(store, name) {
            Some(old) => format!("{old},{value}"),
            None => value.to_owned(),
        };
        self.set_annotation(store, name, &new)
    }

    pub(crate) fn has_switch(&self, store: &Store, name: &str) -> bool {
        self.annotation(store, name) == Some(annotation::ENABLED)
    }

    pub(crate) fn switch_on(&self, store: &mut Store, name: &str) -> Result<()> {
        let mut annotations = self.annotations(store);
        annotations.insert(name.to_owned(), annotation::ENABLED.to_owned());
        self.set_annotations(store, &annotations)
    }

    /// Takes the annotations of the build away.
    pub(crate) fn remove_build_annotations(&self, store: &mut Store) -> Result<()> {
        let mut annotations = self.annotations(store);
        if annotations.is_empty() {
            return Ok(());
        }
        for name in BUILD_ANNOTATIONS {
            annotations.remove(name);
        }
        self.set_annotations(store, &annotations)
    }

    /// Labels, annotations, name and namespace of another object win over nothing here; the other's bookkeeping counts.
    pub(crate) fn merge_metadata_from(&self, store: &mut Store, other: &Self) -> Result<()> {
        let mut labels = other.labels(store);
        labels.extend(self.labels(store));
        self.set_labels(store, &labels)?;
        let own = self.annotations(store);
        let others = other.annotations(store);
        let needs_hash = own.contains_key(annotation::NEEDS_HASH);
        let mut merged = others.clone();
        merged.extend(own);
        for name in BUILD_ANNOTATIONS {
            match others.get(name) {
                Some(value) => merged.insert(name.to_owned(), value.clone()),
                None => merged.remove(name),
            };
        }
        if !needs_hash {
            merged.remove(annotation::NEEDS_HASH);
        }
        self.set_annotations(store, &merged)?;
        let (name, namespace) = (
            other.name(store).to_owned(),
            other.namespace(store).to_owned(),
        );
        self.set_name(store, &name)?;
        self.set_namespace(store, &namespace)
    }

    /// The annotations that no patch may change.
    pub(crate) fn internal_annotations(&self, store: &Store) -> TextMap {
        let mut annotations = self.annotations(store);
        annotations.retain(|name, _| {
            name.starts_with(annotation::INTERNAL_PREFIX)
                || annotation::LEGACY.contains(&name.as_str())
        });
        annotations
    }
}

/// Takes empty annotations away, and metadata that is empty then.
fn clear_if_empty(store: &mut Store, root: NodeId) -> Result<()> {
    let arena = &mut store.arena;
    let Some(metadata) = arena.get_field(root, "metadata")? else {
        return Ok(());
    };
    if let Some(annotations) = arena.get_field(metadata, "annotations")?
        && arena.get(annotations).children.is_empty()
    {
        arena.clear_field(metadata, "annotations")?;
    }
    if arena.get(metadata).children.is_empty() {
        arena.clear_field(root, "metadata")?;
    }
    Ok(())
}
