//! What the API server has of a component besides its spec, and writing that only on top of what is known.
//!
//! Every write names the version that it is based on. When a component was changed meanwhile, but not its status, the write is made
//! again; when somebody else wrote the status, another operator for example, nothing is overwritten: the run ends, and the next one
//! starts from what is there. So an inventory never loses what another process recorded.

use super::context::Context;
use super::dependencies::Node;
use super::error::ReconcileError;
use super::hooks::extension;
use super::memory::Memory;
use super::reconcile::news;
use super::resource::Component;
use super::spill;
use crate::api::v1alpha1::ComponentStatus;
use kube::api::{Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};

/// Most attempts of one write when the component changes all the time.
const MAX_ATTEMPTS: usize = 5;

/// Takes over what the cache knows of a component if it is news.
pub(super) async fn learn<C: Component>(
    component: &C,
    context: &Context,
    memory: &mut Memory,
) -> Result<(), ReconcileError> {
    let is_news = number(component) > memory.version.parse().ok();
    if memory.status.is_none() || is_news {
        let mut status = status_of(component);
        let known = memory.status.as_mut();
        match known.filter(|known| known.inventory_secret == status.inventory_secret) {
            Some(known) if status.inventory_secret.is_some() => {
                status.inventory = std::mem::take(&mut known.inventory);
            }
            _ => spill::load(component, context, &mut status).await?,
        }
        memory.status = Some(status);
        memory.version = component.resource_version().unwrap_or_default();
        // Whoever wrote it has told of it.
        memory.told = memory.status.as_ref().and_then(news);
    }
    Ok(())
}

fn status_of<C: Component>(component: &C) -> ComponentStatus {
    let mut status = component.status().cloned().unwrap_or_default();
    status.extension = extension(component);
    status
}

/// Versions of one object are numbers that grow.
fn number<C: Component>(component: &C) -> Option<u64> {
    component.meta().resource_version.as_deref()?.parse().ok()
}

/// Whether the component waits for us to remove its dependents.
pub(super) fn has_finalizer<C: Component>(component: &C, context: &Context) -> bool {
    let ours = context.owners.names().finalizer();
    let mut finalizers = component.finalizers().iter();
    finalizers.any(|finalizer| finalizer == ours)
}

/// Adds the finalizer unless it is there. False when the component is gone: the cache may not know yet, and what is applied for a
/// component without a finalizer would stay for ever.
pub(super) async fn ensure_finalizer<C: Component>(
    component: &C,
    context: &Context,
    memory: &mut Memory,
) -> Result<bool, ReconcileError> {
    if has_finalizer(component, context) {
        return Ok(true);
    }
    let ours = context.owners.names().finalizer();
    let with_ours = |finalizers: &[String]| {
        let mut finalizers = finalizers.to_vec();
        if !finalizers.iter().any(|finalizer| finalizer == ours) {
            finalizers.push(ours.to_owned());
        }
        finalizers
    };
    write_finalizers(component, context, memory, with_ours).await
}

/// Lets the component go. It may be gone already.
pub(super) async fn remove_finalizer<C: Component>(
    component: &C,
    context: &Context,
    memory: &mut Memory,
) -> Result<(), ReconcileError> {
    let ours = context.owners.names().finalizer();
    let without_ours = |finalizers: &[String]| {
        let mut finalizers = finalizers.to_vec();
        finalizers.retain(|finalizer| finalizer != ours);
        finalizers
    };
    write_finalizers(component, context, memory, without_ours).await?;
    let known = memory.status.as_ref();
    let secrets = known.map(|status| [&status.inventory_secret, &status.hooks_secret]);
    for name in secrets.into_iter().flatten().flatten() {
        spill::remove(component, context, name).await;
    }
    Ok(())
}

/// Writes the whole list on condition that nobody changed the component meanwhile. False when it is gone.
async fn write_finalizers<C: Component>(
    component: &C,
    context: &Context,
    memory: &mut Memory,
    change: impl Fn(&[String]) -> Vec<String>,
) -> Result<bool, ReconcileError> {
    let mut finalizers = component.finalizers().to_vec();
    let mut version = component.resource_version().unwrap_or_default();
    for _ in 0..MAX_ATTEMPTS {
        let patch = json!({ "metadata": {
            "uid": component.uid(),
            "resourceVersion": version,
            "finalizers": change(&finalizers),
        }});
        let params = PatchParams::default();
        let answer = api(component, context)
            .patch(&component.name_any(), &params, &Patch::Merge(&patch))
            .await;
        match answer {
            Ok(stored) => {
                learn(&stored, context, memory).await?;
                return Ok(true);
            }
            Err(kube::Error::Api(status)) if status.code == 404 => return Ok(false),
            Err(kube::Error::Api(status)) if status.code == 409 => {
                let Some(stored) = read(component, context).await? else {
                    return Ok(false);
                };
                finalizers = stored.finalizers().to_vec();
                version = stored.resource_version().unwrap_or_default();
                if change(&finalizers) == finalizers {
                    learn(&stored, context, memory).await?;
                    return Ok(true);
                }
            }
            Err(cause) => return Err(failed("write the component's finalizers", cause)),
        }
    }
    Err(ReconcileError::Overtaken)
}

