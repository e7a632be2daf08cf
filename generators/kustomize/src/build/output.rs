//! What a build gives.

use crate::error::Result;
use crate::node::{UNSUPPORTED_KEYS, go_syntax};
use crate::resource::{Resource, Store};
use serde_json::Value;
use std::collections::BTreeSet;
use whipstaff_generator::yaml;

/// An object of the output.
#[derive(Debug, Clone, PartialEq)]
pub struct BuiltObject {
    /// The object.
    pub value: Value,
    /// Its text, as kustomize prints it.
    pub yaml: String,
    group: String,
    version: String,
    kind: String,
    name: String,
    namespace: Option<String>,
}

/// The objects of a kustomization, in the order of the output.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Built {
    objects: Vec<BuiltObject>,
    warnings: Vec<String>,
}

impl Built {
    pub(super) fn new(store: &Store, resources: &[Resource]) -> Result<Self> {
        let objects: Result<Vec<_>> = resources
            .iter()
            .map(|resource| object(store, resource))
            .collect();
        Ok(Self {
            objects: objects?,
            warnings: Vec::new(),
        })
    }

    pub(super) fn set_warnings(&mut self, warnings: Vec<String>) {
        self.warnings = warnings;
    }

    /// The objects.
    pub fn objects(&self) -> &[BuiltObject] {
        &self.objects
    }

    /// The objects by value.
    pub fn into_objects(self) -> Vec<BuiltObject> {
        self.objects
    }

    /// What a user should know although the build succeeded, for example that a field is deprecated.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The text that `kustomize build` prints.
    pub fn to_yaml(&self) -> String {
        let texts: Vec<&str> = self
            .objects
            .iter()
            .map(|object| object.yaml.as_str())
            .collect();
        texts.join("---\n")
    }

    /// The names and contents of the files that `kustomize build --output` writes to a folder.
    pub fn files(&self) -> Vec<(String, &str)> {
        let namespaces: BTreeSet<&str> = self
            .objects
            .iter()
            .filter_map(|object| object.namespace.as_deref())
            .collect();
        let many = namespaces.len() > 1;
        let name = |object: &BuiltObject| {
            let mut parts: Vec<&str> = Vec::new();
            if let Some(namespace) = object.namespace.as_deref().filter(|_| many) {
                parts.push(namespace);
            }
            let group = object.group.as_str();
            parts.extend((!group.is_empty()).then_some(group));
            parts.extend([object.version.as_str(), &object.kind, &object.name]);
            format!("{}.yaml", parts.join("_").to_lowercase())
        };
        self.objects
            .iter()
            .map(|object| (name(object), object.yaml.as_str()))
            .collect()
    }
}

fn object(store: &Store, resource: &Resource) -> Result<BuiltObject> {
    let value = resource.value(store).map_err(|error| {
        let keeps_map =
            error.message() == UNSUPPORTED_KEYS || error.message().starts_with("json: ");
        let map = match resource.node() {
            Some(root) if keeps_map => go_syntax(&store.arena, root, true),
            _ => "map[string]interface {}(nil)".to_owned(),
        };
        error.within(map)
    })?;
    let yaml = yaml::marshal(&value).map_err(|error| {
        let root = resource
            .node()
            .map(|root| go_syntax(&store.arena, root, true));
        crate::error::fail(format!("{}: {}", root.unwrap_or_default(), error.message()))
    })?;
    let id = resource.current_id(store);
    let namespace = (!id.is_cluster_scoped).then(|| id.effective_namespace().to_owned());
    Ok(BuiltObject {
        value,
        yaml,
        group: id.gvk.group,
        version: id.gvk.version,
        kind: id.gvk.kind,
        name: id.name,
        namespace,
    })
}
