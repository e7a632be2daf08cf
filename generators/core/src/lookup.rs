//! How templates see live objects without doing I/O.

use serde_json::Value;
use std::collections::BTreeMap;

/// A question to the cluster, as Helm's `lookup` puts it. An empty name asks for a list; an empty namespace asks for a
/// cluster-scoped object, or for a list over all namespaces. Fields may be added: build one from [`LookupQuestion::default`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct LookupQuestion {
    /// `v1`, `apps/v1`, …
    pub api_version: String,
    /// Kind, singular.
    pub kind: String,
    /// Namespace, or empty.
    pub namespace: String,
    /// Name, or empty for a list.
    pub name: String,
    /// Label selector of a list in the API server's syntax; empty for all objects. Means nothing beside a name.
    pub selector: String,
    /// Whether the cluster that the operator runs in is asked rather than the target. Where both are one, the host may answer both
    /// alike; the identity is the target's in any case.
    pub local: bool,
}

/// Answers that the host has fetched so far.
///
/// A template that asks what the snapshot does not hold gets "not found" and the question is recorded in
/// [`Consulted::lookups`](crate::Consulted::lookups). The host fetches the answers with the target's identity and renders again
/// until nothing new is asked. Without a cluster the snapshot stays empty, as with `helm template`.
#[derive(Clone, Default)]
pub struct LookupSnapshot {
    answers: BTreeMap<LookupQuestion, Value>,
}

impl LookupSnapshot {
    /// A snapshot without answers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stores an answer. `Value::Null` stands for "not found".
    pub fn insert(&mut self, question: LookupQuestion, answer: Value) {
        self.answers.insert(question, answer);
    }

    /// The answer to a question; `None` when it has not been asked yet.
    pub fn get(&self, question: &LookupQuestion) -> Option<&Value> {
        self.answers.get(question)
    }

    /// Whether a question has an answer.
    pub fn contains(&self, question: &LookupQuestion) -> bool {
        self.answers.contains_key(question)
    }

    /// Questions and answers in order.
    pub fn iter(&self) -> impl Iterator<Item = (&LookupQuestion, &Value)> {
        self.answers.iter()
    }
}

impl std::fmt::Debug for LookupSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Answers may hold Secrets: only the questions are shown.
        f.debug_set().entries(self.answers.keys()).finish()
    }
}
