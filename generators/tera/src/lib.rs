//! Tera templates (Tera 2.4) beside Go templates: the same values, the same functions, the same budgets.
//!
//! ```text
//! TeraSource ── TeraTemplates::compile ──► TeraTemplates (ForeignTemplates of a TemplateSet)
//!                  scan ► guard ► Tera            │ render (name, data, Runtime)
//!                                                 ▼
//!     Go template ── include "x.tera" . ──►  Session ◄── function, filter, guard ── Tera
//!                 ◄── include(name="…") ───       └── Exchange (values both ways)
//! ```
//!
//! [`TeraTemplates`] is given to a [`TemplateSet`](whipstaff_gotemplate::TemplateSet) with `set_foreign`; from then on a
//! [`Renderer`](whipstaff_gotemplate::Renderer) renders them by name like Go templates, and Go templates include them.
//!
//! # What a template sees
//!
//! The entries of the map that it is rendered with are its variables: `Values`, `Release`, `Chart`, `Capabilities`, `Files`,
//! `Subcharts` and `Template` in a chart. `dot` is the whole, as Go's `.` is; a template that is included with something else than a
//! map has nothing but `dot`. Host objects are maps of their fields or files (`Chart.Name`, `Files["a.txt"]`,
//! `"apps/v1" in Capabilities.APIVersions`), those without fields are their text. Values do not change while a template runs: what a
//! function changes in a map is seen by the templates after it, and in what the function returns.
//!
//! # Functions
//!
//! Each function of the table, and `printf`, is a Tera function and a Tera filter under its own name. Tera names its arguments and Go
//! does not, hence:
//!
//! | call | arguments |
//! |---|---|
//! | `trunc(args=[63, name])` | all by position |
//! | <code>name &#124; trunc(args=&#91;63&#93;)</code> | what is piped comes last, as in a Go pipeline |
//! | <code>name &#124; trunc(n=63)</code> | a single one may have any name |
//! | `include(name="x", context=Values)`, `tpl(text=…, context=…)` | these have names; without `context` they get all of the template's own |
//! | `required(message=…, value=…)`, `lookup(api_version=…, kind=…, namespace=…, name=…)` | these, too |
//!
//! Where Tera has a filter of the same name (`default`, `trim`, `replace`, `indent`, `join`, `first`, …), the filter is Tera's, and
//! Go's is meant when the arguments are given as `args=[…]`; a function is always Go's, except for Tera's own `range` and `throw`.
//! A number is converted to the kind that a function takes if nothing of it is lost.
//!
//! Methods of host objects: `files_get(path=…)`, `files_bytes`, `files_glob(pattern=…)`, `files_lines(path=…)`, `files_as_config()`,
//! `files_as_secrets()` (of `Files`, or of what is piped), `has_api_version(version=…)`, and for any other
//! `object | method(name="Compare", args=[…])`.
//!
//! # Including
//!
//! `{% include %}` and `{% extends %}` name templates of the same scope, by whole name or by a path from the folder of the file or one
//! above it. `include(name=…)` renders any template of the rendering, Go's or Tera's. For Go templates
//! `include "file.tera" .` renders a Tera template, `include "file.tera#part" .` a block or component of it.
//!
//! # Limits
//!
//! Steps, output, nesting and time come from the rendering and are shared with its Go templates. Tera itself counts none of them, so
//! sources are compiled with guards in them, which count: elements that a loop or comprehension goes over, bodies that are entered, text
//! and values that are written or captured, and what is put into variables, concatenated, spread, sliced or piped. Besides:
//!
//! | limit | error |
//! |---|---|
//! | [`MAX_VALUE_BYTES`] for a variable that a template makes | a variable takes more than … bytes |
//! | [`MAX_VALUE_DEPTH`] for any value | a value is nested deeper than … levels |
//! | [`MAX_NESTING`] of Tera templates with Go templates in between | Tera templates are nested deeper than … times |
//! | [`MAX_RANGE`] for `range` | a range has more than … elements |
//! | 20 components inside of each other, 40 nested tags or brackets, 256 operators in a tag, with the guards on them | Tera's own |
//! | 64 MiB of native stack | templates, blocks and components are nested too deep |
//!
//! What cannot be bounded exactly: a single operation of Tera's, such as comparing two large values or sorting one, is not
//! interrupted; the time is looked at when it ends. Its operands have been counted, so that it cannot take more memory than the budget
//! of the output allows, a few times over. Text counts when the body that it stands in is entered, with both branches of an `if`.
//!
//! # Left out
//!
//! Nothing escapes HTML. There is no file system, clock, randomness or environment but that of the rendering. `__tera_context`, whose
//! order changes from run to run, and names that begin with `__guard_` or `__go_` are refused; `group_by` keeps the order of its input.

mod arguments;
mod edit;
mod exchange;
mod expression;
mod failure;
mod functions;
mod guard;
mod scan;
mod session;
mod templates;

pub use exchange::{MAX_VALUE_BYTES, MAX_VALUE_DEPTH};
pub use session::{MAX_NESTING, MAX_RANGE};
pub use templates::{DOT, SUFFIX, TeraCompileError, TeraSource, TeraTemplates};
