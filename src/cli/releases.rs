//! `whipstaff releases`: what Helm has deployed, and whether it can be taken over.

use super::global::GlobalArguments;
use super::{block_on, write_out};
use crate::adopt::{ADOPTER, dialects, missing_charts};
use crate::release::{Head, History, Record, Storage, StorageError};
use anyhow::Result;
use clap::Args;
use futures::{StreamExt as _, stream};
use kube::Client;

/// How many records are read at once.
const PARALLEL_READS: usize = 8;
const HEADINGS: [&str; 7] = [
    "NAMESPACE",
    "NAME",
    "REVISION",
    "STATUS",
    "CHART",
    "DIALECT",
    "TAKEOVER",
];

/// List the releases of Helm with their charts, and say whether `whipstaff adopt` can take them over.
///
/// Releases are found where Helm 3 and Helm 4 store them, in Secrets and ConfigMaps. The dialect is a guess from what the record looks
/// like; `whipstaff adopt` finds out.
#[derive(Debug, Args)]
pub(super) struct ReleasesArguments {
    /// Namespace to look in; the kubeconfig's when left out
    #[arg(short, long)]
    namespace: Option<String>,
    /// Look in all namespaces
    #[arg(short = 'A', long, conflicts_with = "namespace")]
    all_namespaces: bool,
    #[command(flatten)]
    global: GlobalArguments,
}

/// Prints a line for each release.
pub(super) fn run(arguments: &ReleasesArguments) -> Result<()> {
    block_on(async {
        let config = arguments.global.config().await?;
        let namespace = arguments
            .namespace
            .clone()
            .unwrap_or_else(|| config.default_namespace.clone());
        let namespace = Some(namespace).filter(|_| !arguments.all_namespaces);
        let storage = Storage::new(Client::try_from(config)?);
        let releases = storage.releases(namespace.as_deref()).await?;
        if releases.is_empty() {
            return write_out("no releases\n");
        }
        let lines = releases.iter().map(|history| line(&storage, history));
        let lines: Vec<_> = stream::iter(lines).buffered(PARALLEL_READS).collect().await;
        write_out(&table(&lines))
    })
}

async fn line(storage: &Storage, history: &History) -> Vec<String> {
    let present = history.present(true);
    let shown = present.as_ref().map(|present| &present.head).ok();
    let Some(head) = shown.or_else(|| history.last()) else {
        return Vec::new();
    };
    let read = storage.read(head).await;
    let (chart, dialect) = match &read {
        Ok(Some(record)) => {
            let release = &record.release;
            (release.chart.title(), dialects(release)[0].to_string())
        }
        _ => ("?".to_owned(), "?".to_owned()),
    };
    let last = history.last().unwrap_or(head);
    vec![
        history.release.namespace.clone(),
        history.release.name.clone(),
        last.revision.to_string(),
        last.status.to_string(),
        chart,
        dialect,
        takeover(history, head, &read),
    ]
}

/// Whether a release can be taken over, in a few words.
fn takeover(history: &History, head: &Head, read: &Result<Option<Record>, StorageError>) -> String {
    let record = match read {
        Err(error) => return format!("no: {}", crate::causes::on_one_line(error)),
        Ok(None) => return "no: its record went meanwhile".to_owned(),
        Ok(Some(record)) => record,
    };
    if let Some(by) = record.annotations.get(ADOPTER) {
        return format!("done: the Component `{by}` has it");
    }
    match history.present(false) {
        Err(crate::release::NotAdoptable::Pending { revision, status }) => {
            return format!("with --pending: revision {revision} is {status}");
        }
        Err(problem) => return format!("no: {problem}"),
        Ok(_) => {}
    }
    let later = history.last().is_some_and(|l| l.revision > head.revision);
    let after = if later {
        format!(", as revision {} has it", head.revision)
    } else {
        String::new()
    };
    let charts = missing_charts(&record.release);
    if charts.is_empty() {
        return format!("yes{after}");
    }
    format!("with --chart{after}: subcharts {}", charts.join(", "))
}

fn table(lines: &[Vec<String>]) -> String {
    let headings = HEADINGS.map(str::to_owned).to_vec();
    let all: Vec<_> = std::iter::once(&headings).chain(lines).collect();
    let width = |column: usize| {
        let cells = all.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<_> = (0..HEADINGS.len()).map(width).collect();
    let mut text = String::new();
    for line in all {
        let cells = line.iter().zip(&widths);
        let cells: Vec<_> = cells
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_what_is_in_them() {
        let line = ["apps", "web", "12", "deployed", "web-1.0.0", "v3", "yes"];
        let text = table(&[line.map(str::to_owned).to_vec()]);
        assert_eq!(
            text,
            "NAMESPACE  NAME  REVISION  STATUS    CHART      DIALECT  TAKEOVER\n\
             apps       web   12        deployed  web-1.0.0  v3       yes\n"
        );
    }
}
