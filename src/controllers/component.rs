//! The watch loop of components.

use super::places::Aside;
use crate::cluster::ComponentName;
use crate::component::{Component, Context, Graph, Hooks, reconcile};
use futures::{StreamExt, TryStreamExt};
use kube::runtime::controller::{Action, Config};
use kube::runtime::reflector::ObjectRef;
use kube::runtime::{
    Controller, Predicate, PredicateConfig, WatchStreamExt, predicates, reflector, watcher,
};
use kube::{Api, ResourceExt};
use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio_util::sync::CancellationToken;

/// How long events are gathered before a component is reconciled: a rollout changes an object several times in a moment.
const DEBOUNCE: Duration = Duration::from_millis(50);

/// Reconciles components until it is told to stop; runs that are under way are finished.
///
/// Only those that the selector takes are watched: when a component leaves it, nothing is known of it any more.
///
/// The channel brings the components whose dependents changed. Changes of a component's own status wake nobody.
pub(crate) async fn run_components<C: Component>(
    context: Arc<Context>,
    hooks: Arc<Hooks<C>>,
    (wake, woken): (
        UnboundedSender<ComponentName>,
        UnboundedReceiver<ComponentName>,
    ),
    shard_selector: &str,
    concurrency: u16,
    stop: CancellationToken,
) {
    let (store, writer) = reflector::store();
    let relevant = predicates::generation
        .combine(predicates::annotations)
        .combine(predicates::labels)
        .combine(predicates::finalizers);
    let mut present = Present::default();
    let keeper = Arc::clone(&context);
    let components = watcher(
        Api::<C>::all(context.client.0.clone()),
        watcher::Config::default().labels(shard_selector),
    )
    .default_backoff()
    .inspect_ok(follow(context.graph.clone()))
    .inspect_ok(move |event| {
        for (uid, name) in present.gone(event) {
            keeper.forget(&uid, &name);
        }
    })
    .modify(|component| component.managed_fields_mut().clear())
    .reflect(writer)
    .applied_objects()
    .predicate_filter(relevant, PredicateConfig::default());
    let woken = futures::stream::unfold(woken, |mut woken| async {
        let (namespace, name) = woken.recv().await?;
        Some((ObjectRef::<C>::new(&name).within(&namespace), woken))
    });
    let aside = Arc::new(Aside::new(wake));
    let places = Arc::clone(&aside);
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
                let (hooks, places) = (Arc::clone(&hooks), Arc::clone(&places));
                async move {
                    let name = (
                        component.namespace().unwrap_or_default(),
                        component.name_any(),
                    );
                    if places.defer(&name) {
                        return Ok(Action::await_change());
                    }
                    let run = Box::pin(reconcile(component, context, hooks));
                    let delay = places.run(name, run).await;
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
    aside.finish().await;
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

/// The components that a watch has shown, to tell when one is gone.
#[derive(Default)]
struct Present {
    names: HashMap<String, ComponentName>,
    listing: HashMap<String, ComponentName>,
}

impl Present {
    /// The components that an event takes away, by UID.
    fn gone<C: Component>(&mut self, event: &watcher::Event<C>) -> Vec<(String, ComponentName)> {
        let entry = |component: &C| {
            let namespace = component.namespace().unwrap_or_default();
            let uid = component.uid().unwrap_or_default();
            (uid, (namespace, component.name_any()))
        };
        match event {
            watcher::Event::Init => self.listing.clear(),
            watcher::Event::InitApply(component) => self.listing.extend([entry(component)]),
            watcher::Event::InitDone => {
                let listed = std::mem::take(&mut self.listing);
                let before = std::mem::replace(&mut self.names, listed);
                let gone = before.into_iter();
                return gone
                    .filter(|(uid, _)| !self.names.contains_key(uid))
                    .collect();
            }
            watcher::Event::Apply(component) => self.names.extend([entry(component)]),
            watcher::Event::Delete(component) => {
                let (uid, name) = entry(component);
                self.names.remove(&uid);
                return vec![(uid, name)];
            }
        }
        Vec::new()
    }
}