/// Writes the status if it differs from what is stored.
///
/// # Errors
/// [`ReconcileError::Overtaken`] when somebody else wrote it: then this run writes it no more.
pub(super) async fn write_status<C: Component>(
    component: &C,
    context: &Context,
    memory: &mut Memory,
    status: &ComponentStatus,
) -> Result<(), ReconcileError> {
    let Some(known) = &memory.status else {
        return Err(ReconcileError::Overtaken);
    };
    let before = known.inventory_secret.clone();
    let hooks_before = known.hooks_secret.clone();
    let mut status = status.clone();
    status.inventory_secret.clone_from(&before);
    if *known == status {
        return Ok(());
    }
    spill::store(component, context, &mut status).await?;
    let (status, body) = (&status, whole(&spill::stored_form(&status)));
    for _ in 0..MAX_ATTEMPTS {
        let body = json!({
            "apiVersion": C::api_version(&()),
            "kind": C::kind(&()),
            "metadata": {
                "name": component.name_any(),
                "uid": component.uid(),
                "resourceVersion": memory.version,
            },
            "status": body,
        });
        let params = PatchParams::apply(context.owners.names().field_manager()).force();
        let answer = api(component, context)
            .patch_status(&component.name_any(), &params, &Patch::Apply(&body))
            .await;
        match answer {
            Ok(stored) => {
                let is_news = memory.status.as_ref().map(readiness) != Some(readiness(status));
                memory.status = Some(status.clone());
                if is_news {
                    context.graph.wake_dependants(&Node::of(component));
                }
                memory.version = stored.resource_version().unwrap_or_default();
                let now = [&status.inventory_secret, &status.hooks_secret];
                for old in [before, hooks_before].into_iter().flatten() {
                    if !now.contains(&&Some(old.clone())) {
                        spill::remove(component, context, &old).await;
                    }
                }
                return Ok(());
            }
            Err(kube::Error::Api(answer)) if answer.code == 409 => {
                let Some(stored) = read(component, context).await? else {
                    return Err(ReconcileError::Overtaken);
                };
                let known = memory.status.as_ref().map(spill::stored_form);
                if Some(status_of(&stored)) != known {
                    memory.status = None;
                    return Err(ReconcileError::Overtaken);
                }
                memory.version = stored.resource_version().unwrap_or_default();
            }
            Err(cause) => return Err(failed("write the component's status", cause)),
        }
    }
    Err(ReconcileError::Overtaken)
}

/// The component as it is stored now, unless it is gone.
async fn read<C: Component>(component: &C, context: &Context) -> Result<Option<C>, ReconcileError> {
    let stored = api(component, context).get_opt(&component.name_any()).await;
    let stored = stored.map_err(|cause| failed("read the component", cause))?;
    Ok(stored.filter(|stored| stored.uid() == component.uid()))
}

fn api<C: Component>(component: &C, context: &Context) -> Api<C> {
    let namespace = component.namespace().unwrap_or_default();
    Api::namespaced(context.client.0.clone(), &namespace)
}

fn failed(verb: &'static str, cause: kube::Error) -> ReconcileError {
    ReconcileError::Component {
        verb,
        cause: Box::new(cause),
    }
}

/// What others that depend on a component look at.
fn readiness(status: &ComponentStatus) -> Option<(&str, Option<i64>)> {
    let mut conditions = status.conditions.iter();
    let ready = conditions.find(|condition| condition.type_ == "Ready")?;
    Some((&ready.status, ready.observed_generation))
}

/// The status with the fields that are the kind's own.
fn whole(status: &ComponentStatus) -> Value {
    let mut whole = serde_json::to_value(status).unwrap_or_default();
    if let Value::Object(fields) = &mut whole {
        let own = status
            .extension
            .iter()
            .filter(|(_, value)| !value.is_null());
        fields.extend(own.map(|(field, value)| (field.clone(), value.clone())));
    }
    whole
}
