//! Code of an operator's own that runs at certain points of a reconciliation.

use super::error::ReconcileError;
use super::project::is_own;
use super::reconcile::now;
use super::references::References;
use super::render::Rendered;
use super::resource::Component;
use super::run::Run;
use crate::api::v1alpha1::ComponentStatus;
use futures::FutureExt;
use futures::future::BoxFuture;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{Client, ResourceExt};
use serde_json::{Map, Value, json};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use whipstaff_generator::Generated;

/// Why a hook failed: any error at all.
///
/// A [`Retriable`](crate::Retriable) anywhere in its chain of causes makes it something that is waited for, a
/// [`Terminal`](crate::Terminal) something that is not tried again before somebody changes something. All others are retried, ever
/// later.
pub type HookError = Box<dyn std::error::Error + Send + Sync>;

type Hook<C> =
    Arc<dyn Fn(HookContext<C>) -> BoxFuture<'static, Result<(), HookError>> + Send + Sync>;

/// When a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Point {
    PostRead,
    PreReconcile,
    PostReconcile,
    PreDelete,
    PostDelete,
}

impl Point {
    fn as_str(self) -> &'static str {
        match self {
            Self::PostRead => "post-read",
            Self::PreReconcile => "pre-reconcile",
            Self::PostReconcile => "post-reconcile",
            Self::PreDelete => "pre-delete",
            Self::PostDelete => "post-delete",
        }
    }
}

/// The hooks of a kind, in the order in which they were registered.
pub(crate) struct Hooks<C> {
    hooks: Vec<(Point, Hook<C>)>,
}

impl<C> std::fmt::Debug for Hooks<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let points: Vec<_> = self.hooks.iter().map(|(point, _)| point).collect();
        f.debug_tuple("Hooks").field(&points).finish()
    }
}

impl<C> Clone for Hooks<C> {
    fn clone(&self) -> Self {
        Self {
            hooks: self.hooks.clone(),
        }
    }
}

impl<C> Default for Hooks<C> {
    fn default() -> Self {
        Self { hooks: Vec::new() }
    }
}

impl<C: Component> Hooks<C> {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.hooks.is_empty()
    }

    /// Adds a hook after all others.
    pub(crate) fn add<F, T>(&mut self, point: Point, hook: F)
    where
        F: Fn(HookContext<C>) -> T + Send + Sync + 'static,
        T: Future<Output = Result<(), HookError>> + Send + 'static,
    {
        let hook: Hook<C> = Arc::new(move |context| Box::pin(hook(context)));
        self.hooks.push((point, hook));
    }

    fn at(&self, point: Point) -> impl Iterator<Item = &Hook<C>> {
        let hooks = self.hooks.iter();
        hooks
            .filter(move |(at, _)| *at == point)
            .map(|(_, hook)| hook)
    }
}

/// What a hook gets to know, and what it may change: conditions of its own, and fields of the kind's status that are not Whipstaff's.
#[derive(Clone)]
pub struct HookContext<C> {
    inner: Arc<Inner<C>>,
}

struct Inner<C> {
    component: C,
    status: ComponentStatus,
    operator: Client,
    local: Client,
    target: Client,
    namespace: String,
    name: String,
    digest: String,
    revision: i64,
    rendered: Option<Arc<Rendered>>,
    references: Arc<References>,
    edits: Mutex<Edits>,
}

#[derive(Default)]
struct Edits {
    conditions: Vec<Edit>,
    fields: Map<String, Value>,
}

enum Edit {
    Set(Condition),
    Remove(String),
}

impl<C: Component> std::fmt::Debug for HookContext<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HookContext")
            .field("namespace", &self.inner.namespace)
            .field("name", &self.inner.name)
            .finish_non_exhaustive()
    }
}

