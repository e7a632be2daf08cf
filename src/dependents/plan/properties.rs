//! Properties of plans, for many sets of objects in many states of the cluster. Cases are drawn from a fixed sequence, so that a failure
//! comes back with its number.

use super::*;
use crate::dependents::desired::prepare;
use crate::dependents::order::gate;
use crate::dependents::testing::{
    carry_out, config_map, crd, generated, live, options, owner, resources, settled,
};
use crate::dependents::{plan_deletion, with_desired};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde_json::{Value, json};

/// Cases of each property.
const CASES: u64 = 400;
/// Rounds after which a plan must have come to its end.
const ROUNDS: i64 = 300;

/// Numbers that look random and are always the same (`SplitMix64`).
struct Draw(u64);

impl Draw {
    fn number(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % below as u64) as usize
    }

    fn one_in(&mut self, chances: usize) -> bool {
        self.number(chances) == 0
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.number(choices.len())]
    }

    fn object(&mut self) -> Value {
        let name = self.pick(&["a", "b", "c", "d"]);
        let of = |api: &str, kind: &str| json!({"apiVersion": api, "kind": kind, "metadata": {"name": name}});
        let mut object = match self.number(9) {
            0 => of("v1", "Secret"),
            1 => of("apps/v1", "Deployment"),
            2 => json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "apps"}}),
            3 => crd(),
            4 => of("example.org/v1", "Widget"),
            5 => of(
                "admissionregistration.k8s.io/v1",
                "ValidatingWebhookConfiguration",
            ),
            6 => of("v1", "PersistentVolumeClaim"),
            _ => config_map(name),
        };
        object["spec"]["content"] = json!(self.number(2));
        if object["kind"] == "CustomResourceDefinition" {
            object["spec"]["content"] = Value::Null;
        }
        for (suffix, values) in ANNOTATIONS {
            if self.one_in(6) {
                let value = self.pick(values);
                object["metadata"]["annotations"][format!("whipstaff.dev/{suffix}")] = json!(value);
            }
        }
        object
    }

    /// A set that keeps all rules, and where it has a definition, one that serves its instances.
    fn desired(&mut self) -> Desired {
        loop {
            let mut values: Vec<Value> = Vec::new();
            for _ in 0..self.number(10) {
                let object = self.object();
                let same = |other: &Value| {
                    other["kind"] == object["kind"]
                        && other["metadata"]["name"] == object["metadata"]["name"]
                };
                if !values.iter().any(same) {
                    values.push(object);
                }
            }
            let (owner, resources) = (owner(), resources());
            if let Ok(desired) = prepare(&generated(values), &options(&owner, &resources)) {
                return desired;
            }
        }
    }

    /// What others may have done to a cluster.
    fn disturb(&mut self, observed: &mut Observed) {
        let mut ids: Vec<_> = observed.objects.keys().cloned().collect();
        ids.sort();
        for id in ids {
            if self.one_in(8) {
                observed.objects.remove(&id);
                continue;
            }
            let Some(live) = observed.objects.get_mut(&id) else {
                continue;
            };
            match self.number(12) {
                0 => live.fields = "others".to_owned(),
                1 => live.digest = "another".to_owned(),
                2 => live.deleting = true,
                3 => live.owner = Owner::Nobody,
                4 => live.stray.ours = true,
                _ => {}
            }
        }
    }
}

const ANNOTATIONS: &[(&str, &[&str])] = &[
    ("apply-order", &["-2", "-1", "1", "3"]),
    ("delete-order", &["-1", "0", "2"]),
    ("purge-order", &["0", "1", "4"]),
    (
        "update-policy",
        &["recreate", "replace", "ssa-override", "SsaMerge"],
    ),
    (
        "delete-policy",
        &["orphan", "orphan-on-apply", "orphan-on-delete", "delete"],
    ),
    (
        "reconcile-policy",
        &["once", "on-object-or-component-change"],
    ),
    (
        "depends-on",
        &["ConfigMap/a", "Secret/b", "apps/Deployment/c, ConfigMap/a"],
    ),
    ("adoption-policy", &["always"]),
];

fn at(round: i64, claimed: &BTreeSet<ObjectId>) -> Policies<'_> {
    Policies {
        create_namespaces: true,
        pruning: Pruning::new(None),
        claimed,
        additional_types: &[],
        until_hooks: false,
        now: Timestamp::from_second(10_000 + round * 3).unwrap(),
    }
}

