//! Whether values are what an outline asks for.

use super::outline::{Bounds, Outline, Rare, Rule, RuleIndex, TypeSet};
use serde_json::Value as Json;
use std::str;
use whipstaff_gotemplate::{Map, Value};

/// Most rules that are held against values; schemas may refer to themselves.
const MAX_STEPS: u32 = 1_000_000;
/// Deepest nesting of rules and values.
const MAX_DEPTH: u32 = 256;
/// Longest list whose items are compared with each other.
const MAX_COMPARED: usize = 64;
/// Beyond it not every whole number is a float.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Something that only the validator can tell.
struct Unsure;

type Verdict = Result<bool, Unsure>;

impl Outline {
    /// Whether the values meet the schema beyond doubt. To say no means that the validator has to look.
    pub(super) fn certainly_allows(&self, values: &Map) -> bool {
        let mut judge = Judge {
            outline: self,
            steps: 0,
        };
        let value = Value::Map(values.clone());
        judge.rule(self.root, &value, 0).unwrap_or(false)
    }
}

struct Judge<'o> {
    outline: &'o Outline,
    steps: u32,
}

impl<'o> Judge<'o> {
    fn rule(&mut self, index: RuleIndex, value: &Value, depth: u32) -> Verdict {
        self.steps += 1;
        if self.steps > MAX_STEPS || depth > MAX_DEPTH {
            return Err(Unsure);
        }
        let outline = self.outline;
        let rule = outline.rules.get(index).ok_or(Unsure)?;
        if rule.never || !(rule.types.is_empty() || rule.types.has(types_of(value)?)) {
            return Ok(false);
        }
        let depth = depth + 1;
        if let Some(reference) = rule.reference
            && !self.rule(reference, value, depth)?
        {
            return Ok(false);
        }
        let rare = rule.rare.as_deref();
        let parts = match value {
            // In JSON it would be null.
            Value::Float(number) if !number.is_finite() => return Err(Unsure),
            Value::Map(map) => self.map(rule, map, depth)?,
            Value::List(items) => self.items(rule, items, depth)?,
            Value::String(text) => rare.map_or(Ok(true), |rare| self.text(rare, text))?,
            Value::Int(_, number) => rare.is_none_or(|rare| number_fits(rare, *number as f64)),
            Value::Uint(_, number) => rare.is_none_or(|rare| number_fits(rare, *number as f64)),
            Value::Float(number) => rare.is_none_or(|rare| number_fits(rare, *number)),
            _ => true,
        };
        match rare {
            Some(rare) if parts => self.rare(rare, value, depth),
            _ => Ok(parts),
        }
    }

    fn map(&mut self, rule: &'o Rule, map: &Map, depth: u32) -> Verdict {
        if rule
            .required
            .iter()
            .any(|name| !map.contains(name.as_bytes()))
        {
            return Ok(false);
        }
        let rare = rule.rare.as_deref();
        if rare.is_some_and(|rare| !rare.property_count.allow(map.len())) {
            return Ok(false);
        }
        let patterns = rare.map_or(&[][..], |rare| &rare.pattern_properties);
        let mut fits = true;
        map.try_for_each(|key, value| {
            // Nobody needs to know more than that one does not fit, but doubts count for all.
            fits = fits && self.property(rule, patterns, (key, value), depth)?;
            Ok(())
        })?;
        Ok(fits)
    }

    fn property(
        &mut self,
        rule: &'o Rule,
        patterns: &[(usize, RuleIndex)],
        (key, value): (&[u8], &Value),
        depth: u32,
    ) -> Verdict {
        let mut is_known = false;
        let own = rule
            .properties
            .binary_search_by(|(name, _)| name.as_bytes().cmp(key));
        if let Some((_, own)) = own.ok().and_then(|at| rule.properties.get(at)) {
            is_known = true;
            if !self.rule(*own, value, depth)? {
                return Ok(false);
            }
        }
        for (pattern, schema) in patterns {
            let text = str::from_utf8(key).map_err(|_| Unsure)?;
            if self.matches(*pattern, text)? {
                is_known = true;
                if !self.rule(*schema, value, depth)? {
                    return Ok(false);
                }
            }
        }
        match rule.additional {
            Some(additional) if !is_known => self.rule(additional, value, depth),
            _ => Ok(true),
        }
    }

