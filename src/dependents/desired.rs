//! From a generator's output to what is wanted in the cluster.

use super::annotations::{self, AnnotationError, Annotations};
use super::hooks::DEFINITION_WAVE;
use super::kinds::{ManagedKinds, served_by};
use super::order::{Stage, rank, stage};
use super::ownership::OwnerId;
use super::references::Reference;
use super::rules;
use crate::api::v1alpha1::{
    AdoptionPolicy, DeletePolicy, DriftIgnore, DriftMode, ImmutablePolicy, Policies,
    ReconcilePolicy, TypePattern, UpdatePolicy,
};
use crate::cluster::{Resource, Resources};
use crate::status::Hints;
use base64::Engine as _;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use whipstaff_generator::{Generated, Hook, Object, ObjectId, ObjectKey};

/// Fields of `metadata` that only the API server writes.
const SERVER_METADATA: &[&str] = &[
    "managedFields",
    "resourceVersion",
    "uid",
    "generation",
    "creationTimestamp",
    "selfLink",
];

/// Kinds whose objects hold what cannot be made again: those that were taken over stay when the component goes.
pub(crate) const PRECIOUS: &[(&str, &str)] = &[
    ("", "PersistentVolumeClaim"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
];

/// Everything that a component wants, in the order in which it is applied.
#[derive(Debug, Clone, Default)]
pub(crate) struct Desired {
    /// The objects by wave, stage, kind and name.
    pub(crate) objects: Vec<DesiredObject>,
    /// Namespaces that the objects need and that are not among them.
    pub(crate) namespaces: BTreeSet<String>,
    /// Namespaces that hooks need which are about to run.
    pub(crate) hook_namespaces: BTreeSet<String>,
}

/// One object that is wanted.
#[derive(Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says something of its own"
)]
pub(crate) struct DesiredObject {
    /// The object with our marks, as it is sent.
    pub(crate) manifest: Arc<Value>,
    /// Group, version, kind, namespace and name.
    pub(crate) key: ObjectKey,
    /// The same without the version.
    pub(crate) id: ObjectId,
    /// Where the API server serves it.
    pub(crate) resource: Resource,
    /// Whether the kind is defined by the component itself.
    pub(crate) defined: bool,
    /// Whether it is not known yet where the kind is served: something of the component has to bring it first.
    pub(crate) unserved: bool,
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
    /// Whether it is pruned even if its kind is protected.
    pub(crate) prunable: bool,
    /// Whether it is a namespace that is created because objects need it.
    pub(crate) made: bool,
    /// How it is changed.
    pub(crate) update: UpdatePolicy,
    /// What happens when a change touches a field that cannot be changed.
    pub(crate) immutable: ImmutablePolicy,
    /// Whether what others change in it is left alone: it is applied only once.
    pub(crate) fixed: bool,
    /// What happens when others change it.
    pub(crate) drift: DriftMode,
    /// Changes of others that are left as they are.
    pub(crate) ignored: Vec<Arc<DriftIgnore>>,
    /// How often it is applied although nothing is known to have changed; never when there is none.
    pub(crate) reapply: Option<Duration>,
    /// How long it may take to become ready, if not as long as all others.
    pub(crate) timeout: Option<Duration>,
    /// The wave after which it is deleted, if it is once it did its work.
    pub(crate) purge_order: Option<i32>,
    /// What it serves.
    pub(crate) manages: Vec<String>,
    /// Objects that must be ready before it is written.
    pub(crate) depends_on: Vec<ObjectId>,
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
    /// Whether it was taken over from Helm.
    pub(crate) adopted: bool,
    /// Policies of objects that name none.
    pub(crate) policies: &'a Policies,
    /// Digest of the component: what is applied on every change of it carries it in its digest.
    pub(crate) component: &'a str,
    /// How often objects are applied although nothing is known to have changed.
    pub(crate) reapply: Option<Duration>,
    /// Kinds whose objects need the component's, beside those that it serves.
    pub(crate) additional_types: &'a [TypePattern],
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
    /// More hooks than one event may have.
    #[error("there are more than {most} hooks for `{event}`")]
    TooManyHooks { event: &'static str, most: usize },
    /// Objects that cannot be brought into an order.
    #[error("{id} from `{file}` {problem}")]
    Rule {
        id: Box<ObjectId>,
        file: String,
        problem: String,
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
    let mut preparation = Preparation::new(generated, options);
    let mut objects = Vec::new();
    for item in &generated.objects {
        objects.push(preparation.object(item.object.clone(), &item.source)?);
    }
    objects.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
    rules::check(&mut objects, &preparation.references)?;
    let namespaces = missing_namespaces(&objects);
    Ok(Desired {
        objects,
        namespaces,
        hook_namespaces: BTreeSet::new(),
    })
}

/// Makes what is sent of hooks, each for itself: one object may be several hooks, of several events. `generated` is what they come with.
pub(super) fn prepare_alone<'a>(
    hooks: impl IntoIterator<Item = &'a Hook>,
    generated: &Generated,
    options: &PrepareOptions<'_>,
) -> Result<Vec<DesiredObject>, PrepareError> {
    let mut preparation = Preparation::new(generated, options);
    let mut objects = Vec::new();
    for hook in hooks {
        preparation.seen.clear();
        objects.push(preparation.object(hook.object.clone(), &hook.source)?);
    }
    Ok(objects)
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

fn ignored(policies: &Policies) -> Vec<Arc<DriftIgnore>> {
    let rules = policies.drift.iter().flat_map(|drift| &drift.ignore);
    rules.cloned().map(Arc::new).collect()
}

struct Preparation<'a> {
    options: &'a PrepareOptions<'a>,
    defined: BTreeMap<(String, String), Resource>,
    managed: ManagedKinds,
    ignored: Vec<Arc<DriftIgnore>>,
    references: BTreeMap<ObjectId, Vec<Reference>>,
    seen: BTreeMap<ObjectId, String>,
}

impl<'a> Preparation<'a> {
    fn new(generated: &Generated, options: &'a PrepareOptions<'a>) -> Self {
        let served = generated.objects.iter().map(|item| &item.object);
        Self {
            options,
            defined: definitions(generated),
            managed: ManagedKinds::new(
                served.flat_map(served_by).collect(),
                options.additional_types,
            ),
            ignored: ignored(options.policies),
            references: BTreeMap::new(),
            seen: BTreeMap::new(),
        }
    }

