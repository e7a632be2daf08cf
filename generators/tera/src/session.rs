//! One rendering of a Tera template, lent to the functions that Tera calls.

use crate::{
    arguments::{self, Argument},
    exchange::{Exchange, MAX_VALUE_BYTES},
};
use std::cell::Cell;
use tera::{Error, ErrorKind, Kwargs};
use whipstaff_gotemplate::{Function, FunctionError, Runtime, Signature, Value};

/// Native stack that a Tera template is rendered on.
pub(crate) const STACK_BYTES: usize = 64 * 1024 * 1024;

/// What an element of a list takes.
const ELEMENT_BYTES: usize = 32;

/// What it takes to know a list or map again.
const KEPT_BYTES: usize = 256;

/// What of it must be left when a body is entered.
const RESERVED_STACK_BYTES: usize = 4 * 1024 * 1024;

/// Most Tera templates inside of each other, with Go templates in between.
pub const MAX_NESTING: u32 = 32;

/// Elements that `range` makes at most, as in Tera itself.
pub const MAX_RANGE: u64 = 100_000;

thread_local! {
    static NESTING: Cell<u32> = const { Cell::new(0) };
}

scoped_tls_hkt::scoped_thread_local!(
    static mut SESSION: for<'a> &'a mut (dyn Lend + 'a)
);

/// Something that lends a session. It hides the lifetime of the rendering.
trait Lend {
    fn lend(&mut self, visit: &mut dyn FnMut(&mut Session<'_>));
}

impl Lend for Session<'_> {
    fn lend(&mut self, visit: &mut dyn FnMut(&mut Session<'_>)) {
        visit(self);
    }
}

/// What happens during one rendering of a Tera template.
pub(crate) struct Session<'r> {
    pub(crate) runtime: &'r mut dyn Runtime,
    pub(crate) exchange: Exchange,
    /// What the template is rendered with.
    pub(crate) context: Value,
    /// The failure that ended the rendering, for Tera keeps only its text.
    pub(crate) failure: Option<Failed>,
    /// The body that was entered last: number of the template, place in it.
    pub(crate) entered: (usize, usize),
}

/// A failure of what Tera called.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) error: FunctionError,
    pub(crate) by: By,
}

/// What failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// A function or filter.
    Function(&'static str),
    /// A guard on a value.
    Guard,
    /// A guard at the beginning of a body.
    Entering,
    /// What was to be printed is not defined.
    Undefined,
}

impl<'r> Session<'r> {
    pub(crate) fn new(runtime: &'r mut dyn Runtime, context: Value) -> Self {
        Self {
            runtime,
            exchange: Exchange::default(),
            context,
            failure: None,
            entered: (0, 0),
        }
    }

    /// Runs Tera with this session, on a stack of its own.
    pub(crate) fn run<T>(&mut self, step: impl FnOnce() -> T) -> Result<T, FunctionError> {
        let nesting = NESTING.get();
        if nesting >= MAX_NESTING {
            return Err(FunctionError::limit(format!(
                "Tera templates are nested deeper than {MAX_NESTING} times"
            )));
        }
        NESTING.set(nesting + 1);
        let lender: &mut dyn Lend = self;
        let result = whipstaff_gotemplate::with_stack(STACK_BYTES, || SESSION.set(lender, step));
        NESTING.set(nesting);
        Ok(result)
    }

    /// Calls a function with arguments as Tera gives them.
    pub(crate) fn call(
        &mut self,
        function: &Function,
        piped: Option<tera::Value>,
        arguments: &Kwargs,
    ) -> Result<tera::Value, FunctionError> {
        self.runtime.step(1)?;
        let arguments = arguments::positional(function.name, piped, arguments)?;
        let values = self.values(function.signature, arguments)?;
        let values = arguments::typed(function.name, function.signature, values)?;
        let result = (function.call)(&mut *self.runtime, &values)?;
        self.give(&result)
    }

    /// A result for Tera. What is kept of it counts, for templates decide how often they call.
    fn give(&mut self, result: &Value) -> Result<tera::Value, FunctionError> {
        let kept = self.exchange.kept();
        let given = self.exchange.give(result, &mut *self.runtime)?;
        self.charge_kept(kept)?;
        Ok(given)
    }

    fn charge_kept(&mut self, before: usize) -> Result<(), FunctionError> {
        let new = self.exchange.kept().saturating_sub(before);
        self.runtime.charge(new.saturating_mul(KEPT_BYTES))
    }

    pub(crate) fn values(
        &mut self,
        signature: Signature,
        arguments: Vec<Argument>,
    ) -> Result<Vec<Value>, FunctionError> {
        let mut values = Vec::with_capacity(arguments.len());
        for (index, argument) in arguments.into_iter().enumerate() {
            let is_text =
                signature.parameters.get(index) == Some(&whipstaff_gotemplate::Type::String);
            values.push(match argument {
                Argument::Given(value) => self.exchange.take(&value, &mut *self.runtime)?,
                Argument::Context => self.context.clone(),
                Argument::Empty if is_text => Value::from(""),
                Argument::Empty => Value::Nil,
            });
        }
        Ok(values)
    }

    /// Calls a method of a host object.
    pub(crate) fn call_method(
        &mut self,
        object: &Value,
        name: &str,
        arguments: Vec<Value>,
    ) -> Result<tera::Value, FunctionError> {
        self.runtime.step(1)?;
        let result = call_method(&mut *self.runtime, object, name, arguments)?;
        self.give(&result)
    }

    /// A body begins.
    pub(crate) fn enter(
        &mut self,
        template: usize,
        at: usize,
        text: usize,
    ) -> Result<(), FunctionError> {
        self.entered = (template, at);
        self.runtime.step(1)?;
        self.runtime.charge(text)?;
        match stacker::remaining_stack() {
            Some(left) if left < RESERVED_STACK_BYTES => Err(FunctionError::limit(format!(
                "templates, blocks and components are nested too deep for a stack of {STACK_BYTES} bytes"
            ))),
            _ => Ok(()),
        }
    }

    /// A loop over a value begins.
    pub(crate) fn iterate(&mut self, value: &tera::Value) -> Result<(), FunctionError> {
        let length = value.as_str().map(str::len).or_else(|| value.len());
        let length = length.ok_or_else(|| {
            FunctionError::new(format!("iteration over `{}` is not possible", value.name()))
        })?;
        self.runtime.step(length as u64)
    }

    /// A value becomes a variable.
    pub(crate) fn bound(&mut self, value: &tera::Value) -> Result<(), FunctionError> {
        self.pass(value)?;
        let kept = self.exchange.kept();
        let weight = self.exchange.weigh(value, true, &mut *self.runtime)?;
        self.charge_kept(kept)?;
        let is_new = self.exchange.origin(value).is_none();
        if is_new && weight.bytes > MAX_VALUE_BYTES {
            return Err(FunctionError::limit(format!(
                "a variable takes more than {MAX_VALUE_BYTES} bytes"
            )));
        }
        Ok(())
    }

    /// A value becomes a part of another, or goes into a filter: what it holds is shared.
    pub(crate) fn pass(&mut self, value: &tera::Value) -> Result<(), FunctionError> {
        let length = match value.as_str() {
            Some(text) => text.len(),
            None => value.len().unwrap_or(0).saturating_mul(ELEMENT_BYTES),
        };
        self.runtime.charge(length)
    }

    /// The text of a value is written, or becomes a part of another.
    pub(crate) fn produce(&mut self, value: &tera::Value) -> Result<(), FunctionError> {
        let bytes = match value.as_str().map(str::len) {
            Some(length) => length as u64,
            None => self.exchange.weigh(value, false, &mut *self.runtime)?.bytes,
        };
        self.runtime
            .charge(usize::try_from(bytes).unwrap_or(usize::MAX))
    }
}

/// Calls a method of a host object with arguments by position.
pub(crate) fn call_method(
    runtime: &mut dyn Runtime,
    object: &Value,
    name: &str,
    arguments: Vec<Value>,
) -> Result<Value, FunctionError> {
    let type_name = object.type_name();
    let none = || FunctionError::new(format!("{type_name} has no method `{name}`"));
    let Value::Host(host) = object else {
        return Err(none());
    };
    let method = host.method(name).ok_or_else(none)?;
    let arguments = arguments::typed(name, method.signature, arguments)?;
    (method.call)(&**host, runtime, &arguments)
}

/// Does something with the session of the rendering that Tera is in.
pub(crate) fn in_session<T>(
    by: By,
    step: impl FnOnce(&mut Session<'_>) -> Result<T, FunctionError>,
) -> Result<T, Error> {
    if !SESSION.is_set() {
        return Err(Error::message("called outside of a rendering"));
    }
    let mut step = Some(step);
    let mut result = None;
    SESSION.with(|lender| {
        lender.lend(&mut |session| {
            let Some(step) = step.take() else { return };
            result = Some(step(session).map_err(|error| {
                let message = error.message.clone();
                session.failure = Some(Failed { error, by });
                match by {
                    // Tera reports this kind at the value, and others at the filter.
                    By::Guard | By::Undefined => Error::new(ErrorKind::InvalidArgument {
                        expected_type: String::new(),
                        actual_type: String::new(),
                    }),
                    By::Function(_) | By::Entering => Error::message(message),
                }
            }));
        });
    });
    result.unwrap_or_else(|| Err(Error::message("called outside of a rendering")))
}
