//! How a chart's hooks become dependents.
//!
//! A hook that runs before an installation or upgrade becomes an object of an early wave, one that runs after becomes an object of a
//! late wave. Hooks of one weight share a wave. Installation hooks run once; upgrade hooks run once per revision.

use std::borrow::Cow;
use std::collections::BTreeSet;
use whipstaff_generator::{Hook, HookDeletePolicy, HookEvent};

/// Wave of the definitions that a component brings: before its first hook, as with Helm's `crds` folder.
pub(crate) const DEFINITION_WAVE: i32 = -31_000;
/// First wave of hooks that run before.
const PRE_WAVE: i32 = -30_000;
/// First wave of hooks that run after.
const POST_WAVE: i32 = 30_000;
/// Most distinct weights among the hooks of one side; further ones share the last wave.
const MAX_WEIGHTS: usize = 1_000;

/// How often a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runs {
    /// Once for the component's life.
    Once,
    /// Once for each revision.
    EachRevision,
}

/// What a hook becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placement {
    /// The hook.
    pub(crate) hook: Hook,
    /// Its wave.
    pub(crate) wave: i32,
    /// How often it runs.
    pub(crate) runs: Runs,
    /// Whether its object is deleted once it succeeded.
    pub(crate) purge: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

/// The hooks of a component that was taken over from Helm at a revision: what was installed is not installed again, and the hooks of that
/// revision have run.
pub(crate) fn after_adoption(
    hooks: &[Hook],
    revision: i64,
    adopted: Option<i64>,
) -> Cow<'_, [Hook]> {
    let Some(adopted) = adopted else {
        return Cow::Borrowed(hooks);
    };
    let is_over = |event: &HookEvent| match event {
        HookEvent::PreInstall | HookEvent::PostInstall => true,
        HookEvent::PreUpgrade | HookEvent::PostUpgrade => revision == adopted,
        _ => false,
    };
    let mut left = hooks.to_vec();
    for hook in &mut left {
        hook.events.retain(|event| !is_over(event));
    }
    left.retain(|hook| !hook.events.is_empty());
    Cow::Owned(left)
}

/// Places the hooks that concern an installation (`is_upgrade` false) or an upgrade; others are left out.
pub(crate) fn place(hooks: &[Hook], is_upgrade: bool) -> Vec<Placement> {
    let chosen: Vec<_> = hooks
        .iter()
        .filter_map(|hook| side(&hook.events, is_upgrade).map(|(side, runs)| (hook, side, runs)))
        .collect();
    let weights = |wanted: Side| -> Vec<i64> {
        let of_side = chosen.iter().filter(|(_, side, _)| *side == wanted);
        of_side
            .map(|(hook, ..)| hook.weight)
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect()
    };
    let (before, after) = (weights(Side::Before), weights(Side::After));
    chosen
        .into_iter()
        .map(|(hook, side, runs)| {
            let (weights, first) = match side {
                Side::Before => (&before, PRE_WAVE),
                Side::After => (&after, POST_WAVE),
            };
            let position = weights
                .iter()
                .position(|weight| *weight == hook.weight)
                .unwrap_or(0);
            Placement {
                wave: first + position.min(MAX_WEIGHTS) as i32,
                runs,
                purge: hook
                    .delete_policies
                    .contains(&HookDeletePolicy::HookSucceeded),
                hook: hook.clone(),
            }
        })
        .collect()
}

/// Whether a hook runs, on which side, and how often. An installation hook stays part of the set on upgrades, so that what it
/// created is not pruned.
fn side(events: &[HookEvent], is_upgrade: bool) -> Option<(Side, Runs)> {
    let has = |event| events.contains(&event);
    if is_upgrade && has(HookEvent::PreUpgrade) {
        return Some((Side::Before, Runs::EachRevision));
    }
    if is_upgrade && has(HookEvent::PostUpgrade) {
        return Some((Side::After, Runs::EachRevision));
    }
    if has(HookEvent::PreInstall) {
        return Some((Side::Before, Runs::Once));
    }
    has(HookEvent::PostInstall).then_some((Side::After, Runs::Once))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use whipstaff_generator::Object;

    fn hook(events: &[HookEvent], weight: i64) -> Hook {
        let value = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}});
        Hook {
            object: Object::from_value(value).unwrap(),
            source: "t.yaml".to_owned(),
            events: events.to_vec(),
            weight,
            delete_policies: vec![],
        }
    }

    #[test]
    fn weights_become_waves_in_order_whatever_their_size() {
        let hooks = [
            hook(&[HookEvent::PreInstall], 1_000_000),
            hook(&[HookEvent::PreInstall], -5),
            hook(&[HookEvent::PostInstall], 0),
        ];
        let waves: Vec<_> = place(&hooks, false).iter().map(|p| p.wave).collect();
        assert_eq!(waves, [PRE_WAVE + 1, PRE_WAVE, POST_WAVE]);
    }

    #[test]
    fn upgrade_hooks_run_on_each_revision_and_only_on_upgrades() {
        let hooks = [hook(&[HookEvent::PreUpgrade], 0)];
        assert!(place(&hooks, false).is_empty());
        assert_eq!(place(&hooks, true)[0].runs, Runs::EachRevision);
    }

    #[test]
    fn hooks_of_a_release_that_was_taken_over_do_not_run_again() {
        let hooks = [
            hook(&[HookEvent::PreInstall], 0),
            hook(&[HookEvent::PostInstall, HookEvent::PreUpgrade], 0),
            hook(&[HookEvent::PreDelete], 0),
        ];
        let left = |revision, adopted| {
            let left = after_adoption(&hooks, revision, adopted);
            left.iter()
                .map(|hook| hook.events.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(left(3, None).len(), 3);
        assert_eq!(left(3, Some(3)), [vec![HookEvent::PreDelete]]);
        assert_eq!(
            left(4, Some(3)),
            [vec![HookEvent::PreUpgrade], vec![HookEvent::PreDelete]]
        );
    }

    #[test]
    fn installation_hooks_stay_on_upgrades_and_tests_never_run() {
        let install = [hook(&[HookEvent::PreInstall], 0)];
        assert_eq!(place(&install, true)[0].runs, Runs::Once);
        assert!(place(&[hook(&[HookEvent::Test], 0)], true).is_empty());
        assert!(place(&[hook(&[HookEvent::PreDelete], 0)], false).is_empty());
    }
}
