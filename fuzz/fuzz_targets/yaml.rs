//! Whatever YAML is read, is written and read again to the same value.
#![no_main]

use libfuzzer_sys::fuzz_target;
use whipstaff_generator::yaml;

fuzz_target!(|text: &str| {
    if let Ok(value) = yaml::from_str(text) {
        let written = yaml::to_string(&value);
        assert_eq!(yaml::from_str(&written).ok(), Some(value));
    }
});
