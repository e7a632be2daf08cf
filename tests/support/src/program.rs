//! Builds the Go programs once for each content of their modules.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use crate::{Error, Helm, Progress};

/// The version that the API server says it is; the one that `tests/controlplane/go.mod` requires.
const KUBERNETES: (&str, &str, &str) = ("1", "36", "v1.36.3");
/// Without these helm 3 says that it is another version and renders for Kubernetes 1.20.
const HELM3_FLAGS: &str = "-s -w -X helm.sh/helm/v3/internal/version.version=v3.22.0 \
    -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1 -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=37 \
    -X helm.sh/helm/v3/pkg/lint/rules.k8sVersionMajor=1 -X helm.sh/helm/v3/pkg/lint/rules.k8sVersionMinor=37";
/// How many lines of a failed build an error carries.
const OUTPUT_LINES: usize = 40;
/// How often a long build says that it is still at it.
const REPORT_EVERY: Duration = Duration::from_secs(10);
/// Hexadecimal digits of the content's hash that name a folder.
const HASH_DIGITS: usize = 16;

/// A Go module that gives one program.
struct Module {
    folder: PathBuf,
    /// The main package, as `go build` takes it.
    package: &'static str,
    binary: String,
    what: &'static str,
    /// Folders of the module that are modules of their own, or output.
    apart: &'static [&'static str],
    linker_flags: String,
    /// A `go.mod` elsewhere that says which versions of modules are meant, with its `go.sum`.
    of_modules: Option<PathBuf>,
}

/// The program that holds all parts of the control plane, built if need be.
pub(crate) fn control_plane(progress: Progress) -> Result<PathBuf, Error> {
    build_once(
        &Module {
            folder: modules_folder().join("controlplane"),
            package: ".",
            binary: "controlplane".to_owned(),
            what: "etcd, kube-apiserver, kube-controller-manager, kube-scheduler and KWOK",
            apart: &["supervisor", "bin"],
            linker_flags: version_flags(),
            of_modules: None,
        },
        progress,
    )
}

/// The program that starts the parts and stops them, built if need be.
pub(crate) fn supervisor(progress: Progress) -> Result<PathBuf, Error> {
    build_once(
        &Module {
            folder: modules_folder().join("controlplane/supervisor"),
            package: ".",
            binary: "supervisor".to_owned(),
            what: "the supervisor of the control plane",
            apart: &[],
            linker_flags: "-s -w".to_owned(),
            of_modules: None,
        },
        progress,
    )
}

/// The real `helm` of a version, built if need be.
pub(crate) fn helm(version: Helm, progress: Progress) -> Result<PathBuf, Error> {
    let package = match version {
        Helm::V3 => "helm.sh/helm/v3/cmd/helm",
        _ => "helm.sh/helm/v4/cmd/helm",
    };
    build_once(&helm_module(version, package, ""), progress)
}

/// The program that renders templates one by one with the engine of a `helm`, built if need be.
pub(crate) fn expressions(version: Helm, progress: Progress) -> Result<PathBuf, Error> {
    build_once(
        &helm_module(version, "./expressions", "-expressions"),
        progress,
    )
}

/// The real `kustomize`, built if need be.
pub(crate) fn kustomize(progress: Progress) -> Result<PathBuf, Error> {
    build_once(
        &Module {
            folder: modules_folder().join("peers/kustomize"),
            package: "sigs.k8s.io/kustomize/kustomize/v5",
            binary: "kustomize".to_owned(),
            what: "kustomize 5.8",
            apart: &[],
            linker_flags: "-s -w".to_owned(),
            of_modules: None,
        },
        progress,
    )
}

fn helm_module(version: Helm, package: &'static str, suffix: &str) -> Module {
    let (folder, what, flags) = match version {
        Helm::V3 => ("helm3", "helm 3.22", HELM3_FLAGS.to_owned()),
        Helm::V4_1 => ("helm41", "helm 4.1", helm4_flags("v4.1.4")),
        Helm::V4_2 => ("helm42", "helm 4.2", helm4_flags("v4.2.4")),
        Helm::V4 => ("helm4", "helm 4.3", helm4_flags("v4.3.1")),
    };
    // The sources for all of Helm 4 are the same; only what they are built with is not.
    let of_modules = matches!(version, Helm::V4_1 | Helm::V4_2)
        .then(|| modules_folder().join("peers").join(folder).join("go.mod"));
    let sources = if of_modules.is_some() {
        "helm4"
    } else {
        folder
    };
    Module {
        folder: modules_folder().join("peers").join(sources),
        package,
        binary: format!("{folder}{suffix}"),
        what,
        apart: &[],
        linker_flags: flags,
        of_modules,
    }
}

fn helm4_flags(version: &str) -> String {
    format!("-s -w -X helm.sh/helm/v4/internal/version.version={version}")
}

fn modules_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Cargo's target folder: where the variable says, now or when this was compiled, or else in the
/// workspace.
fn target_folder() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR")
        .map(PathBuf::from)
        .or_else(|| option_env!("CARGO_TARGET_DIR").map(PathBuf::from))
        .filter(|folder| folder.is_absolute())
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"))
}

