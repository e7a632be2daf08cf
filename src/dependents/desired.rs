//! From a generator's output to what is wanted in the cluster.

use super::annotations::{self, AnnotationError, Annotations};
use super::hooks::{self, DEFINITION_WAVE, Placement, Runs};
use super::order::{Stage, rank, stage};
use super::ownership::OwnerId;
use crate::api::v1alpha1::{AdoptionPolicy, DeletePolicy};
use crate::cluster::{Resource, Resources};
use crate::status::Hints;
use base64::Engine as _;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use whipstaff_generator::{Generated, Object, ObjectId, ObjectKey};

/// Fields of `metadata` that only the API server writes.
const SERVER_METADATA: &[&str] = &[
    "managedFields",
    "resourceVersion",
    "uid",
    "generation",
    "creationTimestamp",
    "selfLink",
];

/// Everything that a component wants, in the order in which it is applied.
#[derive(Debug, Clone, Default)]
pub(crate) struct Desired {
    /// The objects by wave, stage, kind and name.
    pub(crate) objects: Vec<DesiredObject>,
    /// Namespaces that the objects need and that are not among them.
    pub(crate) namespaces: BTreeSet<String>,
}

/// One object that is wanted.
#[derive(Clone)]
pub(crate) struct DesiredObject {
    /// The object with our marks, as it is sent.
    pub(crate) manifest: Value,
    /// Group, version, kind, namespace and name.
    pub(crate) key: ObjectKey,
    /// The same without the version.
    pub(crate) id: ObjectId,
    /// Where the API server serves it.
    pub(crate) resource: Resource,
    /// Whether the kind is defined by the component itself.
    pub(crate) defined: bool,
    /// Digest that the live object carries once this is applied.
    pub(crate) digest: String,
    /// Wave in which it is applied.
    pub(crate) apply_order: i32,
    /// Wave in which it is deleted.
    pub(crate) delete_order: i32,
    /// Stage inside the wave.
    pub(crate) stage: Stage,
    /// Whether it may be taken over.
    pub(crate) adoption: AdoptionPolicy,
    /// What happens when it is no longer wanted.
    pub(crate) delete_policy: DeletePolicy,
    /// How its readiness is read.
    pub(crate) hints: Hints,
    /// Whether a change deletes and creates it, instead of changing it in place.
    pub(crate) recreate: bool,
    /// Whether it is deleted once it was ready.
    pub(crate) purge: bool,
    /// File that it came from.
    pub(crate) source: String,
}

impl std::fmt::Debug for DesiredObject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Manifests hold secrets.
        f.debug_struct("DesiredObject")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

/// What [`prepare`] needs beside the objects.
#[derive(Debug)]
pub(crate) struct PrepareOptions<'a> {
    /// The component.
    pub(crate) owner: &'a OwnerId,
    /// Namespace of namespaced objects that name none.
    pub(crate) namespace: &'a str,
    /// Whether something was installed before.
    pub(crate) is_upgrade: bool,
    /// The revision; hooks that run once per revision carry it in their digest.
    pub(crate) revision: i64,
    /// Whether hooks are wanted at all.
    pub(crate) hooks: bool,
    /// Adoption policy of objects that name none.
    pub(crate) adoption: AdoptionPolicy,
    /// What the cluster serves.
    pub(crate) resources: &'a Resources,
}

/// Objects that cannot be wanted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum PrepareError {
    /// An object without a name.
    #[error("{object} from `{file}` has no `metadata.name`{}", generate_name(*generated))]
    Name {
        object: String,
        file: String,
        generated: bool,
    },
    /// Two objects with the same identity.
    #[error("{id} is defined twice: in `{first}` and in `{second}`")]
    Duplicate {
        id: Box<ObjectId>,
        first: String,
        second: String,
    },
    /// A kind that the cluster does not serve.
    #[error(
        "{id} from `{file}` is of the kind `{kind}` in `{api_version}`, which the cluster does not serve; install its CustomResourceDefinition first"
    )]
    UnknownKind {
        id: Box<ObjectId>,
        file: String,
        kind: String,
        api_version: String,
    },
    /// An annotation of ours that is not understood.
    #[error("{id} from `{file}` cannot be applied")]
    Annotation {
        id: Box<ObjectId>,
        file: String,
        #[source]
        cause: Box<AnnotationError>,
    },
}

