//! The canonical text of a node, as error messages show it (`text/template/parse/node.go`).

use super::tree::{Call, Command, Operand, OperandKind, Pipe};
use crate::format::quote;

/// Writes nodes of one text.
#[derive(Debug)]
pub(crate) struct NodePrinter<'a> {
    text: &'a [u8],
    out: Vec<u8>,
}

impl<'a> NodePrinter<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self {
            text,
            out: Vec::new(),
        }
    }

    pub(crate) fn finish(self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }

    pub(crate) fn call(&mut self, call: &Call) {
        self.write("{{template ");
        self.out.extend(quote(call.name.as_bytes()));
        if let Some(pipe) = &call.pipe {
            self.write(" ");
            self.pipe(pipe);
        }
        self.write("}}");
    }

    pub(crate) fn pipe(&mut self, pipe: &Pipe) {
        for (index, declaration) in pipe.declarations.iter().enumerate() {
            self.write(if index > 0 { ", " } else { "" });
            self.write(&declaration.name);
        }
        if !pipe.declarations.is_empty() {
            self.write(if pipe.is_assignment { " = " } else { " := " });
        }
        for (index, command) in pipe.commands.iter().enumerate() {
            self.write(if index > 0 { " | " } else { "" });
            self.command(command);
        }
    }

    pub(crate) fn command(&mut self, command: &Command) {
        self.part(&command.first);
        for argument in &command.arguments {
            self.write(" ");
            self.part(argument);
        }
    }

    /// An operand inside a larger node, where pipelines have parentheses.
    fn part(&mut self, operand: &Operand) {
        if let OperandKind::Pipe(pipe) = &operand.kind {
            self.write("(");
            self.pipe(pipe);
            self.write(")");
        } else {
            self.operand(operand);
        }
    }

    pub(crate) fn operand(&mut self, operand: &Operand) {
        match &operand.kind {
            OperandKind::Dot => self.write("."),
            OperandKind::Nil => self.write("nil"),
            OperandKind::Bool(truth) => self.write(if *truth { "true" } else { "false" }),
            OperandKind::Number(number) => self.out.extend(number.written.of(self.text)),
            OperandKind::String(string) => self.out.extend(string.written.of(self.text)),
            OperandKind::Field(fields) => self.fields(fields),
            OperandKind::Variable(variable) => {
                self.write(&variable.name);
                self.fields(&variable.fields);
            }
            OperandKind::Function(callee) => self.write(callee.name()),
            OperandKind::Chain(chain) => {
                self.part(&chain.operand);
                self.fields(&chain.fields);
            }
            OperandKind::Pipe(pipe) => self.pipe(pipe),
        }
    }

    fn fields(&mut self, fields: &[std::sync::Arc<str>]) {
        for field in fields {
            self.write(".");
            self.write(field);
        }
    }

    fn write(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }
}
