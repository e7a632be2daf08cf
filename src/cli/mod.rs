//! The command line.

mod build;
mod chart_files;
mod cluster;
mod crds;
mod global;
mod lint;
mod operator;
mod render;
mod repository;
mod source_files;
mod switches;
mod system_reason;
mod template;
mod values;

use clap::{Parser, Subcommand};
use std::{env, mem::ManuallyDrop, process::ExitCode, time::Duration};

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
        let is_template = env::args_os().nth(1).is_some_and(|name| name == TEMPLATE);
        if !is_template {
            return parsed();
        }
        let TemplateCli { command } = parsed();
        let TemplateCommand::Template(arguments) = command;
        Self {
            command: Command::Template(arguments),
        }
    }
}

/// The name of the command that scripts run in numbers.
const TEMPLATE: &str = "template";

/// [`Cli`] with no other command than `template`: to describe the flags of all of them takes longer than many a chart.
#[derive(Debug, Parser)]
#[command(name = "whipstaff", version, about)]
struct TemplateCli {
    #[command(subcommand)]
    command: TemplateCommand,
}

#[derive(Debug, Subcommand)]
enum TemplateCommand {
    /// Render a chart as `helm template` does.
    Template(Box<template::TemplateArguments>),
}

/// What the process was called with, by the description of its commands.
fn parsed<T: Parser>() -> T {
    // Described once and not taken apart again: the process may well end before that would pay.
    let mut command = ManuallyDrop::new(T::command());
    let arguments = switches::without_values(&command, env::args_os());
    let matches = command.try_get_matches_from_mut(arguments);
    let parsed = matches.and_then(|matches| T::from_arg_matches(&matches));
    parsed.unwrap_or_else(|error| error.exit())
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
    /// List components with their state.
    Status(cluster::StatusArgs),
    /// Show a component's objects with their readiness and what they wait for.
    Tree(cluster::TreeArgs),
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
        Command::Status(args) => cluster::status(&args),
        Command::Tree(args) => cluster::tree(&args),
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
    use super::{Cli, TEMPLATE, TemplateCli};
    use clap::CommandFactory as _;

    #[test]
    fn arguments_of_all_commands_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn template_is_the_same_command_with_and_without_the_others() {
        let [all, alone] = [Cli::command(), TemplateCli::command()].map(|mut command| {
            command.build();
            let template = command.find_subcommand_mut(TEMPLATE).unwrap();
            template.render_long_help().to_string()
        });
        assert_eq!(all, alone);
    }
}
