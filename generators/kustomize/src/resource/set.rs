//! Objects in the order they were accumulated in.
//!
//! Mirrors `resmap/reswrangler.go` of kustomize api v0.21.1. Ids are indexed, so that lookups do not go over all objects.

use super::id::IdKey;
use super::metadata::TextMap;
use super::{Id, Resource, Store, annotation};
use crate::error::{Result, fail, over_limit};
use crate::limits::MAX_RESOURCES;
use crate::node::{Create, Kind, Node, Style};
use base64::Engine as _;
use std::collections::HashMap;

/// A list of objects.
#[derive(Debug, Default)]
pub(crate) struct ResourceSet {
    items: Vec<Resource>,
    /// Places by current ids; none when objects may have changed.
    current: Option<HashMap<IdKey, Vec<usize>>>,
    /// Places by all ids; none when objects may have changed.
    any: Option<HashMap<IdKey, Vec<usize>>>,
}

impl ResourceSet {
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn items(&self) -> &[Resource] {
        &self.items
    }

    /// The objects, to be changed in any way.
    pub(crate) fn items_mut(&mut self) -> &mut Vec<Resource> {
        self.forget_ids();
        &mut self.items
    }

    /// The objects, to be changed without any of their ids.
    pub(crate) fn items_mut_keeping_ids(&mut self) -> &mut Vec<Resource> {
        &mut self.items
    }

    pub(crate) fn into_items(self) -> Vec<Resource> {
        self.items
    }

    /// Says that ids may have changed.
    pub(crate) fn forget_ids(&mut self) {
        self.current = None;
        self.any = None;
    }

    /// Drops objects that nothing is left of.
    pub(crate) fn drop_empty(&mut self, store: &Store) {
        let before = self.items.len();
        self.items.retain(|resource| !resource.is_empty(store));
        if self.items.len() != before {
            self.forget_ids();
        }
    }

    fn current_index(&mut self, store: &Store) -> &mut HashMap<IdKey, Vec<usize>> {
        self.current.get_or_insert_with(|| {
            let mut index: HashMap<IdKey, Vec<usize>> = HashMap::with_capacity(self.items.len());
            for (at, resource) in self.items.iter().enumerate() {
                index
                    .entry(resource.current_id(store).key())
                    .or_default()
                    .push(at);
            }
            index
        })
    }

    fn any_index(&mut self, store: &Store) -> Result<&mut HashMap<IdKey, Vec<usize>>> {
        if self.any.is_none() {
            let mut index = HashMap::with_capacity(self.items.len());
            for (at, resource) in self.items.iter().enumerate() {
                add_ids(&mut index, store, resource, at)?;
            }
            self.any = Some(index);
        }
        Ok(self.any.get_or_insert_with(HashMap::new))
    }

    /// The places of the objects with a current id.
    pub(crate) fn with_current_id(&mut self, store: &Store, id: &Id) -> Vec<usize> {
        let index = self.current_index(store);
        index.get(&id.key()).cloned().unwrap_or_default()
    }

    /// The places of the objects that have or had an id.
    pub(crate) fn with_any_id(&mut self, store: &Store, id: &Id) -> Result<Vec<usize>> {
        let index = self.any_index(store)?;
        Ok(index.get(&id.key()).cloned().unwrap_or_default())
    }

    /// The one object that has or had an id.
    pub(crate) fn only_with_any_id(&mut self, store: &Store, id: &Id) -> Result<usize> {
        let problem = match self.with_any_id(store, id)?.as_slice() {
            [only] => return Ok(*only),
            [] => "no matches",
            _ => "multiple matches",
        };
        Err(fail(format!(
            "{problem} for Id {id}; failed to find unique target for patch {id}"
        )))
    }

    /// Adds an object.
    ///
    /// # Errors
    /// When there is one with the same id.
    pub(crate) fn append(&mut self, store: &Store, resource: Resource) -> Result<()> {
        if self.items.len() >= MAX_RESOURCES {
            return Err(over_limit("objects", MAX_RESOURCES));
        }
        let id = resource.current_id(store);
        let at = self.items.len();
        let places = self.current_index(store).entry(id.key()).or_default();
        if !places.is_empty() {
            return Err(fail(format!(
                "may not add resource with an already registered id: {id}"
            )));
        }
        places.push(at);
        if let Some(any) = &mut self.any {
            add_ids(any, store, &resource, at)?;
        }
        self.items.push(resource);
        Ok(())
    }

    /// Adds objects.
    ///
    /// # Errors
    /// When one has the id of another.
    pub(crate) fn append_all(&mut self, store: &Store, resources: Vec<Resource>) -> Result<()> {
        for resource in resources {
            self.append(store, resource)?;
        }
        Ok(())
    }

    /// Refuses objects with equal ids, naming the later one.
    pub(crate) fn check_unique(&mut self, store: &Store) -> Result<()> {
        let duplicate = self
            .current_index(store)
            .values()
            .filter_map(|places| places.get(1))
            .min()
            .copied();
        match duplicate.and_then(|at| self.items.get(at)) {
            None => Ok(()),
            Some(resource) => Err(fail(format!(
                "may not add resource with an already registered id: {}",
                resource.current_id(store)
            ))),
        }
    }

