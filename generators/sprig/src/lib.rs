//! The Sprig and Helm template functions (`github.com/Masterminds/sprig` 3.3.0 as Helm uses it, and Helm's own).
//!
//! [`functions`] gives the table for a dialect. Each function has Go's signature, so that the engine checks arguments as Go's
//! reflection does, and the error and panic texts of its original. [`RenderEnvironment`] is what they get from outside.

// Implementations share one type, also those that cannot fail.
#![allow(clippy::unnecessary_wraps)]

mod base_encoding;
mod cases;
mod cast;
mod component;
mod crypto;
mod dates;
mod decimal;
mod declare;
mod defaults;
mod dicts;
mod encodings;
mod environment;
mod equality;
pub mod glob;
mod hashes;
mod json;
mod json_reader;
mod lists;
mod math;
mod merge;
mod network;
mod paths;
mod random;
mod regex;
mod runes;
mod search;
pub mod semver;
mod strings;
mod toml_reader;
mod toml_writer;
mod urls;
mod wrapping;
mod yaml;

/// Go's regular expressions, for everything that has to match as Go does.
pub mod expression {
    pub use crate::regex::{Program, ProgramError, SyntaxError};
}

pub use component::component_functions;
pub use environment::{COMPONENT_VALUE, CurrentTemplate, MAX_LOOKUPS, RenderEnvironment};
pub use urls::{is_absolute_url, url_host_and_path};

use whipstaff_gotemplate::{Dialect, Function, FunctionTable, core_functions};

/// The functions that templates of a Helm version may call, without the built-in ones of `text/template`.
pub fn functions(dialect: Dialect) -> FunctionTable {
    let mut table = FunctionTable::new();
    table.extend(core_functions());
    table.extend(strings::functions());
    table.extend(math::functions());
    table.extend(defaults::functions());
    table.extend(lists::functions());
    table.extend(dicts::functions());
    table.extend(codecs(dialect));
    table.extend(encodings::functions(dialect));
    table.extend(yaml::functions(dialect));
    table
}

/// Encodings, checksums, expressions, versions, dates, cryptography, and what depends on the environment.
fn codecs(dialect: Dialect) -> impl Iterator<Item = Function> {
    [
        base_encoding::functions(),
        crypto::functions(),
        dates::functions(dialect),
        hashes::functions(),
        network::functions(),
        paths::functions(),
        random::functions(),
        regex::functions(),
        semver::functions(dialect),
        urls::functions(),
    ]
    .into_iter()
    .flatten()
}
