//! Readiness by expressions of the component.

use super::error::ReconcileError;
use super::memory::Memory;
use super::resource::Component;
use super::run::Run;
use crate::api::v1alpha1::HealthCheck;
use crate::dependents::Desired;
use crate::status::HealthRules;

/// The checks of a component, read.
#[derive(Debug, Default)]
pub(crate) struct KnownHealth {
    checks: Vec<HealthCheck>,
    rules: HealthRules,
}

impl<C: Component> Run<'_, C> {
    /// Has objects judged by the component's own expressions, where it has some for their kinds.
    pub(super) fn apply_health_rules(
        &mut self,
        desired: &mut Desired,
    ) -> Result<(), ReconcileError> {
        let rules = rules(self.memory, self.component.health())?;
        for object in &mut desired.objects {
            let rule = rules.of(&object.id.group, &object.id.kind);
            object.hints = std::mem::take(&mut object.hints).with_health(rule);
        }
        Ok(())
    }
}

/// The rules of checks, which are read once. Other checks are other answers: what was said of objects before does not count.
fn rules<'m>(
    memory: &'m mut Memory,
    checks: &[HealthCheck],
) -> Result<&'m HealthRules, ReconcileError> {
    if memory.health.checks != checks {
        let rules = HealthRules::compile(checks)?;
        memory.live.clear();
        memory.health = KnownHealth {
            checks: checks.to_vec(),
            rules,
        };
    }
    Ok(&memory.health.rules)
}
