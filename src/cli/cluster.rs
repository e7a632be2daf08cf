//! `whipstaff status` and `whipstaff tree`.

use super::{block_on, write_out};
use crate::api::v1alpha1::Component;
use crate::{headline, load_inventory, tree as draw};
use anyhow::Context as _;
use clap::Args;
use kube::api::ListParams;
use kube::{Api, Client, Config, ResourceExt};

/// Arguments of `whipstaff status`.
#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    /// Namespace to look in; the kubeconfig's when left out.
    #[arg(short, long)]
    namespace: Option<String>,

    /// Look in all namespaces.
    #[arg(short = 'A', long, conflicts_with = "namespace")]
    all_namespaces: bool,
}

/// Arguments of `whipstaff tree`.
#[derive(Debug, Args)]
pub(super) struct TreeArgs {
    /// Name of the component.
    name: String,

    /// Namespace to look in; the kubeconfig's when left out.
    #[arg(short, long)]
    namespace: Option<String>,
}

/// Prints a line for each component.
pub(super) fn status(args: &StatusArgs) -> anyhow::Result<()> {
    block_on(async {
        let api = if args.all_namespaces {
            Api::all(client().await?)
        } else {
            api(args.namespace.as_deref()).await?
        };
        let components = api
            .list(&ListParams::default())
            .await
            .context("cannot list components")?;
        if components.items.is_empty() {
            return write_out("no components\n");
        }
        for component in components.items {
            write_out(&format!("{}\n", headline(&component)))?;
        }
        Ok(())
    })
}

/// Prints the objects of a component.
pub(super) fn tree(args: &TreeArgs) -> anyhow::Result<()> {
    block_on(async {
        let api = api(args.namespace.as_deref()).await?;
        let component = api.get(&args.name).await;
        let mut component =
            component.with_context(|| format!("cannot read component `{}`", args.name))?;
        let namespace = component.namespace().unwrap_or_default();
        if let Some(status) = &mut component.status {
            load_inventory(api.into_client(), &namespace, status).await?;
        }
        write_out(&draw(&component))
    })
}

async fn client() -> anyhow::Result<Client> {
    let config = Config::infer().await.context("cannot find a cluster")?;
    Ok(Client::try_from(config)?)
}

pub(super) async fn api(namespace: Option<&str>) -> anyhow::Result<Api<Component>> {
    let client = client().await?;
    Ok(match namespace {
        Some(namespace) => Api::namespaced(client, namespace),
        None => Api::default_namespaced(client),
    })
}
