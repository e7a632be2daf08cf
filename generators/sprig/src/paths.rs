//! Paths with slashes: `base`, `dir`, `clean`, `ext`, `isAbs`, and the same with `os` before them, which on Unix do the same.
//!
//! Mirrors Go's `path` 1.26.

use crate::declare::{bytes, fixed};
use whipstaff_gotemplate::{Function, FunctionError, Runtime, Type, Value};

const STRING: &[Type] = &[Type::String];

type Call = fn(&mut dyn Runtime, &[Value]) -> Result<Value, FunctionError>;

/// The functions of this module.
pub(crate) fn functions() -> Vec<Function> {
    let functions: [(&'static str, &'static str, Call); 5] = [
        ("base", "osBase", |_, arguments| {
            Ok(Value::string(base(&bytes(arguments, 0))))
        }),
        ("clean", "osClean", |_, arguments| {
            Ok(Value::string(clean(&bytes(arguments, 0))))
        }),
        ("dir", "osDir", |_, arguments| {
            Ok(Value::string(directory(&bytes(arguments, 0))))
        }),
        ("ext", "osExt", |_, arguments| {
            Ok(Value::string(extension(&bytes(arguments, 0))))
        }),
        ("isAbs", "osIsAbs", |_, arguments| {
            Ok(bytes(arguments, 0).starts_with(b"/").into())
        }),
    ];
    functions
        .into_iter()
        .flat_map(|(name, os_name, call)| [name, os_name].map(|name| fixed(name, STRING, call)))
        .collect()
}

/// The last element; of nothing it is a dot.
fn base(path: &[u8]) -> &[u8] {
    if path.is_empty() {
        return b".";
    }
    let end = path
        .iter()
        .rposition(|byte| *byte != b'/')
        .map_or(0, |last| last + 1);
    match path
        .get(..end)
        .unwrap_or_default()
        .rsplit(|byte| *byte == b'/')
        .next()
    {
        Some(name) if !name.is_empty() => name,
        _ => b"/",
    }
}

/// All but the last element, cleaned.
fn directory(path: &[u8]) -> Vec<u8> {
    let end = path
        .iter()
        .rposition(|byte| *byte == b'/')
        .map_or(0, |slash| slash + 1);
    clean(path.get(..end).unwrap_or_default())
}

/// What starts with the last dot of the last element.
fn extension(path: &[u8]) -> &[u8] {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let start = name.iter().rposition(|byte| *byte == b'.');
    start
        .and_then(|start| name.get(start..))
        .unwrap_or_default()
}

/// The shortest path that means the same.
fn clean(path: &[u8]) -> Vec<u8> {
    let is_absolute = path.starts_with(b"/");
    let mut elements: Vec<&[u8]> = Vec::new();
    for element in path.split(|byte| *byte == b'/') {
        match element {
            b"" | b"." => {}
            b".." if elements.last().is_some_and(|last| *last != b"..") => {
                elements.pop();
            }
            b".." if is_absolute => {}
            element => elements.push(element),
        }
    }
    let joined = elements.join(&b'/');
    match (is_absolute, joined.is_empty()) {
        (true, _) => [b"/", joined.as_slice()].concat(),
        (false, true) => b".".to_vec(),
        (false, false) => joined,
    }
}
