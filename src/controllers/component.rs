//! The watch loop of components.

use crate::cluster::ComponentName;
use crate::component::{Component, Context, Graph, Hooks, reconcile};
use futures::{StreamExt, TryStreamExt};
use kube::runtime::controller::{Action, Config};
use kube::runtime::reflector::ObjectRef;
use kube::runtime::{
    Controller, Predicate, PredicateConfig, WatchStreamExt, predicates, reflector, watcher,
};
use kube::{Api, ResourceExt};
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

/// How long events are gathered before a component is reconciled: a rollout changes an object several times in a moment.
const DEBOUNCE: Duration = Duration::from_millis(50);

/// Reconciles components until it is told to stop; runs that are under way are finished.
///
/// `woken` brings the components whose dependents changed. Changes of a component's own status wake nobody.
pub(crate) async fn run_components<C: Component>(
    context: Arc<Context>,
    hooks: Arc<Hooks<C>>,
    woken: UnboundedReceiver<ComponentName>,
    concurrency: u16,
    stop: CancellationToken,
) {
    let (store, writer) = reflector::store();
    let relevant = predicates::generation
        .combine(predicates::annotations)
        .combine(predicates::labels)
        .combine(predicates::finalizers);
    let components = watcher(
        Api::<C>::all(context.client.0.clone()),
        watcher::Config::default(),
    )
    .default_backoff()
    .inspect_ok(follow(context.graph.clone()))
    .reflect(writer)
    .applied_objects()
    .predicate_filter(relevant, PredicateConfig::default());
    let woken = futures::stream::unfold(woken, |mut woken| async {
        let (namespace, name) = woken.recv().await?;
        Some((ObjectRef::<C>::new(&name).within(&namespace), woken))
    });
    Controller::for_stream(components, store)
        .with_config(
            Config::default()
                .concurrency(concurrency)
                .debounce(DEBOUNCE),
        )
        .reconcile_on(woken)
        .graceful_shutdown_on(stop.cancelled_owned())
        .run(
            move |component, context| {
                let hooks = Arc::clone(&hooks);
                async move {
                    let delay = reconcile(component, context, hooks).await;
                    Ok::<_, Infallible>(delay.map_or_else(Action::await_change, Action::requeue))
                }
            },
            |_, never, _| -> Action { match *never {} },
            context,
        )
        .for_each(|result| async {
            if let Err(error) = result {
                tracing::debug!(%error, "the watch of components has trouble");
            }
        })
        .await;
}

/// Keeps the graph of dependencies up to date with what is watched.
fn follow<C: Component>(graph: Graph) -> impl FnMut(&watcher::Event<C>) {
    let mut listed = BTreeSet::new();
    move |event| match event {
        watcher::Event::Init => listed.clear(),
        watcher::Event::InitApply(component) => {
            listed.insert((
                component.namespace().unwrap_or_default(),
                component.name_any(),
            ));
            graph.update(component);
        }
        watcher::Event::InitDone => graph.retain::<C>(&std::mem::take(&mut listed)),
        watcher::Event::Apply(component) => graph.update(component),
        watcher::Event::Delete(component) => graph.remove(component),
    }
}