    /// Adds what a generator made, or merges it into what is there.
    ///
    /// # Errors
    /// When the behavior that the object asks for does not fit what is there.
    pub(crate) fn absorb(&mut self, store: &mut Store, resource: Resource) -> Result<()> {
        let id = resource.current_id(store);
        let behavior = match resource.annotation(store, annotation::BEHAVIOR) {
            Some("merge") => "merge",
            Some("replace") => "replace",
            Some("create") => "create",
            _ => "unspecified",
        };
        let merges = matches!(behavior, "merge" | "replace");
        match self.with_any_id(store, &id)?.as_slice() {
            [] if merges => Err(fail(format!(
                "id {} does not exist; cannot merge or replace",
                id.go_syntax()
            ))),
            [] => self.append(store, resource),
            [_] if !merges => Err(fail(format!(
                "id {} exists; can not use behavior: '{behavior}', behavior must be merge or replace",
                id.go_syntax()
            ))),
            [at] => self.replace(store, *at, &resource, behavior == "merge"),
            places => Err(fail(format!(
                "found multiple objects {} that could accept merge of {id}",
                self.describe(store, places)
            ))),
        }
    }

    fn replace(&mut self, store: &mut Store, at: usize, new: &Resource, merge: bool) -> Result<()> {
        let Some(old) = self.items.get(at).cloned() else {
            return Ok(());
        };
        let origin = old.annotation(store, annotation::ORIGIN).map(str::to_owned);
        new.merge_metadata_from(store, &old)?;
        if merge {
            merge_data(store, &old, new, "data")?;
            merge_data(store, &old, new, "binaryData")?;
            if let Some(origin) = origin {
                let mut annotations = new.annotations(store);
                annotations.insert(annotation::ORIGIN.to_owned(), origin);
                new.set_annotations(store, &annotations)?;
            }
        }
        let resource = Resource {
            variables: old.variables,
            ..new.clone()
        };
        let id = resource.current_id(store);
        self.forget_ids();
        match self.with_current_id(store, &id).as_slice() {
            [place] => {
                if let Some(item) = self.items.get_mut(*place) {
                    *item = resource;
                }
                self.forget_ids();
                Ok(())
            }
            [] => Err(fail(format!(
                "cannot find resource with id {id} to replace"
            ))),
            places => Err(fail(format!(
                "in Replace: id matched {} resources",
                places.len()
            ))),
        }
    }

    /// Objects as JSON in brackets, as Go prints a list of them.
    pub(crate) fn describe(&self, store: &Store, places: &[usize]) -> String {
        let texts: Vec<_> = places
            .iter()
            .filter_map(|at| self.items.get(*at))
            .map(|resource| crate::go_text::json_of(store, resource))
            .collect();
        format!("[{}]", texts.join(" "))
    }
}

fn add_ids(
    index: &mut HashMap<IdKey, Vec<usize>>,
    store: &Store,
    resource: &Resource,
    at: usize,
) -> Result<()> {
    if resource.is_empty(store) {
        return Ok(());
    }
    for id in resource.all_ids(store)? {
        let places = index.entry(id.key()).or_default();
        if places.last() != Some(&at) {
            places.push(at);
        }
    }
    Ok(())
}

/// Puts the entries of the old object below those of the new one.
fn merge_data(store: &mut Store, old: &Resource, new: &Resource, field: &str) -> Result<()> {
    let mut merged = data(store, old, field);
    merged.extend(data(store, new, field));
    let Some(root) = new.node() else {
        return Ok(());
    };
    store.arena.clear_field(root, field)?;
    for (key, text) in &merged {
        let name = if field == "data" {
            "data"
        } else {
            "binaryData"
        };
        let map = store
            .arena
            .lookup(root, &[name], Create::As(Kind::Mapping))?;
        if let Some(map) = map {
            let value = store.arena.add(data_node(text));
            store.arena.append_pair(map, key, Style::default(), value);
        }
    }
    Ok(())
}

fn data(store: &Store, resource: &Resource, field: &str) -> TextMap {
    let node = resource
        .node()
        .and_then(|root| store.arena.field(root, field));
    let text = |id| {
        let node = store.arena.get(id);
        if node.is_null() {
            String::new()
        } else {
            node.text.clone()
        }
    };
    node.into_iter()
        .flat_map(|node| store.arena.pairs(node))
        .map(|(key, value)| (text(key), text(value)))
        .collect()
}

/// A value of a map of data.
pub(crate) fn data_node(text: &str) -> Node {
    Node::string(text)
}

/// Base64 as kustomize writes it: long texts in lines of 70 characters.
pub(crate) fn encode_base64(bytes: &[u8]) -> String {
    const LINE: usize = 70;
    let encoded = base64::engine::general_purpose::STANDARD.encode(bytes);
    if encoded.len() < LINE {
        return encoded;
    }
    let mut text = String::with_capacity(encoded.len() + encoded.len() / LINE + 1);
    let mut rest = encoded.as_str();
    while !rest.is_empty() {
        let (line, more) = rest
            .split_at_checked(LINE.min(rest.len()))
            .unwrap_or((rest, ""));
        text.push_str(line);
        text.push('\n');
        rest = more;
    }
    text
}
