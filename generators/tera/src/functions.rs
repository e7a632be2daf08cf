//! What Tera templates may call: every function of a table, as function and as filter, and what Tera's own would leave unbounded or
//! in an order that changes.

use crate::{
    expression::{BOUND, FUNCTION_PREFIX, ITEM, ITERATE, TEXT},
    guard::{ENTER, PRINT},
    session::{By, MAX_RANGE, Session, call_method, in_session},
};
use indexmap::IndexMap;
use tera::{Error, Kwargs, State, Tera, TeraResult, Value as TeraValue, value::Key};
use whipstaff_gotemplate::{
    Function, FunctionError, FunctionTable, Signature, Type, Value, format,
};

/// Filters that Tera has itself (Tera 2.4).
const TERA_FILTERS: [&str; 37] = [
    "abs",
    "capitalize",
    "default",
    "escape",
    "escape_html",
    "escape_xml",
    "first",
    "float",
    "get",
    "group_by",
    "indent",
    "int",
    "join",
    "keys",
    "last",
    "length",
    "lower",
    "newlines_to_br",
    "nth",
    "pairs",
    "pluralize",
    "replace",
    "reverse",
    "round",
    "safe",
    "sort",
    "split",
    "str",
    "title",
    "trim",
    "trim_end",
    "trim_start",
    "truncate",
    "unique",
    "upper",
    "values",
    "wordcount",
];

/// Widest indentation, as in Tera itself.
const MAX_INDENT: usize = 1_000;

/// `printf` of `text/template`, which is in no table.
const PRINTF: Function = Function {
    name: "printf",
    signature: Signature {
        parameters: &[Type::String],
        variadic: Some(Type::Any),
    },
    call: |runtime, arguments| {
        let (pattern, values) = arguments.split_first().unwrap_or((&Value::Nil, &[]));
        let pattern = pattern.as_bytes().cloned().unwrap_or_default();
        let text = format::sprintf(&pattern, values);
        runtime.charge(text.len())?;
        Ok(Value::string(text))
    },
};

/// Whether both Tera and the table have a filter of this name. Tera's is meant unless the arguments are given by position.
pub(crate) fn has_namesake(functions: &FunctionTable, name: &str) -> bool {
    TERA_FILTERS.contains(&name) && functions.get(name).is_some()
}

/// A Tera without templates that has all functions.
pub(crate) fn engine(functions: &FunctionTable) -> Tera {
    let mut tera = Tera::new();
    tera.autoescape_on(Vec::<&'static str>::new());
    if functions.get(PRINTF.name).is_none() {
        register(&mut tera, PRINTF, false);
    }
    for name in functions.names() {
        if let Some(function) = functions.get(name) {
            register(&mut tera, *function, has_namesake(functions, name));
        }
    }
    register_guards(&mut tera);
    register_methods(&mut tera);
    register_bounded(&mut tera);
    tera
}

fn register(tera: &mut Tera, function: Function, has_namesake: bool) {
    let by = By::Function(function.name);
    tera.register_function(
        function.name,
        move |arguments: Kwargs, _: &State<'_>| -> TeraResult<TeraValue> {
            in_session(by, |session| session.call(&function, None, &arguments))
        },
    );
    let prefix = if has_namesake { FUNCTION_PREFIX } else { "" };
    tera.register_filter(
        format!("{prefix}{}", function.name),
        move |piped: TeraValue, arguments: Kwargs, _: &State<'_>| -> TeraResult<TeraValue> {
            in_session(by, |session| {
                session.call(&function, Some(piped), &arguments)
            })
        },
    );
}

