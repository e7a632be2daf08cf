//! Reading TOML into Go's types: integers are `int64`, floats `float64`.

use crate::declare::fail;
use toml::Value as Toml;
use whipstaff_gotemplate::{FunctionError, List, ListType, Value};

/// The document as a map.
///
/// # Errors
/// When the text is not TOML. The text of the error is not that of the Go library.
pub(crate) fn read(source: &[u8]) -> Result<Value, FunctionError> {
    let Ok(source) = std::str::from_utf8(source) else {
        return fail("toml: the text is not UTF-8");
    };
    match source.parse::<toml::Table>() {
        Ok(table) => Ok(from_table(table)),
        Err(error) => fail(format!("toml: {}", describe(source, &error))),
    }
}

fn describe(source: &str, error: &toml::de::Error) -> String {
    let before = error
        .span()
        .and_then(|span| source.get(..span.start))
        .unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    format!("line {line}: {}", error.message())
}

fn from_table(table: toml::Table) -> Value {
    Value::map(
        table
            .into_iter()
            .map(|(key, value)| (key, from_toml(value))),
    )
}

fn from_toml(value: Toml) -> Value {
    match value {
        Toml::String(text) => text.into(),
        Toml::Integer(number) => Value::int64(number),
        Toml::Float(number) => number.into(),
        Toml::Boolean(truth) => truth.into(),
        Toml::Datetime(time) => time.to_string().into(),
        Toml::Array(items) => from_array(items),
        Toml::Table(table) => from_table(table),
    }
}

/// Go has a type of its own for an array of tables.
fn from_array(items: Vec<Toml>) -> Value {
    const TABLES: ListType = ListType::Named("[]map[string]interface {}");
    let are_tables = !items.is_empty() && items.iter().all(Toml::is_table);
    let list_type = if are_tables { TABLES } else { ListType::Any };
    Value::List(List::new(
        list_type,
        items.into_iter().map(from_toml).collect(),
    ))
}
