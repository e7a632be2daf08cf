//! Outcomes of several dialects in one line of JSON.

use serde_json::{Map, Value as Json, json};

/// Adds to a check what the first dialect gives, and under `but` what others give that is not the same: under `v4` if that is one thing
/// for all of Helm 4.
pub(crate) fn add(check: &mut Map<String, Json>, outcomes: &[(&str, Json)]) {
    let Some(((_, usual), rest)) = outcomes.split_first() else {
        return;
    };
    check.extend(usual.as_object().cloned().unwrap_or_default());
    let but = others(usual, rest);
    if !but.is_empty() {
        check.insert("but".to_owned(), Json::Object(but));
    }
}

fn others(usual: &Json, outcomes: &[(&str, Json)]) -> Map<String, Json> {
    let alike = outcomes.windows(2).all(|pair| pair[0].1 == pair[1].1);
    let one = outcomes
        .first()
        .map(|(_, outcome)| [("v4", outcome.clone())]);
    let outcomes = match &one {
        Some(one) if alike => one.as_slice(),
        _ => outcomes,
    };
    let mut others = Map::new();
    for (dialect, outcome) in outcomes {
        if outcome["line"] == usual["fails"] && !usual["fails"].is_null() {
            others.insert((*dialect).to_owned(), json!("line"));
        } else if outcome != usual {
            others.insert((*dialect).to_owned(), outcome.clone());
        }
    }
    others
}