    fn object(&mut self, mut object: Object, source: &str) -> Result<DesiredObject, PrepareError> {
        normalise(&mut object);
        if object.name().is_empty() {
            return Err(PrepareError::Name {
                object: object.describe(),
                file: source.to_owned(),
                generated: !object.metadata_str("generateName").is_empty(),
            });
        }
        let served = self.resource(&object, source)?;
        if served == Served::Nowhere {
            // Whether it lives in a namespace will show.
        } else if !served.is_namespaced() {
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
        let references = Annotations::of(&object, self.options.owner.names()).depends_on();
        self.references
            .insert(object.id(), references.map_err(fail)?);
        let mut desired = self.describe(&object, served).map_err(fail)?;
        source.clone_into(&mut desired.source);
        desired.manifest = Arc::new(self.marked(object, &desired.digest));
        Ok(desired)
    }

    fn describe(&self, object: &Object, served: Served) -> Result<DesiredObject, AnnotationError> {
        let (id, key) = (object.id(), object.key());
        let stage = stage(&id, self.managed.contains(&key));
        let policies = self.options.policies;
        let annotations = Annotations::of(object, self.options.owner.names());
        let reconcile = annotations.reconcile()?.or(policies.reconcile);
        let deletion = annotations.delete_policy()?;
        let update = annotations
            .update()?
            .or(policies.update)
            .unwrap_or_default();
        let apply_order = annotations.order(annotations::APPLY_ORDER)?;
        let apply_order = apply_order.unwrap_or_else(|| default_order(stage));
        let once = reconcile == Some(ReconcilePolicy::Once);
        let reapply = annotations.reapply_interval()?.or(self.options.reapply);
        let purge_order = annotations.order(annotations::PURGE_ORDER)?;
        let (resource, defined, unserved) = served.parts(&key);
        Ok(DesiredObject {
            manifest: Arc::default(),
            digest: self.digest(object, reconcile.unwrap_or_default()),
            delete_order: annotations
                .order(annotations::DELETE_ORDER)?
                .unwrap_or_default(),
            adoption: annotations
                .adoption()?
                .or(policies.adoption)
                .unwrap_or_default(),
            made: false,
            prunable: deletion == Some(DeletePolicy::Delete),
            delete_policy: deletion
                .or(self.kept_of_release(&id))
                .or(policies.delete)
                .unwrap_or_default(),
            hints: annotations.hints()?,
            immutable: annotations
                .immutable()?
                .or(policies.immutable)
                .unwrap_or_default(),
            fixed: once,
            drift: annotations
                .drift()?
                .or(policies.drift.as_ref().and_then(|drift| drift.mode))
                .unwrap_or_default(),
            ignored: self.ignored_in(&id),
            reapply: reapply.filter(|_| !once && update != UpdatePolicy::Recreate),
            timeout: annotations.timeout()?,
            purge_order,
            manages: served_by(object),
            depends_on: Vec::new(),
            source: String::new(),
            apply_order,
            update,
            id,
            key,
            resource,
            defined,
            unserved,
            stage,
        })
    }

    /// What of a Helm release holds what cannot be made again stays when the component goes.
    fn kept_of_release(&self, id: &ObjectId) -> Option<DeletePolicy> {
        let is_precious = PRECIOUS.contains(&(id.group.as_str(), id.kind.as_str()));
        (self.options.adopted && is_precious).then_some(DeletePolicy::OrphanOnDelete)
    }

    fn digest(&self, object: &Object, reconcile: ReconcilePolicy) -> String {
        match reconcile {
            ReconcilePolicy::Once => "once".to_owned(),
            ReconcilePolicy::OnObjectOrComponentChange => {
                format!("{}@{}", object.digest(), self.options.component)
            }
            ReconcilePolicy::OnObjectChange => object.digest().to_string(),
        }
    }

    fn ignored_in(&self, id: &ObjectId) -> Vec<Arc<DriftIgnore>> {
        let is = |wanted: &Option<String>, value: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted == value)
        };
        let rules = self.ignored.iter().filter(|rule| {
            is(&rule.group, &id.group)
                && is(&rule.kind, &id.kind)
                && is(&rule.namespace, &id.namespace)
                && is(&rule.name, &id.name)
        });
        rules.cloned().collect()
    }

