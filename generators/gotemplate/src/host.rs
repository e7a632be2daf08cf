//! Go values that are more than data: structs, pointers and maps with methods.

use crate::{FunctionError, Kind, Runtime, Signature, Value};
use std::{any::Any, fmt};

/// A Go value with fields or methods that a template may use.
///
/// Lookup follows Go: a method first, then a field.
pub trait Host: fmt::Debug {
    /// The type as `%T` prints it, for example `*semver.Version`.
    fn type_name(&self) -> &str;

    /// `Ptr`, `Struct`, `Map` or whatever `reflect` would say.
    fn kind(&self) -> Kind;

    /// Truth in `if`; structs and pointers to them are always true.
    fn truth(&self) -> bool {
        true
    }

    /// A method, or none of that name.
    fn method(&self, name: &str) -> Option<Method> {
        let _ = name;
        None
    }

    /// A struct's field or a map's entry.
    fn field(&self, name: &str) -> Option<Value> {
        let _ = name;
        None
    }

    /// Number of elements, if it has any (`len`).
    fn len(&self) -> Option<usize> {
        self.entries().map(|entries| entries.len())
    }

    /// Whether it has no elements; a value without elements counts as empty only if [`Host::truth`] is false.
    fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// Keys and values in order, if it is a map.
    fn entries(&self) -> Option<Vec<(Value, Value)>> {
        None
    }

    /// The text that `%v` prints.
    fn print(&self) -> Vec<u8>;

    /// What it holds as plain lists and maps, for template engines that have no methods. Without an answer they take
    /// [`Host::entries`], or the printed text.
    fn to_data(&self) -> Option<Value> {
        None
    }

    /// What `encoding/json` makes of it, if it can be encoded.
    fn to_json(&self) -> Option<serde_json::Value> {
        None
    }

    /// For functions that take a Go type of their own, such as a time or a version.
    fn as_any(&self) -> &dyn Any;
}

/// The implementation of a method: the host object, the rendering, and the arguments as its signature converted them.
pub type MethodCall = fn(&dyn Host, &mut dyn Runtime, &[Value]) -> Result<Value, FunctionError>;

/// A method of a host object.
#[derive(Clone, Copy)]
pub struct Method {
    /// Its parameters.
    pub signature: Signature,
    /// Calls it on a host object of the type that it was found on.
    pub call: MethodCall,
}

impl fmt::Debug for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Method")
            .field("signature", &self.signature)
            .finish_non_exhaustive()
    }
}
