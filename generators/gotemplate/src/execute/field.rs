//! Fields, map entries and methods (`text/template/exec.go`, `evalField`).

use super::{
    call::Target,
    core::quoted,
    evaluated::Evaluated,
    failure::{Failure, Outcome},
    frame::{At, Frame},
    methods,
};
use crate::{Bytes, Kind, List, ListType, Map, MapZero, Value, parse::Operand};
use std::sync::Arc;

impl<'t> Frame<'_, 't, '_> {
    /// `.X.Y.Z`, perhaps with arguments for the last one.
    pub(super) fn fields(
        &mut self,
        dot: &Evaluated,
        receiver: &Evaluated,
        node: &'t Operand,
        names: &'t [Arc<str>],
        arguments: &'t [Operand],
        last: Option<Evaluated>,
    ) -> Outcome<Evaluated> {
        let Some((final_name, names)) = names.split_last() else {
            return Ok(receiver.clone());
        };
        let mut inner: Option<Evaluated> = None;
        for name in names {
            let receiver = inner.as_ref().unwrap_or(receiver);
            inner = Some(self.field(dot, receiver, node, name, &[], None)?);
        }
        let receiver = inner.as_ref().unwrap_or(receiver);
        self.field(dot, receiver, node, final_name, arguments, last)
    }

    fn field(
        &mut self,
        dot: &Evaluated,
        receiver: &Evaluated,
        node: &'t Operand,
        name: &'t str,
        arguments: &'t [Operand],
        last: Option<Evaluated>,
    ) -> Outcome<Evaluated> {
        let has_arguments = !arguments.is_empty() || last.is_some();
        let method = match &receiver.value {
            Value::Nil => return self.field_of_nil(receiver, name),
            Value::Host(host) => host
                .method(name)
                .map(|method| Target::Method(method, host.clone())),
            value => methods::find(value, name).map(|method| Target::Native(method, value.clone())),
        };
        if let Some(target) = method {
            return self.call(dot, &target, name, At::Operand(node), arguments, last);
        }
        match &receiver.value {
            Value::Map(_) if has_arguments => {
                Err(self.fail(format!("{name} is not a method but has arguments")))
            }
            Value::Map(map) => self.entry(map, name),
            Value::Host(host) => match host.field(name) {
                Some(_) if has_arguments => Err(self.fail(format!(
                    "{name} has arguments but cannot be invoked as function"
                ))),
                Some(value) => Ok(Evaluated::concrete(value)),
                None if host.kind() == Kind::Map => self.absent(MapZero::Bytes, name),
                None => Err(self.no_field(receiver, name)),
            },
            _ => Err(self.no_field(receiver, name)),
        }
    }

    fn field_of_nil(&self, receiver: &Evaluated, name: &str) -> Outcome<Evaluated> {
        if receiver.is_valid() {
            return Err(self.fail(format!("nil pointer evaluating interface {{}}.{name}")));
        }
        if self.core.options.strict {
            let key = quoted(name.as_bytes());
            return Err(self.fail(format!("nil data; no entry for key {key}")));
        }
        Ok(Evaluated::default())
    }

    fn no_field(&self, receiver: &Evaluated, name: &str) -> Failure {
        let type_name = receiver.type_name();
        self.fail(format!("can't evaluate field {name} in type {type_name}"))
    }

    fn entry(&self, map: &Map, name: &str) -> Outcome<Evaluated> {
        match map.get(name.as_bytes()) {
            Some(value) => Ok(Evaluated::entry(map, value)),
            None => self.absent(map.map_type().zero, name),
        }
    }

    fn absent(&self, zero: MapZero, name: &str) -> Outcome<Evaluated> {
        if self.core.options.strict {
            let key = quoted(name.as_bytes());
            return Err(self.fail(format!("map has no entry for key {key}")));
        }
        Ok(zero_of(zero))
    }
}

/// The zero of a map's element type.
pub(super) fn zero_of(zero: MapZero) -> Evaluated {
    match zero {
        MapZero::Nil => Evaluated::interface(Value::Nil),
        MapZero::String => Evaluated::concrete(Value::String(Bytes::default())),
        MapZero::Bytes => Evaluated::concrete(Value::List(List::new(ListType::Byte, Vec::new()))),
    }
}
