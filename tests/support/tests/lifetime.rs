//! How a control plane begins and ends. Processes are looked up in `/proc`.
#![cfg(target_os = "linux")]
#![allow(
    clippy::expect_used,
    reason = "functions that tests share are tests, too"
)]

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use whipstaff_test_support::{ControlPlane, ControlPlaneOptions, Parts};

const LIMIT: Duration = Duration::from_secs(20);

/// A process that holds a control plane, and what it said of it.
fn holder() -> (Child, Value) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_control-plane"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the holder starts");
    let mut line = String::new();
    let output = child.stdout.take().expect("an output");
    BufReader::new(output).read_line(&mut line).expect("a line");
    let said = serde_json::from_str(&line).expect("a line of JSON");
    (child, said)
}

fn process_ids(said: &Value) -> Vec<u64> {
    let processes = said["processes"].as_object().expect("processes");
    processes
        .values()
        .map(|id| id.as_u64().expect("a process id"))
        .collect()
}

/// Whether the process runs; a zombie that nobody has asked after does not.
fn runs(id: u64) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let state = status
        .rsplit_once(") ")
        .map(|(_, rest)| rest.chars().next());
    !matches!(state, None | Some(None | Some('Z' | 'X')))
}

fn until(what: &str, reached: impl Fn() -> bool) {
    let began = Instant::now();
    while !reached() {
        assert!(began.elapsed() < LIMIT, "waited in vain until {what}");
        std::thread::yield_now();
    }
}

#[test]
fn killed_owner_leaves_neither_processes_nor_files() {
    let (mut owner, said) = holder();
    let ids = process_ids(&said);
    let folder = PathBuf::from(said["dataFolder"].as_str().expect("a path"));
    assert_eq!(ids.len(), 6, "five parts and their supervisor: {said}");
    assert!(ids.iter().all(|id| runs(*id)));
    assert!(folder.is_dir());

    owner.kill().expect("it is killed");
    owner.wait().expect("it has ended");

    until("all processes are gone", || !ids.iter().any(|id| runs(*id)));
    until("the data folder is gone", || !folder.exists());
}

#[test]
fn owner_that_stops_waits_until_nothing_is_left() {
    let (mut owner, said) = holder();
    drop(owner.stdin.take());
    assert!(owner.wait().expect("it ends").success());
    assert!(!process_ids(&said).iter().any(|id| runs(*id)));
    assert!(!Path::new(said["dataFolder"].as_str().expect("a path")).exists());
}

#[tokio::test]
async fn plane_of_the_api_only_runs_no_other_part() {
    let options = ControlPlaneOptions {
        parts: Parts::api_only(),
        ..Default::default()
    };
    let plane = ControlPlane::start(options).await.expect("it starts");
    let names: Vec<_> = plane.processes().into_keys().collect();
    assert_eq!(names, ["etcd", "kube-apiserver", "supervisor"]);
    assert_eq!(plane.node(), None);
    let version = plane.client().apiserver_version().await.expect("a version");
    assert_eq!(
        (version.major.as_str(), version.git_version.get(..3)),
        ("1", Some("v1."))
    );
    let folder = plane.data_folder().to_owned();
    plane.stop().await;
    assert!(!folder.exists());
}

#[test]
fn missing_part_of_the_given_assets_is_named() {
    let empty = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let output = Command::new(env!("CARGO_BIN_EXE_control-plane"))
        .env("KUBEBUILDER_ASSETS", &empty)
        .stdin(Stdio::null())
        .output()
        .expect("the program runs");
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("there is no program `etcd` in the folder"),
        "{said}"
    );
}
