//! The `regex…` functions. Without `must`, a bad expression is a panic in Go, whose text names the call that panicked; only
//! `regexMatch` swallows it.

use super::{Program, ProgramError};
use crate::{
    declare::{bytes, fixed, int},
    lists::nil_strings,
};
use std::rc::Rc;
use whipstaff_gotemplate::{Bytes, Function, FunctionError, Runtime, Type, Value, format};

const TWO: &[Type] = &[Type::String, Type::String];
const THREE: &[Type] = &[Type::String, Type::String, Type::String];
const COUNTED: &[Type] = &[Type::String, Type::String, Type::Int];

/// The functions of this module.
pub(crate) fn functions() -> Vec<Function> {
    vec![
        fixed("regexMatch", TWO, regex_match),
        fixed("mustRegexMatch", TWO, must_regex_match),
        fixed("regexFind", TWO, find::<false>),
        fixed("mustRegexFind", TWO, find::<true>),
        fixed("regexFindAll", COUNTED, find_all::<false>),
        fixed("mustRegexFindAll", COUNTED, find_all::<true>),
        fixed("regexSplit", COUNTED, split::<false>),
        fixed("mustRegexSplit", COUNTED, split::<true>),
        fixed("regexReplaceAll", THREE, replace_all::<false>),
        fixed("mustRegexReplaceAll", THREE, replace_all::<true>),
        fixed(
            "regexReplaceAllLiteral",
            THREE,
            replace_all_literal::<false>,
        ),
        fixed(
            "mustRegexReplaceAllLiteral",
            THREE,
            replace_all_literal::<true>,
        ),
        fixed("regexQuoteMeta", &[Type::String], quote_meta),
    ]
}

/// Compiles the first argument.
fn program(arguments: &[Value], is_must: bool) -> Result<Rc<Program>, FunctionError> {
    let expression = bytes(arguments, 0);
    Program::new(&expression).map_err(|error| match error {
        ProgramError::Limit(_) => FunctionError::limit(error.to_string()),
        ProgramError::Syntax(error) if is_must => FunctionError::new(error.to_string()),
        ProgramError::Syntax(error) => {
            FunctionError::new(format!("regexp: Compile({}): {error}", quoted(&expression)))
        }
    })
}

/// As `regexp` quotes an expression in its panics: in backquotes where these can hold it.
fn quoted(expression: &Bytes) -> String {
    let can_be_raw = std::str::from_utf8(expression).is_ok_and(|text| {
        text.chars()
            .all(|c| c == '\t' || (c >= ' ' && c != '`' && c != '\u{7f}' && c != '\u{feff}'))
    });
    if can_be_raw {
        return format!("`{expression}`");
    }
    String::from_utf8_lossy(&format::quote(expression)).into_owned()
}

fn regex_match(_runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    match Program::new(&bytes(arguments, 0)) {
        Ok(program) => Ok(Value::Bool(program.is_match(&bytes(arguments, 1)))),
        Err(ProgramError::Syntax(_)) => Ok(Value::Bool(false)),
        Err(error) => Err(FunctionError::limit(error.to_string())),
    }
}

fn must_regex_match(
    _runtime: &mut dyn Runtime,
    arguments: &[Value],
) -> Result<Value, FunctionError> {
    Ok(Value::Bool(
        program(arguments, true)?.is_match(&bytes(arguments, 1)),
    ))
}

fn find<const MUST: bool>(
    runtime: &mut dyn Runtime,
    arguments: &[Value],
) -> Result<Value, FunctionError> {
    let program = program(arguments, MUST)?;
    let searched = bytes(arguments, 1);
    let Some((start, end)) = program.find(&searched) else {
        return Ok("".into());
    };
    runtime.charge(end - start)?;
    Ok(Value::string(searched.get(start..end).unwrap_or_default()))
}

fn find_all<const MUST: bool>(
    runtime: &mut dyn Runtime,
    arguments: &[Value],
) -> Result<Value, FunctionError> {
    let program = program(arguments, MUST)?;
    let searched = bytes(arguments, 1);
    let limit = usize::try_from(int(arguments, 2)).unwrap_or(usize::MAX);
    let found = program.find_all(&searched, limit);
    if found.is_empty() {
        return Ok(nil_strings());
    }
    charge_pieces(runtime, searched.len(), found.len())?;
    Ok(Value::strings(found.into_iter().map(|(start, end)| {
        searched.get(start..end).unwrap_or_default()
    })))
}

fn split<const MUST: bool>(
    runtime: &mut dyn Runtime,
    arguments: &[Value],
) -> Result<Value, FunctionError> {
    let program = program(arguments, MUST)?;
    let searched = bytes(arguments, 1);
    let limit = usize::try_from(int(arguments, 2)).ok();
    if limit == Some(0) {
        return Ok(nil_strings());
    }
    let pieces = program.split(&searched, limit);
    charge_pieces(runtime, searched.len(), pieces.len())?;
    Ok(Value::strings(pieces))
}

/// Takes a list of strings from the budget: their bytes, and the values that hold them.
fn charge_pieces(
    runtime: &mut dyn Runtime,
    bytes: usize,
    count: usize,
) -> Result<(), FunctionError> {
    runtime.charge(bytes.saturating_add(count.saturating_mul(size_of::<Value>())))
}

fn replace_all<const MUST: bool>(
    runtime: &mut dyn Runtime,
    arguments: &[Value],
) -> Result<Value, FunctionError> {
    let program = program(arguments, MUST)?;
    let searched = bytes(arguments, 1);
    let template = bytes(arguments, 2);
    runtime.charge(searched.len())?;
    let replaced = program.replace_all(&searched, |output, groups| {
        let before = output.len();
        program.expand(&template, &searched, groups, output);
        runtime.charge(output.len() - before)
    })?;
    Ok(Value::string(replaced))
}

fn replace_all_literal<const MUST: bool>(
    runtime: &mut dyn Runtime,
    arguments: &[Value],
) -> Result<Value, FunctionError> {
    let program = program(arguments, MUST)?;
    let searched = bytes(arguments, 1);
    let replacement = bytes(arguments, 2);
    runtime.charge(searched.len())?;
    let replaced = program.replace_all(&searched, |output, _| {
        output.extend_from_slice(&replacement);
        runtime.charge(replacement.len())
    })?;
    Ok(Value::string(replaced))
}

fn quote_meta(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    let input = bytes(arguments, 0);
    runtime.charge(input.len().saturating_mul(2))?;
    let mut output = Vec::with_capacity(input.len());
    for byte in input.iter().copied() {
        if br"\.+*?()|[]{}^$".contains(&byte) {
            output.push(b'\\');
        }
        output.push(byte);
    }
    Ok(Value::string(output))
}
