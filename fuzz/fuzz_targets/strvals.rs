//! No text after `--set` and its relatives makes reading it panic, and what it makes of values can be read and merged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use whipstaff_helm::{Assignment, Dialect, assign, assign_json, merge_values, values_from_json};

fuzz_target!(|input: (u8, &str)| {
    let (kind, text) = input;
    let dialect = if kind & 0x80 == 0 {
        Dialect::V3
    } else {
        Dialect::V4_3
    };
    let into = merge_values(
        &values_from_json(&serde_json::Map::new()),
        &values_from_json(&serde_json::Map::new()),
    );
    let mut read = |path: &str| Ok(path.to_owned());
    let _ = match kind % 6 {
        0 => assign(text, &into, Assignment::Typed, dialect),
        1 => assign(text, &into, Assignment::Text, dialect),
        2 => assign(text, &into, Assignment::File(&mut read), dialect),
        3 => assign(text, &into, Assignment::Json, dialect),
        4 => assign(text, &into, Assignment::Literal, dialect),
        _ => assign_json(text, &into, dialect).map(drop),
    };
    let _ = merge_values(&into, &into);
});
