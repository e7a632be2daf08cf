//! A chart's hooks, and what to do next with one of them.
//!
//! As with Helm, the hooks of an event run one after another, by weight and then by name, and each must be done before the next one
//! begins. They belong to no inventory: nobody prunes them, puts them right or waits for them later. What each run creates carries a
//! mark of that run, so that whoever comes after a crash knows what was created for which one.

use super::desired::{Desired, DesiredObject, PrepareError, PrepareOptions, prepare_alone};
use super::names::Names;
use super::ownership::Owner;
use super::plan::{Action, Live};
use crate::api::v1alpha1::{AdoptionPolicy, ImmutablePolicy, UpdatePolicy};
use serde_json::{Value, json};
use std::sync::Arc;
use whipstaff_generator::{Generated, Hook, HookDeletePolicy, HookEvent, ObjectId};

/// Wave of the definitions that a component brings: before its first hook, as with Helm's `crds` folder.
pub(crate) const DEFINITION_WAVE: i32 = -31_000;
/// First wave that comes after the hooks which run before.
pub(super) const HOOK_WAVE: i32 = -30_000;
/// Most hooks of one event.
const MAX_HOOKS: usize = 256;
/// Shortest time in seconds for which a finished Job stays: its end must be seen.
const MIN_TTL: u64 = 60;

/// A hook as it is sent.
#[derive(Debug, Clone)]
pub(crate) struct DesiredHook {
    object: DesiredObject,
    policies: Vec<HookDeletePolicy>,
}

/// What to do next with a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NextForHook {
    /// It is written, or what is in its place is deleted.
    Write(Action),
    /// It runs, or what is in its place is going away.
    Wait(String),
    /// What is in its place must not be touched.
    Refuse(String),
    /// It did its work.
    Succeeded,
    /// It failed.
    Failed(String),
}

/// The name of an event in a chart.
pub(crate) fn event_name(event: HookEvent) -> &'static str {
    match event {
        HookEvent::PreInstall => "pre-install",
        HookEvent::PostInstall => "post-install",
        HookEvent::PreUpgrade => "pre-upgrade",
        HookEvent::PostUpgrade => "post-upgrade",
        HookEvent::PreRollback => "pre-rollback",
        HookEvent::PostRollback => "post-rollback",
        HookEvent::PreDelete => "pre-delete",
        HookEvent::PostDelete => "post-delete",
        HookEvent::Test => "test",
    }
}

/// The hooks of an event in the order in which they run. `desired` are the objects that they come with: a hook cannot be one of them.
pub(crate) fn prepare_hooks(
    event: HookEvent,
    generated: &Generated,
    desired: &Desired,
    options: &PrepareOptions<'_>,
) -> Result<Vec<DesiredHook>, PrepareError> {
    let hooks = in_order(&generated.hooks, event);
    let objects = prepare_alone(hooks.iter().copied(), generated, options)?;
    let mut prepared = Vec::new();
    for (hook, mut object) in hooks.into_iter().zip(objects) {
        let mut others = desired.objects.iter();
        if let Some(other) = others.find(|other| other.id == object.id) {
            return Err(PrepareError::Duplicate {
                id: Box::new(object.id),
                first: other.source.clone(),
                second: object.source,
            });
        }
        if prepared.len() == MAX_HOOKS {
            return Err(PrepareError::TooManyHooks {
                event: event_name(event),
                most: MAX_HOOKS,
            });
        }
        // What a hook is written over is changed, or the hook fails.
        object.update = UpdatePolicy::SsaMerge;
        object.immutable = ImmutablePolicy::Refuse;
        object.ignored = Vec::new();
        prepared.push(DesiredHook {
            object,
            policies: hook.delete_policies.clone(),
        });
    }
    Ok(prepared)
}

/// Whether an object is applied after the hooks that run before.
pub(crate) fn come_after_hooks(object: &DesiredObject) -> bool {
    object.apply_order >= HOOK_WAVE
}

/// By weight and then by name (Helm 4.3, `pkg/action/hooks.go`); generators give them by kind.
fn in_order(hooks: &[Hook], event: HookEvent) -> Vec<&Hook> {
    let mut chosen: Vec<_> = hooks
        .iter()
        .filter(|hook| hook.events.contains(&event))
        .collect();
    chosen.sort_by(|a, b| (a.weight, a.object.name()).cmp(&(b.weight, b.object.name())));
    chosen
}

impl DesiredHook {
    /// The object.
    pub(crate) fn object(&self) -> &DesiredObject {
        &self.object
    }

    /// The object's identity.
    pub(crate) fn id(&self) -> &ObjectId {
        &self.object.id
    }

