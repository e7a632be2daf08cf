//! What somebody else changed in an object, and what is to be done about it: pure functions of manifest and live object.

use super::desired::DesiredObject;
use super::fields::{Segment, owner_of};
use crate::api::v1alpha1::{DriftIgnore, DriftMode};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

/// Most differences that are looked for in one object.
const MAX_DIFFERENCES: usize = 100;
/// Deepest nesting that is compared.
const MAX_DEPTH: usize = 64;
/// Longest value in bytes that is shown.
const MAX_SHOWN: usize = 64;
/// Most differences that are told.
const MAX_TOLD: usize = 3;
/// Fields that name the elements of a list, as the lists of Kubernetes' own kinds have them.
const LIST_KEYS: &[&str] = &[
    "name",
    "containerPort",
    "port",
    "mountPath",
    "devicePath",
    "topologyKey",
    "ip",
    "uid",
    "type",
    "key",
];

/// A field that is not as the manifest has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    /// The field, as a pointer into the manifest.
    pub(crate) pointer: String,
    /// What the manifest has.
    wanted: Value,
    /// What the live object has; nothing when it lacks the field.
    found: Option<Value>,
    /// Who else owns the field now.
    pub(crate) manager: Option<String>,
    /// Whether the values must not be told.
    secret: bool,
}

/// What is to be done about a change of somebody else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// The object is put right.
    Correct(Vec<Difference>),
    /// It stays as it is, and these differences are told.
    Accept(Vec<Difference>),
}

/// Judges a change of somebody else.
pub(crate) fn judge(object: &DesiredObject, live: &Value, us: &str) -> Judgement {
    let all = differences(&object.manifest, live, us);
    let any = !all.is_empty();
    let open: Vec<_> = all
        .into_iter()
        .filter(|difference| !is_ignored(difference, &object.ignored))
        .collect();
    match object.drift {
        DriftMode::Correct if any && open.is_empty() => Judgement::Accept(open),
        // Without any difference somebody only took fields away from us: applying the manifest makes them ours again.
        DriftMode::Correct => Judgement::Correct(open),
        DriftMode::Report => Judgement::Accept(open),
        DriftMode::Ignore => Judgement::Accept(Vec::new()),
    }
}

/// The manifest of an object, with the live values of the fields whose changes are left as they are.
pub(super) fn manifest_over<'m>(
    object: &'m DesiredObject,
    live: &Value,
    us: &str,
) -> Cow<'m, Value> {
    let mut manifest = Cow::Borrowed(&*object.manifest);
    // From the end, so that what is removed does not move what is before it.
    for difference in differences(&object.manifest, live, us).into_iter().rev() {
        if is_ignored(&difference, &object.ignored) {
            put(manifest.to_mut(), &difference.pointer, difference.found);
        }
    }
    manifest
}

/// A manifest with the live values of all its fields that somebody changed.
pub(crate) fn over_live(manifest: &Value, live: &Value, us: &str) -> Value {
    let mut over = manifest.clone();
    // From the end, as above.
    for difference in differences(manifest, live, us).into_iter().rev() {
        put(&mut over, &difference.pointer, difference.found);
    }
    over
}

/// Differences as one text: the field, what was wanted and found, and who owns it now.
pub(crate) fn describe(differences: &[Difference]) -> String {
    let told = differences.iter().take(MAX_TOLD).map(ToString::to_string);
    let mut text = told.collect::<Vec<_>>().join("; ");
    if differences.len() > MAX_TOLD {
        text.push_str("; and ");
        text.push_str(&(differences.len() - MAX_TOLD).to_string());
        text.push_str(" more");
    }
    text
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ", self.pointer)?;
        match &self.found {
            Some(found) => write!(f, "is {}", shown(found, self.secret))?,
            None => f.write_str("is missing")?,
        }
        write!(f, ", wanted {}", shown(&self.wanted, self.secret))?;
        match &self.manager {
            Some(manager) => write!(f, ", set by `{manager}`"),
            None => Ok(()),
        }
    }
}

fn shown(value: &Value, secret: bool) -> String {
    if secret {
        return "***".to_owned();
    }
    let mut text = value.to_string();
    if text.len() > MAX_SHOWN {
        let end = (0..=MAX_SHOWN)
            .rev()
            .find(|end| text.is_char_boundary(*end));
        text.truncate(end.unwrap_or(0));
        text.push('…');
    }
    text
}

/// The fields of a manifest that are not so in a live object.
pub(crate) fn differences(manifest: &Value, live: &Value, us: &str) -> Vec<Difference> {
    let is_secret = manifest.get("kind").and_then(Value::as_str) == Some("Secret")
        && manifest.get("apiVersion").and_then(Value::as_str) == Some("v1");
    let mut comparison = Comparison {
        object: live,
        us,
        is_secret,
        found: Vec::new(),
    };
    comparison.compare(manifest, Some(live), "", &mut Vec::new());
    comparison.found
}

struct Comparison<'a> {
    object: &'a Value,
    us: &'a str,
    is_secret: bool,
    found: Vec<Difference>,
}

