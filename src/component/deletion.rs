//! Removing a component with everything that it brought.

use super::error::ReconcileError;
use super::project::Outcome;
use super::resource::Component;
use super::run::Run;
use super::{seed, stored};
use crate::api::v1alpha1::DeletePolicy;
use crate::dependents::{Desired, plan_deletion, served};
use std::collections::HashSet;

/// Most rounds of deleting in one run.
const MAX_ROUNDS: usize = 200;

/// Deletes what can be deleted now. When nothing is waited for afterwards, everything is gone.
pub(super) async fn delete<C: Component>(run: &mut Run<'_, C>) -> Result<Outcome, ReconcileError> {
    let nothing = Desired::default();
    for _ in 0..MAX_ROUNDS {
        let mut observed = run.observe(&nothing, &HashSet::new()).await?;
        let plan = plan_deletion(&run.status.inventory, &observed);
        if plan.steps.is_empty() {
            run.finish(&nothing, &observed, &[], &plan);
            return Ok(Outcome::Deleting(plan.waiting));
        }
        // Before the first deletion: what runs the instances of others must go on running as long as they exist.
        check_definitions(run).await?;
        let (changes, result) = run.execute(&plan, &nothing).await;
        run.learn(&changes, &mut observed, &mut HashSet::new());
        run.finish(&nothing, &observed, &changes, &plan);
        result?;
    }
    Err(ReconcileError::Rounds { rounds: MAX_ROUNDS })
}

/// Refuses if a definition that would be deleted has instances of others.
async fn check_definitions<C: Component>(run: &Run<'_, C>) -> Result<(), ReconcileError> {
    let resources = run.context.discovery.resources().await?;
    let executor = run.executor();
    for item in &run.status.inventory {
        let id = item.id();
        if item.delete_policy != DeletePolicy::Delete || id.kind != "CustomResourceDefinition" {
            continue;
        }
        if let Some(definitions) = served(&resources, &item.key()) {
            executor.check_unused(&id, definitions).await?;
        }
    }
    Ok(())
}

/// Lets the component go.
pub(super) async fn finish<C: Component>(run: &mut Run<'_, C>) -> Result<(), ReconcileError> {
    let name = run.component_name();
    let context = run.context;
    context.release(&name);
    if run.status.seed_secret.is_some() {
        seed::delete(run.component, context).await?;
    }
    stored::remove_finalizer(run.component, context, run.memory).await?;
    tracing::info!(component = name.1, namespace = name.0, "component is gone");
    Ok(())
}
