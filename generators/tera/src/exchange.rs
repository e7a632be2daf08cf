//! Values on their way between Go templates and Tera.
//!
//! ```text
//! Go                       Tera                       Go again
//! nil                      none                       nil
//! int, int64, …            I64                        int
//! uint8, uint64, …         U64                        int, or uint64 when it is too large
//! float64, whole           U128 (I128 below zero)     float64 (int below zero)
//! float64                  F64                        float64
//! string                   string, or bytes           string
//! map, slice, host object  map, array                 the same one: identity, type and methods are kept
//! ```
//!
//! Helm reads every number of a values file as `float64`; Tera would print `3.0`. So whole ones travel as an integer kind that
//! nothing else has.

use indexmap::IndexMap;
use std::collections::{BTreeMap, HashMap};
use tera::value::{Key, ValueKind};
use whipstaff_gotemplate::{Bytes, FunctionError, Map, MapType, Runtime, Value};

/// Deepest nesting of a value that a Tera template gets or makes.
pub const MAX_VALUE_DEPTH: u32 = 600;

/// Bytes of the largest value that a Tera template may put into a variable, everything in it counted.
pub const MAX_VALUE_BYTES: u64 = 4 * 1024 * 1024;

/// What a value takes besides its text.
const VALUE_BYTES: u64 = 16;

/// Bytes of text that are copied in one step.
const BYTES_PER_STEP: u64 = 256;

/// Largest whole float that is shown as an integer: the last one before floats skip integers.
const MAX_WHOLE: f64 = 9_007_199_254_740_992.0;

/// Size of a value, everything in it counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Weight {
    pub(crate) bytes: u64,
    pub(crate) depth: u32,
}

impl Weight {
    fn text(length: usize) -> Self {
        Self {
            bytes: VALUE_BYTES + length as u64,
            depth: 0,
        }
    }

    fn add(&mut self, item: Self) {
        self.bytes = self.bytes.saturating_add(item.bytes);
        self.depth = self.depth.max(item.depth + 1);
    }
}

/// A list or map of Tera's that is kept, so that its address tells it from all others.
#[derive(Debug)]
struct Known {
    _kept: tera::Value,
    /// What it was made of.
    origin: Option<Value>,
    weight: Weight,
}

/// The values that crossed during one rendering.
#[derive(Debug, Default)]
pub(crate) struct Exchange {
    known: HashMap<usize, Known>,
}

/// Texts, lists and maps that one crossing has met, by their addresses: what is shared on one side is shared on the other.
type Met<K, T> = HashMap<K, T>;

/// A value of Go's, kept so that nothing else gets its address, and what it became.
struct Given {
    _kept: Value,
    value: tera::Value,
    weight: Weight,
}

/// Shortest text that is worth sharing.
const MIN_SHARED_TEXT: usize = 64;

/// Where a list's or map's contents are. No two live ones are at the same place.
fn address(value: &tera::Value) -> Option<usize> {
    if let Some(map) = value.as_map() {
        return Some(std::ptr::from_ref(map).addr());
    }
    if let Some(items) = value.as_array().filter(|items| !items.is_empty()) {
        return Some(items.as_ptr().addr());
    }
    let bytes = value.as_bytes().filter(|bytes| !bytes.is_empty())?;
    Some(bytes.as_ptr().addr())
}

