//! Whatever values two files hold, reading and merging them does no harm, in any dialect.
#![no_main]

use libfuzzer_sys::fuzz_target;
use whipstaff_helm::{Dialect, merge_values, read_values, values_from_json};

fuzz_target!(|input: (&[u8], &[u8])| {
    for dialect in [Dialect::V3, Dialect::V4_3] {
        let (Ok(base), Ok(over)) = (read_values(input.0, dialect), read_values(input.1, dialect))
        else {
            continue;
        };
        let merged = merge_values(&values_from_json(&base), &values_from_json(&over));
        let again = merge_values(&merged, &values_from_json(&over));
        assert_eq!(merged.len(), again.len());
    }
});
