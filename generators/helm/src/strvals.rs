//! The language of `--set` and its relatives (Helm 3.22 and 4.3, `pkg/strvals`).
//!
//! `outer.inner=v,list[0].x=v,list={a,b},dotted\.key=v`: values go into a map in place, later ones over earlier ones.

use crate::values::{empty_map, values_from_json};
use serde_json::Value as Json;
use whipstaff_gotemplate::{Dialect, List, ListType, Map, Value};

/// Largest index of a list.
pub const MAX_LIST_INDEX: i64 = 65_536;
/// Deepest nesting of names.
pub const MAX_NAME_DEPTH: usize = 30;
/// Deepest nesting of lists in lists, and of lists in names.
pub const MAX_LIST_DEPTH: usize = 30;

/// Reads the file that a `--set-file` value names.
pub type ReadFile<'a> = dyn FnMut(&str) -> Result<String, String> + 'a;

/// What becomes of the text after `=`.
pub enum Assignment<'a> {
    /// `--set`: booleans, null and integers are told from texts.
    Typed,
    /// `--set-string`: always a text.
    Text,
    /// `--set-file`: the contents of the file that the text names.
    File(&'a mut ReadFile<'a>),
    /// `--set-json`: JSON.
    Json,
    /// `--set-literal`: everything to the end, without escapes.
    Literal,
}

impl std::fmt::Debug for Assignment<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Typed => "Typed",
            Self::Text => "Text",
            Self::File(_) => "File",
            Self::Json => "Json",
            Self::Literal => "Literal",
        })
    }
}

/// A text that cannot be read as assignments.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct AssignmentError {
    /// Helm's text.
    pub message: String,
}

/// Reads assignments into a map.
///
/// # Errors
/// [`AssignmentError`] with Helm's text; what was assigned before stays.
pub fn assign(
    text: &str,
    into: &Map,
    assignment: Assignment<'_>,
    dialect: Dialect,
) -> Result<(), AssignmentError> {
    let mut parser = Parser {
        text: text.chars().collect(),
        at: 0,
        assignment,
        lists: 0,
    };
    loop {
        match parser.key(into, 0) {
            Ok(()) => {}
            Err(Stop::End) => return Ok(()),
            // Helm 4 takes an end inside an index for the end of the text.
            Err(Stop::EndInIndex) if dialect.is_v4() => return Ok(()),
            Err(Stop::EndInIndex) => {
                return Err(AssignmentError {
                    message: "error parsing index: EOF".to_owned(),
                });
            }
            Err(Stop::Error(message)) => return Err(AssignmentError { message }),
        }
    }
}

/// Reads a `--set-json` argument into a map: a whole object in Helm 4, else assignments of JSON.
///
/// # Errors
/// [`AssignmentError`] with Helm's text.
pub fn assign_json(text: &str, into: &Map, dialect: Dialect) -> Result<Map, AssignmentError> {
    let trimmed = text.trim();
    if dialect.is_v4() && trimmed.starts_with('{') {
        let object: serde_json::Map<String, Json> =
            serde_json::from_str(trimmed).map_err(|_| AssignmentError {
                message: format!("failed parsing --set-json data JSON: {text}"),
            })?;
        return Ok(crate::values::merge_values(
            into,
            &values_from_json(&object),
        ));
    }
    assign(text, into, Assignment::Json, dialect).map_err(|_| AssignmentError {
        message: format!("failed parsing --set-json data {text}"),
    })?;
    Ok(into.clone())
}

/// Why parsing stops.
enum Stop {
    End,
    EndInIndex,
    Error(String),
}

impl Stop {
    fn error(message: impl Into<String>) -> Self {
        Self::Error(message.into())
    }
}

struct Parser<'a> {
    text: Vec<char>,
    at: usize,
    assignment: Assignment<'a>,
    lists: usize,
}

/// Characters up to one that stops, and that one; none at the end of the text.
type Run = (String, Option<char>);

