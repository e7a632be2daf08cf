//! When a chart's hooks run: before and after everything else of a revision, and as tests when somebody asks.

use super::error::ReconcileError;
use super::hook_runs::{Progress, Slot};
use super::reconcile::now;
use super::render::Rendered;
use super::resource::Component;
use super::run::Run;
use crate::api::v1alpha1::{HookPhase, HookRun, OnReturn, State, TestStatus};
use crate::class::Class;
use crate::cluster::Resources;
use crate::dependents::{Desired, DesiredHook, PrepareError, Waiting, event_name, prepare_hooks};
use kube::ResourceExt;
use kube::runtime::events::EventType;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use whipstaff_generator::{Generated, HookEvent};

/// Annotation of a component, after the reconciler's name: a new value asks for a test.
const TEST_AT: &str = "test-at";
/// When to come again for a test that cannot go on at once.
const TEST_RETRY: Duration = Duration::from_secs(5);

/// Hooks that may have to run.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// Those of the present revision, event by event.
    release: Vec<(HookEvent, Vec<DesiredHook>)>,
    /// Those of a test that was asked for.
    test: Option<Vec<DesiredHook>>,
}

/// The hooks whose turn it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Due<'a> {
    event: HookEvent,
    /// Whether they run before the objects are applied.
    pub(super) before: bool,
    hooks: &'a [DesiredHook],
}