    fn items(&mut self, rule: &'o Rule, items: &[Value], depth: u32) -> Verdict {
        if let Some(rare) = &rule.rare {
            if !rare.item_count.allow(items.len()) {
                return Ok(false);
            }
            if rare.unique_items && !are_unique(items)? {
                return Ok(false);
            }
        }
        let Some(schema) = rule.items else {
            return Ok(true);
        };
        for item in items {
            if !self.rule(schema, item, depth)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn text(&self, rare: &Rare, bytes: &[u8]) -> Verdict {
        if rare.has_format {
            return Err(Unsure);
        }
        if rare.pattern.is_none() && Bounds::is_open(rare.length) {
            return Ok(true);
        }
        let text = str::from_utf8(bytes).map_err(|_| Unsure)?;
        let matches = rare
            .pattern
            .map_or(Ok(true), |pattern| self.matches(pattern, text))?;
        Ok(matches && rare.length.allow(text.chars().count()))
    }

    fn matches(&self, pattern: usize, text: &str) -> Verdict {
        let regex = self.outline.patterns.get(pattern).ok_or(Unsure)?;
        Ok(regex.is_match(text))
    }

    /// What does not depend on the value's type.
    fn rare(&mut self, rare: &'o Rare, value: &Value, depth: u32) -> Verdict {
        if let Some(constant) = &rare.constant
            && !is_equal(value, constant)?
        {
            return Ok(false);
        }
        if let Some(values) = &rare.values
            && self.count(values, |_, expected| is_equal(value, expected))? == 0
        {
            return Ok(false);
        }
        let judge = |judge: &mut Self, schema: &RuleIndex| judge.rule(*schema, value, depth);
        let (all, any, one) = (&rare.all_of, &rare.any_of, &rare.one_of);
        if self.count(all, judge)? < all.len() {
            return Ok(false);
        }
        if !any.is_empty() && self.count(any, judge)? == 0 {
            return Ok(false);
        }
        if !one.is_empty() && self.count(one, judge)? != 1 {
            return Ok(false);
        }
        if let Some(not) = rare.not
            && self.rule(not, value, depth)?
        {
            return Ok(false);
        }
        let Some(condition) = rare.condition else {
            return Ok(true);
        };
        let branch = if self.rule(condition, value, depth)? {
            rare.then
        } else {
            rare.otherwise
        };
        branch.map_or(Ok(true), |branch| self.rule(branch, value, depth))
    }

    fn count<T>(
        &mut self,
        items: &'o [T],
        mut holds: impl FnMut(&mut Self, &'o T) -> Verdict,
    ) -> Result<usize, Unsure> {
        let mut count = 0;
        for item in items {
            count += usize::from(holds(self, item)?);
        }
        Ok(count)
    }
}

fn types_of(value: &Value) -> Result<TypeSet, Unsure> {
    Ok(match value {
        Value::Nil => TypeSet::NULL,
        Value::Bool(_) => TypeSet::BOOLEAN,
        Value::Int(..) | Value::Uint(..) => TypeSet::NUMBER.and(TypeSet::INTEGER),
        Value::Float(number) if !number.is_finite() => return Err(Unsure),
        Value::Float(number) if number.fract() == 0.0 => TypeSet::NUMBER.and(TypeSet::INTEGER),
        Value::Float(_) => TypeSet::NUMBER,
        Value::String(_) => TypeSet::STRING,
        Value::List(_) => TypeSet::ARRAY,
        Value::Map(_) => TypeSet::OBJECT,
        Value::Host(_) => return Err(Unsure),
    })
}

fn number_fits(rare: &Rare, number: f64) -> bool {
    rare.minimum.is_none_or(|least| number >= least)
        && rare.maximum.is_none_or(|most| number <= most)
        && rare.above.is_none_or(|bound| number > bound)
        && rare.below.is_none_or(|bound| number < bound)
}

/// Whether a value is one of a schema's.
fn is_equal(value: &Value, expected: &Json) -> Verdict {
    Ok(match (value, expected) {
        (Value::Map(_) | Value::List(_), Json::Array(_) | Json::Object(_))
        | (Value::Host(_), _)
        | (Value::Uint(..), Json::Number(_)) => return Err(Unsure),
        (Value::Nil, Json::Null) => true,
        (Value::Bool(one), Json::Bool(other)) => one == other,
        (Value::String(one), Json::String(other)) => {
            str::from_utf8(one).map_err(|_| Unsure)? == other
        }
        (Value::Int(_, one), Json::Number(other)) => {
            let other = other.as_i64().ok_or(Unsure)?;
            *one == other
        }
        (Value::Float(one), Json::Number(other)) => {
            let other = other.as_i64().ok_or(Unsure)?;
            if one.is_nan() || one.abs() > EXACT {
                return Err(Unsure);
            }
            one.fract() == 0.0 && *one as i64 == other
        }
        _ => false,
    })
}

fn are_unique(items: &[Value]) -> Verdict {
    if items.len() > MAX_COMPARED {
        return Err(Unsure);
    }
    for (at, item) in items.iter().enumerate() {
        for other in items.get(at + 1..).unwrap_or_default() {
            match (item, other) {
                (Value::String(one), Value::String(other)) if one == other => return Ok(false),
                (Value::String(_), Value::String(_)) => {}
                _ => return Err(Unsure),
            }
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::super::Compiled;
    use super::*;
    use crate::values::{map_to_json, values_from_json};
    use serde_json::json;

    /// What the outline says; checked against the validator, which has to agree wherever the outline says yes.
    fn allows(schema: &Json, values: &Json) -> bool {
        let text = schema.to_string();
        let map = values_from_json(values.as_object().unwrap());
        let outline = Outline::of(text.as_bytes());
        let allowed = outline.is_some_and(|outline| outline.certainly_allows(&map));
        if allowed {
            let compiled = Compiled::new(text.as_bytes()).unwrap();
            let validated = compiled.validate(&Json::Object(map_to_json(&map)));
            assert_eq!(validated, Ok(()), "{schema} {values}");
        }
        allowed
    }

    #[test]
    fn values_are_told_from_others() {
        let schema = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "required": ["name"],
            "additionalProperties": false,
            "properties": {
                "name": {"type": ["string", "null"], "minLength": 2, "maxLength": 4, "pattern": "^\\w+$"},
                "port": {"type": "integer", "minimum": 1024, "exclusiveMaximum": 65536},
                "kind": {"enum": ["a", 1, null]},
                "mode": {"const": true},
                "list": {"type": "array", "uniqueItems": true, "maxItems": 2, "items": {"type": "string"}},
                "any": {"anyOf": [{"type": "string"}, {"type": "boolean"}]},
                "one": {"oneOf": [{"type": "number"}, {"type": "integer"}]},
                "all": {"allOf": [{"minProperties": 1}, {"maxProperties": 1}]},
                "not": {"not": {"type": "string"}},
                "ref": {"$ref": "#/definitions/text", "type": "number"},
                "if": {"if": {"type": "string"}, "then": {"minLength": 1}, "else": {"type": "null"}},
                "more": {"patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": {"type": "number"}},
                "self": {"$ref": "#"},
                "date": {"format": "date"},
                "size": {"format": "int32"},
            },
            "definitions": {"text": {"type": "string"}},
        });
        let with = |key: &str, value: Json| json!({"name": "ab", key: value});
        let cases = [
            (json!({"name": "ab"}), true),
            (json!({"name": null}), true),
            (json!({}), false),
            (json!({"name": "a"}), false),
            (json!({"name": "äöü"}), false),
            (json!({"name": "abcde"}), false),
            (with("port", json!(8080)), true),
            (with("port", json!(8080.5)), false),
            (with("port", json!(80)), false),
            (with("port", json!(65536)), false),
            (with("kind", json!("a")), true),
            (with("kind", json!(1)), true),
            (with("kind", json!(null)), true),
            (with("kind", json!("1")), false),
            (with("mode", json!(true)), true),
            (with("mode", json!("true")), false),
            (with("list", json!(["a", "b"])), true),
            (with("list", json!(["a", "a"])), false),
            (with("list", json!(["a", "b", "c"])), false),
            (with("list", json!(["a", 1])), false),
            (with("any", json!("a")), true),
            (with("any", json!(1)), false),
            (with("one", json!(1.5)), true),
            (with("one", json!(1)), false),
            (with("all", json!({"a": 1})), true),
            (with("all", json!({})), false),
            (with("not", json!(1)), true),
            (with("not", json!("a")), false),
            (with("ref", json!("a")), true),
            (with("ref", json!(1)), false),
            (with("if", json!("a")), true),
            (with("if", json!("")), false),
            (with("if", json!(1)), false),
            (with("if", json!(null)), true),
            (with("more", json!({"x-a": "b", "y": 1})), true),
            (with("more", json!({"x-a": 1})), false),
            (with("more", json!({"y": "a"})), false),
            (with("self", json!({"name": "ab"})), true),
            (with("self", json!({})), false),
            (with("date", json!(1)), true),
            (with("date", json!("2020-01-01")), false),
            (with("size", json!("x")), true),
            (with("other", json!(1)), false),
        ];
        for (values, expected) in cases {
            assert_eq!(allows(&schema, &values), expected, "{values}");
        }
    }

    #[test]
    fn references_that_lead_nowhere_are_left_to_the_validator() {
        let schema = json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}});
        assert!(!allows(&schema, &json!({})));
    }

