//! The command line.

mod adopt;
mod build;
mod chart_files;
mod cluster;
mod crds;
mod global;
mod lint;
mod operator;
mod releases;
mod render;
mod repository;
mod source_files;
mod switches;
mod system_reason;
mod template;
mod test;
mod values;

use clap::{Args, CommandFactory as _, Parser, Subcommand};
use std::{env, ffi::OsStr, mem::ManuallyDrop, process::ExitCode, time::Duration};

/// A person waits for the output and can stop it: the time that the operator grants would only be in the way.
const TIME_LIMIT: Duration = Duration::from_hours(1);

/// Joins Helm charts, kustomizations and plain manifests to a cluster that keeps them true.
#[derive(Debug, Parser)]
#[command(name = "whipstaff", version, about)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

impl Cli {
    /// What the process was called with. Ends the process when that cannot be understood, or is answered by a text of help.
    pub fn of_process() -> Self {
        let name = env::args_os().nth(1);
        let command = match name.as_deref().and_then(OsStr::to_str) {
            Some("template") => alone("template").map(Command::Template),
            Some("build") => alone("build").map(Command::Build),
            _ => None,
        };
        command.map_or_else(in_full, |command| Self { command })
    }
}

/// The arguments of a command that scripts run in numbers, described without the other commands: to describe the flags of all of them
/// takes longer than many a chart. Nothing if they are wrong or ask for help.
fn alone<T: Args>(name: &'static str) -> Option<Box<T>> {
    let own = T::augment_args(clap::Command::new(name));
    // Not taken apart again: the process may well end before that would pay.
    let mut command = ManuallyDrop::new(clap::Command::new("whipstaff").subcommand(own));
    let arguments = switches::without_values(&command, env::args_os());
    let matches = command.try_get_matches_from_mut(arguments).ok()?;
    let arguments = T::from_arg_matches(matches.subcommand_matches(name)?).ok()?;
    Some(Box::new(arguments))
}

fn in_full() -> Cli {
    let arguments = switches::without_values(&Cli::command(), env::args_os());
    Cli::parse_from(arguments)
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the operator against the current kubeconfig, or inside a cluster.
    Operator(operator::OperatorArgs),
    /// Render a chart as `helm template` does.
    Template(Box<template::TemplateArguments>),
    /// Build a kustomization as `kustomize build` does.
    Build(Box<build::BuildArguments>),
    /// Print what the operator would apply for a Component.
    Render(Box<render::RenderArguments>),
    /// Examine charts as `helm lint` does, and for what Helm cannot know.
    Lint(Box<lint::LintArguments>),
    /// Prove that a release of Helm can become a Component without any change.
    Adopt(Box<adopt::AdoptArguments>),
    /// List the releases of Helm, and whether they can be taken over.
    Releases(Box<releases::ReleasesArguments>),
    /// List components with their state.
    Status(cluster::StatusArgs),
    /// Show a component's objects with their readiness and what they wait for.
    Tree(cluster::TreeArgs),
    /// Run the test hooks of a component's chart.
    Test(test::TestArguments),
    /// Print the definitions of the custom resources.
    Crds,
}

/// Runs a command to its end. What went wrong is printed to standard error.
pub fn run(cli: Cli) -> ExitCode {
    let result = match cli.command {
        Command::Operator(args) => operator::run(args),
        Command::Template(args) => template::run(&args),
        Command::Build(args) => build::run(&args),
        Command::Render(args) => render::run(&args),
        Command::Lint(args) => lint::run(&args),
        Command::Adopt(args) => adopt::run(&args),
        Command::Releases(args) => releases::run(&args),
        Command::Status(args) => cluster::status(&args),
        Command::Tree(args) => cluster::tree(&args),
        Command::Test(args) => test::run(&args),
        Command::Crds => crds::run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            write_error(&format!("Error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Runs asynchronous work to its end.
fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(work)
}

/// Prints a text to standard output; a reader that went away (`| head`) is no error.
fn write_out(text: &str) -> anyhow::Result<()> {
    use std::io::Write as _;
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Prints a line to standard error; when even that fails there is nobody to tell.
fn write_error(text: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory as _;

    #[test]
    fn arguments_of_all_commands_are_consistent() {
        Cli::command().debug_assert();
    }
}
