//! Values as Go's templates see them.

use crate::{Host, List, ListType, grow_stack};
use std::{cell::RefCell, collections::BTreeMap, fmt, ops::Deref, rc::Rc};

/// A value. Cloning is cheap and shares maps, as assigning does in Go.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// `nil`, or an interface that holds nothing.
    #[default]
    Nil,
    /// `bool`.
    Bool(bool),
    /// `int`, `int32`, `int64`, and named types over them.
    Int(IntKind, i64),
    /// `uint8`, `uint64`, …
    Uint(UintKind, u64),
    /// `float64`.
    Float(f64),
    /// `string`: any bytes, usually UTF-8.
    String(Bytes),
    /// A slice.
    List(List),
    /// A map with string keys.
    Map(Map),
    /// A Go value with methods or fields: `.Files`, `.Capabilities`, a version, a time.
    Host(Rc<dyn Host>),
}

/// Which signed integer type a value has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntKind {
    /// `int`.
    Int,
    /// `int32` (also `rune`).
    Int32,
    /// `int64`.
    Int64,
    /// `time.Duration`: nanoseconds. It prints as `1h0m0s` and has methods.
    Duration,
    /// `time.Month`, which prints as its English name.
    Month,
    /// `time.Weekday`, which prints as its English name.
    Weekday,
}

/// Which unsigned integer type a value has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UintKind {
    /// `uint`.
    Uint,
    /// `uint8` (also `byte`).
    Uint8,
    /// `uint32`.
    Uint32,
    /// `uint64`.
    Uint64,
}

/// Go's `reflect.Kind`, as far as templates meet it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// No value (`reflect.Invalid`).
    Invalid,
    /// `bool`.
    Bool,
    /// `int`.
    Int,
    /// `int32`.
    Int32,
    /// `int64`.
    Int64,
    /// `uint`.
    Uint,
    /// `uint8`.
    Uint8,
    /// `uint32`.
    Uint32,
    /// `uint64`.
    Uint64,
    /// `float64`.
    Float64,
    /// `complex128`.
    Complex128,
    /// `string`.
    String,
    /// A slice.
    Slice,
    /// A map.
    Map,
    /// A struct.
    Struct,
    /// A pointer.
    Ptr,
    /// A function.
    Func,
}

impl Kind {
    /// The name that `reflect.Kind.String` gives.
    pub fn name(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Uint => "uint",
            Self::Uint8 => "uint8",
            Self::Uint32 => "uint32",
            Self::Uint64 => "uint64",
            Self::Float64 => "float64",
            Self::Complex128 => "complex128",
            Self::String => "string",
            Self::Slice => "slice",
            Self::Map => "map",
            Self::Struct => "struct",
            Self::Ptr => "ptr",
            Self::Func => "func",
        }
    }
}

impl Value {
    /// An `int`.
    pub fn int(value: i64) -> Self {
        Self::Int(IntKind::Int, value)
    }

    /// An `int64`.
    pub fn int64(value: i64) -> Self {
        Self::Int(IntKind::Int64, value)
    }

    /// A string.
    pub fn string(value: impl Into<Bytes>) -> Self {
        Self::String(value.into())
    }

    /// A `[]interface {}`.
    pub fn list(items: Vec<Self>) -> Self {
        Self::List(List::new(ListType::Any, items))
    }

    /// A `[]string`.
    pub fn strings<T: Into<Bytes>>(items: impl IntoIterator<Item = T>) -> Self {
        let items = items
            .into_iter()
            .map(|item| Self::String(item.into()))
            .collect();
        Self::List(List::new(ListType::String, items))
    }

    /// A `map[string]interface {}`.
    pub fn map<K: Into<Bytes>>(entries: impl IntoIterator<Item = (K, Self)>) -> Self {
        let entries = entries
            .into_iter()
            .map(|(key, value)| (key.into(), value))
            .collect();
        Self::Map(Map::new(MapType::ANY, entries))
    }

    /// A host object.
    pub fn host(host: impl Host + 'static) -> Self {
        Self::Host(Rc::new(host))
    }

    /// Converts JSON as `encoding/json` decodes into `interface{}`: every number becomes a `float64`.
    pub fn from_json(json: &serde_json::Value) -> Self {
        Self::from_json_with(json, &|number| {
            Self::Float(number.as_f64().unwrap_or(f64::NAN))
        })
    }

    /// Converts JSON as Kubernetes decodes unstructured objects: whole numbers become `int64`, others `float64`.
    pub fn from_json_integers(json: &serde_json::Value) -> Self {
        Self::from_json_with(json, &|number| match number.as_i64() {
            Some(integer) => Self::int64(integer),
            None => Self::Float(number.as_f64().unwrap_or(f64::NAN)),
        })
    }