fn generate_name(generated: bool) -> &'static str {
    if generated {
        "; `generateName` would make a new object on every run"
    } else {
        ""
    }
}

/// Makes the desired state of a generator's output: scopes and namespaces, server-side fields removed, marks added, waves ordered.
pub(crate) fn prepare(
    generated: &Generated,
    options: &PrepareOptions<'_>,
) -> Result<Desired, PrepareError> {
    let defined = definitions(generated);
    let mut preparation = Preparation {
        options,
        defined: &defined,
        seen: BTreeMap::new(),
    };
    let mut objects = Vec::new();
    for item in &generated.objects {
        objects.push(preparation.object(item.object.clone(), &item.source, None)?);
    }
    if options.hooks {
        for placement in hooks::place(&generated.hooks, options.is_upgrade) {
            let object = placement.hook.object.clone();
            let source = placement.hook.source.clone();
            objects.push(preparation.object(object, &source, Some(&placement))?);
        }
    }
    objects.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
    let namespaces = missing_namespaces(&objects);
    Ok(Desired {
        objects,
        namespaces,
    })
}

fn sort_key(object: &DesiredObject) -> (i32, Stage, usize, &ObjectId) {
    (
        object.apply_order,
        object.stage,
        rank(&object.id.kind),
        &object.id,
    )
}

fn missing_namespaces(objects: &[DesiredObject]) -> BTreeSet<String> {
    let own: BTreeSet<_> = objects
        .iter()
        .filter(|object| object.id.kind == "Namespace" && object.id.group.is_empty())
        .map(|object| object.id.name.as_str())
        .collect();
    objects
        .iter()
        .map(|object| object.id.namespace.as_str())
        .filter(|namespace| !namespace.is_empty() && !own.contains(namespace))
        .map(str::to_owned)
        .collect()
}

/// Kinds that the objects define themselves, with where they will be served.
fn definitions(generated: &Generated) -> BTreeMap<(String, String), Resource> {
    let crds = generated
        .objects
        .iter()
        .map(|s| &s.object)
        .filter(|object| {
            object.kind() == "CustomResourceDefinition" && object.group() == "apiextensions.k8s.io"
        });
    crds.filter_map(|crd| {
        let text = |path: &[&str]| crd.pointer(path).and_then(Value::as_str).map(str::to_owned);
        let group = text(&["spec", "group"])?;
        let kind = text(&["spec", "names", "kind"])?;
        let resource = Resource {
            group: group.clone(),
            version: String::new(),
            kind: kind.clone(),
            plural: text(&["spec", "names", "plural"])?,
            namespaced: text(&["spec", "scope"])? == "Namespaced",
        };
        Some(((group, kind), resource))
    })
    .collect()
}

struct Preparation<'a> {
    options: &'a PrepareOptions<'a>,
    defined: &'a BTreeMap<(String, String), Resource>,
    seen: BTreeMap<ObjectId, String>,
}