/// A hook asked for something that it may not change.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HookEditError {
    /// The condition is not the hook's.
    #[error("the condition `{type_}` is set by the reconciler alone")]
    OwnCondition {
        /// Its type.
        type_: String,
    },
    /// The status of the kind has no such field, or it has another type.
    #[error("the status of {kind} has no field `{field}` for such a value")]
    NoSuchField {
        /// The kind.
        kind: String,
        /// The field.
        field: String,
    },
}

impl<C: Component> HookContext<C> {
    /// The resource as it was read when the run began.
    pub fn component(&self) -> &C {
        &self.inner.component
    }

    /// The status as it will be written, but for what the rest of the run changes.
    pub fn status(&self) -> &ComponentStatus {
        &self.inner.status
    }

    /// A client for the cluster of the resource under the operator's own identity. What the resource says must not decide what is
    /// done with it.
    pub fn operator_client(&self) -> &Client {
        &self.inner.operator
    }

    /// A client for the cluster of the resource under the resource's identity.
    pub fn local_client(&self) -> &Client {
        &self.inner.local
    }

    /// A client for the cluster that the objects are applied on, under the identity that they are applied with.
    pub fn target_client(&self) -> &Client {
        &self.inner.target
    }

    /// Namespace that objects are rendered for.
    pub fn target_namespace(&self) -> &str {
        &self.inner.namespace
    }

    /// Name that objects are rendered for.
    pub fn target_name(&self) -> &str {
        &self.inner.name
    }

    /// Digest of everything that the objects are made of: files, parameters, references and annotations. Empty as long as it is not
    /// known: in the first post-read hook of a resource, for example.
    pub fn digest(&self) -> &str {
        &self.inner.digest
    }

    /// Counts the different digests; zero as long as there is none.
    pub fn revision(&self) -> i64 {
        self.inner.revision
    }

    /// What was rendered: in pre-reconcile and post-reconcile hooks.
    pub fn generated(&self) -> Option<&Generated> {
        let rendered = self.inner.rendered.as_ref();
        rendered.map(|rendered| &rendered.generated)
    }

    /// What the references of the resource lead to.
    pub fn references(&self) -> &References {
        &self.inner.references
    }

    /// Sets a condition of the resource's status. Its time of transition is kept as long as its status stays.
    ///
    /// # Errors
    /// For `Ready`, `Reconciling` and `Stalled`.
    pub fn set_condition(
        &self,
        type_: &str,
        status: bool,
        reason: &str,
        message: &str,
    ) -> Result<(), HookEditError> {
        let condition = Condition {
            type_: own_type(type_)?,
            status: if status { "True" } else { "False" }.to_owned(),
            reason: reason.to_owned(),
            message: message.to_owned(),
            last_transition_time: now(),
            observed_generation: self.inner.component.meta().generation,
        };
        self.edits().conditions.push(Edit::Set(condition));
        Ok(())
    }

    /// Removes a condition of the resource's status, if there is one.
    ///
    /// # Errors
    /// For `Ready`, `Reconciling` and `Stalled`.
    pub fn remove_condition(&self, type_: &str) -> Result<(), HookEditError> {
        let edit = Edit::Remove(own_type(type_)?);
        self.edits().conditions.push(edit);
        Ok(())
    }

    /// Sets a field of the kind's status beside those of [`ComponentStatus`], which it has [flattened](ComponentStatus#extensions).
    ///
    /// # Errors
    /// When the kind has no such field, or cannot read the value.
    pub fn set_status_field(&self, field: &str, value: Value) -> Result<(), HookEditError> {
        let refused = || HookEditError::NoSuchField {
            kind: C::kind(&()).into_owned(),
            field: field.to_owned(),
        };
        if common_fields().contains_key(field) || !has_field(&self.inner.component, field, &value) {
            return Err(refused());
        }
        self.edits().fields.insert(field.to_owned(), value);
        Ok(())
    }