impl Parser<'_> {
    fn next(&mut self) -> Option<char> {
        let next = self.text.get(self.at).copied();
        self.at += usize::from(next.is_some());
        next
    }

    fn is_literal(&self) -> bool {
        matches!(self.assignment, Assignment::Literal)
    }

    fn until(&mut self, stops: &[char]) -> Run {
        let mut run = String::new();
        while let Some(next) = self.next() {
            if stops.contains(&next) {
                return (run, Some(next));
            }
            if next == '\\' && !self.is_literal() {
                match self.next() {
                    Some(escaped) => run.push(escaped),
                    None => break,
                }
            } else {
                run.push(next);
            }
        }
        (run, None)
    }

    fn key(&mut self, into: &Map, depth: usize) -> Result<(), Stop> {
        let stops: &[char] = if self.is_literal() {
            &['=', '[', '.']
        } else {
            &['=', '[', ',', '.']
        };
        let (key, stop) = self.until(stops);
        match stop {
            None if key.is_empty() => Err(Stop::End),
            None => Err(Stop::error(format!("key {key:?} has no value"))),
            Some('[') => self.indexed(into, &key, depth),
            Some('=') => self.value_of(into, &key),
            Some('.') => self.nested(into, &key, depth + 1),
            Some(_) => {
                set(into, &key, Value::from(""));
                Err(Stop::error(format!(
                    "key {key:?} has no value (cannot end with ,)"
                )))
            }
        }
    }

    fn nested(&mut self, into: &Map, key: &str, depth: usize) -> Result<(), Stop> {
        if depth > MAX_NAME_DEPTH {
            return Err(Stop::error(format!(
                "value name nested level is greater than maximum supported nested level of {MAX_NAME_DEPTH}"
            )));
        }
        let inner = match into.get(key.as_bytes()) {
            None => empty_map(),
            Some(Value::Map(map)) => map,
            Some(other) => return Err(conversion(&other, "map[string]interface {}")),
        };
        let result = self.key(&inner, depth);
        if !inner.is_empty() {
            set(into, key, Value::Map(inner));
        } else if result.is_ok() {
            return Err(Stop::error(format!("key map {key:?} has no value")));
        }
        result
    }

    fn value_of(&mut self, into: &Map, key: &str) -> Result<(), Stop> {
        let (value, result) = self.value()?;
        set(into, key, value);
        result
    }

    /// The value after `=`, and whether parsing goes on: an empty value at the end of the text ends it.
    fn value(&mut self) -> Result<(Value, Result<(), Stop>), Stop> {
        if matches!(self.assignment, Assignment::Json) {
            return Ok((self.json()?, Ok(())));
        }
        if self.is_literal() {
            let rest: String = self.text[self.at.min(self.text.len())..].iter().collect();
            self.at = self.text.len();
            return Ok((Value::from(rest), Ok(())));
        }
        match self.next() {
            None => Ok((Value::from(""), Err(Stop::End))),
            Some('{') => Ok((self.braces()?, Ok(()))),
            Some(_) => {
                self.at -= 1;
                let (text, _) = self.until(&[',']);
                Ok((self.convert(text)?, Ok(())))
            }
        }
    }

    /// A list in braces.
    fn braces(&mut self) -> Result<Value, Stop> {
        let mut items = Vec::new();
        loop {
            let (text, stop) = self.until(&[',', '}']);
            if stop.is_none() {
                return Err(Stop::error("list must terminate with '}'"));
            }
            items.push(self.convert(text)?);
            if stop == Some('}') {
                if self.text.get(self.at) == Some(&',') {
                    self.at += 1;
                }
                return Ok(Value::list(items));
            }
        }
    }

    fn json(&mut self) -> Result<Value, Stop> {
        if self.is_empty_value() {
            return Ok(Value::Nil);
        }
        let rest: String = self.text[self.at..].iter().collect();
        let mut values = serde_json::Deserializer::from_str(&rest).into_iter::<Json>();
        let value = match values.next() {
            Some(Ok(value)) => value,
            Some(Err(error)) => return Err(Stop::error(error.to_string())),
            None => Json::Null,
        };
        self.at += rest[..values.byte_offset()].chars().count();
        self.is_empty_value();
        Ok(Value::from_json(&value))
    }

    /// Passes over blanks and one comma; whether nothing else stood there.
    fn is_empty_value(&mut self) -> bool {
        loop {
            match self.next() {
                None | Some(',') => return true,
                Some(blank) if blank.is_whitespace() => {}
                Some(_) => {
                    self.at -= 1;
                    return false;
                }
            }
        }
    }

    fn indexed(&mut self, into: &Map, key: &str, depth: usize) -> Result<(), Stop> {
        let index = self.index()?;
        let list = match into.get(key.as_bytes()) {
            None => Vec::new(),
            Some(Value::List(list)) => list.to_vec(),
            Some(other) => return Err(conversion(&other, "[]interface {}")),
        };
        let (list, result) = self.item(list, index, depth);
        set(into, key, Value::list(list));
        result
    }

    fn index(&mut self) -> Result<i64, Stop> {
        let (text, stop) = self.until(&[']']);
        if stop.is_none() {
            return Err(Stop::EndInIndex);
        }
        text.parse().map_err(|_| {
            Stop::error(format!(
                "error parsing index: strconv.Atoi: parsing {text:?}: invalid syntax"
            ))
        })
    }

    /// What follows the `]` of an index; the list with the item set, and whether parsing goes on.
    fn item(
        &mut self,
        mut list: Vec<Value>,
        index: i64,
        depth: usize,
    ) -> (Vec<Value>, Result<(), Stop>) {
        let value = self.item_value(&mut list, index, depth);
        let result = value.and_then(|value| set_index(&mut list, index, value));
        (list, result)
    }

    fn item_value(&mut self, list: &mut [Value], index: i64, depth: usize) -> Result<Value, Stop> {
        if index < 0 {
            return Err(negative(index));
        }
        let (run, stop) = self.until(&['[', '.', '=']);
        if !run.is_empty() {
            let characters: Vec<String> = run.chars().map(|c| format!("{c:?}")).collect();
            return Err(Stop::error(format!(
                "unexpected data at end of array index: [{}]",
                characters.join(" ")
            )));
        }
        let existing = usize::try_from(index)
            .ok()
            .and_then(|at| list.get(at).cloned());
        match stop {
            None => Err(Stop::End),
            Some('=') => {
                let (value, _) = self.value()?;
                Ok(value)
            }
            Some('[') => self.list_in_list(existing, depth),
            Some(_) => {
                self.enter_list()?;
                let inner = match existing {
                    Some(Value::Map(map)) => map,
                    _ => empty_map(),
                };
                if let Some(slot) = usize::try_from(index).ok().and_then(|at| list.get_mut(at)) {
                    *slot = Value::Map(inner.clone());
                }
                let result = self.key(&inner, depth);
                self.lists -= 1;
                result?;
                Ok(Value::Map(inner))
            }
        }
    }

    fn list_in_list(&mut self, existing: Option<Value>, depth: usize) -> Result<Value, Stop> {
        self.enter_list()?;
        let index = self.index()?;
        let inner = match existing {
            None | Some(Value::Nil) => Vec::new(),
            Some(Value::List(list)) => list.to_vec(),
            Some(other) => return Err(conversion(&other, "[]interface {}")),
        };
        let (inner, result) = self.item(inner, index, depth);
        self.lists -= 1;
        result?;
        Ok(Value::List(List::new(ListType::Any, inner)))
    }

    fn enter_list(&mut self) -> Result<(), Stop> {
        self.lists += 1;
        if self.lists > MAX_LIST_DEPTH {
            return Err(Stop::error(format!(
                "lists are nested deeper than {MAX_LIST_DEPTH}"
            )));
        }
        Ok(())
    }

    fn convert(&mut self, text: String) -> Result<Value, Stop> {
        match &mut self.assignment {
            Assignment::Typed => Ok(typed(text)),
            Assignment::File(read) => read(&text).map(Value::from).map_err(Stop::Error),
            _ => Ok(Value::from(text)),
        }
    }
}

