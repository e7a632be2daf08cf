//! The part of a run that renders: what for, whether again, and with which seed and answers.

use super::error::ReconcileError;
use super::lookups::{Asked, ask, digest, reported, watchable};
use super::reconcile::now;
use super::render::{Compiled, Rendered, Renderer, Surroundings, failed};
use super::resource::Component;
use super::run::Run;
use super::seed;
use super::wanted::Wanted;
use crate::api::v1alpha1::{ComponentStatus, GeneratorStatus, Randomness};
use crate::cluster::{ComponentName, Resources};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::ResourceExt;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use whipstaff_generator::{
    Capabilities, Digest, Generated, LookupQuestion, LookupSnapshot, Release, Seed,
};

/// Most rounds of questions about live objects.
const MAX_LOOKUP_ROUNDS: usize = 8;

/// Everything that decides what comes out.
pub(super) struct Order {
    pub(super) wanted: Wanted,
    /// Digest of it.
    digest: Digest,
    pub(super) release: Release,
    pub(super) randomness: Randomness,
    /// What `now` answers.
    pub(super) since: Time,
    /// The component as templates see it.
    pub(super) component: Arc<Value>,
}

impl Order {
    /// The order of a component whose status is given, and the digest of its input.
    pub(super) fn new<C: Component>(
        component: &C,
        wanted: Wanted,
        status: &ComponentStatus,
        now: Time,
    ) -> (Self, String) {
        let digest = wanted.digest();
        let input = digest.to_string();
        let is_known = status.input_digest.as_ref() == Some(&input);
        let known_since = status.input_since.clone().filter(|_| is_known);
        let release = release(status, &input);
        let order = Self {
            digest,
            release,
            randomness: component.randomness(),
            since: known_since.unwrap_or(now),
            component: Arc::new(shown(component, &wanted, release)),
            wanted,
        };
        (order, input)
    }

    fn key(&self, capabilities: &Capabilities) -> Digest {
        let Release {
            revision,
            is_upgrade,
        } = self.release;
        let context = format!("{revision}/{is_upgrade}/{:?}", self.randomness);
        Digest::of_parts([
            self.digest.as_bytes().as_slice(),
            context.as_bytes(),
            capabilities.fingerprint().as_bytes(),
        ])
    }
}

/// A new input is a new revision, once one was applied in full.
fn release(status: &ComponentStatus, input: &str) -> Release {
    let last = status.revision.unwrap_or(1);
    let known = status.input_digest.as_deref();
    let is_new = known.is_some_and(|known| known != input);
    let revision = if is_new && status.applied_generation.is_some() {
        last + 1
    } else {
        last
    };
    Release {
        revision,
        is_upgrade: revision > 1,
    }
}

/// The component as templates see it: without what changes with every look at it. Of the status it has the revision and the source
/// of what is being rendered.
fn shown<C: Component>(component: &C, wanted: &Wanted, release: Release) -> Value {
    let mut shown = serde_json::to_value(component).unwrap_or_default();
    if let Some(Value::Object(metadata)) = shown.get_mut("metadata") {
        for field in ["managedFields", "resourceVersion", "finalizers"] {
            metadata.remove(field);
        }
    }
    let last = wanted.source.as_ref().map(|source| &source.revision);
    let status = json!({
        "revision": release.revision,
        "source": wanted.source,
        "lastAttemptedRevision": last,
    });
    if let Value::Object(shown) = &mut shown {
        shown.insert("status".to_owned(), status);
    }
    shown
}

/// What a rendering gets from outside while it asks.
pub(super) trait Outside: Send {
    /// Where random values come from, as far as that is known.
    fn seed(&self, order: &Order) -> Seed;

    /// Gets a seed because random values are drawn.
    fn obtain_seed(&mut self) -> impl Future<Output = Result<(), ReconcileError>> + Send;

    /// Answers questions about live objects.
    fn answer(
        &self,
        questions: &[LookupQuestion],
    ) -> impl Future<Output = Result<LookupSnapshot, ReconcileError>> + Send;
}

/// Renders until nothing is asked for that is not known. A failure after an open question is not final: the answer may mend it.
pub(super) async fn settle(
    renderer: &Renderer,
    compiled: &Compiled,
    order: &Order,
    capabilities: &Capabilities,
    lookups: &mut LookupSnapshot,
    outside: &mut impl Outside,
) -> Result<Generated, ReconcileError> {
    for _ in 0..MAX_LOOKUP_ROUNDS {
        let seed = outside.seed(order);
        let surroundings = Surroundings {
            release: order.release,
            capabilities,
            lookups,
            component: &order.component,
            seed,
        };
        let result = renderer
            .generate(&compiled.prepared, &order.wanted, surroundings)
            .await?;
        let consulted = match &result {
            Ok(generated) => &generated.consulted,
            Err(error) => error.consulted(),
        };
        let mut new = consulted.lookups.clone();
        new.retain(|question| !lookups.contains(question));
        let needs_seed = consulted.random && matches!(seed, Seed::Unknown { .. });
        if new.is_empty() && !needs_seed {
            return result.map_err(|error| failed(&error));
        }
        if needs_seed {
            outside.obtain_seed().await?;
        }
        let answers = outside.answer(&new).await?;
        for (question, answer) in answers.iter() {
            lookups.insert(question.clone(), answer.clone());
        }
    }
    Err(ReconcileError::LookupRounds {
        rounds: MAX_LOOKUP_ROUNDS,
    })
}

