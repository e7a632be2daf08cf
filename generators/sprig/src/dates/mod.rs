//! Times, zones and durations.
//!
//! Mirrors Go's `time` 1.26, the date functions of Sprig 3.3 and the duration functions of Helm 4.3. The local zone is UTC, as in
//! a container that sets none, and zones come from the database that is compiled in. Times have no monotonic reading: a printed
//! `now` lacks the `m=+0.012` that Go appends.

mod calendar;
mod duration;
mod duration_functions;
mod functions;
mod host;
mod layout;
mod read;
mod time;
mod write;
mod zone;

use whipstaff_gotemplate::{Dialect, Function};

/// The functions of this module.
pub(crate) fn functions(dialect: Dialect) -> Vec<Function> {
    let mut functions = functions::functions();
    if dialect >= Dialect::V4_3 {
        functions.extend(duration_functions::functions());
    }
    functions
}

/// A moment of UTC and a duration later, as `YYYYMMDDhhmmss`.
pub(crate) fn compact_utc(unix: i64, nanoseconds: u32, later: i64) -> String {
    let time = time::Time::from_unix(unix, nanoseconds)
        .add(later)
        .within(zone::Zone::Utc);
    String::from_utf8_lossy(&write::write(&time, b"20060102150405")).into_owned()
}