fn register_guards(tera: &mut Tera) {
    tera.register_function(
        ENTER,
        |arguments: Kwargs, _: &State<'_>| -> TeraResult<&'static str> {
            let number = |name| arguments.must_get::<usize>(name);
            let (template, at, text) = (number("t")?, number("at")?, number("n")?);
            in_session(By::Entering, |session| {
                session.enter(template, at, text).map(|()| "")
            })
        },
    );
    tera.register_filter(ITERATE, |value: TeraValue, _: Kwargs, _: &State<'_>| {
        in_session(By::Guard, |session| session.iterate(&value)).map(|()| value)
    });
    tera.register_filter(ITEM, |value: TeraValue, _: Kwargs, _: &State<'_>| {
        in_session(By::Guard, |session| session.pass(&value)).map(|()| value)
    });
    tera.register_filter(TEXT, |value: TeraValue, _: Kwargs, _: &State<'_>| {
        in_session(By::Guard, |session| session.produce(&value)).map(|()| value)
    });
    tera.register_filter(BOUND, |value: TeraValue, _: Kwargs, _: &State<'_>| {
        in_session(By::Guard, |session| session.bound(&value)).map(|()| value)
    });
    tera.register_filter(PRINT, |value: TeraValue, _: Kwargs, _: &State<'_>| {
        if value.is_undefined() {
            return in_session(By::Undefined, |_| Err(FunctionError::new("not defined")));
        }
        in_session(By::Guard, |session| session.produce(&value)).map(|()| value)
    });
}

/// A method of one of the context's host objects under a name of its own.
struct MethodFunction {
    name: &'static str,
    /// Where the object is in the context.
    path: &'static [&'static str],
    method: &'static str,
}

const METHODS: [MethodFunction; 7] = [
    files("files_get", "Get"),
    files("files_bytes", "GetBytes"),
    files("files_glob", "Glob"),
    files("files_lines", "Lines"),
    files("files_as_config", "AsConfig"),
    files("files_as_secrets", "AsSecrets"),
    MethodFunction {
        name: "has_api_version",
        path: &["Capabilities", "APIVersions"],
        method: "Has",
    },
];

const fn files(name: &'static str, method: &'static str) -> MethodFunction {
    MethodFunction {
        name,
        path: &["Files"],
        method,
    }
}

fn register_methods(tera: &mut Tera) {
    for MethodFunction { name, path, method } in METHODS {
        let by = By::Function(name);
        tera.register_function(
            name,
            move |arguments: Kwargs, _: &State<'_>| -> TeraResult<TeraValue> {
                in_session(by, |session| {
                    let object = object_at(session, path)?;
                    let arguments = given(session, &arguments)?;
                    session.call_method(&object, method, arguments)
                })
            },
        );
        tera.register_filter(
            name,
            move |piped: TeraValue, arguments: Kwargs, _: &State<'_>| -> TeraResult<TeraValue> {
                in_session(by, |session| {
                    let object = session.exchange.take(&piped, &mut *session.runtime)?;
                    let arguments = given(session, &arguments)?;
                    session.call_method(&object, method, arguments)
                })
            },
        );
    }
    let by = By::Function("method");
    tera.register_filter(
        "method",
        move |piped: TeraValue, arguments: Kwargs, _: &State<'_>| -> TeraResult<TeraValue> {
            let name = arguments.must_get::<&str>("name")?;
            let list = arguments.get::<Vec<TeraValue>>("args")?.unwrap_or_default();
            in_session(by, |session| {
                let object = session.exchange.take(&piped, &mut *session.runtime)?;
                let values = list
                    .iter()
                    .map(|value| session.exchange.take(value, &mut *session.runtime));
                let values = values.collect::<Result<_, _>>()?;
                session.call_method(&object, name, values)
            })
        },
    );
}

fn given(session: &mut Session<'_>, arguments: &Kwargs) -> Result<Vec<Value>, FunctionError> {
    let ordered = crate::arguments::positional("a method", None, arguments)?;
    let untyped = Signature {
        parameters: &[],
        variadic: None,
    };
    session.values(untyped, ordered)
}

/// A value in the context, through maps and host objects.
fn object_at(session: &mut Session<'_>, path: &[&str]) -> Result<Value, FunctionError> {
    let mut value = session.context.clone();
    for name in path {
        let next = match &value {
            Value::Map(map) => map.get(name.as_bytes()),
            Value::Host(host) if host.method(name).is_some() => Some(call_method(
                &mut *session.runtime,
                &value,
                name,
                Vec::new(),
            )?),
            Value::Host(host) => host.field(name),
            _ => None,
        };
        let none = || FunctionError::new(format!("`{}` is not defined here", path.join(".")));
        value = next.ok_or_else(none)?;
    }
    Ok(value)
}