impl<'a> Comparison<'a> {
    fn compare(
        &mut self,
        wanted: &'a Value,
        live: Option<&'a Value>,
        pointer: &str,
        path: &mut Vec<Segment<'a>>,
    ) {
        if self.found.len() >= MAX_DIFFERENCES || path.len() >= MAX_DEPTH {
            return;
        }
        match (wanted, live) {
            (Value::Null, _) => {}
            (Value::Object(wanted), Some(Value::Object(live))) => {
                for (key, value) in wanted {
                    path.push(Segment::Key(key));
                    let pointer = format!("{pointer}/{}", escape(key));
                    self.compare(value, live.get(key), &pointer, path);
                    path.pop();
                }
            }
            (Value::Array(wanted), Some(Value::Array(live))) => {
                self.compare_lists(wanted, live, pointer, path);
            }
            (wanted, live) if same(wanted, live) => {}
            (wanted, live) => self.differ(wanted, live, pointer, path),
        }
    }

    fn compare_lists(
        &mut self,
        wanted: &'a [Value],
        live: &'a [Value],
        pointer: &str,
        path: &mut Vec<Segment<'a>>,
    ) {
        let key = list_key(wanted, live);
        for (position, value) in wanted.iter().enumerate() {
            let found = match key {
                Some(key) => live.iter().find(|item| item.get(key) == value.get(key)),
                None => live.get(position),
            };
            path.push(Segment::Element(found.unwrap_or(value)));
            self.compare(value, found, &format!("{pointer}/{position}"), path);
            path.pop();
        }
    }

    fn differ(
        &mut self,
        wanted: &Value,
        live: Option<&Value>,
        pointer: &str,
        path: &[Segment<'_>],
    ) {
        let in_data = matches!(path.first(), Some(Segment::Key("data" | "stringData")));
        self.found.push(Difference {
            pointer: pointer.to_owned(),
            wanted: wanted.clone(),
            found: live.cloned(),
            manager: owner_of(self.object, path, self.us).map(str::to_owned),
            secret: self.is_secret && in_data,
        });
    }
}

fn list_key(wanted: &[Value], live: &[Value]) -> Option<&'static str> {
    let is_key = |key: &&&str| {
        let unique = |items: &[Value]| {
            let values: BTreeSet<_> = items
                .iter()
                .filter_map(|item| item.get(**key))
                .map(Value::to_string)
                .collect();
            values.len() == items.len()
        };
        unique(wanted) && unique(live)
    };
    LIST_KEYS.iter().find(is_key).copied()
}

/// Whether values mean the same to the API server: it leaves out what is empty, and writes quantities in its own way.
fn same(wanted: &Value, live: Option<&Value>) -> bool {
    match (wanted, live) {
        (Value::Object(wanted), None) => wanted.values().all(|value| same(value, None)),
        (Value::Array(wanted), None) => wanted.is_empty(),
        (Value::Null, None) => true,
        (Value::String(wanted), None) => wanted.is_empty(),
        (_, None) => false,
        (wanted, Some(live)) if wanted == live => true,
        (wanted, Some(live)) => quantity(wanted)
            .zip(quantity(live))
            .is_some_and(|(a, b)| (a - b).abs() <= a.abs() * f64::EPSILON),
    }
}

/// A quantity as Kubernetes writes them: a number with an optional suffix.
fn quantity(value: &Value) -> Option<f64> {
    let text = match value {
        Value::Number(number) => return number.as_f64(),
        Value::String(text) => text,
        _ => return None,
    };
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match text.get(digits.len()..)? {
        "n" => 1e-9,
        "u" => 1e-6,
        "m" => 1e-3,
        "" => 1.0,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "P" => 1e15,
        "E" => 1e18,
        "Ki" => 1024.0,
        "Mi" => 1_048_576.0,
        "Gi" => 1_073_741_824.0,
        "Ti" => 1_099_511_627_776.0,
        "Pi" => 1_125_899_906_842_624.0,
        "Ei" => 1_152_921_504_606_846_976.0,
        _ => return None,
    };
    digits.parse::<f64>().ok().map(|number| number * factor)
}

fn is_ignored(difference: &Difference, rules: &[impl AsRef<DriftIgnore>]) -> bool {
    rules.iter().map(AsRef::as_ref).any(|rule| {
        let covers = |pointer: &String| {
            let rest = difference.pointer.strip_prefix(pointer.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let by = |manager: &String| difference.manager.as_ref() == Some(manager);
        (rule.pointers.is_empty() || rule.pointers.iter().any(covers))
            && (rule.managers.is_empty() || rule.managers.iter().any(by))
    })
}

/// Sets a field that a pointer leads to, or removes it.
fn put(object: &mut Value, pointer: &str, value: Option<Value>) {
    let Some((parent, last)) = pointer.rsplit_once('/') else {
        return;
    };
    let key = unescape(last);
    match (object.pointer_mut(parent), value) {
        (Some(Value::Object(fields)), Some(value)) => {
            fields.insert(key, value);
        }
        (Some(Value::Object(fields)), None) => remove(fields, &key),
        (Some(Value::Array(items)), value) => {
            let position = last.parse::<usize>().ok();
            let position = position.filter(|position| *position < items.len());
            match (position, value) {
                (Some(position), Some(value)) => items[position] = value,
                (Some(position), None) => {
                    items.remove(position);
                }
                (None, _) => {}
            }
        }
        _ => {}
    }
}

fn remove(fields: &mut Map<String, Value>, key: &str) {
    fields.shift_remove(key);
}

fn escape(key: &str) -> Cow<'_, str> {
    if key.contains(['~', '/']) {
        Cow::Owned(key.replace('~', "~0").replace('/', "~1"))
    } else {
        Cow::Borrowed(key)
    }
}

fn unescape(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}

#[cfg(test)]
mod tests;
