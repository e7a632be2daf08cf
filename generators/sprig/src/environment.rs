//! What a rendering gets from outside: live objects, randomness and the time.

use sha2::{Digest, Sha256};
use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
    time::{SystemTime, UNIX_EPOCH},
};
use whipstaff_generator::{Consulted, LookupQuestion, LookupSnapshot, Seed};
use whipstaff_gotemplate::{Environment, FunctionError, Value};

/// Most different questions that one rendering asks of the cluster.
pub const MAX_LOOKUPS: usize = 10_000;

/// The name that the component is lent by; who asks for it is recorded in [`Consulted::component`].
pub const COMPONENT_VALUE: &str = "component";

/// The environment of one rendering.
///
/// With a stable seed, each template has random bytes of its own, so that a change of one template does not change the passwords
/// that another one makes.
#[derive(Debug)]
pub struct RenderEnvironment<'a> {
    snapshot: &'a LookupSnapshot,
    questions: BTreeSet<LookupQuestion>,
    random: bool,
    clock: bool,
    component: bool,
    seed: Seed,
    stream: Stream,
    template: CurrentTemplate,
    values: BTreeMap<&'static str, Value>,
}

/// Name of the template that is being rendered; the one who renders sets it.
#[derive(Debug, Clone, Default)]
pub struct CurrentTemplate(Rc<RefCell<String>>);

impl CurrentTemplate {
    /// Says which template is rendered from here on.
    pub fn set(&self, name: &str) {
        name.clone_into(&mut self.0.borrow_mut());
    }
}

impl<'a> RenderEnvironment<'a> {
    /// An environment that answers from a snapshot and draws from a seed.
    pub fn new(snapshot: &'a LookupSnapshot, seed: Seed, template: CurrentTemplate) -> Self {
        Self {
            snapshot,
            questions: BTreeSet::new(),
            random: false,
            clock: false,
            component: false,
            seed,
            stream: Stream::default(),
            template,
            values: BTreeMap::new(),
        }
    }

    /// Lends a value to functions that ask for it by this name.
    #[must_use]
    pub fn with_value(mut self, name: &'static str, value: Value) -> Self {
        self.values.insert(name, value);
        self
    }

    /// What was asked for.
    pub fn into_consulted(self) -> Consulted {
        let mut consulted = Consulted::default();
        consulted.lookups = self.questions.into_iter().collect();
        consulted.random = self.random;
        consulted.clock = self.clock;
        consulted.component = self.component;
        consulted
    }
}

impl Environment for RenderEnvironment<'_> {
    fn lookup(&mut self, question: LookupQuestion) -> Result<serde_json::Value, FunctionError> {
        let answer = self.snapshot.get(&question).cloned();
        if self.questions.insert(question) && self.questions.len() > MAX_LOOKUPS {
            let message = format!("more than {MAX_LOOKUPS} objects are looked up");
            return Err(FunctionError::limit(message));
        }
        Ok(answer.unwrap_or_default())
    }

    fn random(&mut self, buffer: &mut [u8]) -> Result<(), FunctionError> {
        self.random = true;
        match &self.seed {
            Seed::Unknown { .. } => Err(FunctionError::new("random values need a seed")),
            Seed::Stable { key, .. } => {
                self.stream.fill(key, &self.template.0.borrow(), buffer);
                Ok(())
            }
            _ => getrandom::fill(buffer)
                .map_err(|error| FunctionError::new(format!("no random bytes: {error}"))),
        }
    }

    fn now(&mut self) -> (i64, u32) {
        self.clock = true;
        if let Seed::Stable { now, .. } | Seed::Unknown { now } = self.seed {
            return (now, 0);
        }
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => (
                i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
                since.subsec_nanos(),
            ),
            Err(_) => (0, 0),
        }
    }

    fn value(&mut self, name: &str) -> Option<Value> {
        self.component |= name == COMPONENT_VALUE;
        self.values.get(name).cloned()
    }
}

/// Bytes out of a key and a name: the hashes of both and a counter, one after the other.
#[derive(Debug, Default)]
struct Stream {
    name: String,
    counter: u64,
    block: [u8; 32],
    used: usize,
}

impl Stream {
    fn fill(&mut self, key: &[u8; 32], name: &str, buffer: &mut [u8]) {
        if self.name != name || self.counter == 0 {
            name.clone_into(&mut self.name);
            self.counter = 0;
            self.used = self.block.len();
        }
        for byte in buffer {
            if self.used == self.block.len() {
                self.block = Sha256::new()
                    .chain_update(key)
                    .chain_update((self.name.len() as u64).to_be_bytes())
                    .chain_update(&self.name)
                    .chain_update(self.counter.to_be_bytes())
                    .finalize()
                    .into();
                self.counter += 1;
                self.used = 0;
            }
            *byte = self.block[self.used];
            self.used += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(environment: &mut RenderEnvironment<'_>, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        environment.random(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn stable_randomness_depends_on_key_and_template_only() {
        let snapshot = LookupSnapshot::new();
        let seed = Seed::Stable {
            key: [7; 32],
            now: 5,
        };
        let template = CurrentTemplate::default();
        let mut one = RenderEnvironment::new(&snapshot, seed, template.clone());
        template.set("a");
        let first = draw(&mut one, 40);
        template.set("b");
        let second = draw(&mut one, 40);
        assert_ne!(first, second);
        assert_eq!(one.now(), (5, 0));

        let template = CurrentTemplate::default();
        let mut other = RenderEnvironment::new(&snapshot, seed, template.clone());
        template.set("b");
        let parts = [draw(&mut other, 33), draw(&mut other, 7)].concat();
        assert_eq!(second, parts);
    }

    #[test]
    fn without_a_seed_drawing_fails_and_is_recorded() {
        let snapshot = LookupSnapshot::new();
        let template = CurrentTemplate::default();
        let mut environment = RenderEnvironment::new(&snapshot, Seed::Unknown { now: 5 }, template);
        assert!(environment.random(&mut [0; 4]).is_err());
        let consulted = environment.into_consulted();
        assert!(consulted.random && !consulted.clock);
    }

    #[test]
    fn no_more_questions_are_asked_than_the_limit_allows() {
        let snapshot = LookupSnapshot::new();
        let template = CurrentTemplate::default();
        let mut environment = RenderEnvironment::new(&snapshot, Seed::Random, template);
        let question = |number: usize| LookupQuestion {
            name: number.to_string(),
            ..LookupQuestion::default()
        };
        for number in 0..MAX_LOOKUPS {
            assert!(environment.lookup(question(number)).is_ok(), "{number}");
        }
        assert!(environment.lookup(question(0)).is_ok());
        assert!(environment.lookup(question(MAX_LOOKUPS)).is_err());
    }

    #[test]
    fn questions_are_recorded_whether_they_are_answered_or_not() {
        let question = |name: &str| LookupQuestion {
            api_version: "v1".to_owned(),
            kind: "Secret".to_owned(),
            namespace: "n".to_owned(),
            name: name.to_owned(),
            ..LookupQuestion::default()
        };
        let mut snapshot = LookupSnapshot::new();
        snapshot.insert(question("known"), serde_json::json!({"kind": "Secret"}));
        let template = CurrentTemplate::default();
        let mut environment = RenderEnvironment::new(&snapshot, Seed::Random, template);
        assert!(environment.lookup(question("known")).unwrap().is_object());
        assert!(environment.lookup(question("new")).unwrap().is_null());
        assert!(environment.lookup(question("new")).unwrap().is_null());
        assert_eq!(
            environment.into_consulted().lookups,
            [question("known"), question("new")]
        );
    }
}
