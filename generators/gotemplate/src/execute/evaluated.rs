//! Values with what Go's reflection knows about where they came from.

use crate::{ListType, Map, MapZero, Value};

/// A `reflect.Value`: a value, and whether it stands in a place of type `interface {}`.
///
/// A nil in such a place is a nil interface, whose fields cannot be evaluated. A nil elsewhere is an invalid value, whose fields
/// are invalid again.
#[derive(Debug, Clone, Default)]
pub(super) struct Evaluated {
    pub(super) value: Value,
    pub(super) is_interface: bool,
}

impl Evaluated {
    /// A value that something else than an interface holds; nil is the invalid value.
    pub(super) fn concrete(value: Value) -> Self {
        Self {
            value,
            is_interface: false,
        }
    }

    /// A value in a place of type `interface {}`.
    pub(super) fn interface(value: Value) -> Self {
        Self {
            value,
            is_interface: true,
        }
    }

    /// An entry of a map.
    pub(super) fn entry(map: &Map, value: Value) -> Self {
        Self {
            value,
            is_interface: map.map_type().zero == MapZero::Nil,
        }
    }

    /// An element of a slice.
    pub(super) fn element(list_type: ListType, value: Value) -> Self {
        Self {
            value,
            is_interface: list_type == ListType::Any,
        }
    }

    /// What a function returned. A nil is always one of an interface type.
    pub(super) fn returned(value: Value) -> Self {
        let is_interface = matches!(value, Value::Nil);
        Self {
            value,
            is_interface,
        }
    }

    pub(super) fn is_nil(&self) -> bool {
        matches!(self.value, Value::Nil)
    }

    pub(super) fn is_valid(&self) -> bool {
        self.is_interface || !self.is_nil()
    }

    /// The type of the place, as error messages name it.
    pub(super) fn type_name(&self) -> &str {
        if self.is_interface {
            "interface {}"
        } else {
            self.value.type_name()
        }
    }

    /// The value without its place, as a pipeline passes it on.
    pub(super) fn unwrapped(self) -> Self {
        Self::concrete(self.value)
    }
}
