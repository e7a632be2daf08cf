//! The chart that installs the operator says the same to everybody: to our own engine, and to the real helm 3 and 4.

#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a test that cannot go on has failed"
)]

use std::path::Path;
use std::process::Command;
use whipstaff_test_support::Helm;

/// Arguments that between them reach every template of the chart.
const CASES: &[&[&str]] = &[
    &[],
    &["--include-crds"],
    &[
        "--set",
        "replicas=2,metrics.serviceMonitor.enabled=true,podDisruptionBudget.enabled=true",
    ],
    &[
        "--set",
        "rbac.clusterAdmin=false,serviceAccount.create=false,serviceAccount.name=me",
    ],
    &[
        "--set",
        "leaderElection.enabled=false,nameOverride=other,defaultServiceAccount=deployer",
    ],
];

fn render(program: &Path, dialect: Option<&str>, arguments: &[&str]) -> String {
    let chart = Path::new(env!("CARGO_MANIFEST_DIR")).join("charts/whipstaff");
    let mut command = Command::new(program);
    command
        .args(["template", "whipstaff"])
        .arg(chart)
        .args(["-n", "whipstaff-system"]);
    command.args(arguments);
    if let Some(dialect) = dialect {
        command.args(["--dialect", dialect]);
    }
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn install_chart_renders_to_the_same_bytes_as_with_helm() {
    let ours = Path::new(env!("CARGO_BIN_EXE_whipstaff"));
    let peers = [(Helm::V3, "v3"), (Helm::V4, "v4.3")];
    for (helm, dialect) in peers {
        let program = helm.program().unwrap();
        for arguments in CASES {
            let expected = render(&program, None, arguments);
            assert!(expected.contains("kind: Deployment"));
            assert_eq!(
                render(ours, Some(dialect), arguments),
                expected,
                "{dialect} {arguments:?}"
            );
        }
    }
}