    /// Whether the object is deleted when something happened. Definitions never are: everything of their kinds would go with them.
    pub(crate) fn is_deleted_by(&self, policy: HookDeletePolicy) -> bool {
        let is_definition = self.id().kind == "CustomResourceDefinition";
        let is_named = self.policies.contains(&policy)
            || self.policies.is_empty() && policy == HookDeletePolicy::BeforeHookCreation;
        is_named && !is_definition
    }

    /// The object with the mark of a run.
    pub(crate) fn marked(&self, names: &Names, mark: &str) -> DesiredObject {
        let mut object = self.object.clone();
        mark.clone_into(&mut object.digest);
        let manifest = Arc::make_mut(&mut object.manifest);
        if let Some(annotations) = manifest
            .pointer_mut("/metadata/annotations")
            .and_then(Value::as_object_mut)
        {
            annotations.insert(names.digest_key().to_owned(), mark.into());
        }
        let ttl = manifest.pointer_mut("/spec/ttlSecondsAfterFinished");
        if let Some(ttl) = ttl.filter(|_| is_job(&object.id)) {
            *ttl = json!(ttl.as_u64().unwrap_or_default().max(MIN_TTL));
        }
        object
    }

    /// What to do next. `mark` is that of the present run, `begun` says whether the object is known to have been written in it, and
    /// `found` is what is there.
    pub(crate) fn next(
        &self,
        mark: &str,
        begun: bool,
        found: Option<(&Value, &Live)>,
    ) -> NextForHook {
        let Some((object, live)) = found else {
            return if begun {
                NextForHook::Failed("was deleted before its end was seen".to_owned())
            } else {
                NextForHook::Write(Action::Create)
            };
        };
        if live.owner == Owner::Us && live.digest == mark {
            if live.deleting {
                return NextForHook::Failed("is being deleted before its end was seen".to_owned());
            }
            return progress(&self.object.id, object);
        }
        let (Owner::Us | Owner::Nobody) = &live.owner else {
            return match (&live.owner, self.object.adoption) {
                (_, AdoptionPolicy::Always) => self.make_room(live),
                (Owner::Other(owner), _) => NextForHook::Refuse(format!("belongs to {owner}")),
                _ => NextForHook::Refuse("exists already".to_owned()),
            };
        };
        if live.owner == Owner::Nobody && self.object.adoption == AdoptionPolicy::Never {
            return NextForHook::Refuse("exists already".to_owned());
        }
        self.make_room(live)
    }

    fn make_room(&self, live: &Live) -> NextForHook {
        if live.deleting {
            return NextForHook::Wait("the one before is being deleted".to_owned());
        }
        if self.is_deleted_by(HookDeletePolicy::BeforeHookCreation) {
            let uid = live.uid.clone();
            return NextForHook::Write(Action::Recreate { uid });
        }
        NextForHook::Write(Action::Apply)
    }
}

fn is_job(id: &ObjectId) -> bool {
    id.kind == "Job" && id.group == "batch"
}

/// How far a hook is: Jobs and Pods run to their end, everything else is done as soon as it is there.
fn progress(id: &ObjectId, object: &Value) -> NextForHook {
    let text = |path: &str| object.pointer(path).and_then(Value::as_str);
    match (id.group.as_str(), id.kind.as_str()) {
        ("batch", "Job") => match (condition(object, "Complete"), condition(object, "Failed")) {
            (Some(_), _) => NextForHook::Succeeded,
            (_, Some(why)) => NextForHook::Failed(format!("failed: {why}")),
            _ => NextForHook::Wait("runs".to_owned()),
        },
        ("", "Pod") => match text("/status/phase") {
            Some("Succeeded") => NextForHook::Succeeded,
            Some("Failed") => {
                let why = text("/status/message").or(text("/status/reason"));
                NextForHook::Failed(match why {
                    Some(why) => format!("failed: {why}"),
                    None => "failed".to_owned(),
                })
            }
            _ => NextForHook::Wait("runs".to_owned()),
        },
        _ => NextForHook::Succeeded,
    }
}

/// The message of a condition that is true.
fn condition<'a>(object: &'a Value, type_: &str) -> Option<&'a str> {
    let conditions = object.pointer("/status/conditions")?.as_array()?;
    let is = |condition: &&Value, field: &str, value: &str| {
        condition.get(field).and_then(Value::as_str) == Some(value)
    };
    let found = conditions
        .iter()
        .find(|condition| is(condition, "type", type_) && is(condition, "status", "True"))?;
    Some(
        found
            .get("message")
            .and_then(Value::as_str)
            .unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests;
