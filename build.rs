//! How the program is linked.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |key: &str, value: &str| env::var(key).is_ok_and(|found| found == value);
    // A position-independent program spends its first millisecond on rewriting a megabyte of tables of addresses, and keeps it in
    // memory: as much as rendering a small chart takes. Programs in Go, Helm and kubectl among them, are linked at a fixed place for
    // the same reason. Stack, heap and libraries stay at random addresses, and no code here is unsafe.
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
