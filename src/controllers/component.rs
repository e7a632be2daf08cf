//! The watch loop of components.

use crate::component::{Component, Context, reconcile};
use futures::StreamExt;
use kube::Api;
use kube::runtime::controller::{Action, Config};
use kube::runtime::reflector::ObjectRef;
use kube::runtime::{
    Controller, Predicate, PredicateConfig, WatchStreamExt, predicates, reflector, watcher,
};
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
    woken: UnboundedReceiver<(String, String)>,
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
            |component, context| async {
                let delay = reconcile(component, context).await;
                Ok::<_, Infallible>(delay.map_or_else(Action::await_change, Action::requeue))
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