    fn from_json_with(
        json: &serde_json::Value,
        number: &dyn Fn(&serde_json::Number) -> Self,
    ) -> Self {
        match json {
            serde_json::Value::Null => Self::Nil,
            serde_json::Value::Bool(value) => Self::Bool(*value),
            serde_json::Value::Number(value) => number(value),
            serde_json::Value::String(value) => Self::string(value.as_str()),
            serde_json::Value::Array(items) => Self::list(
                items
                    .iter()
                    .map(|item| Self::from_json_with(item, number))
                    .collect(),
            ),
            serde_json::Value::Object(map) => Self::map(
                map.iter()
                    .map(|(key, value)| (key.as_str(), Self::from_json_with(value, number))),
            ),
        }
    }

    /// The kind, as `reflect.ValueOf(v).Kind()` gives it.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Nil => Kind::Invalid,
            Self::Bool(_) => Kind::Bool,
            Self::Int(IntKind::Int | IntKind::Month | IntKind::Weekday, _) => Kind::Int,
            Self::Int(IntKind::Int32, _) => Kind::Int32,
            Self::Int(IntKind::Int64 | IntKind::Duration, _) => Kind::Int64,
            Self::Uint(UintKind::Uint, _) => Kind::Uint,
            Self::Uint(UintKind::Uint8, _) => Kind::Uint8,
            Self::Uint(UintKind::Uint32, _) => Kind::Uint32,
            Self::Uint(UintKind::Uint64, _) => Kind::Uint64,
            Self::Float(_) => Kind::Float64,
            Self::String(_) => Kind::String,
            Self::List(_) => Kind::Slice,
            Self::Map(_) => Kind::Map,
            Self::Host(host) => host.kind(),
        }
    }

    /// The type's name, as `%T` prints it: `map[string]interface {}`, `<nil>`.
    pub fn type_name(&self) -> &str {
        match self {
            Self::Nil => "<nil>",
            Self::Int(IntKind::Duration, _) => "time.Duration",
            Self::Int(IntKind::Month, _) => "time.Month",
            Self::Int(IntKind::Weekday, _) => "time.Weekday",
            Self::List(list) => list.list_type().name(),
            Self::Map(map) => map.map_type().name,
            Self::Host(host) => host.type_name(),
            scalar => scalar.kind().name(),
        }
    }

    /// The type's name; of a pointer, that of the type it points to.
    pub(crate) fn pointed_type_name(&self) -> &str {
        let name = self.type_name();
        name.strip_prefix('*').unwrap_or(name)
    }

    /// Truth as `text/template` sees it: false, zero, nil and empty are false; a struct is always true.
    pub fn truth(&self) -> bool {
        match self {
            Self::Nil => false,
            Self::Bool(value) => *value,
            Self::Int(_, value) => *value != 0,
            Self::Uint(_, value) => *value != 0,
            Self::Float(value) => *value != 0.0,
            Self::String(value) => !value.is_empty(),
            Self::List(list) => !list.is_empty(),
            Self::Map(map) => !map.is_empty(),
            Self::Host(host) => host.truth(),
        }
    }

    /// The bytes, if this is a string.
    pub fn as_bytes(&self) -> Option<&Bytes> {
        match self {
            Self::String(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The map, if this is one of any type.
    pub fn as_map(&self) -> Option<&Map> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The list, if this is one of any type.
    pub fn as_list(&self) -> Option<&List> {
        match self {
            Self::List(list) => Some(list),
            _ => None,
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::string(value)
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::string(value)
    }
}

impl From<Bytes> for Value {
    fn from(value: Bytes) -> Self {
        Self::String(value)
    }
}

/// A Go string: immutable shared bytes, not necessarily UTF-8.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(Rc<[u8]>);

impl Bytes {
    /// The text, with U+FFFD in place of what is not UTF-8.
    pub fn to_text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }
}

impl Default for Bytes {
    fn default() -> Self {
        Self(Rc::from([].as_slice()))
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl std::borrow::Borrow<[u8]> for Bytes {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }
}

impl From<&str> for Bytes {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().into())
    }
}

impl From<String> for Bytes {
    fn from(text: String) -> Self {
        Self(text.into_bytes().into())
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_text(), f)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}

/// A Go map with string keys: shared and mutable, with identity. Iteration is in the order of the keys' bytes, as `range` and
/// printing have it in Go.
#[derive(Clone)]
pub struct Map {
    entries: Rc<Entries>,
    map_type: MapType,
}

#[derive(Default)]
struct Entries(RefCell<BTreeMap<Bytes, Value>>);

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A map may contain itself, and values may be secret: only the keys are shown.
        write!(f, "{} {:?}", self.map_type.name, self.keys())
    }
}