/// What no step of a plan may break.
fn check(plan: &Plan, desired: &Desired, observed: &Observed, items: &[InventoryItem]) {
    let done = |object: &DesiredObject| {
        let live = observed.objects.get(&object.id);
        let completed = items.iter().any(|item| {
            item.id() == object.id && item.phase == crate::api::v1alpha1::Phase::Completed
        });
        completed
            || live.is_some_and(|live| live.owner == Owner::Us && live.digest == object.digest)
    };
    for step in &plan.steps {
        let id = step.key.id();
        let wanted = desired.objects.iter().find(|object| object.id == id);
        let live = observed.objects.get(&id);
        match &step.action {
            Action::Create | Action::Apply | Action::Absorb { .. } => {
                let wanted = wanted.expect("only what is wanted is applied");
                let earlier = desired.objects.iter().filter(|other| {
                    (other.apply_order, gate(other.stage))
                        < (wanted.apply_order, gate(wanted.stage))
                        || wanted.depends_on.contains(&other.id)
                });
                for other in earlier {
                    assert!(done(other), "{id} is applied before {}", other.id);
                }
                assert_eq!(step.action == Action::Create, live.is_none(), "{id}");
            }
            Action::Delete { .. } | Action::DeleteIfEmpty { .. } => {
                assert!(wanted.is_none(), "{id} is wanted and deleted");
                assert_eq!(live.map(|live| &live.owner), Some(&Owner::Us), "{id}");
                let needs = |other: &&InventoryItem| {
                    let inside = id.kind == "Namespace" && other.namespace == id.name;
                    let served = id.kind == "CustomResourceDefinition" && other.kind == "Widget";
                    inside || served
                };
                for other in items.iter().filter(needs) {
                    let left = observed.objects.get(&other.id());
                    let ours = left.is_some_and(|live| live.owner == Owner::Us);
                    let orphan = other.delete_policy != crate::api::v1alpha1::DeletePolicy::Delete;
                    assert!(!ours || orphan, "{id} is deleted before {}", other.id());
                }
            }
            Action::Recreate { .. } => assert!(wanted.is_some(), "{id}"),
            _ => {}
        }
    }
}

#[test]
fn plan_that_is_carried_out_leaves_an_empty_plan_and_breaks_no_rule() {
    let claimed = BTreeSet::new();
    let mut ended = 0;
    for case in 0..CASES {
        let mut draw = Draw(case);
        let before = draw.desired();
        let (inventory, mut observed) = settled(&before);
        draw.disturb(&mut observed);
        let desired = draw.desired();
        let now = Time(Timestamp::from_second(9_000).unwrap());
        let (mut inventory, _) = with_desired(&inventory, &desired, &now);
        let mut round = 0;
        loop {
            assert!(round < ROUNDS, "case {case} does not come to an end");
            round += 1;
            let policies = at(round, &claimed);
            let next = plan(&desired, &inventory, &observed, &policies);
            if !next.refusals.is_empty() {
                assert!(next.steps.is_empty(), "case {case}");
                break;
            }
            check(&next, &desired, &observed, &inventory);
            for waiting in &next.waiting {
                assert!(!waiting.reason.is_empty(), "case {case}");
            }
            carry_out(&next, &desired, &mut inventory, &mut observed, policies.now);
            if next.is_busy() {
                observed.objects.retain(|_, live| !live.deleting);
            } else {
                let again = plan(&desired, &inventory, &observed, &at(round + 1, &claimed));
                assert!(
                    !again.is_busy() && again.gone.is_empty(),
                    "case {case}: {again:?}"
                );
                ended += 1;
                break;
            }
        }
    }
    assert!(ended > CASES / 2, "only {ended} cases were not refused");
}

#[test]
fn deletion_comes_to_an_end_and_leaves_only_orphans() {
    for case in 0..CASES {
        let mut draw = Draw(case);
        let desired = draw.desired();
        let (mut inventory, mut observed) = settled(&desired);
        draw.disturb(&mut observed);
        let foreign: Vec<_> = observed
            .objects
            .iter()
            .filter(|(_, live)| live.owner != Owner::Us)
            .map(|(id, _)| id.clone())
            .collect();
        let nothing = Desired::default();
        let mut round = 0;
        while !inventory.is_empty() {
            assert!(round < ROUNDS, "case {case} does not come to an end");
            round += 1;
            let plan = plan_deletion(&inventory, &observed, &BTreeSet::new(), &[]);
            check(&plan, &nothing, &observed, &inventory);
            let now = Timestamp::from_second(10_000 + round).unwrap();
            carry_out(&plan, &nothing, &mut inventory, &mut observed, now);
            observed.objects.retain(|_, live| !live.deleting);
        }
        for id in foreign {
            assert!(
                observed
                    .objects
                    .get(&id)
                    .is_none_or(|l| l.owner == Owner::Nobody)
            );
        }
    }
}

#[test]
fn no_state_of_inventory_and_cluster_makes_a_plan_panic() {
    let claimed = BTreeSet::new();
    for case in 0..CASES {
        let mut draw = Draw(case);
        let (first, second, third) = (draw.desired(), draw.desired(), draw.desired());
        let (mut inventory, _) = settled(&first);
        let (_, mut observed) = settled(&second);
        draw.disturb(&mut observed);
        for item in &mut inventory {
            item.apply_order = draw.number(5) as i32 - 2;
            item.delete_order = draw.number(5) as i32 - 2;
            item.depends_on = vec![item.id().to_string(), "/ConfigMap/apps/a".to_owned()];
        }
        observed.objects.insert(
            crate::dependents::testing::config_map_id("a"),
            live("digest"),
        );
        let _ = plan(&third, &inventory, &observed, &at(0, &claimed));
        let _ = plan_deletion(&inventory, &observed, &claimed, &[]);
    }
}
