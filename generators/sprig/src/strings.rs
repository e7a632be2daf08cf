//! Functions on text (Sprig 3.3 `strings.go`, with `strings` of Go). Text is bytes: lengths and positions count bytes.

use crate::{
    cases,
    cast::{print, to_text},
    declare::{Outcome, boolean, bytes, fail, fixed, int, text, value, variadic},
    lists, runes, search, wrapping,
};
use std::collections::BTreeMap;
use whipstaff_gotemplate::{
    Bytes, Function, FunctionError, Map, MapType, Runtime,
    Type::{Any, Int, String as Text},
    Value, format,
};

pub(crate) fn functions() -> Vec<Function> {
    [
        trimming(),
        letter_cases(),
        parts(),
        tests(),
        printed(),
        lists(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Trimming.
fn trimming() -> Vec<Function> {
    vec![
        fixed("hello", &[], |_, _| Ok("Hello!".into())),
        fixed("trim", &[Text], |_, a| {
            Ok(search::trim_space(text(a, 0)).into_value())
        }),
        fixed("trimAll", &[Text, Text], trim_all),
        fixed("trimall", &[Text, Text], trim_all),
        fixed("trimPrefix", &[Text, Text], |_, a| {
            let whole = text(a, 1);
            Ok(whole.strip_prefix(text(a, 0)).unwrap_or(whole).into_value())
        }),
        fixed("trimSuffix", &[Text, Text], |_, a| {
            let whole = text(a, 1);
            Ok(whole.strip_suffix(text(a, 0)).unwrap_or(whole).into_value())
        }),
    ]
}

/// Upper and lower case.
fn letter_cases() -> Vec<Function> {
    vec![
        fixed("upper", &[Text], |_, a| Ok(map_case(a, runes::to_upper))),
        fixed("lower", &[Text], |_, a| Ok(map_case(a, runes::to_lower))),
        fixed("title", &[Text], |_, a| {
            Ok(wrapping::title(text(a, 0)).into())
        }),
        fixed("untitle", &[Text], |_, a| {
            Ok(wrapping::uncapitalize(text(a, 0)).into())
        }),
        fixed("swapcase", &[Text], |_, a| {
            Ok(wrapping::swap_case(text(a, 0)).into())
        }),
        fixed("initials", &[Text], |_, a| {
            Ok(wrapping::initials(text(a, 0)).into())
        }),
        fixed("nospace", &[Text], |_, a| {
            Ok(wrapping::delete_white_space(text(a, 0)).into_value())
        }),
        fixed("camelcase", &[Text], |_, a| {
            Ok(cases::pascal_case(text(a, 0)).into())
        }),
        fixed("snakecase", &[Text], |_, a| {
            Ok(cases::connected_case(text(a, 0), '_').into_value())
        }),
        fixed("kebabcase", &[Text], |_, a| {
            Ok(cases::connected_case(text(a, 0), '-').into_value())
        }),
    ]
}

/// Cutting, repeating and replacing.
fn parts() -> Vec<Function> {
    vec![
        fixed("substr", &[Int, Int, Text], substring),
        fixed("trunc", &[Int, Text], truncate),
        fixed("abbrev", &[Int, Text], |_, a| {
            let (width, whole) = (int(a, 0), text(a, 1));
            if width < 4 {
                return Ok(whole.into_value());
            }
            Ok(wrapping::abbreviate(whole, 0, width)?.into_value())
        }),
        fixed("abbrevboth", &[Int, Int, Text], |_, a| {
            let (left, right, whole) = (int(a, 0), int(a, 1), text(a, 2));
            if right < 4 || left > 0 && right < 7 {
                return Ok(whole.into_value());
            }
            Ok(wrapping::abbreviate(whole, left, right)?.into_value())
        }),
        fixed("repeat", &[Int, Text], |runtime, a| {
            Ok(repeat(runtime, text(a, 1), int(a, 0))?.into_value())
        }),
        fixed("indent", &[Int, Text], |runtime, a| {
            Ok(indent(runtime, b"", int(a, 0), text(a, 1))?.into_value())
        }),
        fixed("nindent", &[Int, Text], |runtime, a| {
            Ok(indent(runtime, b"\n", int(a, 0), text(a, 1))?.into_value())
        }),
        fixed("replace", &[Text, Text, Text], |runtime, a| {
            Ok(search::replace(runtime, text(a, 2), text(a, 0), text(a, 1))?.into_value())
        }),
        fixed("plural", &[Text, Text, Int], |_, a| {
            Ok(value(a, usize::from(int(a, 2) != 1)))
        }),
    ]
}

/// Questions.
fn tests() -> Vec<Function> {
    vec![
        fixed("contains", &[Text, Text], |_, a| {
            Ok(search::find(text(a, 1), text(a, 0)).is_some().into())
        }),
        fixed("hasPrefix", &[Text, Text], |_, a| {
            Ok(text(a, 1).starts_with(text(a, 0)).into())
        }),
        fixed("hasSuffix", &[Text, Text], |_, a| {
            Ok(text(a, 1).ends_with(text(a, 0)).into())
        }),
    ]
}

/// Printing several values as one text.
fn printed() -> Vec<Function> {
    vec![
        variadic("quote", &[], Any, |runtime, a| {
            join_present(runtime, a, |runtime, item| {
                Ok(format::quote(&to_text(runtime, item)?))
            })
        }),
        variadic("squote", &[], Any, |runtime, a| {
            join_present(runtime, a, |runtime, item| {
                Ok([b"'", print(runtime, item)?.as_slice(), b"'"].concat())
            })
        }),
        variadic("cat", &[], Any, |runtime, a| {
            join_present(runtime, a, print)
        }),
        fixed("wrap", &[Int, Text], |runtime, a| {
            Ok(wrapping::wrap(runtime, text(a, 1), int(a, 0), b"\n", false)?.into_value())
        }),
        fixed("wrapWith", &[Int, Text, Text], |runtime, a| {
            let separator = if text(a, 1).is_empty() {
                b"\n"
            } else {
                text(a, 1)
            };
            Ok(wrapping::wrap(runtime, text(a, 2), int(a, 0), separator, true)?.into_value())
        }),
    ]
}

/// Lists of texts.
fn lists() -> Vec<Function> {
    vec![
        fixed("toString", &[Any], |runtime, a| {
            Ok(to_text(runtime, &value(a, 0))?.into())
        }),
        fixed("toStrings", &[Any], |runtime, a| {
            Ok(Value::strings(lists::to_texts(runtime, &value(a, 0))?))
        }),
        fixed("join", &[Text, Any], |runtime, a| {
            let parts = lists::to_texts(runtime, &value(a, 1))?;
            let size = parts
                .iter()
                .map(|part| part.len().saturating_add(text(a, 0).len()))
                .sum();
            runtime.charge(size)?;
            Ok(parts.join(text(a, 0)).into_value())
        }),
        fixed("sortAlpha", &[Any], sort_alpha),
        fixed("split", &[Text, Text], |runtime, a| {
            Ok(numbered(search::split(
                runtime,
                text(a, 1),
                text(a, 0),
                -1,
            )?))
        }),
        fixed("splitn", &[Text, Int, Text], |runtime, a| {
            Ok(numbered(search::split(
                runtime,
                text(a, 2),
                text(a, 0),
                int(a, 1),
            )?))
        }),
        fixed("splitList", &[Text, Text], |runtime, a| {
            Ok(Value::strings(search::split(
                runtime,
                text(a, 1),
                text(a, 0),
                -1,
            )?))
        }),
        fixed(
            "ternary",
            &[Any, Any, whipstaff_gotemplate::Type::Bool],
            |_, a| Ok(value(a, usize::from(!boolean(a, 2)))),
        ),
    ]
}

/// Turns bytes into a string value.
pub(crate) trait IntoValue {
    /// The string.
    fn into_value(self) -> Value;
}

impl IntoValue for &[u8] {
    fn into_value(self) -> Value {
        Value::String(self.into())
    }
}

impl IntoValue for Vec<u8> {
    fn into_value(self) -> Value {
        Value::String(self.into())
    }
}

/// `strings.Repeat`.
pub(crate) fn repeat(
    runtime: &mut dyn Runtime,
    unit: &[u8],
    count: i64,
) -> Result<Vec<u8>, FunctionError> {
    let Ok(count) = usize::try_from(count) else {
        return fail("strings: negative Repeat count");
    };
    let size = count.saturating_mul(unit.len());
    if i64::try_from(size).is_err() {
        return fail("strings: Repeat output length overflow");
    }
    runtime.charge(size)?;
    Ok(unit.repeat(count))
}

fn indent(
    runtime: &mut dyn Runtime,
    start: &[u8],
    spaces: i64,
    whole: &[u8],
) -> Result<Vec<u8>, FunctionError> {
    let padding = repeat(runtime, b" ", spaces)?;
    let lines = whole.split(|byte| *byte == b'\n');
    let breaks = memchr::memchr_iter(b'\n', whole).count();
    let size = breaks
        .saturating_add(1)
        .saturating_mul(padding.len())
        .saturating_add(whole.len());
    runtime.charge(size)?;
    let mut out = Vec::with_capacity(size.saturating_add(start.len()));
    out.extend_from_slice(start);
    for (index, line) in lines.enumerate() {
        if index > 0 {
            out.push(b'\n');
        }
        out.extend_from_slice(&padding);
        out.extend_from_slice(line);
    }
    Ok(out)
}

fn trim_all(_: &mut dyn Runtime, a: &[Value]) -> Outcome {
    let cutset: Vec<char> = runes::runes(text(a, 0)).collect();
    Ok(search::trim(text(a, 1), |rune| cutset.contains(&rune)).into_value())
}

fn map_case(a: &[Value], image: fn(char) -> char) -> Value {
    runes::map_runes(text(a, 0), image).into()
}

fn truncate(_: &mut dyn Runtime, a: &[Value]) -> Outcome {
    let (count, whole) = (int(a, 0), bytes(a, 1));
    let length = whole.len() as i64;
    let cut = if count < 0 {
        usize::try_from(length.saturating_add(count))
            .ok()
            .and_then(|start| whole.get(start..))
    } else {
        usize::try_from(count).ok().and_then(|end| whole.get(..end))
    };
    Ok(match cut {
        Some(cut) => cut.into_value(),
        None => Value::String(whole),
    })
}

fn substring(_: &mut dyn Runtime, a: &[Value]) -> Outcome {
    let (start, end, whole) = (int(a, 0), int(a, 1), text(a, 2));
    let length = whole.len() as i64;
    if start < 0 {
        return cut(whole, 0, end, true);
    }
    if end < 0 || end > length {
        return cut(whole, start, length, false);
    }
    cut(whole, start, end, true)
}

/// `whole[start:end]` with the panic that Go has for it; `has_end` tells whether the end was written.
fn cut(whole: &[u8], start: i64, end: i64, has_end: bool) -> Outcome {
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    if let Some(cut) = range.and_then(|(start, end)| whole.get(start..end)) {
        return Ok(cut.into_value());
    }
    let length = whole.len();
    let bounds = match () {
        () if end < 0 => format!("[:{end}]"),
        () if end > length as i64 => format!("[:{end}] with length {length}"),
        () if !has_end => format!("[{start}:{length}]"),
        () => format!("[{start}:{end}]"),
    };
    fail(format!("runtime error: slice bounds out of range {bounds}"))
}

fn join_present(
    runtime: &mut dyn Runtime,
    arguments: &[Value],
    image: fn(&mut dyn Runtime, &Value) -> Result<Vec<u8>, FunctionError>,
) -> Outcome {
    let mut parts = Vec::with_capacity(arguments.len());
    for item in arguments.iter().filter(|item| !matches!(item, Value::Nil)) {
        let part = image(runtime, item)?;
        runtime.charge(part.len())?;
        parts.push(part);
    }
    Ok(parts.join(&b' ').into_value())
}

fn sort_alpha(runtime: &mut dyn Runtime, a: &[Value]) -> Outcome {
    let list = value(a, 0);
    if matches!(list, Value::Nil) {
        return Ok(Value::strings([to_text(runtime, &list)?]));
    }
    let mut texts = lists::to_texts(runtime, &list)?;
    texts.sort();
    Ok(Value::strings(texts))
}

/// `map[string]string` with the keys `_0`, `_1`, …
fn numbered(parts: Vec<Bytes>) -> Value {
    let entries: BTreeMap<Bytes, Value> = parts
        .into_iter()
        .enumerate()
        .map(|(index, part)| (format!("_{index}").into(), Value::String(part)))
        .collect();
    Value::Map(Map::new(MapType::STRING, entries))
}
