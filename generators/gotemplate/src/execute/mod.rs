//! Execution of `text/template` (Go 1.26, `text/template/exec.go`).
//!
//! ```text
//! Renderer ── Core (budget, includes, tpl overlays: what functions see as Runtime)
//!                └── Frame (one template being executed: output, variables, where it is)
//!                       └── evaluate ─► field, call ─► builtins, functions, methods
//! ```

mod arguments;
mod budget;
mod builtins;
mod call;
mod compare;
mod complex;
mod core;
mod escape;
mod evaluate;
mod evaluated;
mod failure;
mod field;
mod frame;
mod helm;
mod index;
mod methods;
mod set;

pub use failure::ExecuteError;
pub use helm::core_functions;
pub use set::{ForeignTemplates, TemplateSet};

use crate::{Environment, Options, Value};
use core::Core;
pub use core::without_no_value;
use whipstaff_generator::Limits;

/// One rendering of a template set: it keeps the budget, the nesting of includes and the cache of `tpl` texts from template to
/// template.
#[derive(Debug)]
pub struct Renderer<'a> {
    core: Core<'a>,
}

impl<'a> Renderer<'a> {
    /// Starts a rendering.
    pub fn new(
        set: &'a TemplateSet,
        environment: &'a mut dyn Environment,
        options: Options,
    ) -> Self {
        Self {
            core: Core::new(set, environment, options),
        }
    }

    /// Executes a template with a value as its dot.
    ///
    /// # Errors
    /// [`ExecuteError`] with Go's text; output up to there is dropped.
    pub fn render(&mut self, name: &str, dot: &Value) -> Result<Vec<u8>, ExecuteError> {
        self.core.render(name, dot)
    }

    /// What this rendering has left of its limits, for another one that is a part of the same work.
    pub fn remaining(&self) -> Limits {
        self.core.budget.left()
    }
}
