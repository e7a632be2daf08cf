//! Pipelines, commands and operands (`text/template/exec.go`, `eval…`).

use super::{
    complex,
    evaluated::Evaluated,
    failure::Outcome,
    frame::{At, Frame},
};
use crate::{
    Value, grow_stack,
    parse::{Chain, Command, Declaration, Ideal, Number, Operand, OperandKind, Pipe, Variable},
};

impl<'t> Frame<'_, 't, '_> {
    /// The value of a pipeline. Its variables keep their values until the block ends.
    pub(super) fn pipeline(&mut self, dot: &Evaluated, pipe: &'t Pipe) -> Outcome<Evaluated> {
        self.at = At::Pipe(pipe);
        let mut last: Option<Evaluated> = None;
        for command in &pipe.commands {
            self.step()?;
            last = Some(self.command(dot, command, last)?.unwrapped());
        }
        let value = last.unwrap_or_default();
        for declaration in &pipe.declarations {
            self.assign(declaration, value.clone())?;
        }
        Ok(value)
    }

    pub(super) fn assign(&mut self, declaration: &Declaration, value: Evaluated) -> Outcome<()> {
        let is_declared = declaration.slot.is_some();
        if let Some(variable) = self.variable_mut(declaration.slot).filter(|_| is_declared) {
            *variable = Some(value);
            return Ok(());
        }
        Err(self.fail(format!("undefined variable: {}", declaration.name)))
    }

    /// `last` is what the command before in the pipeline gave.
    fn command(
        &mut self,
        dot: &Evaluated,
        command: &'t Command,
        last: Option<Evaluated>,
    ) -> Outcome<Evaluated> {
        let first = &command.first;
        let arguments = command.arguments.as_slice();
        match &first.kind {
            OperandKind::Field(fields) => {
                self.at = At::Operand(first);
                return self.fields(dot, dot, first, fields, arguments, last);
            }
            OperandKind::Chain(chain) => return self.chain(dot, first, chain, arguments, last),
            OperandKind::Function(callee) => {
                self.at = At::Operand(first);
                return self.function(dot, callee, At::Command(command), arguments, last);
            }
            OperandKind::Pipe(pipe) => {
                self.refuse_arguments(first, arguments, last.is_some())?;
                return grow_stack(|| self.pipeline(dot, pipe));
            }
            OperandKind::Variable(variable) => {
                return self.variable(dot, first, variable, arguments, last);
            }
            _ => {}
        }
        self.at = At::Operand(first);
        self.refuse_arguments(first, arguments, last.is_some())?;
        match &first.kind {
            OperandKind::Nil => Err(self.fail("nil is not a command")),
            OperandKind::Dot => Ok(dot.clone()),
            _ => self.constant(first),
        }
    }

    fn refuse_arguments(
        &self,
        first: &Operand,
        arguments: &[Operand],
        has_last: bool,
    ) -> Outcome<()> {
        if arguments.is_empty() && !has_last {
            return Ok(());
        }
        let shown = self.shown(first);
        Err(self.fail(format!("can't give argument to non-function {shown}")))
    }

    pub(super) fn shown(&self, operand: &Operand) -> String {
        let mut printer = crate::parse::NodePrinter::new(&self.tree.text);
        printer.operand(operand);
        printer.finish()
    }

    /// A constant where no type is asked for.
    pub(super) fn constant(&mut self, operand: &'t Operand) -> Outcome<Evaluated> {
        let value = match &operand.kind {
            OperandKind::Bool(truth) => Value::Bool(*truth),
            OperandKind::String(string) => Value::string(&*string.value),
            OperandKind::Number(number) => return self.number(operand, number),
            _ => return Err(self.fail(format!("can't evaluate command {:?}", self.shown(operand)))),
        };
        Ok(Evaluated::concrete(value))
    }

    fn number(&mut self, operand: &'t Operand, number: &Number) -> Outcome<Evaluated> {
        self.at = At::Operand(operand);
        let value = match number.ideal {
            Ideal::Int(int) => Value::int(int),
            Ideal::Float(float) => Value::Float(float),
            Ideal::Complex(real, imaginary) => complex::value(real, imaginary),
            Ideal::Overflow => {
                return Err(self.fail(format!("{} overflows int", self.shown(operand))));
            }
        };
        Ok(Evaluated::concrete(value))
    }

    pub(super) fn chain(
        &mut self,
        dot: &Evaluated,
        operand: &'t Operand,
        chain: &'t Chain,
        arguments: &'t [Operand],
        last: Option<Evaluated>,
    ) -> Outcome<Evaluated> {
        self.at = At::Operand(&chain.operand);
        let receiver = match &chain.operand.kind {
            OperandKind::Pipe(pipe) => grow_stack(|| self.pipeline(dot, pipe))?,
            OperandKind::Function(callee) => {
                self.function(dot, callee, At::Operand(&chain.operand), &[], None)?
            }
            _ => self.constant(&chain.operand)?,
        };
        self.fields(dot, &receiver, operand, &chain.fields, arguments, last)
    }

    pub(super) fn variable(
        &mut self,
        dot: &Evaluated,
        operand: &'t Operand,
        variable: &'t Variable,
        arguments: &'t [Operand],
        last: Option<Evaluated>,
    ) -> Outcome<Evaluated> {
        self.at = At::Operand(operand);
        let known = self
            .variable_mut(variable.slot)
            .and_then(|value| value.clone());
        let Some(value) = known else {
            return Err(self.fail(format!("undefined variable: {}", variable.name)));
        };
        if variable.fields.is_empty() {
            self.refuse_arguments(operand, arguments, last.is_some())?;
            return Ok(value);
        }
        self.fields(dot, &value, operand, &variable.fields, arguments, last)
    }
}
