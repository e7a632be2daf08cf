//! A chart rendered several times, to find out what its output hangs on.

use super::error::AdoptError;
use crate::cluster::{Discovery, Objects, answer};
use serde_json::{Map, Value};
use std::sync::Arc;
use whipstaff_generator::{
    Capabilities, Generated, Input, Limits, LookupSnapshot, Prepared, Release, Seed,
};

/// Most rounds of questions about live objects.
const MAX_LOOKUP_ROUNDS: usize = 8;
/// How many further seeds tell what is random: a value that may have few forms could come out the same by chance.
const OTHER_SEEDS: u8 = 3;
/// How far apart the times are that tell what hangs on the time: more than a year, and no whole number of anything.
const OTHER_TIME: i64 = 34_567_891;

/// What is rendered, and for what.
#[derive(Debug, Clone)]
pub(crate) struct Subject {
    /// The chart, compiled, with all transformers.
    pub(crate) prepared: Arc<dyn Prepared>,
    /// Namespace.
    pub(crate) namespace: String,
    /// Name of the release.
    pub(crate) name: String,
    /// Values.
    pub(crate) parameters: Map<String, Value>,
    /// What the cluster offers.
    pub(crate) capabilities: Capabilities,
    /// Which revision.
    pub(crate) release: Release,
    /// The component as templates see it.
    pub(crate) component: Option<Arc<Value>>,
    /// What `now` answers.
    pub(crate) now: i64,
    /// What a rendering may use up.
    pub(crate) limits: Limits,
}

/// What came out.
#[derive(Debug, Clone, Default)]
pub(crate) struct Renderings {
    /// With the live objects that templates look up.
    pub(crate) base: Generated,
    /// With other random values; none when none are drawn.
    pub(crate) random: Vec<Generated>,
    /// At another time; none when it is not asked for.
    pub(crate) time: Option<Generated>,
    /// As if nothing were there; none when nothing is looked up.
    pub(crate) blind: Option<Generated>,
}

impl Subject {
    /// Renders as often as it takes to tell what is random, hangs on the time, or on live objects.
    ///
    /// # Errors
    /// [`AdoptError`] when it cannot be rendered, or live objects cannot be read.
    pub(crate) async fn renderings(
        &self,
        discovery: &Discovery,
        objects: &Objects,
    ) -> Result<Renderings, AdoptError> {
        let (base, lookups) = self.base(discovery, objects).await?;
        let consulted = base.consulted.clone();
        let mut random = Vec::new();
        if consulted.random {
            for number in 0..OTHER_SEEDS {
                let seed = self.seed(number + 1, 0);
                random.push(self.render(seed, &lookups).await?);
            }
        }
        let mut time = None;
        if consulted.clock {
            time = Some(self.render(self.seed(0, OTHER_TIME), &lookups).await?);
        }
        let mut blind = None;
        if !consulted.lookups.is_empty() {
            let mut nothing = LookupSnapshot::new();
            for question in &consulted.lookups {
                nothing.insert(question.clone(), Value::Null);
            }
            // A chart may well refuse to be rendered without what it looks up.
            blind = self.render(self.seed(0, 0), &nothing).await.ok();
        }
        Ok(Renderings {
            base,
            random,
            time,
            blind,
        })
    }

    async fn base(
        &self,
        discovery: &Discovery,
        objects: &Objects,
    ) -> Result<(Generated, LookupSnapshot), AdoptError> {
        let mut lookups = LookupSnapshot::new();
        for _ in 0..MAX_LOOKUP_ROUNDS {
            let result = self.attempt(self.seed(0, 0), &lookups).await?;
            let consulted = match &result {
                Ok(generated) => &generated.consulted,
                Err(error) => error.consulted(),
            };
            let mut new = consulted.lookups.clone();
            new.retain(|question| !lookups.contains(question));
            if new.is_empty() {
                let generated = result.map_err(|error| AdoptError::render(&error))?;
                return Ok((generated, lookups));
            }
            for question in new {
                let answer = answer(&question, discovery, objects).await?;
                lookups.insert(question, answer);
            }
        }
        Err(AdoptError::LookupRounds {
            rounds: MAX_LOOKUP_ROUNDS,
        })
    }

    fn seed(&self, number: u8, later: i64) -> Seed {
        Seed::Stable {
            key: [number + 1; 32],
            now: self.now.saturating_add(later),
        }
    }

    async fn render(&self, seed: Seed, lookups: &LookupSnapshot) -> Result<Generated, AdoptError> {
        let result = self.attempt(seed, lookups).await?;
        result.map_err(|error| AdoptError::render(&error))
    }

    async fn attempt(
        &self,
        seed: Seed,
        lookups: &LookupSnapshot,
    ) -> Result<Result<Generated, whipstaff_generator::Error>, AdoptError> {
        let (subject, lookups) = (self.clone(), lookups.clone());
        let render = move || {
            let mut input = Input::new(
                &subject.namespace,
                &subject.name,
                &subject.parameters,
                &subject.capabilities,
                &lookups,
            );
            input.release = subject.release;
            input.component = subject.component.as_deref();
            input.seed = seed;
            input.limits = subject.limits;
            subject.prepared.generate(&input)
        };
        tokio::task::spawn_blocking(render)
            .await
            .map_err(AdoptError::Task)
    }
}
