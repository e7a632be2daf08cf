//! Hooks that run when a component is deleted.
//!
//! By then its source may be gone, so they are kept in a Secret beside it as soon as they are rendered. It is named after what it holds
//! and never changes; it is there before the status that names it, and goes after the status that no longer does.

use super::error::ReconcileError;
use super::hook_runs::{NOWHERE, Progress, Slot, left_over};
use super::resource::Component;
use super::run::Run;
use super::spill::{self, Kept, SpillError};
use crate::api::v1alpha1::{HookItem, HookPhase};
use crate::class::Class;
use crate::dependents::{
    Action, Desired, DesiredHook, PrepareError, PrepareOptions, Reason, Step, Waiting, event_name,
    live, prepare_hooks, served,
};
use crate::status::Hints;
use kube::runtime::events::EventType;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;
use whipstaff_generator::{Generated, Hook, HookDeletePolicy, HookEvent, Object};

/// A hook as it is kept.
#[derive(Serialize, Deserialize)]
struct KeptHook {
    object: Value,
    source: String,
    events: Vec<String>,
    weight: i64,
    policies: Vec<String>,
}

const EVENTS: [HookEvent; 2] = [HookEvent::PreDelete, HookEvent::PostDelete];
const POLICIES: [(HookDeletePolicy, &str); 3] = [
    (HookDeletePolicy::BeforeHookCreation, "before-hook-creation"),
    (HookDeletePolicy::HookSucceeded, "hook-succeeded"),
    (HookDeletePolicy::HookFailed, "hook-failed"),
];

impl KeptHook {
    /// A hook, if it runs at the deletion.
    fn of(hook: &Hook) -> Option<Self> {
        let events = EVENTS.iter().filter(|event| hook.events.contains(event));
        let events: Vec<_> = events.map(|event| event_name(*event).to_owned()).collect();
        let is_named = |policy| hook.delete_policies.contains(policy);
        let policies = POLICIES.iter().filter(|(policy, _)| is_named(policy));
        (!events.is_empty()).then(|| Self {
            object: hook.object.clone().into_value(),
            source: hook.source.clone(),
            events,
            weight: hook.weight,
            policies: policies.map(|(_, name)| (*name).to_owned()).collect(),
        })
    }

    fn hook(self) -> Option<Hook> {
        let is_named = |names: &[String], name: &str| names.iter().any(|known| known == name);
        let events = EVENTS.iter().copied();
        let policies = POLICIES.iter();
        Some(Hook {
            object: Object::from_value(self.object).ok()?,
            source: self.source,
            events: events
                .filter(|event| is_named(&self.events, event_name(*event)))
                .collect(),
            weight: self.weight,
            delete_policies: policies
                .filter(|(_, name)| is_named(&self.policies, name))
                .map(|(policy, _)| *policy)
                .collect(),
        })
    }
}