/// Booleans, null and integers without leading zeros; everything else is text, floats too.
fn typed(text: String) -> Value {
    if text.eq_ignore_ascii_case("true") {
        return Value::Bool(true);
    }
    if text.eq_ignore_ascii_case("false") {
        return Value::Bool(false);
    }
    if text.eq_ignore_ascii_case("null") {
        return Value::Nil;
    }
    match text.parse() {
        Ok(integer) if text == "0" || !text.starts_with('0') => Value::int64(integer),
        _ => Value::from(text),
    }
}

fn set(into: &Map, key: &str, value: Value) {
    if !key.is_empty() {
        into.insert(key, value);
    }
}

fn set_index(list: &mut Vec<Value>, index: i64, value: Value) -> Result<(), Stop> {
    if index > MAX_LIST_INDEX {
        return Err(Stop::error(format!(
            "index of {index} is greater than maximum supported index of {MAX_LIST_INDEX}"
        )));
    }
    let index = usize::try_from(index).map_err(|_| negative(index))?;
    if list.len() <= index {
        list.resize(index + 1, Value::Nil);
    }
    list[index] = value;
    Ok(())
}

fn negative(index: i64) -> Stop {
    Stop::error(format!("negative {index} index not allowed"))
}

fn conversion(value: &Value, wanted: &str) -> Stop {
    let found = match value {
        Value::Nil => "nil",
        other => other.type_name(),
    };
    Stop::error(format!(
        "unable to parse key: interface conversion: interface {{}} is {found}, not {wanted}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::{map_to_json, values_from_json};
    use serde_json::json;

    fn parse(text: &str, base: &Json, assignment: Assignment<'_>) -> Result<Json, String> {
        let map = values_from_json(base.as_object().unwrap());
        assign(text, &map, assignment, Dialect::V4_3).map_err(|error| error.message)?;
        Ok(Json::Object(map_to_json(&map)))
    }

    #[test]
    fn set_reads_what_helm_reads() {
        let cases = [
            ("a=b", json!({"a": "b"})),
            ("a=b,c=d", json!({"a": "b", "c": "d"})),
            ("a=b,", json!({"a": "b"})),
            (
                "a=1,b=-2,c=+3,d=0",
                json!({"a": 1, "b": -2, "c": 3, "d": 0}),
            ),
            (
                "a=01,b=1.5,c=1e3,d=0x1",
                json!({"a": "01", "b": "1.5", "c": "1e3", "d": "0x1"}),
            ),
            ("a=9223372036854775808", json!({"a": "9223372036854775808"})),
            (
                "a=true,b=FALSE,c=Null",
                json!({"a": true, "b": false, "c": null}),
            ),
            ("a=", json!({"a": ""})),
            ("a=,b=1", json!({"a": "", "b": 1})),
            ("a= b ", json!({"a": " b "})),
            ("a=\"b\"", json!({"a": "\"b\""})),
            ("a=b=c", json!({"a": "b=c"})),
            ("a=b\\,c", json!({"a": "b,c"})),
            ("a\\.b=c", json!({"a.b": "c"})),
            ("a\\=b=c", json!({"a=b": "c"})),
            ("a=b\\\\c", json!({"a": "b\\c"})),
            ("a=b\\", json!({"a": "b"})),
            ("a.b.c=1", json!({"a": {"b": {"c": 1}}})),
            ("a.b=1,a.c=2", json!({"a": {"b": 1, "c": 2}})),
            ("=x", json!({})),
            ("", json!({})),
            ("a={}", json!({"a": [""]})),
            ("a={x}", json!({"a": ["x"]})),
            ("a={x,1,true,null}", json!({"a": ["x", 1, true, null]})),
            ("a={x,y},b=1", json!({"a": ["x", "y"], "b": 1})),
            ("a={x,y}b=1", json!({"a": ["x", "y"], "b": 1})),
            ("a.b={x\\,y,z}", json!({"a": {"b": ["x,y", "z"]}})),
            ("a[0]=x", json!({"a": ["x"]})),
            ("a[0]=x,a[1]=y", json!({"a": ["x", "y"]})),
            ("a[2]=x", json!({"a": [null, null, "x"]})),
            ("a[1]=x,a[0]=y", json!({"a": ["y", "x"]})),
            (
                "a[0].b=1,a[0].c=2,a[1].b=3",
                json!({"a": [{"b": 1, "c": 2}, {"b": 3}]}),
            ),
            ("a[1].b=1,a[0].b=2", json!({"a": [{"b": 2}, {"b": 1}]})),
            ("a[0][1]=x", json!({"a": [[null, "x"]]})),
            ("a[0][0].b[1]=x", json!({"a": [[{"b": [null, "x"]}]]})),
            ("a[0]={x,y}", json!({"a": [["x", "y"]]})),
            ("a[0]=", json!({"a": [""]})),
            ("a[0]", json!({"a": []})),
            ("a[0].b=", json!({"a": []})),
            ("a[=1", json!({})),
            ("a.b=1,a=2", json!({"a": 2})),
            ("ä.ö=ü", json!({"ä": {"ö": "ü"}})),
        ];
        for (text, expected) in cases {
            let found = parse(text, &json!({}), Assignment::Typed);
            assert_eq!(found.as_ref(), Ok(&expected), "{text}");
        }
    }

    #[test]
    fn set_refuses_what_helm_refuses() {
        let deep = format!("{}=1", vec!["a"; 32].join("."));
        let cases = [
            ("a", "key \"a\" has no value"),
            ("a,b=1", "key \"a\" has no value (cannot end with ,)"),
            ("a.b", "key \"b\" has no value"),
            ("a.=1", "key map \"a\" has no value"),
            ("a={x", "list must terminate with '}'"),
            ("a[-1]=x", "negative -1 index not allowed"),
            (
                "a[x]=1",
                "error parsing index: strconv.Atoi: parsing \"x\": invalid syntax",
            ),
            ("a[0]x=1", "unexpected data at end of array index: ['x']"),
            (
                "a[65537]=1",
                "index of 65537 is greater than maximum supported index of 65536",
            ),
            (
                "a=1,a.b=2",
                "unable to parse key: interface conversion: interface {} is int64, not map[string]interface {}",
            ),
            (
                "a=x,a[0]=2",
                "unable to parse key: interface conversion: interface {} is string, not []interface {}",
            ),
            (
                "a=null,a.b=2",
                "unable to parse key: interface conversion: interface {} is nil, not map[string]interface {}",
            ),
            (
                deep.as_str(),
                "value name nested level is greater than maximum supported nested level of 30",
            ),
        ];
        for (text, message) in cases {
            let found = parse(text, &json!({}), Assignment::Typed);
            assert_eq!(found, Err(message.to_owned()), "{text}");
        }
    }

    #[test]
    fn values_go_into_what_is_there() {
        let base = json!({"a": {"x": 1, "y": 2}, "l": [1, 2, 3], "m": [{"n": 1}]});
        let found = parse("a.x=null,l[1]=b,m[0].o=2,l[3]=c", &base, Assignment::Typed).unwrap();
        assert_eq!(
            found,
            json!({"a": {"x": null, "y": 2}, "l": [1, "b", 3, "c"], "m": [{"n": 1, "o": 2}]})
        );
    }

    #[test]
    fn the_other_flags_differ_in_the_value_only() {
        let text = parse("a=1,b=true,c={1,2}", &json!({}), Assignment::Text).unwrap();
        assert_eq!(text, json!({"a": "1", "b": "true", "c": ["1", "2"]}));
        let literal = parse("a.b[0]=x,y={z}\\", &json!({}), Assignment::Literal).unwrap();
        assert_eq!(literal, json!({"a": {"b": ["x,y={z}\\"]}}));
        let mut read = |name: &str| match name {
            "missing" => Err("open missing: no such file or directory".to_owned()),
            name => Ok(format!("<{name}>")),
        };
        let file = parse("a=x,b[1]=y", &json!({}), Assignment::File(&mut read)).unwrap();
        assert_eq!(file, json!({"a": "<x>", "b": [null, "<y>"]}));
    }

    #[test]
    fn json_is_read_value_by_value() {
        let cases = [
            ("a=1", json!({"a": 1})),
            (
                "a={\"x\":[1,2]},b=\"y\"",
                json!({"a": {"x": [1, 2]}, "b": "y"}),
            ),
            ("a=,b=null", json!({"a": null, "b": null})),
            ("a= true , b=false", json!({"a": true, " b": false})),
            ("a[1].b=[]", json!({"a": [null, {"b": []}]})),
        ];
        for (text, expected) in cases {
            assert_eq!(
                parse(text, &json!({}), Assignment::Json),
                Ok(expected),
                "{text}"
            );
        }
        assert!(parse("a={", &json!({}), Assignment::Json).is_err());
        let base = values_from_json(json!({"a": {"x": 1}}).as_object().unwrap());
        let whole = assign_json("{\"a\":{\"y\":2}}", &base, Dialect::V4_3).unwrap();
        assert_eq!(
            Json::Object(map_to_json(&whole)),
            json!({"a": {"x": 1, "y": 2}})
        );
        assert!(assign_json("{\"a\":2}", &base, Dialect::V3).is_err());
    }

    #[test]
    fn hostile_texts_do_no_harm() {
        let nested = "a[0]".to_owned() + &"[0]".repeat(100_000) + "=1";
        assert!(parse(&nested, &json!({}), Assignment::Typed).is_err());
        let alternating = "a[0].".repeat(1_000) + "b=1";
        assert!(parse(&alternating, &json!({}), Assignment::Typed).is_err());
        for text in [
            "[",
            "[0]=1",
            ".",
            "..=",
            "=",
            ",",
            "\\",
            "a[99999999999999999999]=1",
            "a[0].[0]=1",
        ] {
            let _ = parse(text, &json!({}), Assignment::Typed);
        }
    }
}
