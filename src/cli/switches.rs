//! Switches that are given a value, as Helm's can be: `--include-crds=true`.

use clap::{ArgAction, Command};
use std::ffi::{OsStr, OsString};

/// Rewrites the switches of a subcommand: those that are true lose their value, those that are false are left out. What is behind `--`
/// is not touched, nor what clap is to refuse.
pub(super) fn without_values(
    command: &Command,
    arguments: impl Iterator<Item = OsString>,
) -> Vec<OsString> {
    let mut arguments = arguments.peekable();
    let mut kept: Vec<OsString> = arguments.next().into_iter().collect();
    let name = arguments.peek().and_then(|name| name.to_str());
    let Some(subcommand) = name.and_then(|name| command.find_subcommand(name)) else {
        kept.extend(arguments);
        return kept;
    };
    while let Some(argument) = arguments.next() {
        if argument == "--" {
            kept.push(argument);
            kept.extend(arguments);
            break;
        }
        match switch(subcommand, &argument) {
            Some((_, false)) => {}
            Some((name, true)) => kept.push(format!("--{name}").into()),
            None => kept.push(argument),
        }
    }
    kept
}

/// Name and value of a switch that has a value.
fn switch<'a>(command: &Command, argument: &'a OsStr) -> Option<(&'a str, bool)> {
    let (name, value) = argument.to_str()?.strip_prefix("--")?.split_once('=')?;
    let is_switch = command.get_arguments().any(|known| {
        known.get_long() == Some(name) && matches!(known.get_action(), ArgAction::SetTrue)
    });
    let value = match value {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => true,
        "0" | "f" | "F" | "false" | "FALSE" | "False" => false,
        _ => return None,
    };
    is_switch.then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::super::Cli;
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn switches_take_values_and_nothing_else_is_touched() {
        let rewritten = |line: &str| {
            let arguments = line.split(' ').map(OsString::from);
            let kept = without_values(&Cli::command(), arguments);
            kept.join(OsStr::new(" ")).into_string().unwrap()
        };
        let cases = [
            (
                "w template c --include-crds=true",
                "w template c --include-crds",
            ),
            (
                "w template c --include-crds=false --validate",
                "w template c --validate",
            ),
            (
                "w template c --include-crds=x",
                "w template c --include-crds=x",
            ),
            (
                "w template c --wait=true --set=a=true",
                "w template c --wait=true --set=a=true",
            ),
            (
                "w template c -- --include-crds=true",
                "w template c -- --include-crds=true",
            ),
            ("w lint --strict=0 c", "w lint c"),
            ("w --version", "w --version"),
            ("w", "w"),
        ];
        for (line, expected) in cases {
            assert_eq!(rewritten(line), expected);
        }
    }
}