impl Preparation<'_> {
    fn object(
        &mut self,
        mut object: Object,
        source: &str,
        hook: Option<&Placement>,
    ) -> Result<DesiredObject, PrepareError> {
        normalise(&mut object);
        if object.name().is_empty() {
            return Err(PrepareError::Name {
                object: object.describe(),
                file: source.to_owned(),
                generated: !object.metadata_str("generateName").is_empty(),
            });
        }
        let (resource, defined) = self.resource(&object, source)?;
        if !resource.namespaced {
            object.remove_metadata("namespace");
        } else if object.namespace().is_empty() {
            object.set_namespace(self.options.namespace);
        }
        self.check_duplicate(&object.id(), source)?;
        let fail = |cause| PrepareError::Annotation {
            id: Box::new(object.id()),
            file: source.to_owned(),
            cause: Box::new(cause),
        };
        let mut desired = self
            .describe(&object, resource, defined, hook)
            .map_err(fail)?;
        source.clone_into(&mut desired.source);
        desired.manifest = self.mark(object, &desired.digest);
        Ok(desired)
    }

    fn describe(
        &self,
        object: &Object,
        resource: Resource,
        defined: bool,
        hook: Option<&Placement>,
    ) -> Result<DesiredObject, AnnotationError> {
        let id = object.id();
        let stage = stage(&id, defined);
        let default_order = match hook {
            Some(placement) => placement.wave,
            None if stage == Stage::Definition => DEFINITION_WAVE,
            None => 0,
        };
        let annotations = Annotations::of(object, self.options.owner.names());
        let named = annotations.order(annotations::APPLY_ORDER)?;
        let runs = hook.map(|placement| placement.runs);
        let digest = object.digest().to_string();
        Ok(DesiredObject {
            manifest: Value::Null,
            key: object.key(),
            digest: match runs {
                Some(Runs::Once) => "once".to_owned(),
                Some(Runs::EachRevision) => format!("{digest}@{}", self.options.revision),
                None => digest,
            },
            apply_order: named.unwrap_or(default_order),
            delete_order: annotations.order(annotations::DELETE_ORDER)?.unwrap_or(0),
            adoption: annotations.adoption()?.unwrap_or(self.options.adoption),
            delete_policy: annotations.delete_policy()?,
            hints: annotations.hints()?,
            recreate: hook.is_some(),
            purge: hook.is_some_and(|placement| placement.purge),
            source: String::new(),
            id,
            resource,
            defined,
            stage,
        })
    }

    fn resource(&self, object: &Object, source: &str) -> Result<(Resource, bool), PrepareError> {
        let kind = (object.group().to_owned(), object.kind().to_owned());
        if let Some(resource) = self.defined.get(&kind) {
            let version = object.version().to_owned();
            return Ok((
                Resource {
                    version,
                    ..resource.clone()
                },
                true,
            ));
        }
        match self
            .options
            .resources
            .get(object.api_version(), object.kind())
        {
            Some(resource) => Ok((resource.clone(), false)),
            None => Err(PrepareError::UnknownKind {
                id: Box::new(object.id()),
                file: source.to_owned(),
                kind: object.kind().to_owned(),
                api_version: object.api_version().to_owned(),
            }),
        }
    }

    fn check_duplicate(&mut self, id: &ObjectId, source: &str) -> Result<(), PrepareError> {
        match self.seen.insert(id.clone(), source.to_owned()) {
            None => Ok(()),
            Some(first) => Err(PrepareError::Duplicate {
                id: Box::new(id.clone()),
                first,
                second: source.to_owned(),
            }),
        }
    }

    fn mark(&self, mut object: Object, digest: &str) -> Value {
        let owner = self.options.owner;
        object.set_label(owner.names().owner_key(), owner.label());
        object.set_annotation(owner.names().owner_key(), owner.annotation());
        object.set_annotation(owner.names().digest_key(), digest);
        object.into_value()
    }
}

/// Removes what only the API server writes, null labels and annotations, and `stringData` of Secrets, which the API server would
/// fold into `data` under another field's name.
fn normalise(object: &mut Object) {
    for field in SERVER_METADATA {
        object.remove_metadata(field);
    }
    object.fields_mut().shift_remove("status");
    if let Some(Value::Object(metadata)) = object.fields_mut().get_mut("metadata") {
        for field in ["labels", "annotations"] {
            if let Some(Value::Object(entries)) = metadata.get_mut(field) {
                entries.retain(|_, value| !value.is_null());
            }
        }
        metadata.retain(|_, value| !value.is_null());
    }
    if object.kind() == "Secret" && object.group().is_empty() {
        fold_string_data(object.fields_mut());
    }
}

fn fold_string_data(secret: &mut Map<String, Value>) {
    let Some(Value::Object(plain)) = secret.shift_remove("stringData") else {
        return;
    };
    let mut data = match secret.get_mut("data").map(Value::take) {
        Some(Value::Object(data)) => data,
        _ => Map::new(),
    };
    for (key, value) in plain {
        if let Value::String(text) = value {
            let encoded = base64::engine::general_purpose::STANDARD.encode(text);
            data.insert(key, Value::String(encoded));
        }
    }
    secret.insert("data".to_owned(), Value::Object(data));
}

#[cfg(test)]
mod tests;