impl Drop for Entries {
    fn drop(&mut self) {
        let entries = std::mem::take(self.0.get_mut());
        // Maps may be nested deeper than the native stack is.
        if !entries.is_empty() {
            grow_stack(|| drop(entries));
        }
    }
}

/// The type of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MapType {
    /// The Go name.
    pub name: &'static str,
    /// What reading an absent key gives: the zero of the element type.
    pub zero: MapZero,
    /// Whether the type has the methods of Helm's `Values` (`AsMap`, `Table`, `PathValue`, `YAML`).
    pub is_values: bool,
}

/// The zero of a map's element type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapZero {
    /// A nil interface.
    Nil,
    /// An empty string.
    String,
    /// An empty byte slice.
    Bytes,
}

impl MapType {
    /// `map[string]interface {}`.
    pub const ANY: Self = Self {
        name: "map[string]interface {}",
        zero: MapZero::Nil,
        is_values: false,
    };
    /// `map[string]string`.
    pub const STRING: Self = Self {
        name: "map[string]string",
        zero: MapZero::String,
        is_values: false,
    };
    /// `chartutil.Values`, Helm 3's type of `.Values` and of the root of the context.
    pub const VALUES_V3: Self = Self {
        name: "chartutil.Values",
        zero: MapZero::Nil,
        is_values: true,
    };
    /// `common.Values`, Helm 4's.
    pub const VALUES_V4: Self = Self {
        name: "common.Values",
        zero: MapZero::Nil,
        is_values: true,
    };
}

impl Map {
    /// A map of a type.
    pub fn new(map_type: MapType, entries: BTreeMap<Bytes, Value>) -> Self {
        Self {
            entries: Rc::new(Entries(RefCell::new(entries))),
            map_type,
        }
    }

    /// The type.
    pub fn map_type(&self) -> MapType {
        self.map_type
    }

    /// The value of a key.
    pub fn get(&self, key: &[u8]) -> Option<Value> {
        self.entries.0.borrow().get(key).cloned()
    }

    /// Whether there is a key.
    pub fn contains(&self, key: &[u8]) -> bool {
        self.entries.0.borrow().contains_key(key)
    }

    /// Sets a key, for everybody who holds this map.
    pub fn insert(&self, key: impl Into<Bytes>, value: Value) {
        let old = self.entries.0.borrow_mut().insert(key.into(), value);
        drop(old);
    }

    /// Removes a key, for everybody who holds this map.
    pub fn remove(&self, key: &[u8]) -> Option<Value> {
        self.entries.0.borrow_mut().remove(key)
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.entries.0.borrow().len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.entries.0.borrow().is_empty()
    }

    /// The keys, sorted.
    pub fn keys(&self) -> Vec<Bytes> {
        self.entries.0.borrow().keys().cloned().collect()
    }

    /// Keys and values as they are now, sorted by key.
    pub fn entries(&self) -> Vec<(Bytes, Value)> {
        let entries = self.entries.0.borrow();
        entries
            .iter()
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    }

    /// Calls a function with every entry, sorted by key, until it fails. It must not change the map; nothing is copied for it.
    ///
    /// # Errors
    /// What the function fails with.
    pub fn try_for_each<E>(
        &self,
        mut each: impl FnMut(&Bytes, &Value) -> Result<(), E>,
    ) -> Result<(), E> {
        let entries = self.entries.0.borrow();
        entries.iter().try_for_each(|(key, value)| each(key, value))
    }

    /// A map of the same entries that does not share changes, with each value changed.
    #[must_use]
    pub fn copy_with(&self, mut change: impl FnMut(&mut Value)) -> Self {
        let mut entries = self.entries.0.borrow().clone();
        entries.values_mut().for_each(&mut change);
        Self::new(self.map_type, entries)
    }

    /// Whether both are the same map, not merely equal ones.
    pub fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.entries, &other.entries)
    }

    /// What tells this map from all others that exist at the same time.
    pub fn identity(&self) -> usize {
        Rc::as_ptr(&self.entries).addr()
    }

    /// The same map under another type, as a conversion in Go gives it: what is changed in one shows in the other.
    #[must_use]
    pub fn with_type(&self, map_type: MapType) -> Self {
        Self {
            entries: self.entries.clone(),
            map_type,
        }
    }
}
