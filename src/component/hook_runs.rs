//! Running the hooks of one event, from wherever the last run left off.
//!
//! How far they are stands in the status, and is stored before anything follows from it: before the first object of an event is
//! created, and before an object is deleted because its hook succeeded or failed. What was created since the last status shows by the
//! mark that it carries. So a hook that did its work is not run again, whenever the operator dies.

use super::error::ReconcileError;
use super::project::{Facts, Outcome, project};
use super::reconcile::now;
use super::resource::Component;
use super::run::Run;
use super::stored;
use crate::api::v1alpha1::{HookItem, HookPhase, HookRun, HooksStatus};
use crate::cluster::RequestError;
use crate::dependents::{
    Action, Desired, DesiredHook, ExecuteError, Live, NextForHook, ObserveError,
    Outcome as Written, Reason, Refusal, RefusalCause, Step, Waiting, event_name, live,
};
use crate::metrics::Operation;
use kube::ResourceExt;
use serde_json::Value;
use std::collections::HashSet;
use std::time::Duration;
use whipstaff_generator::{Digest, HookDeletePolicy, HookEvent};

/// Rounds of reading and writing in one run: a few for all, and some for each hook.
const ROUNDS: (usize, usize) = (8, 6);
/// Most objects of earlier hooks that are remembered.
const MAX_LEFT: usize = 256;
/// Hexadecimal digits of a digest in the mark of a run.
const MARK_DIGITS: usize = 12;

/// What hooks run for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// An installation, an upgrade or a rollback.
    Release,
    /// The deletion.
    Deletion,
    /// A test.
    Test,
}

/// How far the hooks of an event are.
#[derive(Debug)]
pub(super) enum Progress {
    /// Each did its work.
    Done,
    /// One runs.
    Waiting(Waiting),
    /// One failed; this says which and why.
    Failed(String),
}

