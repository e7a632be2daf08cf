//! Removing a component with everything that it brought.

use super::error::ReconcileError;
use super::hooks::Point;
use super::project::Outcome;
use super::reconcile::Times;
use super::resource::Component;
use super::run::Run;
use super::{seed, stored};
use crate::api::v1alpha1::InventoryItem;
use crate::class::Class;
use crate::cluster::{Resource, Seen};
use crate::dependents::{Desired, plan_deletion};
use kube::ResourceExt;
use std::collections::HashSet;
use std::time::Duration;
use whipstaff_generator::HookEvent;

/// Most rounds of deleting in one run.
const MAX_ROUNDS: usize = 200;

/// Deletes what can be deleted now. When nothing is waited for afterwards, everything is gone.
pub(super) async fn delete<C: Component>(
    run: &mut Run<'_, C>,
    times: Times,
) -> Result<Outcome, ReconcileError> {
    let result = take_away(run, times.interval).await;
    // Whatever failed: what is in Secrets must not be told.
    result.map_err(|error| run.memory.masks().fold(error, ReconcileError::masked))
}

async fn take_away<C: Component>(
    run: &mut Run<'_, C>,
    interval: Duration,
) -> Result<Outcome, ReconcileError> {
    run.heed_request();
    let (references, kubeconfig) = match run.references(interval, true).await {
        Err(error) if run.hooks.is_empty() && run.may_let_go(&error, is_unneeded) => {
            return Ok(run.let_go(&error));
        }
        other => other?,
    };
    run.connect(kubeconfig).await?;
    run.hooks(Point::PostRead, None, &references).await?;
    run.check_dependants()?;
    run.hooks(Point::PreDelete, None, &references).await?;
    check_finalizers(run)?;
    if let Some(hook) = run.run_deletion_hooks(HookEvent::PreDelete).await? {
        return Ok(Outcome::Leaving(vec![hook]));
    }
    let outcome = delete_objects(run).await?;
    if matches!(&outcome, Outcome::Deleting(waiting) if waiting.is_empty()) {
        if let Some(hook) = run.run_deletion_hooks(HookEvent::PostDelete).await? {
            return Ok(Outcome::Leaving(vec![hook]));
        }
        run.hooks(Point::PostDelete, None, &references).await?;
    }
    Ok(outcome)
}

/// Refuses as long as others hold the component: what they still need must not go.
fn check_finalizers<C: Component>(run: &Run<'_, C>) -> Result<(), ReconcileError> {
    let ours = run.owner.names().finalizer();
    let finalizers = run.component.finalizers().iter();
    let foreign = finalizers.filter(|finalizer| {
        // The garbage collector removes its own when it has nothing to do.
        let finalizer = finalizer.as_str();
        finalizer != ours && finalizer != "foregroundDeletion" && finalizer != "orphan"
    });
    let finalizers: Vec<_> = foreign.cloned().collect();
    if finalizers.is_empty() {
        return Ok(());
    }
    Err(ReconcileError::ForeignFinalizers { finalizers })
}

async fn delete_objects<C: Component>(run: &mut Run<'_, C>) -> Result<Outcome, ReconcileError> {
    let nothing = Desired::default();
    run.memory.next_look = None;
    run.claim(&nothing, &[]);
    let mut checked = false;
    for _ in 0..MAX_ROUNDS {
        let mut observed = run.observe(&nothing, &HashSet::new()).await?;
        let claimed = run.target.cluster.claims.of_others(&run.owner);
        let types = run.component.additional_managed_types();
        let plan = plan_deletion(&run.status.inventory, &observed, &claimed, types);
        if plan.steps.is_empty() {
            run.finish(&nothing, &observed, &[], &plan);
            return Ok(Outcome::Deleting(plan.waiting));
        }
        // Before the first deletion: what runs the instances of others must go on running as long as they exist.
        if !std::mem::replace(&mut checked, true) {
            let inventory = &run.status.inventory;
            let checked = run.executor().check_foreign(inventory, types).await;
            match checked.map_err(ReconcileError::from) {
                Err(error) if run.may_let_go(&error, stays) => return Ok(run.let_go(&error)),
                other => other?,
            }
        }
        let (changes, result) = run.execute(&plan, &nothing).await;
        run.learn(&changes, &mut observed, &mut HashSet::new());
        run.finish(&nothing, &observed, &changes, &plan);
        run.tell_occupied(&changes).await;
        match result {
            Err(error) if run.may_let_go(&error, stays) => return Ok(run.let_go(&error)),
            other => other?,
        }
    }
    Err(ReconcileError::Rounds { rounds: MAX_ROUNDS })
}

/// Whether an object stays when its component goes.
fn stays(item: &InventoryItem) -> bool {
    item.delete_policy.orphans_on_delete()
}

/// Whether an object stays, or was never applied as far as is recorded.
fn is_unneeded(item: &InventoryItem) -> bool {
    stays(item) || item.digest.is_empty()
}

impl<C: Component> Run<'_, C> {
    /// Whether nothing would be lost if an object were never looked at again when the component is deleted: it was never applied, as
    /// far as anybody knows, or it stays anyway.
    pub(super) fn is_dispensable(&self, item: &InventoryItem, resource: &Resource) -> bool {
        if self.component.meta().deletion_timestamp.is_none() {
            return false;
        }
        let watches = &self.target.cluster.watches;
        let is_seen = || {
            matches!(
                watches.seen(resource, &item.namespace, &item.name),
                Seen::At(_)
            )
        };
        stays(item) || (is_unneeded(item) && !is_seen())
    }

    /// Whether a component that may not do what its deletion takes loses nothing by going nevertheless.
    fn may_let_go(&self, error: &ReconcileError, is_fine: fn(&InventoryItem) -> bool) -> bool {
        error.class() == Class::Denied && self.status.inventory.iter().all(is_fine)
    }

    /// Leaves everything as it is.
    fn let_go(&mut self, error: &ReconcileError) -> Outcome {
        tracing::warn!(
            component = self.component.name_any(),
            error = error.report(),
            "nothing is lost with the component, which goes although it may not do everything"
        );
        self.status.inventory.clear();
        Outcome::Deleting(Vec::new())
    }
}

/// Lets the component go.
pub(super) async fn finish<C: Component>(run: &mut Run<'_, C>) -> Result<(), ReconcileError> {
    let name = run.component_name();
    let context = run.context;
    run.release_hooks().await;
    context.release(&name, Some(&run.target.cluster));
    run.remove_pins().await?;
    if run.status.seed_secret.is_some() {
        seed::delete(run.component, context).await?;
    }
    stored::remove_finalizer(run.component, context, run.memory).await?;
    tracing::info!(component = name.1, namespace = name.0, "component is gone");
    Ok(())
}
