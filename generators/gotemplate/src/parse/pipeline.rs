//! Pipelines and operands (`text/template/parse/parse.go`).

use super::{
    lexer::{Token, TokenKind},
    number,
    parser::{Parsed, Parser, span_of},
    print::NodePrinter,
    tree::{Chain, Command, Declaration, Operand, OperandKind, Pipe, StringConstant, Variable},
};
use crate::format::{quote, unquote};
use std::sync::Arc;

impl Parser<'_, '_> {
    /// A pipeline, with what ends it.
    pub(super) fn pipeline(&mut self, context: &str, end: TokenKind) -> Parsed<Pipe> {
        let position = self.peek_non_space().start as u32;
        let (names, is_assignment) = self.declarations(context)?;
        // Most pipelines are of one command, and a vector that grows by itself begins with room for four.
        let mut commands = Vec::with_capacity(1);
        loop {
            let token = self.next_non_space();
            match token.kind {
                kind if kind == end => break,
                TokenKind::Bool
                | TokenKind::CharConstant
                | TokenKind::Complex
                | TokenKind::Dot
                | TokenKind::Field
                | TokenKind::Identifier
                | TokenKind::Number
                | TokenKind::Nil
                | TokenKind::RawString
                | TokenKind::String
                | TokenKind::Variable
                | TokenKind::LeftParenthesis => {
                    self.back_up();
                    commands.push(self.command()?);
                }
                _ => return self.unexpected(token, context),
            }
        }
        self.check_pipeline(&commands, context)?;
        let declare = |name: Arc<str>| {
            let slot = if is_assignment {
                self.scope.slot(&name)
            } else {
                Some(self.scope.declare(&name))
            };
            Declaration { name, slot }
        };
        let declarations = names.into_iter().map(declare).collect();
        Ok(Pipe {
            position,
            is_assignment,
            declarations,
            commands,
        })
    }

    /// The variables on the left. They are announced here and get their slots after the right side was read, which may still use
    /// outer variables of the same names.
    fn declarations(&mut self, context: &str) -> Parsed<(Vec<Arc<str>>, bool)> {
        let mut names = Vec::new();
        loop {
            let variable = self.peek_non_space();
            if variable.kind != TokenKind::Variable {
                return Ok((names, false));
            }
            self.next();
            // A space token needs a look ahead of three: `$x foo` uses `$x`, `$x := foo` declares it.
            let after = self.peek();
            let next = self.peek_non_space();
            let is_comma = next.kind == TokenKind::Char && self.value(next) == b",";
            if !is_comma && !matches!(next.kind, TokenKind::Assign | TokenKind::Declare) {
                if after.kind == TokenKind::Space {
                    self.back_up_three(variable, after);
                } else {
                    self.back_up_two(variable);
                }
                return Ok((names, false));
            }
            self.next_non_space();
            let name = self.name(variable);
            self.scope.announce(&name);
            names.push(name);
            if !is_comma {
                return Ok((names, next.kind == TokenKind::Assign));
            }
            if context != "range" || names.len() >= 2 {
                return self.fail(format!("too many declarations in {context}"));
            }
            let goes_on = matches!(
                self.peek_non_space().kind,
                TokenKind::Variable | TokenKind::RightDelimiter | TokenKind::RightParenthesis
            );
            if !goes_on {
                return self.fail("range can only initialize variables");
            }
        }
    }

    fn check_pipeline(&self, commands: &[Command], context: &str) -> Parsed<()> {
        if commands.is_empty() {
            return self.fail(format!("missing value for {context}"));
        }
        for (index, command) in commands.iter().enumerate().skip(1) {
            if is_constant_or_dot(&command.first.kind) {
                let stage = index + 1;
                return self.fail(format!("non executable command in pipeline stage {stage}"));
            }
        }
        Ok(())
    }

    /// Operands up to a pipe sign, which is read, or an end, which is not.
    fn command(&mut self) -> Parsed<Command> {
        let position = self.peek_non_space().start as u32;
        let mut first = None;
        let mut arguments = Vec::new();
        loop {
            self.peek_non_space();
            if let Some(operand) = self.operand()? {
                if first.is_none() {
                    first = Some(operand);
                } else {
                    arguments.push(operand);
                }
            }
            let token = self.next();
            match token.kind {
                TokenKind::Space => continue,
                TokenKind::RightDelimiter | TokenKind::RightParenthesis => self.back_up(),
                TokenKind::Pipe => {}
                _ => return self.unexpected(token, "operand"),
            }
            break;
        }
        arguments.shrink_to_fit();
        match first {
            Some(first) => Ok(Command {
                position,
                first,
                arguments,
            }),
            None => self.fail("empty command"),
        }
    }

    /// A term, perhaps with fields after it; none if the next token starts no term.
    fn operand(&mut self) -> Parsed<Option<Operand>> {
        let Some(operand) = self.term()? else {
            return Ok(None);
        };
        let chain = self.peek();
        if chain.kind != TokenKind::Field {
            return Ok(Some(operand));
        }
        let fields = self.field_names();
        self.with_fields(operand, fields, chain.start as u32)
            .map(Some)
    }

