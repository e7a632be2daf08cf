//! Conversion of arguments to the types of parameters (`text/template/exec.go`, `evalArg` and `validateType`).

use super::{
    evaluated::Evaluated,
    failure::Outcome,
    frame::{At, Frame},
};
use crate::{
    IntKind, List, ListType, Map, MapType, MapZero, Type, UintKind, Value, grow_stack,
    parse::{Operand, OperandKind},
};
use std::collections::BTreeMap;

impl<'t> Frame<'_, 't, '_> {
    /// The value of an operand as a parameter's type.
    pub(super) fn argument(
        &mut self,
        dot: &Evaluated,
        wanted: Type,
        operand: &'t Operand,
    ) -> Outcome<Evaluated> {
        self.at = At::Operand(operand);
        let value = match &operand.kind {
            OperandKind::Dot => dot.clone(),
            OperandKind::Nil => {
                return nil_of(wanted)
                    .ok_or_else(|| self.fail(format!("cannot assign nil to {}", name_of(wanted))));
            }
            OperandKind::Field(fields) => self.fields(dot, dot, operand, fields, &[], None)?,
            OperandKind::Variable(variable) => self.variable(dot, operand, variable, &[], None)?,
            OperandKind::Pipe(pipe) => grow_stack(|| self.pipeline(dot, pipe))?,
            OperandKind::Function(callee) => {
                self.function(dot, callee, At::Operand(operand), &[], None)?
            }
            OperandKind::Chain(chain) => self.chain(dot, operand, chain, &[], None)?,
            OperandKind::Bool(_) | OperandKind::Number(_) | OperandKind::String(_) => {
                return self.literal(wanted, operand);
            }
        };
        self.validate(value, wanted)
    }

    /// A constant takes the type that is asked for.
    fn literal(&mut self, wanted: Type, operand: &'t Operand) -> Outcome<Evaluated> {
        let number = match &operand.kind {
            OperandKind::Number(number) => Some(number),
            _ => None,
        };
        let int = number.and_then(|number| number.int);
        let (value, expected) = match wanted {
            Type::Any | Type::Reflect => return self.constant(operand),
            Type::Bool => match operand.kind {
                OperandKind::Bool(truth) => (Some(Value::Bool(truth)), "bool"),
                _ => (None, "bool"),
            },
            Type::Int => (int.map(Value::int), "integer"),
            Type::Int64 => (int.map(Value::int64), "integer"),
            Type::Uint32 => {
                let uint = number.and_then(|number| number.uint);
                // Go takes the lowest bits of what is too large.
                let low = |uint: u64| Value::Uint(UintKind::Uint32, u64::from(uint as u32));
                (uint.map(low), "unsigned integer")
            }
            Type::Uint64 => {
                let uint = number.and_then(|number| number.uint);
                let all = |uint| Value::Uint(UintKind::Uint64, uint);
                (uint.map(all), "unsigned integer")
            }
            Type::Float64 => (
                number.and_then(|number| number.float).map(Value::Float),
                "float",
            ),
            Type::String => match &operand.kind {
                OperandKind::String(string) => (Some(Value::string(&*string.value)), "string"),
                _ => (None, "string"),
            },
            Type::Host(name) if named_integer(name).is_some() => {
                let kind = named_integer(name).unwrap_or(IntKind::Int);
                (int.map(|int| Value::Int(kind, int)), "integer")
            }
            Type::List | Type::Strings | Type::Map | Type::StringMap | Type::Host(_) => {
                let (shown, wanted) = (self.shown(operand), name_of(wanted));
                return Err(self.fail(format!("can't handle {shown} for arg of type {wanted}")));
            }
        };
        let wrong = || {
            self.fail(format!(
                "expected {expected}; found {}",
                self.shown(operand)
            ))
        };
        value.map(Evaluated::concrete).ok_or_else(wrong)
    }

    /// A value as a parameter's type, if it can be assigned to it.
    pub(super) fn validate(&self, value: Evaluated, wanted: Type) -> Outcome<Evaluated> {
        if !value.is_valid() {
            let invalid = || self.fail(format!("invalid value; expected {}", name_of(wanted)));
            return nil_of(wanted).ok_or_else(invalid);
        }
        match (wanted, &value.value) {
            (Type::Any | Type::Reflect, _)
            | (Type::Bool, Value::Bool(_))
            | (Type::Int, Value::Int(IntKind::Int, _))
            | (Type::Int64, Value::Int(IntKind::Int64, _))
            | (Type::Uint32, Value::Uint(UintKind::Uint32, _))
            | (Type::Uint64, Value::Uint(UintKind::Uint64, _))
            | (Type::Float64, Value::Float(_))
            | (Type::String, Value::String(_)) => Ok(value),
            (Type::List, Value::List(list)) if list.list_type() == ListType::Any => Ok(value),
            (Type::Strings, Value::List(list)) if list.list_type() == ListType::String => Ok(value),
            (Type::Map, Value::Map(map)) if map.map_type() == MapType::ANY => Ok(value),
            (Type::Map, Value::Map(map)) if map.map_type().zero == MapZero::Nil => {
                Ok(Evaluated::concrete(Value::Map(map.with_type(MapType::ANY))))
            }
            (Type::StringMap, Value::Map(map)) if map.map_type().zero == MapZero::String => {
                Ok(value)
            }
            (Type::Host(name), other) if is_assignable(other, name) => Ok(value),
            _ => {
                // A nil interface has no other type than its own.
                let got = if value.is_nil() {
                    "interface {}"
                } else {
                    value.value.type_name()
                };
                let wanted = name_of(wanted);
                Err(self.fail(format!(
                    "wrong type for value; expected {wanted}; got {got}"
                )))
            }
        }
    }
}

/// Go dereferences a pointer once where the type behind it is wanted.
fn is_assignable(value: &Value, wanted: &str) -> bool {
    let got = value.type_name();
    got == wanted || got.strip_prefix('*') == Some(wanted)
}

fn named_integer(name: &str) -> Option<IntKind> {
    match name {
        "time.Duration" => Some(IntKind::Duration),
        "time.Month" => Some(IntKind::Month),
        "time.Weekday" => Some(IntKind::Weekday),
        _ => None,
    }
}

/// The nil of a type that has one.
fn nil_of(wanted: Type) -> Option<Evaluated> {
    let value = match wanted {
        Type::Reflect => return Some(Evaluated::default()),
        Type::Any => return Some(Evaluated::interface(Value::Nil)),
        Type::List => Value::list(Vec::new()),
        Type::Strings => Value::List(List::new(ListType::String, Vec::new())),
        Type::Map => Value::Map(Map::new(MapType::ANY, BTreeMap::new())),
        Type::StringMap => Value::Map(Map::new(MapType::STRING, BTreeMap::new())),
        Type::Host(name) if name.starts_with('*') => Value::Nil,
        _ => return None,
    };
    Some(Evaluated::concrete(value))
}

fn name_of(wanted: Type) -> &'static str {
    match wanted {
        Type::Any => "interface {}",
        Type::Reflect => "reflect.Value",
        Type::Bool => "bool",
        Type::Int => "int",
        Type::Int64 => "int64",
        Type::Uint32 => "uint32",
        Type::Uint64 => "uint64",
        Type::Float64 => "float64",
        Type::String => "string",
        Type::List => "[]interface {}",
        Type::Strings => "[]string",
        Type::Map => "map[string]interface {}",
        Type::StringMap => "map[string]string",
        Type::Host(name) => name,
    }
}