    fn resource(&self, object: &Object, source: &str) -> Result<Served, PrepareError> {
        let kind = (object.group().to_owned(), object.kind().to_owned());
        if let Some(resource) = self.defined.get(&kind) {
            let version = object.version().to_owned();
            return Ok(Served::Soon(Resource {
                version,
                ..resource.clone()
            }));
        }
        let resources = self.options.resources;
        match resources.get(object.api_version(), object.kind()) {
            Some(resource) => Ok(Served::Already(resource.clone())),
            None if self.managed.contains(&object.key()) => Ok(Served::Nowhere),
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

    fn marked(&self, mut object: Object, digest: &str) -> Value {
        mark(&mut object, self.options.owner, digest);
        object.into_value()
    }
}

/// Says in an object who owns it, and what was applied.
pub(super) fn mark(object: &mut Object, owner: &OwnerId, digest: &str) {
    object.set_label(owner.names().owner_key(), owner.label());
    object.set_annotation(owner.names().owner_key(), owner.annotation());
    object.set_annotation(owner.names().digest_key(), digest);
}

/// Where a kind is served.
#[derive(Debug, PartialEq, Eq)]
enum Served {
    /// By the cluster.
    Already(Resource),
    /// By a definition among the objects.
    Soon(Resource),
    /// By something that the objects bring, and it is not known where.
    Nowhere,
}

impl Served {
    fn is_namespaced(&self) -> bool {
        match self {
            Self::Already(resource) | Self::Soon(resource) => resource.namespaced,
            Self::Nowhere => false,
        }
    }

    /// The resource, whether the component defines it, and whether it is unknown.
    fn parts(self, key: &ObjectKey) -> (Resource, bool, bool) {
        match self {
            Self::Already(resource) => (resource, false, false),
            Self::Soon(resource) => (resource, true, false),
            Self::Nowhere => {
                let resource = Resource {
                    group: key.group.clone(),
                    version: key.version.clone(),
                    kind: key.kind.clone(),
                    plural: String::new(),
                    namespaced: !key.namespace.is_empty(),
                };
                (resource, true, true)
            }
        }
    }
}

/// The wave of an object that names none: namespaces and definitions come first of all.
fn default_order(stage: Stage) -> i32 {
    if matches!(stage, Stage::Namespace | Stage::Definition) {
        DEFINITION_WAVE
    } else {
        0
    }
}

/// Removes what only the API server writes, null labels and annotations, and `stringData` of Secrets, which the API server would
/// fold into `data` under another field's name.
pub(crate) fn normalise(object: &mut Object) {
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