/// Without these `/version` answers `v0.0.0-master`, and charts that ask for the version go wrong.
fn version_flags() -> String {
    let (major, minor, version) = KUBERNETES;
    let mut flags = "-s -w".to_owned();
    for package in [
        "k8s.io/component-base/version",
        "k8s.io/client-go/pkg/version",
    ] {
        for (variable, value) in [
            ("gitMajor", major),
            ("gitMinor", minor),
            ("gitVersion", version),
        ] {
            let _ = write!(flags, " -X {package}.{variable}={value}");
        }
    }
    flags
}

fn build_once(module: &Module, progress: Progress) -> Result<PathBuf, Error> {
    let folder = target_folder()
        .join("controlplane")
        .join(content_hash(module)?);
    let binary = folder.join(&module.binary);
    if binary.exists() {
        return Ok(binary);
    }
    fs::create_dir_all(&folder).map_err(Error::file("create", &folder))?;
    let lock_path = folder.join("lock");
    let lock = File::create(&lock_path).map_err(Error::file("create", &lock_path))?;
    if lock.try_lock().is_err() {
        progress.say(&format!(
            "waiting for another process that builds {}",
            module.what
        ));
        lock.lock().map_err(Error::file("lock", &lock_path))?;
    }
    if !binary.exists() {
        build(module, &folder, progress)?;
    }
    Ok(binary)
}

fn build(module: &Module, folder: &Path, progress: Progress) -> Result<(), Error> {
    let began = Instant::now();
    progress.say(&format!("building {} from Go modules, once", module.what));
    // An interrupted build must not leave something that looks finished.
    let unfinished = folder.join(format!("{}.unfinished", module.binary));
    let elsewhere = module.of_modules.iter().map(|file| {
        let mut flag = OsString::from("-modfile=");
        flag.push(file);
        flag
    });
    let mut go = Command::new("go")
        .arg("build")
        .args(elsewhere)
        .args([
            "-v",
            "-trimpath",
            "-buildvcs=false",
            "-ldflags",
            &module.linker_flags,
        ])
        .arg("-o")
        .args([unfinished.as_os_str(), module.package.as_ref()])
        .current_dir(&module.folder)
        .env("CGO_ENABLED", "0")
        .env("GOWORK", "off")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(Error::GoMissing)?;
    let output = go
        .stderr
        .take()
        .map(|lines| follow(lines, began, progress))
        .unwrap_or_default();
    let status = go.wait().map_err(Error::GoMissing)?;
    if !status.success() {
        return Err(Error::Build {
            module: module.folder.clone(),
            output,
        });
    }
    let binary = folder.join(&module.binary);
    fs::rename(&unfinished, &binary).map_err(Error::file("create", &binary))?;
    progress.say(&format!(
        "built {} in {} s",
        module.what,
        began.elapsed().as_secs()
    ));
    Ok(())
}

/// Reads what `go build -v` writes, one package a line as it is done, and returns the last lines.
fn follow(output: impl std::io::Read, began: Instant, progress: Progress) -> String {
    let mut last = VecDeque::with_capacity(OUTPUT_LINES);
    let mut reported = Instant::now();
    for (count, line) in BufReader::new(output)
        .lines()
        .map_while(Result::ok)
        .enumerate()
    {
        if reported.elapsed() >= REPORT_EVERY {
            reported = Instant::now();
            let seconds = began.elapsed().as_secs();
            progress.say(&format!("  {count} packages after {seconds} s, now {line}"));
        }
        if last.len() == OUTPUT_LINES {
            last.pop_front();
        }
        last.push_back(line);
    }
    Vec::from(last).join("\n")
}

fn content_hash(module: &Module) -> Result<String, Error> {
    let mut files = Vec::new();
    collect_files(&module.folder, module.apart, &mut files)?;
    if let Some(file) = &module.of_modules {
        files.extend([file.clone(), file.with_extension("sum")]);
    }
    files.sort();
    let mut hash = Sha256::new();
    for part in [
        std::env::consts::OS,
        std::env::consts::ARCH,
        &module.linker_flags,
    ] {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    for path in files {
        let content = fs::read(&path).map_err(Error::file("read", &path))?;
        let name = path.strip_prefix(&module.folder).unwrap_or(&path);
        hash.update(name.as_os_str().as_encoded_bytes());
        hash.update([0]);
        hash.update(content.len().to_le_bytes());
        hash.update(content);
    }
    let mut digits = String::new();
    for byte in hash.finalize().iter().take(HASH_DIGITS / 2) {
        let _ = write!(digits, "{byte:02x}");
    }
    Ok(digits)
}

fn collect_files(folder: &Path, apart: &[&str], files: &mut Vec<PathBuf>) -> Result<(), Error> {
    for entry in fs::read_dir(folder).map_err(Error::file("read", folder))? {
        let entry = entry.map_err(Error::file("read", folder))?;
        let kind = entry
            .file_type()
            .map_err(Error::file("read", entry.path()))?;
        if kind.is_file()
            && entry
                .path()
                .extension()
                .is_none_or(|extension| extension != "md")
        {
            files.push(entry.path());
        } else if kind.is_dir() && !apart.iter().any(|name| entry.file_name() == *name) {
            collect_files(&entry.path(), &[], files)?;
        }
    }
    Ok(())
}
