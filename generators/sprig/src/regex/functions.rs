//! The `regex…` functions. Without `must`, a bad expression is a panic in Go, whose text names the call that panicked; only
//! `regexMatch` swallows it.

use super::{Program, ProgramError};
use crate::{
    lists::nil_strings,
    typed::{integer, takes, text},
};
use std::rc::Rc;
use whipstaff_gotemplate::{
    Bytes, Function, FunctionError, Runtime, Signature, Type, Value, format,
};

const TWO: Signature = takes(&[Type::String, Type::String]);
const THREE: Signature = takes(&[Type::String, Type::String, Type::String]);
const COUNTED: Signature = takes(&[Type::String, Type::String, Type::Int]);

/// The functions of this module.
pub(crate) fn functions() -> Vec<Function> {
    vec![
        Function {
            name: "regexMatch",
            signature: TWO,
            call: regex_match,
        },
        Function {
            name: "mustRegexMatch",
            signature: TWO,
            call: must_regex_match,
        },
        Function {
            name: "regexFind",
            signature: TWO,
            call: find::<false>,
        },
        Function {
            name: "mustRegexFind",
            signature: TWO,
            call: find::<true>,
        },
        Function {
            name: "regexFindAll",
            signature: COUNTED,
            call: find_all::<false>,
        },
        Function {
            name: "mustRegexFindAll",
            signature: COUNTED,
            call: find_all::<true>,
        },
        Function {
            name: "regexSplit",
            signature: COUNTED,
            call: split::<false>,
        },
        Function {
            name: "mustRegexSplit",
            signature: COUNTED,
            call: split::<true>,
        },
        Function {
            name: "regexReplaceAll",
            signature: THREE,
            call: replace_all::<false>,
        },
        Function {
            name: "mustRegexReplaceAll",
            signature: THREE,
            call: replace_all::<true>,
        },
        Function {
            name: "regexReplaceAllLiteral",
            signature: THREE,
            call: replace_all_literal::<false>,
        },
        Function {
            name: "mustRegexReplaceAllLiteral",
            signature: THREE,
            call: replace_all_literal::<true>,
        },
        Function {
            name: "regexQuoteMeta",
            signature: takes(&[Type::String]),
            call: quote_meta,
        },
    ]
}

/// Compiles the first argument.
fn program(arguments: &[Value], is_must: bool) -> Result<Rc<Program>, FunctionError> {
    let expression = text(arguments, 0);
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
    match Program::new(&text(arguments, 0)) {
        Ok(program) => Ok(Value::Bool(program.is_match(&text(arguments, 1)))),
        Err(ProgramError::Syntax(_)) => Ok(Value::Bool(false)),
        Err(error) => Err(FunctionError::limit(error.to_string())),
    }
}

fn must_regex_match(
    _runtime: &mut dyn Runtime,
    arguments: &[Value],
) -> Result<Value, FunctionError> {
    Ok(Value::Bool(
        program(arguments, true)?.is_match(&text(arguments, 1)),
    ))
}

fn find<const MUST: bool>(
    runtime: &mut dyn Runtime,
    arguments: &[Value],
) -> Result<Value, FunctionError> {
    let program = program(arguments, MUST)?;
    let searched = text(arguments, 1);
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
    let searched = text(arguments, 1);
    let limit = usize::try_from(integer(arguments, 2)).unwrap_or(usize::MAX);
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
    let searched = text(arguments, 1);
    let limit = usize::try_from(integer(arguments, 2)).ok();
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
    let searched = text(arguments, 1);
    let template = text(arguments, 2);
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
    let searched = text(arguments, 1);
    let replacement = text(arguments, 2);
    runtime.charge(searched.len())?;
    let replaced = program.replace_all(&searched, |output, _| {
        output.extend_from_slice(&replacement);
        runtime.charge(replacement.len())
    })?;
    Ok(Value::string(replaced))
}

fn quote_meta(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    let input = text(arguments, 0);
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