impl<C: Component> Outside for Run<'_, C> {
    fn seed(&self, order: &Order) -> Seed {
        match self.memory.seed {
            Some(key) => key.seed(order.randomness, order.release.revision, &order.since),
            None => Seed::Unknown {
                now: order.since.0.as_second(),
            },
        }
    }

    /// The Secret's name is stored in the status before it is created, so that deletion knows of it.
    async fn obtain_seed(&mut self) -> Result<(), ReconcileError> {
        let name = seed::secret_name(&self.component.name_any());
        if self.status.seed_secret.as_ref() != Some(&name) {
            self.status.seed_secret = Some(name);
            self.save_as_applying().await?;
        }
        let key = seed::read_or_create(self.component, self.context).await?;
        self.memory.seed = Some(key);
        Ok(())
    }

    async fn answer(&self, questions: &[LookupQuestion]) -> Result<LookupSnapshot, ReconcileError> {
        ask(questions, &self.target.cluster.discovery, &self.objects).await
    }
}

impl<C: Component> Run<'_, C> {
    /// Renders, unless nothing that the last rendering depended on has changed.
    pub(super) async fn render(
        &mut self,
        wanted: Wanted,
        interval: Duration,
    ) -> Result<Arc<Rendered>, ReconcileError> {
        let (order, input) = Order::new(self.component, wanted, &self.status, now());
        let is_known = self.status.input_digest.as_ref() == Some(&input);
        let rendered = self.rendered(&order, interval).await?;
        if !is_known {
            // Whoever watches shall see at once that something is going on.
            self.restarting = self.status.applied_generation.is_some();
            self.unsaved |= self.restarting;
            self.status.processing_since = None;
            self.status.input_digest = Some(input);
        }
        // What `now` answered must be known to whoever renders this input again.
        let is_new = self.status.input_since.as_ref() != Some(&order.since);
        self.unsaved |= is_new && rendered.generated.consulted.clock;
        self.status.input_since = Some(order.since);
        self.status.lookups = reported(&rendered.generated.consulted.lookups);
        self.status.revision = Some(order.release.revision);
        self.status.generator = Some(GeneratorStatus {
            name: rendered.generator.clone(),
            reason: rendered.reason.clone(),
            dialect: rendered.dialect(),
        });
        Ok(rendered)
    }

    async fn rendered(
        &mut self,
        order: &Order,
        interval: Duration,
    ) -> Result<Arc<Rendered>, ReconcileError> {
        let resources = self.target.cluster.discovery.resources().await?;
        let key = order.key(&resources.capabilities);
        let component = Digest::of(order.component.to_string().as_bytes());
        let mut lookups = LookupSnapshot::new();
        if let Some(last) = self.memory.rendered.clone()
            && last.key == key
            && (last.component == component || !last.generated.consulted.component)
        {
            match self.changed_answers(&last, interval).await? {
                None => return Ok(last),
                Some(answers) => lookups = answers,
            }
        }
        let context = self.context;
        let compiled = context.renderer.compile(&order.wanted).await?;
        let started = Instant::now();
        let changes = self
            .target
            .cluster
            .lookup_watches
            .changes(&self.component_name());
        let capabilities = &resources.capabilities;
        let generated = settle(
            &context.renderer,
            &compiled,
            order,
            capabilities,
            &mut lookups,
            self,
        )
        .await?;
        let Compiled {
            generator, reason, ..
        } = compiled;
        self.context.metrics.rendered(&generator, started.elapsed());
        self.remember_answers(&lookups, changes, &resources);
        let rendered = Arc::new(Rendered {
            key,
            component,
            generated,
            generator,
            reason,
        });
        self.memory.rendered = Some(Arc::clone(&rendered));
        Ok(rendered)
    }

    /// New answers to the questions of the last rendering, if they are not what they were.
    async fn changed_answers(
        &mut self,
        last: &Rendered,
        interval: Duration,
    ) -> Result<Option<LookupSnapshot>, ReconcileError> {
        let questions = &last.generated.consulted.lookups;
        let Some(asked) = self.memory.asked.filter(|_| !questions.is_empty()) else {
            return Ok(None);
        };
        let changes = self
            .target
            .cluster
            .lookup_watches
            .changes(&self.component_name());
        if asked.changes == changes && asked.at.elapsed() < interval {
            return Ok(None);
        }
        let answers = ask(questions, &self.target.cluster.discovery, &self.objects).await?;
        if digest(&answers) != asked.digest {
            return Ok(Some(answers));
        }
        self.memory.asked = Some(Asked {
            changes,
            at: Instant::now(),
            ..asked
        });
        Ok(None)
    }

    /// Remembers what was answered, and watches it. `changes` were counted before the first question.
    fn remember_answers(&mut self, lookups: &LookupSnapshot, changes: u64, resources: &Resources) {
        self.memory.asked = Some(Asked {
            digest: digest(lookups),
            changes,
            at: Instant::now(),
        });
        let wanted = watchable(lookups, &self.target.identity, resources);
        let watches = &self.target.cluster.lookup_watches;
        watches.require(&self.component_name(), &self.target.client, wanted);
    }

    pub(super) fn component_name(&self) -> ComponentName {
        (self.namespace.clone(), self.component.name_any())
    }
}
