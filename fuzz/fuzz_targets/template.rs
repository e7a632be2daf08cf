//! No text makes the template parser panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::Arc;
use whipstaff_gotemplate::{Dialect, TemplateSet};

fuzz_target!(|source: &[u8]| {
    let mut set = TemplateSet::new(Arc::new(whipstaff_sprig::functions(Dialect::V4_3)));
    let _ = set.parse("fuzz", source);
});