/// Functions and filters of Tera whose results may be far larger than what goes in, or whose order is not stable.
fn register_bounded(tera: &mut Tera) {
    tera.register_function("range", |arguments: Kwargs, _: &State<'_>| {
        in_session(By::Function("range"), |session| range(session, &arguments))
    });
    tera.register_filter(
        "replace",
        |text: TeraValue, arguments: Kwargs, _: &State<'_>| -> TeraResult<String> {
            let text = string(&text)?;
            let (from, to) = (
                arguments.must_get::<&str>("from")?,
                arguments.must_get::<&str>("to")?,
            );
            in_session(By::Function("replace"), |session| {
                let count = text.matches(from).count();
                charge(session, text.len() as u64 + count as u64 * to.len() as u64)?;
                Ok(text.replace(from, to))
            })
        },
    );
    tera.register_filter(
        "indent",
        |text: TeraValue, arguments: Kwargs, _: &State<'_>| -> TeraResult<String> {
            let text = string(&text)?;
            let layout = Indentation::read(&arguments)?;
            in_session(By::Function("indent"), |session| {
                let lines = text.lines().count() as u64;
                charge(
                    session,
                    text.len() as u64 + lines * layout.text.len() as u64,
                )?;
                Ok(layout.apply(text))
            })
        },
    );
    tera.register_filter(
        "join",
        |list: TeraValue, arguments: Kwargs, _: &State<'_>| -> TeraResult<String> {
            let items = array(&list)?;
            let separator = arguments.get::<&str>("sep")?.unwrap_or_default();
            in_session(By::Function("join"), |session| {
                charge(session, items.len() as u64 * separator.len() as u64)?;
                session.produce(&list)?;
                let texts: Vec<String> = items.iter().map(ToString::to_string).collect();
                Ok(texts.join(separator))
            })
        },
    );
    register_bounded_lists(tera);
}

fn register_bounded_lists(tera: &mut Tera) {
    tera.register_filter("str", |value: TeraValue, _: Kwargs, _: &State<'_>| {
        in_session(By::Function("str"), |session| session.produce(&value))
            .map(|()| value.to_string())
    });
    tera.register_filter("unique", |list: TeraValue, _: Kwargs, _: &State<'_>| {
        let items = array(&list)?;
        in_session(By::Function("unique"), |session| {
            let mut unique: Vec<TeraValue> = Vec::new();
            for item in items {
                session.runtime.step(unique.len() as u64)?;
                if !unique.contains(item) {
                    unique.push(item.clone());
                }
            }
            Ok(unique)
        })
    });
    tera.register_filter(
        "group_by",
        |list: TeraValue, arguments: Kwargs, _: &State<'_>| {
            group_by(array(&list)?, arguments.must_get::<&str>("attribute")?)
        },
    );
}

fn charge(session: &mut Session<'_>, bytes: u64) -> Result<(), FunctionError> {
    session
        .runtime
        .charge(usize::try_from(bytes).unwrap_or(usize::MAX))
}

fn wrong_type(expected: &str, value: &TeraValue) -> Error {
    Error::new(tera::ErrorKind::InvalidArgument {
        expected_type: expected.to_owned(),
        actual_type: value.name().to_owned(),
    })
}

fn string(value: &TeraValue) -> Result<&str, Error> {
    value.as_str().ok_or_else(|| wrong_type("string", value))
}

fn array(value: &TeraValue) -> Result<&[TeraValue], Error> {
    value.as_array().ok_or_else(|| wrong_type("array", value))
}

