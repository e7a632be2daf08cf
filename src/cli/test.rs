//! `whipstaff test`.

use super::cluster::api;
use super::{block_on, write_out};
use crate::api::v1alpha1::{Component, DurationText, HookPhase, TestStatus};
use anyhow::{Context as _, bail};
use clap::Args;
use futures::TryStreamExt as _;
use kube::Api;
use kube::api::{Patch, PatchParams};
use kube::runtime::watcher::watch_object;
use serde_json::json;
use std::pin::pin;
use std::time::Duration;

/// Annotation whose new value asks for a test.
const TEST_AT: &str = "whipstaff.dev/test-at";

/// Arguments of `whipstaff test`.
#[derive(Debug, Args)]
pub(super) struct TestArguments {
    /// Name of the component.
    name: String,

    /// Namespace to look in; the kubeconfig's when left out.
    #[arg(short, long)]
    namespace: Option<String>,

    /// How long to wait for the end.
    #[arg(long, default_value = "5m")]
    timeout: DurationText,
}

/// Has the test hooks of a component run, and tells how they do.
pub(super) fn run(arguments: &TestArguments) -> anyhow::Result<()> {
    let timeout = arguments
        .timeout
        .get()
        .context("`--timeout` is malformed")?;
    block_on(async {
        let api = api(arguments.namespace.as_deref()).await?;
        let name = &arguments.name;
        let asked = jiff::Timestamp::now().to_string();
        let patch = json!({"metadata": {"annotations": {(TEST_AT): asked}}});
        let (params, patch) = (PatchParams::default(), Patch::Merge(patch));
        api.patch(name, &params, &patch)
            .await
            .with_context(|| format!("cannot ask the component `{name}` for a test"))?;
        let followed = tokio::time::timeout(timeout, follow(&api, name, &asked)).await;
        followed.unwrap_or_else(|_| give_up(timeout))
    })
}

fn give_up(timeout: Duration) -> anyhow::Result<()> {
    bail!("the test did not end in {} seconds", timeout.as_secs())
}

/// Prints what changes until the test is over.
async fn follow(api: &Api<Component>, name: &str, asked: &str) -> anyhow::Result<()> {
    let mut changes = pin!(watch_object(api.clone(), name));
    let mut told = Vec::new();
    while let Some(component) = changes
        .try_next()
        .await
        .context("cannot watch the component")?
    {
        let Some(component) = component else {
            bail!("the component `{name}` is gone");
        };
        let test = component.status.and_then(|status| status.test);
        let Some(test) = test.filter(|test| test.requested == asked) else {
            continue;
        };
        for line in lines(&test) {
            if !told.contains(&line) {
                write_out(&line)?;
                told.push(line);
            }
        }
        match test.run.phase {
            _ if !test.run.is_over() => {}
            HookPhase::Failed => bail!("the test failed: {}", test.run.message),
            _ => return write_out(&format!("{} hooks succeeded\n", test.run.hooks.len())),
        }
    }
    bail!("the watch of the component ended")
}

/// A line for each hook that has begun.
fn lines(test: &TestStatus) -> Vec<String> {
    let begun = test.run.hooks.iter();
    let begun = begun.filter(|hook| hook.phase != HookPhase::Scheduled);
    begun
        .map(|hook| format!("{}  {}\n", hook.id(), hook.phase))
        .collect()
}
