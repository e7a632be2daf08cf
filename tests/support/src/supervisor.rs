//! The process that runs the parts of a control plane, and what it says.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use serde::Deserialize;

use crate::{ControlPlaneOptions, Error, program};

/// The folder with the programs of the parts; replaces the build when set.
const ASSETS: &str = "KUBEBUILDER_ASSETS";
/// How long a start may take once everything is built.
const START_LIMIT: Duration = Duration::from_mins(1);

/// What the supervisor says of a control plane that is ready.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Description {
    pub(crate) server: String,
    pub(crate) authority: String,
    pub(crate) token: String,
    pub(crate) kubeconfig: String,
    pub(crate) kubeconfig_path: PathBuf,
    pub(crate) audit_log: PathBuf,
    pub(crate) data_folder: PathBuf,
    pub(crate) node: Option<String>,
    pub(crate) supervisor: u32,
    pub(crate) processes: BTreeMap<String, u32>,
    pub(crate) milliseconds: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Message {
    Progress(String),
    Ready(Box<Description>),
    Error(Failure),
}

#[derive(Deserialize)]
struct Failure {
    part: Option<String>,
    message: String,
    #[serde(default)]
    log: String,
}

/// A running supervisor. It lives as long as its standard input is open, and so no longer than this
/// value and this process.
#[derive(Debug)]
pub(crate) struct Supervisor {
    process: Child,
    input: Option<ChildStdin>,
}

impl Supervisor {
    /// Builds what is missing, starts the parts and waits for them. Blocks.
    pub(crate) fn start(options: ControlPlaneOptions) -> Result<(Self, Description), Error> {
        let mut command = Command::new(program::supervisor(options.progress)?);
        match std::env::var_os(ASSETS).filter(|folder| !folder.is_empty()) {
            Some(folder) => command.arg("-assets").arg(folder),
            None => command
                .arg("-program")
                .arg(program::control_plane(options.progress)?),
        };
        command.arg("-parts").arg(options.parts.names().join(","));
        command
            .arg("-limit")
            .arg(format!("{}s", START_LIMIT.as_secs()));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().map_err(|cause| Error::Supervisor {
            action: "start",
            cause,
        })?;
        let output = process.stdout.take();
        let supervisor = Self {
            input: process.stdin.take(),
            process,
        };
        let Some(output) = output else {
            return Err(Error::Answer {
                answer: "no output".to_owned(),
            });
        };
        let description = read_until_ready(BufReader::new(output), options)?;
        options
            .progress
            .say(&format!("ready after {} ms", description.milliseconds));
        Ok((supervisor, description))
    }

    /// Ends all parts and waits until they and their files are gone. Blocks for a moment.
    pub(crate) fn stop(&mut self) {
        drop(self.input.take());
        let _ = self.process.wait();
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.stop();
    }
}

fn read_until_ready(
    lines: impl BufRead,
    options: ControlPlaneOptions,
) -> Result<Description, Error> {
    for line in lines.lines() {
        let line = line.map_err(|cause| Error::Supervisor {
            action: "read from",
            cause,
        })?;
        match serde_json::from_str(&line) {
            Ok(Message::Progress(text)) => options.progress.say(&text),
            Ok(Message::Ready(description)) => return Ok(*description),
            Ok(Message::Error(Failure { part, message, log })) => {
                return Err(Error::Start { part, message, log });
            }
            Err(_) => return Err(Error::Answer { answer: line }),
        }
    }
    Err(Error::Answer {
        answer: "it ended".to_owned(),
    })
}