    /// The fields of a chain like `.Values.image.tag`. Only the token before them, a field too, has been read.
    fn field_operand(&mut self, first: Token) -> Operand {
        let first_name = self.field_name(first);
        let chain = self.peek();
        if chain.kind != TokenKind::Field {
            return Operand {
                position: first.start as u32,
                kind: OperandKind::Field([first_name].into()),
            };
        }
        let mut fields = Vec::with_capacity(4);
        fields.push(first_name);
        self.append_field_names(&mut fields);
        // Go takes the place of the second one.
        Operand {
            position: chain.start as u32,
            kind: OperandKind::Field(fields.into()),
        }
    }

    fn field_names(&mut self) -> Vec<Arc<str>> {
        let mut fields = Vec::new();
        self.append_field_names(&mut fields);
        fields
    }

    fn append_field_names(&mut self, fields: &mut Vec<Arc<str>>) {
        while self.peek().kind == TokenKind::Field {
            let token = self.next();
            let name = self.field_name(token);
            fields.push(name);
        }
    }

    fn field_name(&mut self, token: Token) -> Arc<str> {
        let field = self.text.lexer.source(token);
        self.text.intern(field.get(1..).unwrap_or_default())
    }

    fn with_fields(
        &self,
        operand: Operand,
        fields: Vec<Arc<str>>,
        position: u32,
    ) -> Parsed<Operand> {
        let kind = match operand.kind {
            OperandKind::Variable(variable) => OperandKind::Variable(Box::new(Variable {
                fields,
                ..*variable
            })),
            kind if is_constant_or_dot(&kind) => {
                let mut printer = NodePrinter::new(self.source());
                printer.operand(&Operand { position: 0, kind });
                let shown = quote(printer.finish().as_bytes());
                let shown = String::from_utf8_lossy(&shown).into_owned();
                return self.fail(format!("unexpected . after term {shown}"));
            }
            kind => {
                let operand = Operand {
                    position: operand.position,
                    kind,
                };
                OperandKind::Chain(Box::new(Chain { operand, fields }))
            }
        };
        Ok(Operand { position, kind })
    }

    fn term(&mut self) -> Parsed<Option<Operand>> {
        let token = self.next_non_space();
        let kind = match token.kind {
            TokenKind::Identifier => self.function_operand(token)?,
            TokenKind::Dot => OperandKind::Dot,
            TokenKind::Nil => OperandKind::Nil,
            TokenKind::Variable => self.variable(token)?,
            TokenKind::Field => return Ok(Some(self.field_operand(token))),
            TokenKind::Bool => OperandKind::Bool(self.value(token) == b"true"),
            TokenKind::CharConstant | TokenKind::Complex | TokenKind::Number => {
                match number::parse(span_of(token), self.value(token), token.kind) {
                    Ok(number) => OperandKind::Number(Box::new(number)),
                    Err(message) => return self.fail(message),
                }
            }
            TokenKind::LeftParenthesis => {
                // Its position is that of what is inside.
                let pipe = self.nested(|parser| {
                    parser.pipeline("parenthesized pipeline", TokenKind::RightParenthesis)
                })?;
                let position = pipe.position;
                return Ok(Some(Operand {
                    position,
                    kind: OperandKind::Pipe(Box::new(pipe)),
                }));
            }
            TokenKind::String | TokenKind::RawString => match unquote(self.value(token)) {
                Ok(value) => OperandKind::String(Box::new(StringConstant {
                    written: span_of(token),
                    value: value.into(),
                })),
                Err(error) => return self.fail(error.to_string()),
            },
            _ => {
                self.back_up();
                return Ok(None);
            }
        };
        Ok(Some(Operand {
            position: token.start as u32,
            kind,
        }))
    }

    fn function_operand(&mut self, token: Token) -> Parsed<OperandKind> {
        let name = String::from_utf8_lossy(self.text.lexer.source(token));
        match self.function(&name) {
            Some(callee) => Ok(OperandKind::Function(callee)),
            None => self.fail(format!("function {} not defined", quoted(&name))),
        }
    }

    fn variable(&mut self, token: Token) -> Parsed<OperandKind> {
        let name = self.name(token);
        if !self.scope.knows(&name) {
            return self.fail(format!("undefined variable {}", quoted(&name)));
        }
        let slot = self.scope.slot(&name);
        Ok(OperandKind::Variable(Box::new(Variable {
            name,
            slot,
            fields: Vec::new(),
        })))
    }
}

fn quoted(name: &str) -> String {
    String::from_utf8_lossy(&quote(name.as_bytes())).into_owned()
}

fn is_constant_or_dot(kind: &OperandKind) -> bool {
    matches!(
        kind,
        OperandKind::Bool(_)
            | OperandKind::Dot
            | OperandKind::Nil
            | OperandKind::Number(_)
            | OperandKind::String(_)
    )
}
