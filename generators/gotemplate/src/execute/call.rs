//! Calls of functions and methods (`text/template/exec.go`, `evalCall`).

use super::{
    builtins,
    evaluated::Evaluated,
    failure::Outcome,
    frame::{At, Frame},
    methods::NativeMethod,
};
use crate::{
    Function, FunctionError, FunctionErrorKind, Host, Method, Signature, Type, Value,
    parse::{Builtin, Callee, Operand},
};
use std::rc::Rc;

/// What is called.
#[derive(Debug)]
pub(super) enum Target {
    Function(Function),
    Method(Method, Rc<dyn Host>),
    Native(NativeMethod, Value),
}

impl Target {
    fn signature(&self) -> Signature {
        match self {
            Self::Function(function) => function.signature,
            Self::Method(method, _) => method.signature,
            Self::Native(method, _) => method.signature,
        }
    }
}

impl<'t> Frame<'_, 't, '_> {
    pub(super) fn function(
        &mut self,
        dot: &Evaluated,
        callee: &Callee,
        at: At<'t>,
        arguments: &'t [Operand],
        last: Option<Evaluated>,
    ) -> Outcome<Evaluated> {
        match callee {
            Callee::Function(function) => {
                let target = Target::Function(**function);
                self.call(dot, &target, function.name, at, arguments, last)
            }
            Callee::Builtin(builtin @ (Builtin::And | Builtin::Or)) => {
                self.logic(dot, *builtin, arguments, last)
            }
            Callee::Builtin(builtin) => self.builtin(dot, *builtin, at, arguments, last),
        }
    }

    pub(super) fn call(
        &mut self,
        dot: &Evaluated,
        target: &Target,
        name: &str,
        at: At<'t>,
        arguments: &'t [Operand],
        last: Option<Evaluated>,
    ) -> Outcome<Evaluated> {
        let signature = target.signature();
        let mut values = Vec::with_capacity(arguments.len() + usize::from(last.is_some()));
        self.arguments(dot, name, signature, arguments, last, |evaluated| {
            values.push(evaluated.value);
        })?;
        let result = match target {
            Target::Function(function) => (function.call)(self.core, &values),
            Target::Method(method, host) => (method.call)(&**host, self.core, &values),
            Target::Native(method, receiver) => (method.call)(receiver, &values),
        };
        let value = self.returned(result, name, at)?;
        Ok(Evaluated::returned(value))
    }

    fn returned<T>(
        &mut self,
        result: Result<T, FunctionError>,
        name: &str,
        at: At<'t>,
    ) -> Outcome<T> {
        result.map_err(|error| {
            self.at = at;
            if error.kind == FunctionErrorKind::Raised && self.core.raised.is_none() {
                self.core.raised = Some(error.message.clone());
            }
            self.failure(
                &format!("error calling {name}: {}", error.message),
                error.kind,
            )
        })
    }

    fn builtin(
        &mut self,
        dot: &Evaluated,
        builtin: Builtin,
        at: At<'t>,
        arguments: &'t [Operand],
        last: Option<Evaluated>,
    ) -> Outcome<Evaluated> {
        let name = builtin.name();
        let mut values = Vec::with_capacity(arguments.len() + usize::from(last.is_some()));
        let signature = builtins::signature(builtin);
        let has_last = last.is_some();
        self.arguments(dot, name, signature, arguments, last, |evaluated| {
            values.push(evaluated);
        })?;
        let callee = match arguments.first() {
            Some(first) if builtin == Builtin::Call => self.shown(first),
            _ if has_last => values
                .last()
                .map_or_else(String::new, builtins::reflected_string),
            _ => String::new(),
        };
        let result = builtins::call(builtin, &values, &callee, &mut self.core.budget);
        self.returned(result, name, at)
    }

    /// `and` and `or` stop at the first argument that decides.
    fn logic(
        &mut self,
        dot: &Evaluated,
        builtin: Builtin,
        arguments: &'t [Operand],
        last: Option<Evaluated>,
    ) -> Outcome<Evaluated> {
        let signature = builtins::signature(builtin);
        self.check_count(builtin.name(), signature, arguments.len(), last.is_some())?;
        let mut value = Evaluated::default();
        for argument in arguments {
            value = self.argument(dot, Type::Reflect, argument)?;
            if value.value.truth() == (builtin == Builtin::Or) {
                return Ok(value);
            }
        }
        Ok(last.unwrap_or(value))
    }

    /// Evaluates and converts all arguments in order.
    fn arguments(
        &mut self,
        dot: &Evaluated,
        name: &str,
        signature: Signature,
        arguments: &'t [Operand],
        last: Option<Evaluated>,
        mut take: impl FnMut(Evaluated),
    ) -> Outcome<()> {
        self.check_count(name, signature, arguments.len(), last.is_some())?;
        let type_at = |index: usize| {
            let fixed = signature.parameters.get(index).copied();
            fixed.or(signature.variadic).unwrap_or(Type::Any)
        };
        for (index, argument) in arguments.iter().enumerate() {
            let value = self.argument(dot, type_at(index), argument)?;
            take(value);
        }
        if let Some(last) = last {
            take(self.validate(last, type_at(arguments.len()))?);
        }
        Ok(())
    }

    fn check_count(
        &self,
        name: &str,
        signature: Signature,
        written: usize,
        has_last: bool,
    ) -> Outcome<()> {
        let given = written + usize::from(has_last);
        let wanted = signature.parameters.len();
        match signature.variadic {
            Some(_) if given >= wanted => Ok(()),
            // Go does not count the piped argument here.
            Some(_) => Err(self.fail(format!(
                "wrong number of args for {name}: want at least {wanted} got {written}"
            ))),
            None if given == wanted => Ok(()),
            None => Err(self.fail(format!(
                "wrong number of args for {name}: want {wanted} got {given}"
            ))),
        }
    }
}
