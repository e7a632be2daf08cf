//! Whole numbers that are rendered with an exponent, because YAML's numbers become floats in Go.

use super::{
    super::{Finding, Severity},
    NUMBER_AS_FLOAT,
    bench::{Bench, Case, by_path, describe},
    finding,
};
use crate::{
    coalesce::{Coalescer, Nulls},
    dependencies::process_dependencies,
    render::Rendered,
    tree::ChartTree,
};
use std::{collections::BTreeMap, sync::Arc};
use whipstaff_gotemplate::{Bytes, List, Map, MapType, Value, format};

/// The least number that Go prints with an exponent.
const LEAST: f64 = 1_000_000.0;
/// Above it, one more may be the same float.
const MOST: f64 = 4_503_599_627_370_496.0;
/// Most numbers that are tried; each takes a rendering.
const MAX_TRIES: usize = 64;

/// A step from a value to one inside it.
#[derive(Debug, Clone)]
enum Step {
    Key(Bytes),
    Item(usize),
}

/// Finds the numbers whose printed form is in the output, and changes one after the other to see whether the output follows.
pub(super) fn check(bench: &mut Bench<'_>, rendered: &Rendered, findings: &mut Vec<Finding>) {
    let Some(values) = values(bench) else {
        return;
    };
    let mut numbers = Vec::new();
    collect(&Value::Map(values.clone()), &mut Vec::new(), &mut numbers);
    let is_shown = |number: &f64| {
        let shown = printed(*number);
        let mut manifests = by_path(rendered).into_values().flatten();
        manifests.any(|manifest| has_token(&manifest.content, &shown))
    };
    numbers.retain(|(_, number)| is_shown(number));
    for (path, number) in numbers.into_iter().take(MAX_TRIES) {
        let mut case = Case::install(bench.input);
        let changed = changed(&Value::Map(values.clone()), &path, number + 1.0);
        let Value::Map(changed) = changed else {
            continue;
        };
        case.values = crate::values::merge_values(&case.values, &changed);
        let Ok(other) = bench.render(&case) else {
            continue;
        };
        report(&path, number, rendered, &other, findings);
    }
}

fn report(
    path: &[Step],
    number: f64,
    before: &Rendered,
    after: &Rendered,
    findings: &mut Vec<Finding>,
) {
    let (old, new) = (printed(number), printed(number + 1.0));
    let before = by_path(before);
    for (template, manifests) in by_path(after) {
        let had = |token: &str| {
            let mut known = before.get(template).into_iter().flatten();
            known.any(|manifest| has_token(&manifest.content, token))
        };
        let shows = manifests
            .into_iter()
            .find(|manifest| has_token(&manifest.content, &new));
        let (Some(manifest), true, false) = (shows, had(&old), had(&new)) else {
            continue;
        };
        let message = format!(
            "`.Values{}` is {number} and is rendered as `{old}` in {}: convert it with `int64`, or quote it in the values",
            shown_path(path),
            describe(manifest)
        );
        let template = template
            .split_once('/')
            .map_or(template, |(_, below)| below);
        findings.push(finding(
            NUMBER_AS_FLOAT,
            Severity::Warning,
            template.to_owned(),
            None,
            message,
        ));
    }
}

/// The values that the chart is rendered with.
fn values(bench: &Bench<'_>) -> Option<Map> {
    let dialect = bench.input.dialect;
    let mut tree = ChartTree::new(&Arc::new(bench.chart().clone()));
    process_dependencies(&mut tree, bench.input.values, dialect).ok()?;
    Coalescer::new(&tree, dialect)
        .coalesce(ChartTree::ROOT, bench.input.values, Nulls::Remove)
        .ok()
}

fn collect(value: &Value, path: &mut Vec<Step>, found: &mut Vec<(Vec<Step>, f64)>) {
    match value {
        Value::Float(number) => {
            let size = number.abs();
            if number.fract() == 0.0 && (LEAST..MOST).contains(&size) {
                found.push((path.clone(), *number));
            }
        }
        Value::Map(map) => {
            for (key, value) in map.entries() {
                path.push(Step::Key(key));
                collect(&value, path, found);
                path.pop();
            }
        }
        Value::List(list) => {
            for (at, value) in list.iter().enumerate() {
                path.push(Step::Item(at));
                collect(value, path, found);
                path.pop();
            }
        }
        _ => {}
    }
}

/// The maps and lists on the way to a number, with another number in its place. Of maps only what is on the way is kept, so that the
/// result can be merged over other values.
fn changed(value: &Value, path: &[Step], number: f64) -> Value {
    let Some((step, rest)) = path.split_first() else {
        return Value::Float(number);
    };
    match (step, value) {
        (Step::Key(key), Value::Map(map)) => {
            let below = map.get(key).unwrap_or_default();
            let entries = BTreeMap::from([(key.clone(), changed(&below, rest, number))]);
            Value::Map(Map::new(MapType::ANY, entries))
        }
        (Step::Item(at), Value::List(list)) => {
            let replace = |(index, item): (usize, &Value)| {
                if index == *at {
                    whole(item, rest, number)
                } else {
                    item.clone()
                }
            };
            let items = list.iter().enumerate().map(replace).collect();
            Value::List(List::new(list.list_type(), items))
        }
        _ => value.clone(),
    }
}

/// As [`changed`], but with everything that the maps hold: lists are replaced, not merged.
fn whole(value: &Value, path: &[Step], number: f64) -> Value {
    match (path.split_first(), value) {
        (Some((Step::Key(key), rest)), Value::Map(map)) => {
            let copy = crate::values::fresh(map);
            let below = map.get(key).unwrap_or_default();
            copy.insert(key.clone(), whole(&below, rest, number));
            Value::Map(copy)
        }
        _ => changed(value, path, number),
    }
}

/// `.a.b[0]`
fn shown_path(path: &[Step]) -> String {
    path.iter()
        .map(|step| match step {
            Step::Key(key) => format!(".{}", key.to_text()),
            Step::Item(at) => format!("[{at}]"),
        })
        .collect()
}

fn printed(number: f64) -> String {
    String::from_utf8_lossy(&format::sprint(&[Value::Float(number)])).into_owned()
}

/// Whether a text has a number that is not part of a longer word or number.
fn has_token(text: &[u8], token: &str) -> bool {
    let token = token.as_bytes();
    let is_part = |byte: Option<&u8>| {
        byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_'))
    };
    text.windows(token.len()).enumerate().any(|(at, found)| {
        found == token
            && !is_part(at.checked_sub(1).and_then(|before| text.get(before)))
            && !is_part(text.get(at + token.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_as_words_of_their_own() {
        assert_eq!(printed(1_048_576.0), "1.048576e+06");
        for text in ["a: 1e+06", "1e+06", "\"1e+06\"\n", "x=1e+06,"] {
            assert!(has_token(text.as_bytes(), "1e+06"), "{text}");
        }
        for text in ["11e+06", "1e+061", "0.1e+06", "x1e+06", ""] {
            assert!(!has_token(text.as_bytes(), "1e+06"), "{text}");
        }
    }
}
