//! Calling the program.

use std::fs;
use std::path::Path;
use std::process::Command;
use whipstaff_test_support::pack_files;

/// What the program said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) succeeded: bool,
    pub(crate) out: String,
    pub(crate) error: String,
}

impl Said {
    /// The output of a program that succeeded.
    pub(crate) fn output(self) -> String {
        assert!(self.succeeded, "{}{}", self.out, self.error);
        self.out
    }

    /// The error of a program that failed.
    pub(crate) fn failure(self) -> String {
        assert!(!self.succeeded, "{}", self.out);
        self.error
    }
}

pub(crate) fn whipstaff(folder: &Path, arguments: &[&str]) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whipstaff"));
    command.current_dir(folder).args(arguments);
    // What the tests are called with is nothing to the program.
    for name in [
        "KUBECONFIG",
        "HELM_NAMESPACE",
        "HTTP_PROXY",
        "http_proxy",
        "HTTPS_PROXY",
        "https_proxy",
    ] {
        command.env_remove(name);
    }
    let output = command.output().unwrap();
    Said {
        succeeded: output.status.success(),
        out: String::from_utf8(output.stdout).unwrap(),
        error: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Renders; the output must be there.
pub(crate) fn template(folder: &Path, arguments: &[&str]) -> String {
    whipstaff(folder, &[&["template"], arguments].concat()).output()
}

/// Does not render; the error must be there.
pub(crate) fn refused(folder: &Path, arguments: &[&str]) -> String {
    whipstaff(folder, &[&["template"], arguments].concat()).failure()
}

/// The files of a chart with one `ConfigMap`, whose name is that of the chart.
pub(crate) fn chart(name: &str, version: &str, more: &str) -> Vec<(String, String)> {
    let metadata = format!("apiVersion: v2\nname: {name}\nversion: {version}\n{more}");
    let template = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"{{ .Chart.Name }}\"}\ndata: {version: \"{{ .Chart.Version }}\"}\n";
    vec![
        (format!("{name}/Chart.yaml"), metadata),
        (format!("{name}/templates/a.yaml"), template.to_owned()),
    ]
}

pub(crate) fn packed(name: &str, version: &str) -> Vec<u8> {
    pack_files(&chart(name, version, "")).unwrap()
}

/// Writes files below a folder.
pub(crate) fn write(folder: &Path, files: &[(String, String)]) {
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}
