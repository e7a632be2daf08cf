//! Reading a live object.

use serde_json::Value;

/// A live object of which single fields are read. Fields of an unexpected type count as missing.
pub(super) struct Live<'a> {
    object: &'a Value,
}

/// One entry of `status.conditions`.
pub(super) struct Condition<'a> {
    pub(super) name: &'a str,
    pub(super) status: &'a str,
    pub(super) reason: &'a str,
    pub(super) message: &'a str,
    pub(super) observed_generation: Option<i64>,
}

impl<'a> Live<'a> {
    pub(super) fn new(object: &'a Value) -> Self {
        Self { object }
    }

    /// API group, empty for the core group.
    pub(super) fn group(&self) -> &'a str {
        let api_version = self.text("/apiVersion").unwrap_or_default();
        api_version.rsplit_once('/').map_or("", |(group, _)| group)
    }

    pub(super) fn kind(&self) -> &'a str {
        self.text("/kind").unwrap_or_default()
    }

    /// A text at a JSON pointer; none when it is empty.
    pub(super) fn text(&self, pointer: &str) -> Option<&'a str> {
        text(self.object, pointer)
    }

    pub(super) fn integer(&self, pointer: &str) -> Option<i64> {
        self.object.pointer(pointer)?.as_i64()
    }

    /// A number that controllers leave out when it is zero.
    pub(super) fn count(&self, pointer: &str) -> i64 {
        self.integer(pointer).unwrap_or_default()
    }

    pub(super) fn flag(&self, pointer: &str) -> bool {
        self.object
            .pointer(pointer)
            .and_then(Value::as_bool)
            .unwrap_or_default()
    }

    /// The elements of a list; none when there is no list.
    pub(super) fn list(&self, pointer: &str) -> &'a [Value] {
        self.object
            .pointer(pointer)
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
    }

    /// The first condition of a type.
    pub(super) fn condition(&self, name: &str) -> Option<Condition<'a>> {
        let entry = self
            .list("/status/conditions")
            .iter()
            .find(|condition| text(condition, "/type") == Some(name))?;
        Some(Condition {
            name: text(entry, "/type").unwrap_or_default(),
            status: text(entry, "/status").unwrap_or("Unknown"),
            reason: text(entry, "/reason").unwrap_or_default(),
            message: text(entry, "/message").unwrap_or_default(),
            observed_generation: entry.pointer("/observedGeneration").and_then(Value::as_i64),
        })
    }
}

impl Condition<'_> {
    pub(super) fn is_true(&self) -> bool {
        self.status == "True"
    }

    pub(super) fn is_false(&self) -> bool {
        self.status == "False"
    }

    /// The condition in words: its message, else its reason.
    pub(super) fn explain(&self) -> String {
        let detail = if self.message.is_empty() {
            self.reason
        } else {
            self.message
        };
        let Self { name, status, .. } = self;
        if detail.is_empty() {
            format!("{name} is {status}")
        } else {
            format!("{name} is {status}: {detail}")
        }
    }
}

/// A text at a JSON pointer below a value; none when it is empty.
pub(super) fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value
        .pointer(pointer)?
        .as_str()
        .filter(|text| !text.is_empty())
}
