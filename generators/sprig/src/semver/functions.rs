//! `semver` and `semverCompare`, and versions as templates see them.

use super::{Constraint, Version, constraint::ConstraintError};
use crate::declare::{bytes, fixed, host, takes};
use std::any::Any;
use whipstaff_gotemplate::{
    Dialect, Function, FunctionError, Host, Kind, Method, Runtime, Type, UintKind, Value,
};

const POINTER: &str = "*semver.Version";
const NOTHING: &[Type] = &[];
const STRING: &[Type] = &[Type::String];
const VERSION: &[Type] = &[Type::Host(POINTER)];

/// The functions of this module.
pub(crate) fn functions(dialect: Dialect) -> Vec<Function> {
    vec![
        fixed("semver", STRING, semver),
        fixed(
            "semverCompare",
            &[Type::String, Type::String],
            if dialect == Dialect::V4_1 {
                semver_compare_unquoted
            } else {
                semver_compare
            },
        ),
    ]
}

fn semver(_runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    let version = parse(arguments, 0)?;
    Ok(Value::host(VersionHost {
        version,
        is_pointer: true,
    }))
}

fn semver_compare(_runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    let constraint = Constraint::parse(&bytes(arguments, 0).to_text())
        .map_err(|error| FunctionError::new(error.to_string()))?;
    Ok(Value::Bool(constraint.check(&parse(arguments, 1)?)))
}

/// Masterminds/semver 3.4, which Helm 4.1 has, does not quote what it cannot read.
fn semver_compare_unquoted(
    runtime: &mut dyn Runtime,
    arguments: &[Value],
) -> Result<Value, FunctionError> {
    match Constraint::parse(&bytes(arguments, 0).to_text()) {
        Err(ConstraintError::Improper(constraint)) => Err(FunctionError::new(format!(
            "improper constraint: {constraint}"
        ))),
        _ => semver_compare(runtime, arguments),
    }
}

fn parse(arguments: &[Value], index: usize) -> Result<Version, FunctionError> {
    Version::parse(&bytes(arguments, index).to_text())
        .map_err(|error| FunctionError::new(error.to_string()))
}

/// A version in a template. Methods that Go declares on the pointer are there only if it is one: `IncMajor` and its like give the
/// bare struct.
#[derive(Debug, Clone)]
struct VersionHost {
    version: Version,
    is_pointer: bool,
}

impl Host for VersionHost {
    fn type_name(&self) -> &str {
        if self.is_pointer {
            POINTER
        } else {
            "semver.Version"
        }
    }

    fn kind(&self) -> Kind {
        if self.is_pointer {
            Kind::Ptr
        } else {
            Kind::Struct
        }
    }

    fn method(&self, name: &str) -> Option<Method> {
        value_method(name).or_else(|| pointer_method(name).filter(|_| self.is_pointer))
    }

    fn to_data(&self) -> Option<Value> {
        let version = &self.version;
        Some(Value::map([
            ("Major", number(&version.major).ok()?),
            ("Minor", number(&version.minor).ok()?),
            ("Patch", number(&version.patch).ok()?),
            ("Prerelease", version.prerelease.as_str().into()),
            ("Metadata", version.metadata.as_str().into()),
            ("Original", version.to_string().into()),
        ]))
    }

    fn print(&self) -> Vec<u8> {
        self.version.to_string().into_bytes()
    }

    fn to_json(&self) -> Option<serde_json::Value> {
        Some(self.version.to_string().into())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

type Call = fn(&dyn Host, &mut dyn Runtime, &[Value]) -> Result<Value, FunctionError>;

fn value_method(name: &str) -> Option<Method> {
    let (parameters, call): (_, Call) = match name {
        "Major" => (NOTHING, |own, _, _| number(&this(own)?.version.major)),
        "Minor" => (NOTHING, |own, _, _| number(&this(own)?.version.minor)),
        "Patch" => (NOTHING, |own, _, _| number(&this(own)?.version.patch)),
        "Prerelease" => (NOTHING, |own, _, _| {
            Ok(this(own)?.version.prerelease.as_str().into())
        }),
        "Metadata" => (NOTHING, |own, _, _| {
            Ok(this(own)?.version.metadata.as_str().into())
        }),
        "String" | "Value" => (NOTHING, |own, _, _| {
            Ok(this(own)?.version.to_string().into())
        }),
        "IncMajor" => (NOTHING, |own, _, _| {
            next(this(own)?.version.next_major(), "major")
        }),
        "IncMinor" => (NOTHING, |own, _, _| {
            next(this(own)?.version.next_minor(), "minor")
        }),
        "IncPatch" => (NOTHING, |own, _, _| {
            next(this(own)?.version.next_patch(), "patch")
        }),
        "SetPrerelease" => (STRING, |own, _, arguments| {
            let changed = this(own)?
                .version
                .with_prerelease(&bytes(arguments, 0).to_text());
            changed
                .map(bare)
                .map_err(|error| FunctionError::new(error.to_string()))
        }),
        "SetMetadata" => (STRING, |own, _, arguments| {
            let changed = this(own)?
                .version
                .with_metadata(&bytes(arguments, 0).to_text());
            changed
                .map(bare)
                .map_err(|error| FunctionError::new(error.to_string()))
        }),
        _ => return None,
    };
    Some(Method {
        signature: takes(parameters),
        call,
    })
}

fn pointer_method(name: &str) -> Option<Method> {
    let (parameters, call): (_, Call) = match name {
        "Original" => (NOTHING, |own, _, _| {
            Ok(this(own)?.version.original.as_str().into())
        }),
        "Compare" => (VERSION, |own, _, arguments| {
            Ok(Value::int(this(own)?.version.cmp(&other(arguments)?) as i64))
        }),
        "Equal" => (VERSION, |own, _, arguments| {
            Ok((this(own)?.version == other(arguments)?).into())
        }),
        "LessThan" => (VERSION, |own, _, arguments| {
            Ok((this(own)?.version < other(arguments)?).into())
        }),
        "LessThanEqual" => (VERSION, |own, _, arguments| {
            Ok((this(own)?.version <= other(arguments)?).into())
        }),
        "GreaterThan" => (VERSION, |own, _, arguments| {
            Ok((this(own)?.version > other(arguments)?).into())
        }),
        "GreaterThanEqual" => (VERSION, |own, _, arguments| {
            Ok((this(own)?.version >= other(arguments)?).into())
        }),
        _ => return None,
    };
    Some(Method {
        signature: takes(parameters),
        call,
    })
}

fn this(own: &dyn Host) -> Result<&VersionHost, FunctionError> {
    own.as_any()
        .downcast_ref()
        .ok_or_else(|| FunctionError::new(format!("{} is not a version", own.type_name())))
}

fn other(arguments: &[Value]) -> Result<Version, FunctionError> {
    host::<VersionHost>(arguments, 0).map(|host| host.version)
}

#[allow(clippy::unnecessary_wraps, clippy::trivially_copy_pass_by_ref)]
fn number(number: &u64) -> Result<Value, FunctionError> {
    Ok(Value::Uint(UintKind::Uint64, *number))
}

fn bare(version: Version) -> Value {
    Value::host(VersionHost {
        version,
        is_pointer: false,
    })
}

fn next(version: Option<Version>, part: &str) -> Result<Value, FunctionError> {
    version.map(bare).ok_or_else(|| {
        FunctionError::new(format!("{part} version increment would overflow uint64"))
    })
}
