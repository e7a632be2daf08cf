//! One template being executed (`text/template/exec.go`, `state` and `walk`).

use super::{
    core::{Core, quoted},
    evaluated::Evaluated,
    failure::{ExecuteError, Failure, Outcome},
};
use crate::{
    FunctionError, FunctionErrorKind, Value,
    format::{sprint, sprint_within},
    grow_stack,
    parse::{Branch, Call, Command, Node, NodePrinter, Operand, Pipe, Tree},
};

/// Longest cause, and longest node, that an error quotes; Go quotes all of it.
const MAX_ERROR_PART_BYTES: usize = 256 * 1024;

/// The node that an error would be reported at.
#[derive(Debug, Clone, Copy)]
pub(super) enum At<'t> {
    Start,
    Pipe(&'t Pipe),
    Command(&'t Command),
    Operand(&'t Operand),
    Call(&'t Call),
}

/// How execution goes on after a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Continue,
}

/// One execution of a template.
#[derive(Debug)]
pub(super) struct Frame<'f, 't, 'a> {
    pub(super) core: &'f mut Core<'a>,
    pub(super) tree: &'t Tree,
    out: &'f mut Vec<u8>,
    /// Where the variables begin.
    base: usize,
    pub(super) at: At<'t>,
}

impl<'f, 't, 'a> Frame<'f, 't, 'a> {
    /// Executes a template and appends what it writes.
    pub(super) fn run(
        core: &'f mut Core<'a>,
        tree: &'t Tree,
        out: &'f mut Vec<u8>,
        dot: &Evaluated,
    ) -> Outcome<()> {
        let base = core.variables.len();
        core.variables.resize_with(base + tree.slots, || None);
        core.variables[base] = Some(dot.clone());
        let mut frame = Frame {
            core,
            tree,
            out,
            base,
            at: At::Start,
        };
        let result = frame.walk_list(dot, &tree.root);
        frame.core.variables.truncate(base);
        result.map(|_| ())
    }

    /// A failure at the current node.
    pub(super) fn fail(&self, message: impl AsRef<str>) -> Failure {
        self.failure(message.as_ref(), FunctionErrorKind::Error)
    }

    /// A failure that a function or a limit caused.
    pub(super) fn failure(&self, message: &str, kind: FunctionErrorKind) -> Failure {
        let mut printer = NodePrinter::new(&self.tree.text);
        let position = match self.at {
            At::Start => 0,
            At::Pipe(pipe) => {
                printer.pipe(pipe);
                pipe.position
            }
            At::Command(command) => {
                printer.command(command);
                command.position
            }
            At::Operand(operand) => {
                printer.operand(operand);
                operand.position
            }
            At::Call(call) => {
                printer.call(call);
                call.position
            }
        };
        let (line, column) = self.tree.line_and_column(position);
        let file = &self.tree.parse_name;
        let name = quoted(self.tree.name.as_bytes());
        let node = printer.finish();
        let (node, message) = (last_part(&node), last_part(message));
        Failure::new(ExecuteError {
            text: format!(
                "template: {file}:{line}:{column}: executing {name} at <{node}>: {message}"
            ),
            kind,
            raised: None,
            name: file.as_ref().to_owned(),
            line,
            column,
        })
    }

    pub(super) fn limit(&self, error: &FunctionError) -> Failure {
        self.failure(&error.message, error.kind)
    }

    pub(super) fn step(&mut self) -> Outcome<()> {
        self.core.budget.step().map_err(|error| self.limit(&error))
    }

    fn write(&mut self, bytes: &[u8]) -> Outcome<()> {
        self.core
            .budget
            .charge(bytes.len())
            .map_err(|error| self.limit(&error))?;
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    fn walk_list(&mut self, dot: &Evaluated, nodes: &'t [Node]) -> Outcome<Flow> {
        for node in nodes {
            self.step()?;
            let flow = match node {
                Node::Text(span) => {
                    let tree = self.tree;
                    self.write(span.of(&tree.text))?;
                    Flow::Next
                }
                Node::Action(pipe) => {
                    let value = self.pipeline(dot, pipe)?;
                    if pipe.declarations.is_empty() {
                        self.print(&value.value)?;
                    }
                    Flow::Next
                }
                Node::If(branch) => self.walk_if(dot, branch)?,
                Node::With(branch) => self.walk_with(dot, branch)?,
                Node::Range(branch) => self.walk_range(dot, branch)?,
                Node::Template(call) => {
                    self.walk_call(dot, call)?;
                    Flow::Next
                }
                Node::Break => Flow::Break,
                Node::Continue => Flow::Continue,
            };
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn print(&mut self, value: &Value) -> Outcome<()> {
        match value {
            Value::Nil => self.write(b"<no value>"),
            Value::String(text) => self.write(text),
            other => {
                let remaining = self.core.budget.remaining();
                match sprint_within(std::slice::from_ref(other), remaining) {
                    Ok(text) => self.write(&text),
                    Err(_) => Err(self.limit(&self.core.budget.too_large())),
                }
            }
        }
    }

    fn walk_if(&mut self, dot: &Evaluated, branch: &'t Branch) -> Outcome<Flow> {
        if self.pipeline(dot, &branch.pipe)?.value.truth() {
            return self.walk_nested(dot, &branch.body);
        }
        self.walk_otherwise(dot, branch)
    }

    fn walk_with(&mut self, dot: &Evaluated, branch: &'t Branch) -> Outcome<Flow> {
        let value = self.pipeline(dot, &branch.pipe)?;
        if value.value.truth() {
            return self.walk_nested(&value, &branch.body);
        }
        self.walk_otherwise(dot, branch)
    }

    fn walk_otherwise(&mut self, dot: &Evaluated, branch: &'t Branch) -> Outcome<Flow> {
        match &branch.otherwise {
            Some(nodes) => self.walk_nested(dot, nodes),
            None => Ok(Flow::Next),
        }
    }

    fn walk_nested(&mut self, dot: &Evaluated, nodes: &'t [Node]) -> Outcome<Flow> {
        grow_stack(|| self.walk_list(dot, nodes))
    }

    fn walk_range(&mut self, dot: &Evaluated, branch: &'t Branch) -> Outcome<Flow> {
        let value = self.pipeline(dot, &branch.pipe)?.value;
        let any = match &value {
            Value::Nil => false,
            Value::Int(kind, count) => {
                self.check_range_variables(branch, &value)?;
                let items = (0..*count).map(|index| Value::Int(*kind, index));
                self.walk_items(
                    branch,
                    items.map(|item| (Value::Nil, Evaluated::concrete(item))),
                )?
            }
            Value::Uint(kind, count) => {
                self.check_range_variables(branch, &value)?;
                let items = (0..*count).map(|index| Value::Uint(*kind, index));
                self.walk_items(
                    branch,
                    items.map(|item| (Value::Nil, Evaluated::concrete(item))),
                )?
            }
            Value::List(list) => {
                let items = list.iter().enumerate().map(|(index, item)| {
                    let element = Evaluated::element(list.list_type(), item.clone());
                    (Value::int(index as i64), element)
                });
                self.walk_items(branch, items)?
            }
            Value::Map(map) => {
                let entry = |(key, value)| (Value::String(key), Evaluated::entry(map, value));
                self.walk_items(branch, map.entries().into_iter().map(entry))?
            }
            Value::Host(host) => match host.entries() {
                Some(entries) => {
                    let entry = |(key, value)| (key, Evaluated::concrete(value));
                    self.walk_items(branch, entries.into_iter().map(entry))?
                }
                None => return Err(self.cannot_iterate(&value)),
            },
            _ => return Err(self.cannot_iterate(&value)),
        };
        if any {
            return Ok(Flow::Next);
        }
        self.walk_otherwise(dot, branch)
    }

    fn cannot_iterate(&self, value: &Value) -> Failure {
        self.fail(format!("range can't iterate over {}", shown(value)))
    }

    fn check_range_variables(&self, branch: &Branch, value: &Value) -> Outcome<()> {
        if branch.pipe.declarations.len() < 2 {
            return Ok(());
        }
        let shown = shown(value);
        Err(self.fail(format!(
            "can't use {shown} to iterate over more than one variable"
        )))
    }

    /// Executes a body for each item. The result says whether there was one.
    fn walk_items(
        &mut self,
        branch: &'t Branch,
        items: impl Iterator<Item = (Value, Evaluated)>,
    ) -> Outcome<bool> {
        let mut any = false;
        for (key, element) in items {
            any = true;
            self.step()?;
            match branch.pipe.declarations.as_slice() {
                [] => {}
                [only] => self.assign(only, element.clone())?,
                [first, second, ..] => {
                    self.assign(first, Evaluated::concrete(key))?;
                    self.assign(second, element.clone())?;
                }
            }
            if self.walk_nested(&element, &branch.body)? == Flow::Break {
                break;
            }
        }
        Ok(any)
    }

    fn walk_call(&mut self, dot: &Evaluated, call: &'t Call) -> Outcome<()> {
        self.at = At::Call(call);
        let Some(tree) = self.core.find(&call.name) else {
            if self.core.has_foreign(&call.name) {
                return self.walk_foreign_call(dot, call);
            }
            let name = quoted(call.name.as_bytes());
            return Err(self.fail(format!("template {name} not defined")));
        };
        let depth = self
            .core
            .budget
            .enter()
            .map_err(|error| self.limit(&error))?;
        let dot = match &call.pipe {
            Some(pipe) => self.pipeline(dot, pipe)?,
            None => Evaluated::default(),
        };
        let result = grow_stack(|| Frame::run(self.core, &tree, self.out, &dot));
        self.core.budget.leave(depth);
        result
    }

    fn walk_foreign_call(&mut self, dot: &Evaluated, call: &'t Call) -> Outcome<()> {
        let dot = match &call.pipe {
            Some(pipe) => self.pipeline(dot, pipe)?,
            None => Evaluated::default(),
        };
        self.at = At::Call(call);
        match self.core.execute_foreign(&call.name, &dot.value) {
            Some(Ok(out)) => self.write(&out),
            Some(Err(error)) => Err(self.limit(&error)),
            None => Ok(()),
        }
    }

    pub(super) fn variable_mut(&mut self, slot: Option<usize>) -> Option<&mut Option<Evaluated>> {
        self.core.variables.get_mut(self.base + slot?)
    }
}

/// The end of a text that is too long for an error: nested errors would otherwise grow with the square of their depth.
fn last_part(text: &str) -> &str {
    let mut start = text.len().saturating_sub(MAX_ERROR_PART_BYTES);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

fn shown(value: &Value) -> String {
    String::from_utf8_lossy(&sprint(std::slice::from_ref(value))).into_owned()
}
