//! How the binary is linked.

use std::{env, fs};

/// What a C library that applies packed relocations says of itself.
const APPLIES_PACKED: &[u8] = b"GLIBC_ABI_DT_RELR";
/// Where systems have their C library.
const FOLDERS: &[&str] = &[
    "/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/usr/lib",
    "/lib",
];

/// A position-independent binary of this size has a megabyte of relocations, which every start reads. Packed they are a few pages.
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let variable = |name| env::var(name).unwrap_or_default();
    let is_glibc =
        variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu";
    // Another machine's C library cannot be looked at.
    if is_glibc && variable("HOST") == variable("TARGET") && applies_packed() {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

fn applies_packed() -> bool {
    let libraries = FOLDERS.iter().map(|folder| format!("{folder}/libc.so.6"));
    let mut contents = libraries.filter_map(|path| fs::read(path).ok());
    contents.next().is_some_and(|library| {
        let mut windows = library.windows(APPLIES_PACKED.len());
        windows.any(|window| window == APPLIES_PACKED)
    })
}