impl<C: Component> Run<'_, C> {
    /// Begins the hooks of an event, unless they were begun or are done. Those that failed begin again when somebody wants it, those of
    /// an input that is no longer wanted begin again as well. Gives whether the status must be stored before anything is created.
    pub(super) fn begin(&mut self, event: HookEvent, hooks: &[DesiredHook], again: bool) -> bool {
        let event = event_name(event);
        let digest = short(self.status.input_digest.as_deref().unwrap_or_default());
        let revision = self.status.revision.unwrap_or_default();
        let mut attempt = 0;
        if let Some(known) = &self.status.hooks
            && known.event == event
            && known.revision == revision
        {
            let is_same = known.digest == digest && known.run.hooks.len() == hooks.len();
            let is_wanted_again = again && known.run.phase == HookPhase::Failed;
            if known.run.phase == HookPhase::Succeeded || is_same && !is_wanted_again {
                return false;
            }
            attempt = known.attempt + 1;
        }
        let run = HookRun::new(hooks.iter().map(|hook| hook.object().key.clone()), &now());
        let ids: HashSet<_> = run.hooks.iter().map(HookItem::id).collect();
        let known = self.status.hooks.take();
        let mut left = known.map(|known| left_over(*known)).unwrap_or_default();
        left.retain(|item| !ids.contains(&item.id()));
        left.drain(..left.len().saturating_sub(MAX_LEFT));
        self.status.hooks = Some(Box::new(HooksStatus {
            event: event.to_owned(),
            revision,
            digest,
            attempt,
            run,
            left,
        }));
        true
    }

    /// Goes on with the hooks of an event as far as possible.
    pub(super) async fn run_hooks(
        &mut self,
        slot: Slot,
        hooks: &[DesiredHook],
    ) -> Result<Progress, ReconcileError> {
        let rounds = ROUNDS.0 + ROUNDS.1 * hooks.len();
        for _ in 0..rounds {
            let Some(run) = self.hook_run(slot) else {
                return Ok(Progress::Done);
            };
            match run.phase {
                HookPhase::Running | HookPhase::Scheduled => {
                    if let Some(waiting) = self.advance(slot, hooks).await? {
                        return Ok(Progress::Waiting(waiting));
                    }
                }
                _ if run.cleanup => self.clean_up(slot, hooks).await?,
                HookPhase::Succeeded => return Ok(Progress::Done),
                HookPhase::Failed => return Ok(Progress::Failed(run.message.clone())),
            }
        }
        Err(ReconcileError::Rounds { rounds })
    }

    fn hook_run(&mut self, slot: Slot) -> Option<&mut HookRun> {
        match slot {
            Slot::Test => self.status.test.as_mut().map(|test| &mut test.run),
            _ => self.status.hooks.as_mut().map(|hooks| &mut hooks.run),
        }
    }

    /// What the object of a hook carries: no other run of any component has the same.
    fn mark(&self, slot: Slot, position: usize) -> String {
        let uid = self.component.uid().unwrap_or_default();
        let run = match (slot, &self.status.test, &self.status.hooks) {
            (Slot::Test, Some(test), _) => format!("test@{}", short_digest(&test.requested)),
            (_, _, Some(hooks)) => {
                format!("{}@{}.{}", hooks.event, hooks.revision, hooks.attempt)
            }
            _ => String::new(),
        };
        format!("{run}#{position}@{}", short_digest(&uid))
    }

    /// Does what is next for the hook whose turn it is; gives what is waited for, if there is nothing to do.
    async fn advance(
        &mut self,
        slot: Slot,
        hooks: &[DesiredHook],
    ) -> Result<Option<Waiting>, ReconcileError> {
        let Some(run) = self.hook_run(slot) else {
            return Ok(None);
        };
        let position = run.position();
        let since = run.since.clone();
        let item = run.hooks.get(position);
        let has_begun = item.is_some_and(|item| item.phase == HookPhase::Running);
        let Some(hook) = hooks.get(position) else {
            self.end(slot, hooks, None).await?;
            return Ok(None);
        };
        let waiting = |reason: String, timeout: Duration| {
            let deadline = jiff::SignedDuration::try_from(timeout).ok();
            let deadline = deadline.and_then(|timeout| since.0.checked_add(timeout).ok());
            Waiting {
                since: Some(since.clone()),
                overdue: Some(deadline.is_some_and(|deadline| deadline <= now().0)),
                ..Waiting::new(hook.id().clone(), reason)
            }
        };
        let timeout = self.times.timeout;
        if hook.object().unserved {
            return Ok(Some(waiting(
                "its kind is not served yet".to_owned(),
                timeout,
            )));
        }
        let mark = self.mark(slot, position);
        let found = self.look_at(hook).await?;
        let found = found.as_ref().map(|(object, live)| (object, live));
        match hook.next(&mark, has_begun, found) {
            NextForHook::Write(action) => {
                self.write_hook(slot, hooks, position, action).await?;
                Ok(None)
            }
            NextForHook::Wait(reason) => {
                let waiting = waiting(reason, timeout);
                if slot == Slot::Test && waiting.overdue == Some(true) {
                    let reason = "did not come to its end in time".to_owned();
                    self.end(slot, hooks, Some(reason)).await?;
                    return Ok(None);
                }
                Ok(Some(waiting))
            }
            NextForHook::Refuse(reason) => Err(ReconcileError::Refused {
                refusals: vec![Refusal {
                    id: hook.id().clone(),
                    reason,
                    cause: RefusalCause::Owned,
                }],
                partly: true,
            }),
            NextForHook::Succeeded => {
                self.note(slot, position, HookPhase::Succeeded);
                Ok(None)
            }
            NextForHook::Failed(reason) => {
                self.end(slot, hooks, Some(reason)).await?;
                Ok(None)
            }
        }
    }

    async fn look_at(&self, hook: &DesiredHook) -> Result<Option<(Value, Live)>, ReconcileError> {
        let (object, id) = (hook.object(), hook.id());
        let read = self.objects.read(&object.resource, &id.namespace, &id.name);
        let Some(found) = read
            .await
            .map_err(|cause| ReconcileError::read(id.clone(), cause))?
        else {
            return Ok(None);
        };
        let live = live(&found, &self.owner, &object.hints);
        let live = live.map_err(|cause| ObserveError::Metadata {
            id: Box::new(id.clone()),
            cause,
        })?;
        Ok(Some((found, live)))
    }

    /// Writes the object of a hook. One that the API server will never take has failed.
    async fn write_hook(
        &mut self,
        slot: Slot,
        hooks: &[DesiredHook],
        position: usize,
        action: Action,
    ) -> Result<(), ReconcileError> {
        let Some(hook) = hooks.get(position) else {
            return Ok(());
        };
        let is_removal = matches!(action, Action::Recreate { .. });
        let object = hook.marked(self.owner.names(), &self.mark(slot, position));
        let result = self.write_one(hook, object, action).await;
        match result {
            Ok(true) if !is_removal => {
                self.context.metrics.operated(Operation::Hook);
                self.note(slot, position, HookPhase::Running);
            }
            Ok(_) => {}
            Err(ExecuteError::Write { cause, .. } | ExecuteError::Immutable { cause, .. })
                if !is_removal && is_final(slot, &cause) =>
            {
                // As with Helm, nothing is deleted then.
                let reason = if is_nowhere(&cause) {
                    format!("{NOWHERE}: {cause}")
                } else {
                    format!("cannot be created: {cause}")
                };
                self.set_end(slot, Some(reason));
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Gives whether something was written.
    async fn write_one(
        &self,
        hook: &DesiredHook,
        object: crate::dependents::DesiredObject,
        action: Action,
    ) -> Result<bool, ExecuteError> {
        let step = Step {
            key: hook.object().key.clone(),
            wave: 0,
            action,
            reason: Reason::Hook,
        };
        let desired = Desired {
            objects: vec![object],
            ..Desired::default()
        };
        let mut changes = Vec::new();
        let executor = self.executor();
        executor.execute(&[step], &desired, &mut changes).await?;
        let is_written = |outcome: &Written| !matches!(outcome, Written::Exists);
        Ok(changes.iter().any(|change| is_written(&change.outcome)))
    }

    fn note(&mut self, slot: Slot, position: usize, phase: HookPhase) {
        let Some(run) = self.hook_run(slot) else {
            return;
        };
        run.since = now();
        if let Some(item) = run.hooks.get_mut(position) {
            item.phase = phase;
        }
    }

    /// Ends the hooks of an event: with none that failed, or with what is wrong with the one whose turn it is.
    async fn end(
        &mut self,
        slot: Slot,
        hooks: &[DesiredHook],
        failed: Option<String>,
    ) -> Result<(), ReconcileError> {
        self.set_end(slot, failed);
        let Some(run) = self.hook_run(slot) else {
            return Ok(());
        };
        run.cleanup = !doomed(run, hooks).is_empty();
        if run.cleanup {
            self.save_hooks(slot).await?;
        }
        Ok(())
    }

    fn set_end(&mut self, slot: Slot, failed: Option<String>) {
        let Some(run) = self.hook_run(slot) else {
            return;
        };
        run.since = now();
        run.phase = HookPhase::Succeeded;
        if let Some(reason) = failed {
            let position = run.position();
            if let Some(item) = run.hooks.get_mut(position) {
                item.phase = HookPhase::Failed;
                run.message = format!("{} {reason}", item.id());
            }
            run.phase = HookPhase::Failed;
        }
        // What follows has its own time to get ready.
        if slot == Slot::Release {
            self.status.processing_since = None;
        }
    }

    /// Deletes the objects of hooks whose policies say so, as Helm does when all hooks of an event are done, or one has failed.
    async fn clean_up(&mut self, slot: Slot, hooks: &[DesiredHook]) -> Result<(), ReconcileError> {
        let Some(run) = self.hook_run(slot) else {
            return Ok(());
        };
        for position in doomed(run, hooks) {
            let Some(hook) = hooks.get(position) else {
                continue;
            };
            let found = self.look_at(hook).await?;
            let mark = self.mark(slot, position);
            if let Some((_, live)) = found
                && live.digest == mark
                && !live.deleting
            {
                let action = Action::Purge { uid: live.uid };
                self.write_one(hook, hook.object().clone(), action).await?;
            }
            let items = self.hook_run(slot).map(|run| run.hooks.as_mut_slice());
            if let Some(item) = items.and_then(|items| items.get_mut(position)) {
                item.deleted = true;
            }
        }
        if let Some(run) = self.hook_run(slot) {
            run.cleanup = false;
        }
        Ok(())
    }

    /// Stores the status before anything else is done.
    pub(super) async fn save_hooks(&mut self, slot: Slot) -> Result<(), ReconcileError> {
        match slot {
            Slot::Release => return self.save_as_applying().await,
            Slot::Deletion => {
                let facts = Facts {
                    generation: self.component.meta().generation,
                    deleting: true,
                    timeout: Duration::MAX,
                };
                let outcome = Outcome::Leaving(Vec::new());
                self.status = project(self.status.clone(), &outcome, facts, &now());
            }
            // It is no matter of the component's readiness.
            Slot::Test => {}
        }
        stored::write_status(self.component, self.context, self.memory, &self.status).await
    }
}

/// Positions of the hooks whose objects are to be deleted, in the order of their deletion.
fn doomed(run: &HookRun, hooks: &[DesiredHook]) -> Vec<usize> {
    let deleted_by = |position: usize, policy| {
        let is_there = run.hooks.get(position).is_some_and(|item| !item.deleted);
        let hook = hooks.get(position);
        is_there && hook.is_some_and(|hook| hook.is_deleted_by(policy))
    };
    let succeeded = |position: &usize| deleted_by(*position, HookDeletePolicy::HookSucceeded);
    if run.phase == HookPhase::Succeeded {
        return (0..hooks.len()).rev().filter(succeeded).collect();
    }
    let failed = run.position();
    let first = Some(failed).filter(|failed| deleted_by(*failed, HookDeletePolicy::HookFailed));
    first
        .into_iter()
        .chain((0..failed).filter(succeeded))
        .collect()
}

/// Whether another attempt would change nothing.
fn is_final(slot: Slot, cause: &RequestError) -> bool {
    cause.is_invalid() || slot == Slot::Deletion && is_nowhere(cause)
}

/// What is said of a hook whose namespace, or whose kind, is gone or going away.
pub(super) const NOWHERE: &str = "has no place any more";

fn is_nowhere(cause: &RequestError) -> bool {
    // The API server has no word of its own for it, only a sentence.
    cause.is_not_found() || cause.to_string().contains("because it is being terminated")
}

/// What stays of hooks when others run.
pub(super) fn left_over(hooks: HooksStatus) -> Vec<HookItem> {
    let mut left = hooks.left;
    let ran = hooks.run.hooks.into_iter();
    for item in ran.filter(|item| item.phase != HookPhase::Scheduled) {
        left.retain(|known| known.id() != item.id());
        if !item.deleted {
            left.push(item);
        }
    }
    left
}

fn short_digest(text: &str) -> String {
    short(&Digest::of(text.as_bytes()).hex())
}

/// The first digits of a digest, without what names its algorithm.
fn short(digest: &str) -> String {
    let digits = digest.rsplit(':').next().unwrap_or(digest);
    digits.chars().take(MARK_DIGITS).collect()
}
