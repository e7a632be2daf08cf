//! No bytes make the chart loader panic, or give a path that leaves the archive.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(files) = whipstaff_helm::unpack_chart_archive(bytes) {
        let _ = whipstaff_helm::load(&files, whipstaff_helm::Dialect::default());
    }
});
