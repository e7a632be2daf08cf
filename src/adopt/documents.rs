//! What a release has stored, held against what its chart renders to: a pure function.

use super::pins::Pins;
use super::rendering::Renderings;
use crate::cluster::{Resources, is_cluster_scoped};
use crate::dependents::{PRECIOUS, normalise};
use crate::differing::{covers, differing};
use crate::release::{ManifestError, Release, stored_objects};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use whipstaff_generator::{Generated, Object, ObjectId, ObjectSet};

/// Whether objects of a kind hold what cannot be made again: those of an adopted release stay when its Component goes.
pub(crate) fn is_precious(group: &str, kind: &str) -> bool {
    PRECIOUS.contains(&(group, kind))
}

/// Why a value is made anew with each rendering.
#[derive(Serialize, Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cause {
    /// It is drawn at random.
    Random,
    /// It hangs on the time.
    Time,
    /// It hangs on live objects that templates look up.
    Lookup,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Random => "random",
            Self::Time => "time",
            Self::Lookup => "lookup",
        })
    }
}

/// How a document of a release compares with what the chart renders to.
#[derive(Serialize, Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// They are equal.
    Equal,
    /// They are equal but for fields that are made anew each time, and will be kept as they are.
    Pinned(Vec<(String, Cause)>),
    /// These fields differ.
    Different(Vec<String>),
    /// The release has it, and the chart does not.
    Missing,
    /// The release has it, and the chart leaves it out because templates see that it is there: it is left alone.
    LeftOut,
    /// The chart has it, and the release does not.
    Extra,
    /// It is a definition of the chart's `crds` folder, which Helm does not count among the release's objects.
    Definition,
}

impl Verdict {
    /// Whether what is rendered, with pinned values, is what the release has.
    pub(crate) fn is_equal(&self) -> bool {
        matches!(
            self,
            Self::Equal | Self::Pinned(_) | Self::LeftOut | Self::Definition
        )
    }
}

/// One object of a release, or of what its chart renders to.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    /// The object, with its namespace.
    pub(crate) id: ObjectId,
    /// The template that it came from.
    pub(crate) source: String,
    /// How both compare.
    pub(crate) verdict: Verdict,
    /// What will be applied, with pinned values; nothing when it is not rendered.
    pub(crate) wanted: Option<Value>,
}

/// A hook of a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HookDocument {
    /// Its object.
    pub(crate) id: ObjectId,
    /// API version of that.
    pub(crate) api_version: String,
    /// When it runs.
    pub(crate) events: Vec<String>,
}

/// All documents.
#[derive(Debug, Clone, Default)]
pub(crate) struct Documents {
    /// Those that are no hooks.
    pub(crate) all: Vec<Document>,
    /// The hooks: nothing is done with their objects.
    pub(crate) hooks: Vec<HookDocument>,
    /// Objects that are there twice.
    pub(crate) duplicates: Vec<ObjectId>,
    /// Values that are kept as the release has them.
    pub(crate) pins: Pins,
}

/// Where objects without a namespace belong.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope<'a> {
    /// What the cluster serves.
    pub(crate) resources: &'a Resources,
    /// Namespace of namespaced objects that name none.
    pub(crate) namespace: &'a str,
}

impl Scope<'_> {
    /// An object as it is applied.
    fn settled(&self, object: &Object) -> Object {
        let mut object = object.clone();
        normalise(&mut object);
        let (group, kind) = (object.group().to_owned(), object.kind().to_owned());
        let resource = self
            .resources
            .get(object.api_version(), &kind)
            .or_else(|| self.resources.preferred(&group, &kind));
        let namespaced = resource.map_or_else(
            || !is_cluster_scoped(&group, &kind),
            |resource| resource.namespaced,
        );
        if !namespaced {
            object.remove_metadata("namespace");
        } else if object.namespace().is_empty() {
            object.set_namespace(self.namespace);
        }
        object
    }

    fn by_id(&self, objects: &ObjectSet, duplicates: &mut Vec<ObjectId>) -> Settled {
        let mut settled = Settled::new();
        for item in objects {
            let object = self.settled(&item.object);
            let id = object.id();
            let known = settled.insert(id.clone(), (object.into_value(), item.source.clone()));
            if known.is_some() {
                duplicates.push(id);
            }
        }
        settled
    }
}

type Settled = BTreeMap<ObjectId, (Value, String)>;