impl<C: Component> Run<'_, C> {
    /// Keeps the hooks that run when the component is deleted; nothing is written for a component that has none.
    pub(super) async fn keep_deletion_hooks(
        &mut self,
        generated: &Generated,
    ) -> Result<(), ReconcileError> {
        let hooks: Vec<_> = generated.hooks.iter().filter_map(KeptHook::of).collect();
        if hooks.is_empty() || !self.component.runs_hooks() {
            self.status.hooks_secret = None;
            return Ok(());
        }
        let json = serde_json::to_vec(&hooks).unwrap_or_default();
        let known = self.status.hooks_secret.take();
        let (component, context) = (self.component, self.context);
        let name = spill::keep(component, context, Kept::Hooks, &json, known.as_deref()).await?;
        self.unsaved |= known.as_ref() != Some(&name);
        self.status.hooks_secret = Some(name);
        Ok(())
    }

    /// Runs the hooks of the deletion; gives the one that is waited for. As with Helm, a failure after everything is deleted is told and
    /// changes nothing.
    pub(super) async fn run_deletion_hooks(
        &mut self,
        event: HookEvent,
    ) -> Result<Option<Waiting>, ReconcileError> {
        let Some(secret) = self.status.hooks_secret.clone() else {
            return Ok(None);
        };
        let status = &self.status;
        // Where nothing was ever written, nothing has to be taken leave of.
        let is_new = status.applied_generation.is_none() && status.hooks.is_none();
        let is_new = is_new && !self.has_applied() && event == HookEvent::PreDelete;
        if is_new || !self.component.runs_hooks() || self.is_over(event) {
            return Ok(None);
        }
        let Some(hooks) = self.deletion_hooks(event, &secret).await? else {
            return Ok(None);
        };
        if hooks.is_empty() {
            return Ok(None);
        }
        let again = self.is_due_again();
        if self.begin(event, &hooks, again) {
            self.save_hooks(Slot::Deletion).await?;
        }
        let is_last = event == HookEvent::PostDelete;
        let message = match self.run_hooks(Slot::Deletion, &hooks).await {
            Ok(Progress::Done) => return Ok(None),
            Ok(Progress::Waiting(mut waiting)) => {
                waiting.reason = format!("the {} hook {}", event_name(event), waiting.reason);
                let kinds = hooks.iter().map(|hook| hook.object().resource.clone());
                self.hook_kinds = kinds.collect();
                self.watch(&Desired::default(), None).await?;
                return Ok(Some(waiting));
            }
            Ok(Progress::Failed(message)) => message,
            Err(error) if is_last && matches!(error.class(), Class::Denied | Class::Invalid) => {
                error.report()
            }
            Err(error) => return Err(error),
        };
        if !is_last && !message.contains(NOWHERE) {
            return Err(ReconcileError::DeletionHook {
                event: event_name(event),
                message,
            });
        }
        self.give_up(event, &message).await;
        Ok(None)
    }

    /// Tells of a hook that did not run, and goes on without it.
    async fn give_up(&mut self, event: HookEvent, message: &str) {
        let note = format!("deleted although the {} hook {message}", event_name(event));
        self.tell("HookFailed", "Delete", EventType::Warning, &note)
            .await;
        if let Some(hooks) = &mut self.status.hooks {
            hooks.run.phase = HookPhase::Succeeded;
            message.clone_into(&mut hooks.run.message);
            hooks.run.cleanup = false;
        }
    }

    fn is_over(&self, event: HookEvent) -> bool {
        let is = |known: &str, event| known == event_name(event);
        self.status.hooks.as_ref().is_some_and(|known| {
            is(&known.event, event) && known.run.has_succeeded()
                || event == HookEvent::PreDelete && is(&known.event, HookEvent::PostDelete)
        })
    }

    /// Whether hooks that failed are run again: when somebody asks, and after a while.
    fn is_due_again(&self) -> bool {
        let known = self.status.hooks.as_ref();
        let ended = known.filter(|known| known.run.is_over());
        let since = ended.map(|known| jiff::Timestamp::now().duration_since(known.run.since.0));
        let spent = since.and_then(|spent| Duration::try_from(spent).ok());
        self.asked || spent.is_some_and(|spent| spent >= self.times.retry_interval)
    }

    /// The hooks that were kept; nothing when they are gone.
    async fn deletion_hooks(
        &mut self,
        event: HookEvent,
        secret: &str,
    ) -> Result<Option<Vec<DesiredHook>>, ReconcileError> {
        let read = spill::read(self.component, self.context, Kept::Hooks, secret).await;
        let kept: Vec<KeptHook> = match read {
            // Everything in a namespace goes with it, in any order.
            Err(ReconcileError::Inventory {
                cause: SpillError::Missing,
                ..
            }) => {
                let message = format!("is not known any more: the Secret `{secret}` is gone");
                self.give_up(event, &message).await;
                self.status.hooks_secret = None;
                return Ok(None);
            }
            other => other?,
        };
        let mut generated = Generated::default();
        generated.hooks = kept.into_iter().filter_map(KeptHook::hook).collect();
        let nothing = Desired::default();
        let discovery = &self.target.cluster.discovery;
        let resources = discovery.resources().await?;
        let make =
            |options: &PrepareOptions<'_>| prepare_hooks(event, &generated, &nothing, options);
        Ok(Some(match self.with_options(&resources, make) {
            Err(PrepareError::UnknownKind { .. }) => {
                let fresh = discovery.fresh_resources().await?;
                self.with_options(&fresh, make)?
            }
            other => other?,
        }))
    }

    /// Removes our marks from what hooks left behind: it stays, and is nobody's. Helm leaves it too.
    pub(super) async fn release_hooks(&mut self) {
        let known = self.status.hooks.take();
        let left = known.map(|known| left_over(*known)).unwrap_or_default();
        for item in left {
            if let Err(error) = self.release_hook(&item).await {
                tracing::debug!(object = %item.id(), error = error.report(), "our marks stay on what a hook left behind");
            }
        }
    }

    async fn release_hook(&self, item: &HookItem) -> Result<(), ReconcileError> {
        let (key, id) = (item.key(), item.id());
        let resources = self.target.cluster.discovery.resources().await?;
        let Some(resource) = served(&resources, &key) else {
            return Ok(());
        };
        let found = self.objects.read(resource, &id.namespace, &id.name).await;
        let found = found.map_err(|cause| ReconcileError::read(id.clone(), cause))?;
        let live = found.and_then(|found| live(&found, &self.owner, &Hints::default()).ok());
        let Some(live) = live.filter(|live| live.is_ours() && !live.deleting) else {
            return Ok(());
        };
        let step = Step {
            key,
            wave: 0,
            action: Action::Release { uid: live.uid },
            reason: Reason::Orphaned,
        };
        let mut changes = Vec::new();
        let nothing = Desired::default();
        self.executor()
            .execute(&[step], &nothing, &mut changes)
            .await?;
        Ok(())
    }
}