/// Where the contents of a text, list or map of Go's are, and the name of its type: one map may have several.
type Identity = (usize, &'static str);

fn identity(value: &Value) -> Option<Identity> {
    match value {
        Value::String(text) if text.len() >= MIN_SHARED_TEXT => {
            Some((text.as_ptr().addr(), "string"))
        }
        Value::List(list) if !list.is_empty() => {
            Some((list.as_ptr().addr(), list.list_type().name()))
        }
        Value::Map(map) => Some((map.identity(), map.map_type().name)),
        _ => None,
    }
}

fn too_deep() -> FunctionError {
    FunctionError::limit(format!(
        "a value is nested deeper than {MAX_VALUE_DEPTH} levels"
    ))
}

impl Exchange {
    /// A value for Tera.
    pub(crate) fn give(
        &mut self,
        value: &Value,
        runtime: &mut dyn Runtime,
    ) -> Result<tera::Value, FunctionError> {
        let mut met = Met::new();
        Ok(self.give_at(value, &mut met, runtime, 0)?.0)
    }

    fn give_at(
        &mut self,
        value: &Value,
        met: &mut Met<Identity, Given>,
        runtime: &mut dyn Runtime,
        depth: u32,
    ) -> Result<(tera::Value, Weight), FunctionError> {
        if depth > MAX_VALUE_DEPTH {
            return Err(too_deep());
        }
        runtime.step(1)?;
        let identity = identity(value);
        if let Some(known) = identity.and_then(|identity| met.get(&identity)) {
            return Ok((known.value.clone(), known.weight));
        }
        let (given, weight) = self.give_new(value, met, runtime, depth)?;
        if let Some(identity) = identity {
            let known = Given {
                _kept: value.clone(),
                value: given.clone(),
                weight,
            };
            met.insert(identity, known);
        }
        Ok((given, weight))
    }

    fn give_new(
        &mut self,
        value: &Value,
        met: &mut Met<Identity, Given>,
        runtime: &mut dyn Runtime,
        depth: u32,
    ) -> Result<(tera::Value, Weight), FunctionError> {
        let scalar = |value: tera::Value| Ok((value, Weight::text(0)));
        match value {
            Value::Nil => scalar(tera::Value::none()),
            Value::Bool(truth) => scalar((*truth).into()),
            Value::Int(_, number) => scalar((*number).into()),
            Value::Uint(_, number) => scalar((*number).into()),
            Value::Float(number) => scalar(float(*number)),
            Value::String(text) => {
                runtime.step(text.len() as u64 / BYTES_PER_STEP)?;
                let shown = match std::str::from_utf8(text) {
                    Ok(text) => tera::Value::normal_string(text),
                    Err(_) => tera::Value::bytes(text.to_vec()),
                };
                Ok((shown, Weight::text(text.len())))
            }
            Value::List(list) => {
                if let Some(bytes) = list.to_bytes() {
                    runtime.step(bytes.len() as u64 / BYTES_PER_STEP)?;
                    let weight = Weight::text(bytes.len());
                    let shown = tera::Value::bytes(bytes.into_owned());
                    return Ok(self.keep(shown, Some(value), weight));
                }
                let mut weight = Weight::text(0);
                let mut items = Vec::with_capacity(list.len());
                for item in list.iter() {
                    let (item, of_item) = self.give_at(item, met, runtime, depth + 1)?;
                    weight.add(of_item);
                    items.push(item);
                }
                Ok(self.keep(items.into(), Some(value), weight))
            }
            Value::Map(map) => {
                let entries = map.entries().into_iter();
                let entries = entries.map(|(key, item)| (key.to_text().into_owned(), item));
                self.give_map(value, entries, met, runtime, depth)
            }
            Value::Host(host) => {
                if let Some(data) = host.to_data() {
                    let (data, weight) = self.give_at(&data, met, runtime, depth + 1)?;
                    return Ok(self.keep(data, Some(value), weight));
                }
                if let Some(entries) = host.entries() {
                    let entries = entries.into_iter().map(|(key, item)| (key_text(key), item));
                    return self.give_map(value, entries, met, runtime, depth);
                }
                // Bytes print as text and, unlike text, can be told apart when they come back.
                let text = host.print();
                let weight = Weight::text(text.len());
                Ok(self.keep(tera::Value::bytes(text), Some(value), weight))
            }
        }
    }

    fn give_map(
        &mut self,
        value: &Value,
        entries: impl Iterator<Item = (String, Value)>,
        met: &mut Met<Identity, Given>,
        runtime: &mut dyn Runtime,
        depth: u32,
    ) -> Result<(tera::Value, Weight), FunctionError> {
        let mut weight = Weight::text(0);
        let mut given = IndexMap::new();
        for (key, item) in entries {
            let (item, of_item) = self.give_at(&item, met, runtime, depth + 1)?;
            weight.add(of_item);
            weight.add(Weight::text(key.len()));
            given.insert(Key::from(key), item);
        }
        Ok(self.keep(given.into(), Some(value), weight))
    }

    fn keep(
        &mut self,
        value: tera::Value,
        origin: Option<&Value>,
        weight: Weight,
    ) -> (tera::Value, Weight) {
        if let Some(address) = address(&value) {
            let known = Known {
                _kept: value.clone(),
                origin: origin.cloned(),
                weight,
            };
            self.known.insert(address, known);
        }
        (value, weight)
    }

    /// Number of lists and maps that are kept.
    pub(crate) fn kept(&self) -> usize {
        self.known.len()
    }

    /// Says what a map that was made for Tera stands for.
    pub(crate) fn stands_for(&mut self, value: &tera::Value, origin: &Value) {
        self.keep(value.clone(), Some(origin), Weight::text(0));
    }

    /// A value from Tera: the very one that it was made of, if it was.
    pub(crate) fn take(
        &self,
        value: &tera::Value,
        runtime: &mut dyn Runtime,
    ) -> Result<Value, FunctionError> {
        self.take_at(value, &mut Met::new(), runtime, 0)
    }

    fn take_at(
        &self,
        value: &tera::Value,
        met: &mut Met<usize, Value>,
        runtime: &mut dyn Runtime,
        depth: u32,
    ) -> Result<Value, FunctionError> {
        if let Some(origin) = self.origin(value) {
            return Ok(origin.clone());
        }
        if depth > MAX_VALUE_DEPTH {
            return Err(too_deep());
        }
        runtime.step(1)?;
        let text = value.as_str().filter(|text| text.len() >= MIN_SHARED_TEXT);
        let address = address(value).or_else(|| Some(text?.as_ptr().addr()));
        if let Some(known) = address.and_then(|address| met.get(&address)) {
            return Ok(known.clone());
        }
        let taken = self.take_new(value, met, runtime, depth)?;
        if let Some(address) = address {
            met.insert(address, taken.clone());
        }
        Ok(taken)
    }

    fn take_new(
        &self,
        value: &tera::Value,
        met: &mut Met<usize, Value>,
        runtime: &mut dyn Runtime,
        depth: u32,
    ) -> Result<Value, FunctionError> {
        if let Some(text) = value.as_str() {
            runtime.step(text.len() as u64 / BYTES_PER_STEP)?;
            return Ok(Value::string(text));
        }
        if let Some(items) = value.as_array() {
            let items = items
                .iter()
                .map(|item| self.take_at(item, met, runtime, depth + 1));
            return Ok(Value::list(items.collect::<Result<_, _>>()?));
        }
        if let Some(map) = value.as_map() {
            let mut entries = BTreeMap::new();
            for (key, item) in map {
                let item = self.take_at(item, met, runtime, depth + 1)?;
                entries.insert(Bytes::from(key.to_string()), item);
            }
            return Ok(Value::Map(Map::new(MapType::ANY, entries)));
        }
        Ok(scalar_to_go(value))
    }

    /// What a list or map was made of.
    pub(crate) fn origin(&self, value: &tera::Value) -> Option<&Value> {
        self.known.get(&address(value)?)?.origin.as_ref()
    }

    /// Weighs a value. `keep` says whether it will be weighed again, as variables are.
    pub(crate) fn weigh(
        &mut self,
        value: &tera::Value,
        keep: bool,
        runtime: &mut dyn Runtime,
    ) -> Result<Weight, FunctionError> {
        self.weigh_at(value, keep, runtime, 0)
    }

    fn weigh_at(
        &mut self,
        value: &tera::Value,
        keep: bool,
        runtime: &mut dyn Runtime,
        depth: u32,
    ) -> Result<Weight, FunctionError> {
        let length = value.as_str().map_or(0, str::len);
        let mut weight = Weight::text(length + value.as_bytes().map_or(0, <[u8]>::len));
        let Some(address) = address(value) else {
            return Ok(weight);
        };
        if let Some(known) = self.known.get(&address) {
            return Ok(known.weight);
        }
        if depth > MAX_VALUE_DEPTH {
            return Err(too_deep());
        }
        for item in value.as_array().unwrap_or_default() {
            runtime.step(1)?;
            weight.add(self.weigh_at(item, keep, runtime, depth + 1)?);
        }
        for (key, item) in value.as_map().into_iter().flatten() {
            runtime.step(1)?;
            weight.add(self.weigh_at(item, keep, runtime, depth + 1)?);
            weight.add(Weight::text(key.as_str().map_or(0, str::len)));
        }
        if weight.depth > MAX_VALUE_DEPTH {
            return Err(too_deep());
        }
        if keep {
            self.keep(value.clone(), None, weight);
        }
        Ok(weight)
    }
}

/// The item of a list of bytes.
fn key_text(key: Value) -> String {
    match key {
        Value::String(text) => text.to_text().into_owned(),
        other => printed(&other),
    }
}

fn printed(value: &Value) -> String {
    let text = whipstaff_gotemplate::format::sprint(std::slice::from_ref(value));
    String::from_utf8_lossy(&text).into_owned()
}

fn float(number: f64) -> tera::Value {
    if number.fract() != 0.0 || number.abs() > MAX_WHOLE || number.is_nan() {
        return number.into();
    }
    if number < 0.0 {
        (number as i128).into()
    } else {
        (number as u128).into()
    }
}

fn scalar_to_go(value: &tera::Value) -> Value {
    match value.kind() {
        ValueKind::Bool => Value::Bool(value.as_bool().unwrap_or_default()),
        ValueKind::U128 => Value::Float(value.as_u128().unwrap_or_default() as f64),
        ValueKind::F64 => Value::Float(value.as_f64().unwrap_or_default()),
        ValueKind::I64 | ValueKind::U64 | ValueKind::I128 => integer(value),
        ValueKind::Bytes => Value::string(value.as_bytes().unwrap_or_default()),
        _ => Value::Nil,
    }
}

fn integer(value: &tera::Value) -> Value {
    use whipstaff_gotemplate::UintKind;
    if let Some(number) = value.as_i64() {
        return Value::int(number);
    }
    if let Some(number) = value.as_u64() {
        return Value::Uint(UintKind::Uint64, number);
    }
    Value::Float(value.as_i128().unwrap_or_default() as f64)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use whipstaff_generator::LookupQuestion;
    use whipstaff_gotemplate::{Environment, IntKind, Options};

    /// A rendering that has nothing but a number of steps.
    #[derive(Debug)]
    pub(crate) struct Steps {
        pub(crate) left: u64,
        options: Options,
    }

    impl Steps {
        pub(crate) fn new(left: u64) -> Self {
            Self {
                left,
                options: Options::default(),
            }
        }
    }

    impl Environment for Steps {
        fn lookup(&mut self, _: LookupQuestion) -> Result<serde_json::Value, FunctionError> {
            Ok(serde_json::Value::Null)
        }

        fn random(&mut self, _: &mut [u8]) -> Result<(), FunctionError> {
            Ok(())
        }

        fn now(&mut self) -> (i64, u32) {
            (0, 0)
        }
    }

    impl Runtime for Steps {
        fn include(&mut self, _: &Bytes, _: &Value) -> Result<Bytes, FunctionError> {
            Ok(Bytes::default())
        }

        fn tpl(&mut self, _: &Bytes, _: &Value) -> Result<Bytes, FunctionError> {
            Ok(Bytes::default())
        }

        fn step(&mut self, count: u64) -> Result<(), FunctionError> {
            let left = self.left.checked_sub(count);
            self.left = left.ok_or_else(|| FunctionError::limit("no steps left"))?;
            Ok(())
        }

        fn environment(&mut self) -> &mut dyn Environment {
            self
        }

        fn options(&self) -> &Options {
            &self.options
        }

        fn charge(&mut self, _: usize) -> Result<(), FunctionError> {
            Ok(())
        }
    }

    #[test]
    fn scalars_cross_both_ways() {
        let cases = [
            (Value::Nil, "", "<nil>"),
            (Value::Bool(true), "true", "bool"),
            (Value::int(-3), "-3", "int"),
            (
                Value::Int(IntKind::Int64, i64::MAX),
                "9223372036854775807",
                "int",
            ),
            (
                Value::Uint(whipstaff_gotemplate::UintKind::Uint64, u64::MAX),
                "18446744073709551615",
                "uint64",
            ),
            (Value::Float(3.0), "3", "float64"),
            (Value::Float(0.0), "0", "float64"),
            (Value::Float(-3.0), "-3", "int"),
            (Value::Float(1.5), "1.5", "float64"),
            (Value::Float(1e300), "1e300", "float64"),
            (Value::from("text"), "text", "string"),
            (Value::string(&b"\xff"[..]), "\u{fffd}", "string"),
        ];
        for (value, shown, type_name) in cases {
            let (mut exchange, mut runtime) = (Exchange::default(), Steps::new(100));
            let crossed = exchange.give(&value, &mut runtime).unwrap();
            assert_eq!(crossed.to_string(), shown);
            let back = exchange.take(&crossed, &mut runtime).unwrap();
            assert_eq!(back.type_name(), type_name, "{value:?}");
            let same = printed(&back) == printed(&value);
            assert!(same, "{value:?} became {back:?}");
        }
    }

    #[test]
    fn lists_and_maps_come_back_as_themselves() {
        let inner = Map::new(MapType::STRING, BTreeMap::from([("k".into(), "v".into())]));
        let outer = Value::map([
            ("b", Value::Map(inner.clone())),
            ("a", Value::list(vec![Value::Nil])),
        ]);
        let (mut exchange, mut runtime) = (Exchange::default(), Steps::new(100));
        let crossed = exchange.give(&outer, &mut runtime).unwrap();
        assert_eq!(crossed.to_string(), r#"{"a": [], "b": {"k": "v"}}"#);
        let part = crossed.get_from_path("b").unwrap();
        let Value::Map(back) = exchange.take(part, &mut runtime).unwrap() else {
            panic!("not a map")
        };
        assert!(back.is_same(&inner));
        assert_eq!(back.map_type(), MapType::STRING);
        // A new map of Tera's keeps what is put into it.
        let new = tera::Value::from(IndexMap::from([(Key::from("x"), part.clone())]));
        let Value::Map(new) = exchange.take(&new, &mut runtime).unwrap() else {
            panic!("not a map")
        };
        assert!(matches!(new.get(b"x"), Some(Value::Map(map)) if map.is_same(&inner)));
    }

    #[test]
    fn a_map_that_contains_itself_ends_at_the_depth_limit() {
        let map = Map::new(MapType::ANY, BTreeMap::new());
        map.insert("self", Value::Map(map.clone()));
        let error = Exchange::default().give(&Value::Map(map.clone()), &mut Steps::new(10_000));
        assert_eq!(error.unwrap_err(), too_deep());
        map.remove(b"self");
    }

    #[test]
    fn weights_count_everything_each_time_it_occurs() {
        let (mut exchange, mut runtime) = (Exchange::default(), Steps::new(1_000));
        let mut value = tera::Value::from("0123456789");
        for _ in 0..3 {
            value = tera::Value::from(vec![value.clone(), value]);
        }
        let weight = exchange.weigh(&value, true, &mut runtime).unwrap();
        assert_eq!(
            weight,
            Weight {
                bytes: 8 * 26 + 7 * 16,
                depth: 3
            }
        );
        let left = runtime.left;
        assert_eq!(exchange.weigh(&value, true, &mut runtime), Ok(weight));
        assert_eq!(runtime.left, left);
    }
}
