//! What keeps objects from being pruned.

use super::ownership::Owner;
use super::plan::{Observed, Policies, Refusal, RefusalCause};
use crate::api::v1alpha1::{InventoryItem, PROTECTED_KINDS, Phase, PrunePolicy};
use whipstaff_generator::ObjectId;

/// What keeps objects from being pruned.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Pruning<'a> {
    policy: Option<&'a PrunePolicy>,
}

impl<'a> Pruning<'a> {
    /// As a policy says.
    pub(crate) const fn new(policy: Option<&'a PrunePolicy>) -> Self {
        Self { policy }
    }

    /// Whether an object that is no longer wanted stays, owned as before.
    pub(super) fn protects(self, id: &ObjectId, item: &InventoryItem) -> bool {
        let is_meant = |kind: &str| match kind.split_once('.') {
            Some((kind, group)) => id.kind == kind && id.group == group,
            None => id.kind == kind,
        };
        let named = self.policy.and_then(|policy| policy.protect.as_ref());
        !item.prunable
            && match named {
                Some(kinds) => kinds.iter().any(|kind| is_meant(kind)),
                None => PROTECTED_KINDS.iter().any(|kind| is_meant(kind)),
            }
    }

    /// Whether an object that is no longer wanted will be deleted.
    pub(super) fn deletes(self, id: &ObjectId, item: &InventoryItem, observed: &Observed) -> bool {
        let live = observed.objects.get(id);
        live.is_some_and(|live| live.owner == Owner::Us)
            && !item.delete_policy.orphans_on_apply()
            && !self.protects(id, item)
    }
}

/// Refuses if one change would delete too many objects. Those whose deletion has begun do not count again.
pub(super) fn check_pruning(
    redundant: &[(ObjectId, &InventoryItem)],
    total: usize,
    observed: &Observed,
    policies: &Policies<'_>,
) -> Option<Refusal> {
    let limit = policies.pruning.policy?.max_percent?;
    let mut doomed: Vec<_> = redundant
        .iter()
        .filter(|(id, item)| {
            item.phase != Phase::Deleting && policies.pruning.deletes(id, item, observed)
        })
        .map(|(id, _)| id)
        .collect();
    doomed.sort();
    if doomed.len().saturating_mul(100) <= usize::from(limit).saturating_mul(total) {
        return None;
    }
    let first = doomed.first()?;
    Some(Refusal {
        id: (*first).clone(),
        reason: format!(
            "would be pruned, with {} of all {total} objects; `policies.prune.maxPercent` is {limit}",
            doomed.len()
        ),
        cause: RefusalCause::Pruning,
    })
}