    #[test]
    fn the_validator_agrees_with_every_yes() {
        let mut state = 7_u64;
        let mut next = |bound: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as usize % bound
        };
        let mut said_yes = 0;
        for _ in 0..3_000 {
            let drafts = [
                "http://json-schema.org/draft-07/schema#",
                "https://json-schema.org/draft/2019-09/schema",
                "http://json-schema.org/schema#",
            ];
            let schema = json!({
                "$schema": drafts[next(drafts.len())],
                "properties": {"a": part(&mut next, 3), "b": part(&mut next, 3)},
                "definitions": {"x": part(&mut next, 2)},
            });
            let values = json!({"a": value(&mut next, 2), "b": value(&mut next, 2)});
            said_yes += usize::from(allows(&schema, &values));
        }
        assert!(said_yes > 500, "{said_yes}");
    }

    fn part(next: &mut impl FnMut(usize) -> usize, depth: usize) -> Json {
        if depth == 0 {
            return [json!(true), json!({}), json!({"type": "string"})][next(3)].clone();
        }
        let mut schema = serde_json::Map::new();
        for _ in 0..next(3) {
            let inner = part(next, depth - 1);
            let (key, value) = match next(22) {
                0 => ("type", Json::from(["string", "number", "null"][next(3)])),
                1 => ("type", json!(["object", "array", "integer"])),
                2 => ("properties", json!({"k": inner, "l": true})),
                3 => ("additionalProperties", inner),
                4 => ("required", json!(["k"])),
                5 => ("items", inner),
                6 => ("enum", json!(["s", 1, null, true])),
                7 => ("const", json!("s")),
                8 => ("minLength", json!(next(3))),
                9 => ("minItems", json!(next(3))),
                10 => ("maxProperties", json!(next(2))),
                11 => ("minimum", json!(next(3))),
                12 => ("exclusiveMaximum", json!(next(3))),
                13 => ("anyOf", json!([inner, {"type": "number"}])),
                14 => ("oneOf", json!([inner, {"type": "string"}])),
                15 => ("allOf", json!([inner])),
                16 => ("not", inner),
                17 => ("$ref", json!("#/definitions/x")),
                18 => ("pattern", json!("^[a-z\\d]+$")),
                19 => ("patternProperties", json!({"^k": inner})),
                20 => ("if", inner),
                _ => ("then", inner),
            };
            schema.insert(key.to_owned(), value);
        }
        Json::Object(schema)
    }

    fn value(next: &mut impl FnMut(usize) -> usize, depth: usize) -> Json {
        match next(if depth == 0 { 6 } else { 8 }) {
            0 => json!(null),
            1 => json!(true),
            2 => json!(next(4)),
            3 => json!(0.5),
            4 => json!("s"),
            5 => json!("Ää"),
            6 => json!([value(next, depth - 1), value(next, depth - 1)]),
            _ => json!({"k": value(next, depth - 1), "m": value(next, depth - 1)}),
        }
    }
}
