//! Go's regular expressions.
//!
//! Mirrors `regexp` and `regexp/syntax` of Go 1.26 and the `regex…` functions of Sprig 3.3: the syntax is RE2's, `\w`, `\d`, `\s`,
//! `\b` and the POSIX classes are ASCII, and a byte that is not UTF-8 is one U+FFFD. Matching itself is `regex-automata`'s, which
//! has the same leftmost-first choice and the same linear time.

mod class;
mod engine;
mod functions;
mod haystack;
mod parser;
mod program;

pub(crate) use class::compiled as class_hir;
pub(crate) use engine::Engine;
pub(crate) use functions::functions;
pub use parser::SyntaxError;
pub use program::{Program, ProgramError};
