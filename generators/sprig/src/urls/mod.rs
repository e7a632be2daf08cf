//! `urlParse` and `urlJoin`.
//!
//! Mirrors Go's `net/url` 1.26 and Sprig 3.3.

mod escape;
mod functions;
mod url;

pub(crate) use functions::functions;