    fn edits(&self) -> MutexGuard<'_, Edits> {
        // Nothing that holds the lock can leave the edits half made.
        let edits = &self.inner.edits;
        edits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn own_type(type_: &str) -> Result<String, HookEditError> {
    let type_ = type_.to_owned();
    if is_own(&type_) {
        return Err(HookEditError::OwnCondition { type_ });
    }
    Ok(type_)
}

/// Whether a kind's type takes a field of the status up: what it does not, the API server would refuse.
fn has_field<C: Component>(component: &C, field: &str, value: &Value) -> bool {
    let Ok(mut whole) = serde_json::to_value(component) else {
        return false;
    };
    whole["status"] = json!({ field: value });
    let read: Result<C, _> = serde_json::from_value(whole);
    let again = read.ok().and_then(|read| serde_json::to_value(read).ok());
    again.is_some_and(|again| again.pointer("/status").and_then(|s| s.get(field)) == Some(value))
}

/// The fields of the status that every kind has.
fn common_fields() -> Map<String, Value> {
    let schema = schemars::schema_for!(ComponentStatus);
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.cloned().unwrap_or_default()
}

/// The fields of a resource's status that are not [`ComponentStatus`]'s.
pub(super) fn extension<C: Component>(component: &C) -> Map<String, Value> {
    let whole = serde_json::to_value(component).unwrap_or_default();
    let Some(Value::Object(status)) = whole.get("status") else {
        return Map::new();
    };
    let common = common_fields();
    let own = status
        .iter()
        .filter(|(field, value)| !common.contains_key(*field) && !value.is_null());
    own.map(|(field, value)| (field.clone(), value.clone()))
        .collect()
}

impl<C: Component> Run<'_, C> {
    /// Runs the hooks of a point in their order, until one fails. What they set is kept in any case.
    pub(super) async fn hooks(
        &mut self,
        point: Point,
        rendered: Option<&Arc<Rendered>>,
        references: &Arc<References>,
    ) -> Result<(), ReconcileError> {
        let hooks: Vec<_> = self.hooks.at(point).cloned().collect();
        for hook in hooks {
            let context = self.hook_context(rendered, references);
            let given = context.clone();
            // One resource that a hook cannot cope with must not hold up the others.
            let running = AssertUnwindSafe(async move { hook(given).await });
            let result = running.catch_unwind().await;
            let result = result.unwrap_or_else(|_| Err("it panicked".into()));
            self.take_over(&mut context.edits());
            result.map_err(|cause| ReconcileError::Hook {
                point: point.as_str(),
                cause,
            })?;
        }
        Ok(())
    }

    fn hook_context(
        &self,
        rendered: Option<&Arc<Rendered>>,
        references: &Arc<References>,
    ) -> HookContext<C> {
        let name = self.component.target_name().map(str::to_owned);
        let inner = Inner {
            component: self.component.clone(),
            status: self.status.clone(),
            operator: self.context.client.0.clone(),
            local: self.local_client.clone(),
            target: self.target.client.clone(),
            namespace: self.target_namespace().to_owned(),
            name: name.unwrap_or_else(|| self.component.name_any()),
            digest: self.status.input_digest.clone().unwrap_or_default(),
            revision: self.status.revision.unwrap_or_default(),
            rendered: rendered.cloned(),
            references: Arc::clone(references),
            edits: Mutex::default(),
        };
        HookContext {
            inner: Arc::new(inner),
        }
    }

    fn take_over(&mut self, edits: &mut Edits) {
        for edit in edits.conditions.drain(..) {
            let conditions = &mut self.status.conditions;
            match edit {
                Edit::Remove(type_) => conditions.retain(|known| known.type_ != type_),
                Edit::Set(mut condition) => {
                    let known = conditions.iter_mut().find(|k| k.type_ == condition.type_);
                    match known {
                        Some(known) => {
                            if known.status == condition.status {
                                let since = known.last_transition_time.clone();
                                condition.last_transition_time = since;
                            }
                            *known = condition;
                        }
                        None => conditions.push(condition),
                    }
                }
            }
        }
        self.status
            .extension
            .extend(std::mem::take(&mut edits.fields));
    }
}
