//! Where objects come from, and what has been done to them.
//!
//! Mirrors `resource/origin.go` of kustomize api v0.21.1.

use crate::error::Result;
use crate::files::join;
use crate::node::{Arena, emit, from_value};
use crate::remote::RepoSpec;
use crate::resource::{Resource, Store, annotation};
use serde_json::{Map, Value};
use whipstaff_generator::yaml;

/// The place that an object comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Origin {
    path: String,
    repo: String,
    reference: String,
    configured_in: String,
    configured_by: Option<Plugin>,
}

/// What made an object, or changed it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Plugin {
    api_version: String,
    kind: String,
    name: String,
    namespace: String,
}

impl Origin {
    /// The place that a path leads to from here.
    pub(super) fn append(&self, path: &str) -> Self {
        let mut origin = self.clone();
        let Ok(spec) = RepoSpec::parse(path) else {
            origin.path = join(&self.path, path);
            return origin;
        };
        origin.repo = spec.clone_url();
        spec.reference().clone_into(&mut origin.reference);
        // kustomize shows the name of the folder that it did not clone to.
        let folder = if spec.folder().is_empty() {
            "notCloned"
        } else {
            spec.folder()
        };
        origin.path = join("", folder);
        origin
    }

    /// A built-in plugin that a kustomization file here configures.
    pub(super) fn builtin(&self, file_name: &str, kind: &str) -> Self {
        Self {
            repo: self.repo.clone(),
            reference: self.reference.clone(),
            configured_in: join(&self.path, file_name),
            configured_by: Some(Plugin {
                api_version: "builtin".to_owned(),
                kind: kind.to_owned(),
                ..Plugin::default()
            }),
            ..Self::default()
        }
    }

    /// The plugin that an object configures; none if the object has no origin.
    pub(super) fn of_plugin(store: &Store, config: &Resource) -> Option<Self> {
        let text = config.annotation(store, annotation::ORIGIN)?;
        let value = yaml::from_str(text).ok()?;
        let field = |name: &str| {
            value
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        Some(Self {
            repo: field("repo"),
            reference: field("ref"),
            configured_in: field("path"),
            configured_by: Some(Plugin {
                api_version: config.api_version(store).to_owned(),
                kind: config.kind(store).to_owned(),
                name: config.name(store).to_owned(),
                namespace: config.namespace(store).to_owned(),
            }),
            path: String::new(),
        })
    }

    fn value(&self) -> Value {
        let mut map = Map::new();
        let mut put = |name: &str, text: &str| {
            if !text.is_empty() {
                map.insert(name.to_owned(), text.into());
            }
        };
        put("path", &self.path);
        put("repo", &self.repo);
        put("ref", &self.reference);
        put("configuredIn", &self.configured_in);
        if let Some(plugin) = &self.configured_by {
            let mut inner = Map::new();
            for (name, text) in [
                ("apiVersion", &plugin.api_version),
                ("kind", &plugin.kind),
                ("name", &plugin.name),
                ("namespace", &plugin.namespace),
            ] {
                if !text.is_empty() {
                    inner.insert(name.to_owned(), text.clone().into());
                }
            }
            map.insert("configuredBy".to_owned(), Value::Object(inner));
        }
        Value::Object(map)
    }

    /// The text of the annotation.
    pub(super) fn text(&self) -> String {
        print(&self.value())
    }
}

fn print(value: &Value) -> String {
    let mut arena = Arena::default();
    let node = from_value(&mut arena, value);
    emit(&arena, node)
}

fn set(store: &mut Store, resource: &Resource, name: &str, text: String) -> Result<()> {
    let mut annotations = resource.annotations(store);
    annotations.insert(name.to_owned(), text);
    resource.set_annotations(store, &annotations)
}

/// Notes where an object comes from.
pub(super) fn set_origin(store: &mut Store, resource: &Resource, origin: &Origin) -> Result<()> {
    set(store, resource, annotation::ORIGIN, origin.text())
}

/// Notes where objects come from that do not say so.
pub(super) fn add_origins(
    store: &mut Store,
    resources: &[Resource],
    origin: &Origin,
) -> Result<()> {
    for resource in resources {
        if resource.annotation(store, annotation::ORIGIN).is_none() {
            set_origin(store, resource, origin)?;
        }
    }
    Ok(())
}

/// Notes what has been done to objects; those without an origin count as made by it.
pub(super) fn add_transformation(
    store: &mut Store,
    resources: &[Resource],
    origin: &Origin,
) -> Result<()> {
    for resource in resources {
        if resource.annotation(store, annotation::ORIGIN).is_none() {
            set_origin(store, resource, origin)?;
            continue;
        }
        let known = resource.annotation(store, annotation::TRANSFORMATIONS);
        let mut list = match known.map(yaml::from_str) {
            Some(Ok(Value::Array(items))) => items.iter().map(reorder).collect(),
            _ => Vec::new(),
        };
        list.push(origin.value());
        let text = print(&Value::Array(list));
        set(store, resource, annotation::TRANSFORMATIONS, text)?;
    }
    Ok(())
}

/// An entry that was read, with its fields in the order that they are written in.
fn reorder(value: &Value) -> Value {
    let names = [
        "path",
        "repo",
        "ref",
        "configuredIn",
        "configuredBy",
        "apiVersion",
        "kind",
        "name",
        "namespace",
    ];
    let Value::Object(map) = value else {
        return value.clone();
    };
    let pairs = names
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), reorder(map.get(name)?))));
    Value::Object(pairs.collect())
}
