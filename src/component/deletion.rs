//! Removing a component with everything that it brought.

use super::context::Context;
use super::error::ReconcileError;
use super::project::Outcome;
use super::resource::Component;
use super::run::Run;
use super::seed;
use crate::dependents::{Desired, plan_deletion};
use kube::api::{Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Most rounds of deleting in one run.
const MAX_ROUNDS: usize = 200;

/// Whether the component waits for us to remove its dependents.
pub(super) fn has_finalizer<C: Component>(component: &C, context: &Context) -> bool {
    let ours = context.owners.names().finalizer();
    component
        .finalizers()
        .iter()
        .any(|finalizer| finalizer == ours)
}

/// Adds the finalizer unless it is there.
pub(super) async fn ensure_finalizer<C: Component>(
    component: &C,
    context: &Context,
) -> Result<(), ReconcileError> {
    if has_finalizer(component, context) {
        return Ok(());
    }
    let mut finalizers = component.finalizers().to_vec();
    finalizers.push(context.owners.names().finalizer().to_owned());
    write_finalizers(component, context, &finalizers).await
}

/// Deletes what can be deleted now. When nothing is waited for afterwards, everything is gone.
pub(super) async fn delete<C: Component>(run: &mut Run<'_, C>) -> Result<Outcome, ReconcileError> {
    let nothing = Desired::default();
    run.memory.next_look = None;
    run.claim(&nothing, &[]);
    check_finalizers(run)?;
    let mut checked = false;
    for _ in 0..MAX_ROUNDS {
        let mut observed = run.observe(&nothing, &HashSet::new()).await?;
        let claimed = run.context.claims.of_others(&run.owner);
        let types = run.component.additional_managed_types();
        let plan = plan_deletion(&run.status.inventory, &observed, &claimed, types);
        if plan.steps.is_empty() {
            run.finish(&nothing, &observed, &[], &plan);
            return Ok(Outcome::Deleting(plan.waiting));
        }
        // Before the first deletion: what runs the instances of others must go on running as long as they exist.
        if !std::mem::replace(&mut checked, true) {
            let inventory = &run.status.inventory;
            run.executor().check_foreign(inventory, types).await?;
        }
        let (changes, result) = run.execute(&plan, &nothing).await;
        run.learn(&changes, &mut observed, &mut HashSet::new());
        run.finish(&nothing, &observed, &changes, &plan);
        result?;
    }
    Err(ReconcileError::Rounds { rounds: MAX_ROUNDS })
}

/// Finalizers that the garbage collector sets and removes by itself.
const OF_THE_CLUSTER: &[&str] = &["foregroundDeletion", "orphan"];

/// Refuses if somebody else still holds the component: what he needs it for may need its objects.
fn check_finalizers<C: Component>(run: &Run<'_, C>) -> Result<(), ReconcileError> {
    let ours = run.owner.names().finalizer();
    let others = run.component.finalizers().iter();
    let others = others.filter(|f| *f != ours && !OF_THE_CLUSTER.contains(&f.as_str()));
    let finalizers: Vec<_> = others.cloned().collect();
    if finalizers.is_empty() {
        Ok(())
    } else {
        Err(ReconcileError::ForeignFinalizers { finalizers })
    }
}

/// Lets the component go.
pub(super) async fn finish<C: Component>(run: &Run<'_, C>) -> Result<(), ReconcileError> {
    let name = run.component_name();
    let context = run.context;
    context.watches.require(&name, &BTreeSet::new());
    for watches in [&context.lookup_watches, &context.variable_watches] {
        watches.require(&name, &context.client.0, BTreeMap::new());
    }
    if run.status.seed_secret.is_some() {
        seed::delete(run.component, context).await?;
    }
    let mut finalizers = run.component.finalizers().to_vec();
    let ours = context.owners.names().finalizer();
    finalizers.retain(|finalizer| finalizer != ours);
    write_finalizers(run.component, context, &finalizers).await?;
    tracing::info!(component = name.1, namespace = name.0, "component is gone");
    Ok(())
}

/// Writes the whole list, on condition that nobody changed the component meanwhile.
async fn write_finalizers<C: Component>(
    component: &C,
    context: &Context,
    finalizers: &[String],
) -> Result<(), ReconcileError> {
    let api: Api<C> = Api::namespaced(
        context.client.0.clone(),
        &component.namespace().unwrap_or_default(),
    );
    let patch = json!({ "metadata": {
        "resourceVersion": component.meta().resource_version,
        "finalizers": finalizers,
    }});
    let answer = api
        .patch(
            &component.name_any(),
            &PatchParams::default(),
            &Patch::Merge(&patch),
        )
        .await;
    answer.map_err(|cause| ReconcileError::Component {
        verb: "write the component's finalizers",
        cause: Box::new(cause),
    })?;
    Ok(())
}
