//! How the program is linked.

use std::{
    env,
    ffi::OsString,
    fs,
    path::Path,
    process::{Command, Stdio},
};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |key: &str, value: &str| env::var(key).is_ok_and(|found| found == value);
    if !(is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu")) {
        return;
    }
    // A position-independent program spends its first millisecond on rewriting a megabyte of tables of addresses, and keeps it in
    // memory: as much as rendering a small chart takes. Programs in Go, Helm and kubectl among them, are linked at a fixed place for
    // the same reason. Stack, heap and libraries stay at random addresses, and no code here is unsafe.
    println!("cargo::rustc-link-arg-bins=-no-pie");
    let options = [
        Some(WRITTEN_AS_A_FILE.to_owned()),
        unwinder_inside(),
        side_by_side(),
    ];
    for option in options.iter().flatten() {
        if linker_takes(option).is_some() {
            println!("cargo::rustc-link-arg-bins={option}");
        }
    }
}

/// A linker that writes through a mapping leaves the program in the kernel's cache page by page, and every page is then mapped by
/// itself when the program starts; what is written as a file lies there in large pieces. A fifth of a short command's time.
/// Only LLVM's linker knows the option, and only it needs it. Its version 22 takes the option for its opposite, which
/// `--no-mmap-output-file` would be by name; one that takes it by its name does what it does anyway.
const WRITTEN_AS_A_FILE: &str = "-Wl,--mmap-output-file";

/// One library less to find, map and bind in each start, a twentieth of a short command's time: who asks for `libgcc_s` gets what
/// is in it as a part of the program, by a linker script that is found first.
fn unwinder_inside() -> Option<String> {
    let folder = Path::new(&env::var_os("OUT_DIR")?).join("libraries");
    fs::create_dir_all(&folder).ok()?;
    fs::write(folder.join("libgcc_s.so"), "INPUT(-lgcc_eh)\n").ok()?;
    Some(format!("-L{}", folder.to_str()?))
}

/// Functions that short commands run lie side by side, instead of all over thirty megabytes: less to map, and two megabytes less in
/// memory. `link-order/record.py` says how the list is made, and what becomes of names that are not found.
fn side_by_side() -> Option<String> {
    const LIST: &str = "link-order/symbols.txt";
    println!("cargo::rerun-if-changed={LIST}");
    let path = Path::new(&env::var_os("CARGO_MANIFEST_DIR")?).join(LIST);
    let path = path.to_str()?;
    Some(format!(
        "-Wl,--symbol-ordering-file={path},--no-warn-symbol-ordering"
    ))
}

/// Links an empty program with an option, as the real one will be linked. Nothing if that fails.
fn linker_takes(option: &str) -> Option<()> {
    let folder = env::var_os("OUT_DIR")?;
    let folder = Path::new(&folder);
    let source = folder.join("probe.rs");
    fs::write(&source, "fn main() {}").ok()?;
    let mut command = Command::new(env::var_os("RUSTC")?);
    command.arg("--target").arg(env::var_os("TARGET")?);
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        let mut setting = OsString::from("-Clinker=");
        setting.push(linker);
        command.arg(setting);
    }
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    command.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
    let status = command
        .arg(format!("-Clink-arg={option}"))
        .arg("-o")
        .arg(folder.join("probe"))
        .arg(source)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .ok()?;
    status.success().then_some(())
}