impl<C: Component> Run<'_, C> {
    /// Prepares the hooks that may have to run, and notes what must be watched and there for them.
    pub(super) async fn pending_hooks(
        &mut self,
        rendered: &Rendered,
        desired: &mut Desired,
    ) -> Result<Pending, ReconcileError> {
        let generated = &rendered.generated;
        let is_asked = self.test_asked().is_some();
        let may_run = !generated.hooks.is_empty() && !self.events().is_empty();
        if !may_run && !is_asked {
            return Ok(Pending::default());
        }
        let discovery = &self.target.cluster.discovery;
        let resources = discovery.resources().await?;
        let pending = match self.pending_with(generated, desired, &resources) {
            Err(PrepareError::UnknownKind { .. }) => {
                let fresh = discovery.fresh_resources().await?;
                self.pending_with(generated, desired, &fresh)?
            }
            other => other?,
        };
        let due = pending.release.iter().flat_map(|(_, hooks)| hooks);
        let all = due.chain(pending.test.iter().flatten());
        let objects: Vec<_> = all.map(DesiredHook::object).collect();
        let is_known = |object: &&&_| {
            let object: &crate::dependents::DesiredObject = object;
            !object.unserved && !object.defined
        };
        let kinds = objects.iter().filter(is_known);
        self.hook_kinds = kinds.map(|object| object.resource.clone()).collect();
        let brings = |namespace: &str| {
            let mut objects = desired.objects.iter();
            objects.any(|object| {
                object.id.group.is_empty()
                    && object.id.kind == "Namespace"
                    && object.id.name == namespace
            })
        };
        let namespaces = objects.iter().map(|object| &object.id.namespace);
        let needed: BTreeSet<_> = namespaces
            .filter(|namespace| !namespace.is_empty() && !brings(namespace))
            .cloned()
            .collect();
        desired.hook_namespaces = needed;
        Ok(pending)
    }

    fn pending_with(
        &self,
        generated: &Generated,
        desired: &Desired,
        resources: &Resources,
    ) -> Result<Pending, PrepareError> {
        self.with_options(resources, |options| {
            let mut pending = Pending::default();
            for event in self.events() {
                let hooks = prepare_hooks(event, generated, desired, options)?;
                if !hooks.is_empty() {
                    pending.release.push((event, hooks));
                }
            }
            if self.test_asked().is_some() {
                let hooks = prepare_hooks(HookEvent::Test, generated, desired, options)?;
                pending.test = Some(hooks);
            }
            Ok(pending)
        })
    }

    /// The events of the present revision that are not over.
    fn events(&self) -> Vec<HookEvent> {
        use HookEvent::{
            PostInstall, PostRollback, PostUpgrade, PreInstall, PreRollback, PreUpgrade,
        };
        let revision = self.status.revision.unwrap_or_default();
        let history = &self.status.history;
        if !self.component.runs_hooks() {
            return Vec::new();
        }
        if history.iter().any(|entry| entry.revision == revision) {
            return Vec::new();
        }
        // Helm has run those of the revision that was taken over.
        if self.adopted_revision() == Some(revision) {
            return Vec::new();
        }
        let known = self.status.hooks.as_ref();
        let known = known.filter(|known| known.revision == revision);
        let all = [
            (PreInstall, PostInstall),
            (PreUpgrade, PostUpgrade),
            (PreRollback, PostRollback),
        ];
        // What was begun goes on as what it was.
        let begun = known.and_then(|known| {
            let is = |event| known.event == event_name(event);
            all.into_iter()
                .find(|(before, after)| is(*before) || is(*after))
        });
        let (before, after) = begun.unwrap_or(if revision <= 1 {
            (PreInstall, PostInstall)
        } else if self.is_return() {
            (PreRollback, PostRollback)
        } else {
            (PreUpgrade, PostUpgrade)
        });
        let is_over = |event: HookEvent| {
            known.is_some_and(|known| {
                known.event == event_name(event) && known.run.has_succeeded()
                    || event == before && known.event == event_name(after)
            })
        };
        let events = [before, after].into_iter();
        events.filter(|event| !is_over(*event)).collect()
    }

    /// Whether the input was ready before, and the component wants that to be a rollback.
    fn is_return(&self) -> bool {
        let (history, digest) = (&self.status.history, self.status.input_digest.as_ref());
        let is_present = history.last().map(|entry| &entry.digest) == digest;
        self.component.on_return() == OnReturn::Rollback
            && !is_present
            && history.iter().any(|entry| Some(&entry.digest) == digest)
    }

    /// The hooks of the present revision whose turn it is next.
    pub(super) fn due_hooks<'p>(&self, pending: &'p Pending) -> Option<Due<'p>> {
        let left = self.events();
        let mut release = pending.release.iter();
        let (event, hooks) = release.find(|(event, _)| left.contains(event))?;
        let before = matches!(
            event,
            HookEvent::PreInstall | HookEvent::PreUpgrade | HookEvent::PreRollback
        );
        Some(Due {
            event: *event,
            before,
            hooks,
        })
    }

    /// Runs hooks of the present revision; gives the one that is waited for.
    pub(super) async fn run_due(
        &mut self,
        due: Due<'_>,
    ) -> Result<Option<Waiting>, ReconcileError> {
        if self.begin(due.event, due.hooks, self.asked) {
            self.save_hooks(Slot::Release).await?;
        }
        match self.run_hooks(Slot::Release, due.hooks).await? {
            Progress::Done => Ok(None),
            Progress::Waiting(mut waiting) => {
                let event = event_name(due.event);
                waiting.reason = format!("the {event} hook {}", waiting.reason);
                Ok(Some(waiting))
            }
            Progress::Failed(message) => Err(ReconcileError::ChartHook {
                event: event_name(due.event),
                message,
            }),
        }
    }

    /// What asks for a test that is not over.
    fn test_asked(&self) -> Option<&str> {
        let key = self.owner.names().key(TEST_AT);
        let asked = self.component.annotations().get(&key)?;
        let known = self.status.test.as_ref();
        let is_over = known.is_some_and(|test| test.requested == *asked && test.run.is_over());
        Some(asked.as_str()).filter(|asked| !is_over && !asked.is_empty())
    }

    /// Goes on with a test that was asked for. It begins when the component is known to be ready as it is now.
    pub(super) async fn test(&mut self, pending: &Pending) -> Result<(), ReconcileError> {
        let (Some(hooks), Some(asked)) = (&pending.test, self.test_asked()) else {
            return Ok(());
        };
        let asked = asked.to_owned();
        let generation = self.component.meta().generation;
        let is_ready = self.status.state == Some(State::Ready)
            && self.status.observed_generation == generation
            && self.status.applied_generation == generation;
        if !is_ready {
            self.look_again_in(Duration::ZERO);
            return Ok(());
        }
        if self.status.test.as_ref().map(|test| &test.requested) != Some(&asked) {
            let keys = hooks.iter().map(|hook| hook.object().key.clone());
            self.status.test = Some(Box::new(TestStatus {
                requested: asked,
                started_at: now(),
                run: HookRun::new(keys, &now()),
            }));
            self.save_hooks(Slot::Test).await?;
        }
        let result = self.run_hooks(Slot::Test, hooks).await;
        let progress = match result {
            Ok(progress) => progress,
            Err(error) if error.class() == Class::Transient => {
                self.look_again_in(TEST_RETRY);
                return Ok(());
            }
            Err(error) => {
                let message = error.report();
                if let Some(test) = &mut self.status.test {
                    test.run.phase = HookPhase::Failed;
                    test.run.message.clone_from(&message);
                    test.run.cleanup = false;
                }
                Progress::Failed(message)
            }
        };
        match progress {
            Progress::Done => {
                let note = format!("{} hooks succeeded", hooks.len());
                self.tell("TestSucceeded", "Test", EventType::Normal, &note)
                    .await;
            }
            Progress::Failed(note) => {
                self.tell("TestFailed", "Test", EventType::Warning, &note)
                    .await;
            }
            Progress::Waiting(waiting) => {
                let timeout = self.times.timeout;
                let since = waiting.since.map(|since| now().0.duration_since(since.0));
                let spent = since.and_then(|spent| Duration::try_from(spent).ok());
                self.look_again_in(timeout.saturating_sub(spent.unwrap_or_default()));
            }
        }
        Ok(())
    }

    fn look_again_in(&mut self, delay: Duration) {
        let next = Instant::now().checked_add(delay);
        self.memory.next_look = self.memory.next_look.into_iter().chain(next).min();
    }
}