fn range(session: &mut Session<'_>, arguments: &Kwargs) -> Result<Vec<i64>, FunctionError> {
    let failed = |error: Error| FunctionError::new(error.to_string());
    let start = arguments.get::<i64>("start").map_err(failed)?.unwrap_or(0);
    let end = arguments.must_get::<i64>("end").map_err(failed)?;
    let step = arguments
        .get::<i64>("step_by")
        .map_err(failed)?
        .unwrap_or(1);
    if step == 0 {
        return Err(FunctionError::new("`step_by` is 0"));
    }
    if step > 0 && start > end {
        return Err(FunctionError::new("`start` is greater than `end`"));
    }
    let (start, end, step) = (i128::from(start), i128::from(end), i128::from(step));
    let span = if step > 0 { end - start } else { start - end };
    let count = (span.max(0) + step.abs() - 1) / step.abs();
    if count > i128::from(MAX_RANGE) {
        let message = format!("a range has more than {MAX_RANGE} elements");
        return Err(FunctionError::limit(message));
    }
    session.runtime.step(count as u64)?;
    Ok((0..count)
        .map(|index| (start + index * step) as i64)
        .collect())
}

/// How lines are indented.
struct Indentation {
    text: String,
    first: bool,
    blank: bool,
}

impl Indentation {
    fn read(arguments: &Kwargs) -> TeraResult<Self> {
        let width = arguments.get::<usize>("width")?.unwrap_or(4);
        let unit = arguments.get::<&str>("indentation")?.unwrap_or(" ");
        if unit.chars().count() != 1 {
            return Err(Error::message("`indentation` is not one character"));
        }
        Ok(Self {
            text: unit.repeat(width.min(MAX_INDENT)),
            first: arguments.get::<bool>("first")?.unwrap_or(false),
            blank: arguments.get::<bool>("blank")?.unwrap_or(false),
        })
    }

    fn apply(&self, text: &str) -> String {
        let mut indented = String::with_capacity(text.len());
        for (index, line) in text.lines().enumerate() {
            if index > 0 {
                indented.push('\n');
            }
            let wanted = if index == 0 {
                self.first
            } else {
                self.blank || !line.is_empty()
            };
            if wanted {
                indented.push_str(&self.text);
            }
            indented.push_str(line);
        }
        if text.ends_with('\n') {
            indented.push('\n');
        }
        indented
    }
}

/// Groups in the order in which their first elements come.
fn group_by(items: &[TeraValue], attribute: &str) -> TeraResult<TeraValue> {
    let mut groups: IndexMap<Key<'static>, Vec<TeraValue>> = IndexMap::new();
    for (index, item) in items.iter().enumerate() {
        let Some(value) = item.get_from_path(attribute) else {
            return Err(Error::message(format!(
                "element {index} has no attribute `{attribute}`"
            )));
        };
        if value.is_none() {
            continue;
        }
        let key = key(value).ok_or_else(|| wrong_type("string, integer or bool", value))?;
        groups.entry(key).or_default().push(item.clone());
    }
    let lists = groups
        .into_iter()
        .map(|(key, items)| (key, TeraValue::from(items)));
    Ok(lists.collect::<IndexMap<Key<'static>, TeraValue>>().into())
}

fn key(value: &TeraValue) -> Option<Key<'static>> {
    if let Some(text) = value.as_str() {
        return Some(Key::String(text.into()));
    }
    if let Some(truth) = value.as_bool() {
        return Some(Key::Bool(truth));
    }
    value.as_i128().map(Key::I128)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filters_of_tera_are_known_by_name() {
        let mut plain = Tera::new();
        for name in TERA_FILTERS {
            let source = format!("{{{{ a | {name} }}}}");
            plain.add_raw_template(name, &source).unwrap();
        }
        let sorted = TERA_FILTERS.is_sorted();
        assert!(sorted);
        // A function that shadows a filter of Tera by accident would change what templates mean.
        let functions = whipstaff_sprig::functions(whipstaff_gotemplate::Dialect::V4_3);
        for name in functions
            .names()
            .into_iter()
            .filter(|name| !TERA_FILTERS.contains(name))
        {
            let source = format!("{{{{ a | {name} }}}}");
            assert!(
                Tera::new().add_raw_template("x", &source).is_err(),
                "{name} is a filter of Tera"
            );
        }
    }
}