/// Compares what a release has stored with what its chart renders to.
///
/// # Errors
/// [`ManifestError`] when what is stored cannot be read.
pub(crate) fn compare(
    release: &Release,
    renderings: &Renderings,
    scope: Scope<'_>,
) -> Result<Documents, ManifestError> {
    let mut documents = Documents::default();
    let stored = stored_objects(&release.manifest)?;
    let mut duplicates = Vec::new();
    let stored = scope.by_id(&stored, &mut duplicates);
    let rendered = scope.by_id(&renderings.base.objects, &mut duplicates);
    duplicates.sort();
    duplicates.dedup();
    documents.duplicates = duplicates;
    let unstable = unstable(&rendered, renderings, scope);
    let nothing = BTreeMap::new();
    for (id, (value, source)) in &rendered {
        let unstable = unstable.get(id).unwrap_or(&nothing);
        let (verdict, wanted) = match stored.get(id) {
            Some((stored, _)) => one(id, stored, value, unstable, &mut documents.pins),
            None if is_definition(id, source) => (Verdict::Definition, value.clone()),
            None => (Verdict::Extra, value.clone()),
        };
        documents.all.push(Document {
            id: id.clone(),
            source: source.clone(),
            verdict,
            wanted: Some(wanted),
        });
    }
    let missing = stored.iter().filter(|(id, _)| !rendered.contains_key(*id));
    let blind = renderings.blind.as_ref();
    let blind = blind.map(|blind| scope.by_id(&blind.objects, &mut Vec::new()));
    let blind = blind.unwrap_or_default();
    let all = &mut documents.all;
    all.extend(missing.map(|(id, (value, source))| Document {
        id: id.clone(),
        source: source.clone(),
        verdict: match blind.get(id) {
            Some((other, _)) if other == value => Verdict::LeftOut,
            _ => Verdict::Missing,
        },
        wanted: None,
    }));
    documents.all.sort_by(|a, b| a.id.cmp(&b.id));
    documents.hooks = hooks(release, scope)?;
    Ok(documents)
}

/// Files of `crds/` are no templates.
fn is_definition(id: &ObjectId, source: &str) -> bool {
    id.kind == "CustomResourceDefinition"
        && !source.contains("/templates/")
        && !source.starts_with("templates/")
}

/// Compares one object; its values that are made anew each time are pinned.
fn one(
    id: &ObjectId,
    stored: &Value,
    rendered: &Value,
    unstable: &BTreeMap<String, Cause>,
    pins: &mut Pins,
) -> (Verdict, Value) {
    let mut pinned = BTreeMap::new();
    let mut different = Vec::new();
    // What is made anew is pinned even where it happens to be equal now.
    for (pointer, cause) in unstable {
        if *cause != Cause::Lookup && stored.pointer(pointer).is_some() {
            pinned.insert(pointer.clone(), *cause);
        }
    }
    for pointer in differing(stored, rendered) {
        let related = unstable
            .iter()
            .find(|(known, _)| covers(known, &pointer) || covers(&pointer, known));
        match related {
            Some((known, cause)) => {
                let pointer = if covers(known, &pointer) {
                    known
                } else {
                    &pointer
                };
                if stored.pointer(pointer).is_none() || pointer.is_empty() {
                    different.push(pointer.clone());
                } else {
                    pinned.insert(pointer.clone(), *cause);
                }
            }
            None => different.push(pointer),
        }
    }
    let identity = [
        "/apiVersion",
        "/kind",
        "/metadata/name",
        "/metadata/namespace",
    ];
    pinned.retain(|pointer, _| !identity.contains(&pointer.as_str()));
    let mut own = Pins::default();
    for pointer in pinned.keys() {
        if let Some(value) = stored.pointer(pointer) {
            pins.pin(id, pointer, value.clone());
            own.pin(id, pointer, value.clone());
        }
    }
    let mut wanted = rendered.clone();
    if let Some(object) = own.objects.first() {
        object.put_into(&mut wanted);
    }
    let verdict = if !different.is_empty() {
        Verdict::Different(different)
    } else if wanted != *stored {
        Verdict::Different(differing(stored, &wanted))
    } else if pinned.is_empty() {
        Verdict::Equal
    } else {
        Verdict::Pinned(pinned.into_iter().collect())
    };
    (verdict, wanted)
}

/// Fields that come out otherwise with another seed, at another time, or without live objects, by object.
fn unstable(
    base: &Settled,
    renderings: &Renderings,
    scope: Scope<'_>,
) -> BTreeMap<ObjectId, BTreeMap<String, Cause>> {
    let mut found: BTreeMap<ObjectId, BTreeMap<String, Cause>> = BTreeMap::new();
    let mut learn = |other: &Generated, cause| {
        let other = scope.by_id(&other.objects, &mut Vec::new());
        for (id, (value, _)) in base {
            let Some((other, _)) = other.get(id) else {
                continue;
            };
            let fields = found.entry(id.clone()).or_default();
            for pointer in differing(value, other) {
                fields.entry(pointer).or_insert(cause);
            }
        }
    };
    for other in &renderings.random {
        learn(other, Cause::Random);
    }
    if let Some(other) = &renderings.time {
        learn(other, Cause::Time);
    }
    if let Some(other) = &renderings.blind {
        learn(other, Cause::Lookup);
    }
    found
}

fn hooks(release: &Release, scope: Scope<'_>) -> Result<Vec<HookDocument>, ManifestError> {
    let mut hooks = BTreeMap::new();
    for hook in &release.hooks {
        for item in &stored_objects(&hook.manifest)? {
            let object = scope.settled(&item.object);
            let events: BTreeSet<_> = hook.events.iter().cloned().collect();
            hooks.insert(
                object.id(),
                HookDocument {
                    id: object.id(),
                    api_version: object.api_version().to_owned(),
                    events: events.into_iter().collect(),
                },
            );
        }
    }
    Ok(hooks.into_values().collect())
}

#[cfg(test)]
mod tests;
