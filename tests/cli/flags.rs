//! Flags of `helm template`: each is taken, or refused with a reason.

use crate::program::{chart, refused, template, whipstaff, write};

/// Flags that do not change what is rendered, with a value where they need one. Those of Helm 3.22 and Helm 4.3.1.
const WITHOUT_EFFECT: &[&[&str]] = &[
    &["--atomic"],
    &["--burst-limit", "100"],
    &["--ca-file", "ca.pem"],
    &["--color", "never"],
    &["--colour", "never"],
    &["--content-cache", "x"],
    &["--create-namespace"],
    &["--debug"],
    &["--dependency-update"],
    &["--description", "x"],
    &["--devel"],
    &["--disable-openapi-validation"],
    &["--dry-run"],
    &["--dry-run=client"],
    &["--force"],
    &["--force-conflicts"],
    &["--force-replace"],
    &["--hide-notes"],
    &["--include-crds"],
    &["--include-crds=true"],
    &["--no-hooks=false"],
    &["--insecure-skip-tls-verify"],
    &["--keyring", "x"],
    &["--kube-apiserver", "https://nowhere.invalid"],
    &["--kube-as-group", "x"],
    &["--kube-as-user", "x"],
    &["--kube-ca-file", "x"],
    &["--kube-context", "x"],
    &["--kube-insecure-skip-tls-verify"],
    &["--kube-tls-server-name", "x"],
    &["--kube-token", "x"],
    &["--kubeconfig", "x"],
    &["--labels", "a=b,c=d"],
    &["--no-hooks"],
    &["--pass-credentials"],
    &["--password", "x"],
    &["--plain-http"],
    &["--qps", "1.5"],
    &["--registry-config", "x"],
    &["--render-subchart-notes"],
    &["--replace"],
    &["--repository-cache", "x"],
    &["--repository-config", "x"],
    &["--rollback-on-failure"],
    &["--server-side"],
    &["--server-side=false"],
    &["--skip-crds"],
    &["--skip-schema-validation"],
    &["--skip-tests"],
    &["--take-ownership"],
    &["--timeout", "5m0s"],
    &["--username", "x"],
    &["--version", "1.0.0"],
    &["--wait"],
    &["--wait=legacy"],
    &["--wait-for-jobs"],
];

#[test]
fn flags_about_installing_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &chart("shop", "1.0.0", ""));
    let expected = template(folder.path(), &["shop"]);
    for flag in WITHOUT_EFFECT {
        let found = template(folder.path(), &[&["shop"], *flag].concat());
        assert_eq!(found, expected, "{flag:?}");
    }
}

#[test]
fn flags_that_cannot_be_followed_are_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &chart("shop", "1.0.0", ""));
    let cases: &[(&[&str], &str)] = &[
        (&["--post-renderer", "x"], "runs no other programs"),
        (&["--verify"], "does not read PGP signatures"),
        (&["--enable-dns"], "may not ask anybody"),
        (&["--dry-run=none"], "invalid dry-run value (\"none\")"),
        (&["--dialect", "v3", "--dry-run=x"], "Invalid dry-run flag"),
        (&["--dry-run=server", "--validate"], "cannot be used with"),
        (&["--labels", "x"], "x must be formatted as key=value"),
        (
            &["--repo", "https://nowhere.invalid", "--cert-file", "x"],
            "only useful together",
        ),
        (&["--kube-version", "x"], "invalid kube version 'x'"),
        (
            &["--kubeconfig", "nothing", "--validate"],
            "cannot read the kubeconfig",
        ),
    ];
    for (flags, reason) in cases {
        let error = refused(folder.path(), &[&["shop"], *flags].concat());
        assert!(error.contains(reason), "{flags:?}: {error}");
    }
    let said = whipstaff(folder.path(), &["template", "shop", "--no-such-flag"]);
    assert!(!said.succeeded && said.error.contains("--no-such-flag"));
}
