//! The part of a run that renders: what for, whether again, and with which seed and answers.

use super::error::ReconcileError;
use super::lookups::{Asked, ask, digest, reported, watchable};
use super::reconcile::now;
use super::render::{Compiled, Rendered, Surroundings, Wanted, failed};
use super::resource::Component;
use super::run::Run;
use super::seed;
use crate::api::v1alpha1::{GeneratorStatus, Randomness};
use crate::cluster::{ComponentName, Resources};
use crate::source::Artifact;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::ResourceExt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use whipstaff_generator::{Digest, Generated, LookupSnapshot, Release, Seed};

/// Most rounds of questions about live objects.
const MAX_LOOKUP_ROUNDS: usize = 8;

/// Everything that decides what comes out.
struct Order<'a> {
    wanted: Wanted<'a>,
    release: Release,
    randomness: Randomness,
    since: Time,
    interval: Duration,
}

impl Order<'_> {
    fn key(&self, resources: &Resources) -> Digest {
        let Release {
            revision,
            is_upgrade,
        } = self.release;
        let context = format!("{revision}/{is_upgrade}/{:?}", self.randomness);
        Digest::of_parts([
            self.wanted.digest().as_bytes().as_slice(),
            context.as_bytes(),
            resources.capabilities.fingerprint().as_bytes(),
        ])
    }
}

impl<C: Component> Run<'_, C> {
    /// Renders, unless nothing that the last rendering depended on has changed.
    pub(super) async fn render(
        &mut self,
        artifact: &Arc<Artifact>,
        interval: Duration,
    ) -> Result<(Arc<Rendered>, Release), ReconcileError> {
        let component = self.component;
        let parameters = component.parameters();
        let name = self.component.name_any();
        let namespace = self.target_namespace().to_owned();
        let wanted = Wanted {
            artifact,
            path: component.path(),
            generator: component.generator(),
            options: component.generator_options(),
            parameters: &parameters,
            namespace: &namespace,
            name: component.target_name().unwrap_or(&name),
        };
        let input = wanted.digest().to_string();
        let is_known = self.status.input_digest.as_ref() == Some(&input);
        let known_since = self.status.input_since.clone().filter(|_| is_known);
        let order = Order {
            release: self.release(&input),
            randomness: component.randomness(),
            since: known_since.unwrap_or_else(now),
            wanted,
            interval,
        };
        let rendered = self.rendered(&order).await?;
        if !is_known {
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
        Ok((rendered, order.release))
    }

    /// A new input is a new revision, once one was applied in full.
    fn release(&self, input: &str) -> Release {
        let last = self.status.revision.unwrap_or(1);
        let known = self.status.input_digest.as_deref();
        let is_new = known.is_some_and(|known| known != input);
        let revision = if is_new && self.status.applied_generation.is_some() {
            last + 1
        } else {
            last
        };
        Release {
            revision,
            is_upgrade: revision > 1,
        }
    }

    async fn rendered(&mut self, order: &Order<'_>) -> Result<Arc<Rendered>, ReconcileError> {
        let resources = self.context.discovery.resources().await?;
        let key = order.key(&resources);
        let mut lookups = LookupSnapshot::new();
        if let Some(last) = self.memory.rendered.clone()
            && last.key == key
        {
            match self.changed_answers(&last, order.interval).await? {
                None => return Ok(last),
                Some(answers) => lookups = answers,
            }
        }
        let compiled = self.context.renderer.compile(&order.wanted).await?;
        let started = Instant::now();
        let changes = self.context.lookup_watches.changes(&self.component_name());
        let generated = self
            .generate(&compiled, order, &resources, &mut lookups)
            .await?;
        let Compiled {
            generator, reason, ..
        } = compiled;
        self.context.metrics.rendered(&generator, started.elapsed());
        self.remember_answers(&lookups, changes, &resources)?;
        let rendered = Arc::new(Rendered {
            key,
            generated,
            generator,
            reason,
        });
        self.memory.rendered = Some(Arc::clone(&rendered));
        Ok(rendered)
    }

    /// Renders until nothing is asked for that is not known. A failure after an open question is not final: the answer may mend it.
    async fn generate(
        &mut self,
        compiled: &Compiled,
        order: &Order<'_>,
        resources: &Resources,
        lookups: &mut LookupSnapshot,
    ) -> Result<Generated, ReconcileError> {
        for _ in 0..MAX_LOOKUP_ROUNDS {
            let surroundings = Surroundings {
                release: order.release,
                capabilities: &resources.capabilities,
                lookups,
                seed: self.seed(order),
            };
            let renderer = &self.context.renderer;
            let result = renderer
                .generate(&compiled.prepared, &order.wanted, surroundings)
                .await?;
            let consulted = match &result {
                Ok(generated) => &generated.consulted,
                Err(error) => error.consulted(),
            };
            let mut new = consulted.lookups.clone();
            new.retain(|question| !lookups.contains(question));
            let needs_seed = consulted.random && self.memory.seed.is_none();
            if new.is_empty() && !needs_seed {
                return result.map_err(|error| failed(&error));
            }
            if needs_seed {
                self.obtain_seed().await?;
            }
            let answers = ask(&new, &self.context.discovery, &self.objects).await?;
            for (question, answer) in answers.iter() {
                lookups.insert(question.clone(), answer.clone());
            }
        }
        Err(ReconcileError::LookupRounds {
            rounds: MAX_LOOKUP_ROUNDS,
        })
    }

    fn seed(&self, order: &Order<'_>) -> Seed {
        match self.memory.seed {
            Some(key) => key.seed(order.randomness, order.release.revision, &order.since),
            None => Seed::Unknown {
                now: order.since.0.as_second(),
            },
        }
    }

    /// Gets the component's seed. The Secret's name is stored in the status before it is created, so that deletion knows of it.
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
        let changes = self.context.lookup_watches.changes(&self.component_name());
        if asked.changes == changes && asked.at.elapsed() < interval {
            return Ok(None);
        }
        let answers = ask(questions, &self.context.discovery, &self.objects).await?;
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
    fn remember_answers(
        &mut self,
        lookups: &LookupSnapshot,
        changes: u64,
        resources: &Resources,
    ) -> Result<(), ReconcileError> {
        self.memory.asked = Some(Asked {
            digest: digest(lookups),
            changes,
            at: Instant::now(),
        });
        let account = self.component.service_account_name();
        let client = self.context.identities.client(&self.namespace, account)?;
        let identity = account.map(|account| format!("{}/{account}", self.namespace));
        let wanted = watchable(lookups, &identity.unwrap_or_default(), resources);
        let watches = &self.context.lookup_watches;
        watches.require(&self.component_name(), &client, wanted);
        Ok(())
    }

    pub(super) fn component_name(&self) -> ComponentName {
        (self.namespace.clone(), self.component.name_any())
    }
}
