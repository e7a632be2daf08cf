use super::*;
use crate::api::v1alpha1::{Phase, PrunePolicy};
use crate::dependents::inventory::with_desired;
use crate::dependents::plan_deletion;
use crate::dependents::testing::{config_map, config_map_id, crd, desired, in_wave, live, settled};
use crate::status::Status;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde_json::{Value, json};

const CREATE: &Policies<'_> = &Policies {
    create_namespaces: true,
    pruning: Pruning::new(None),
    claimed: &BTreeSet::new(),
    additional_types: &[],
    until_hooks: false,
    now: NOW,
};
/// An hour and a half after what is settled was applied.
const NOW: Timestamp = Timestamp::constant(5_400, 0);

fn steps(plan: &Plan) -> Vec<String> {
    plan.steps
        .iter()
        .map(|step| {
            format!(
                "{:?} {}: {}",
                kind(&step.action),
                step.key.id(),
                step.reason
            )
        })
        .collect()
}

fn kind(action: &Action) -> &'static str {
    match action {
        Action::CreateNamespace => "namespace",
        Action::Create => "create",
        Action::Apply => "apply",
        Action::Absorb { .. } => "absorb",
        Action::Release { .. } => "release",
        Action::Recreate { .. } => "recreate",
        Action::Purge { .. } => "purge",
        Action::Delete { .. } | Action::DeleteIfEmpty { .. } => "delete",
    }
}

fn unready(live: &mut Live, message: &str) {
    live.assessment = Assessment {
        status: Status::InProgress,
        message: message.to_owned(),
    };
}

#[test]
fn settled_component_needs_nothing() {
    let desired = desired(vec![config_map("a"), crd()]);
    let (inventory, observed) = settled(&desired);
    assert_eq!(
        plan(&desired, &inventory, &observed, CREATE),
        Plan::default()
    );
}

#[test]
fn later_wave_waits_until_the_earlier_one_is_ready() {
    let desired = desired(vec![in_wave(config_map("first"), -1), config_map("second")]);
    let (inventory, _) = with_desired(&[], &desired, &Time(jiff::Timestamp::UNIX_EPOCH));
    let mut observed = Observed::default();
    let first = plan(&desired, &inventory, &observed, CREATE);
    assert_eq!(
        steps(&first),
        ["\"create\" ConfigMap apps/first: it did not exist"]
    );

    let (inventory, settled) = settled(&desired);
    let id = config_map_id("first");
    let mut object = settled.objects[&id].clone();
    unready(&mut object, "not yet");
    observed.objects.insert(id.clone(), object);
    let waiting = plan(&desired, &inventory, &observed, CREATE);
    assert!(waiting.steps.is_empty());
    assert_eq!(
        waiting.waiting[0].to_string(),
        "ConfigMap apps/first: not yet"
    );
}

#[test]
fn definitions_are_established_before_anything_else_of_their_wave() {
    let widget =
        json!({"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": "w"}});
    let desired = desired(vec![widget, in_wave(crd(), 0)]);
    let plan = plan(&desired, &[], &Observed::default(), CREATE);
    assert_eq!(plan.steps.len(), 1);
    assert_eq!(plan.steps[0].key.kind, "CustomResourceDefinition");
}

#[test]
fn manual_changes_and_deletions_are_put_right() {
    let desired = desired(vec![config_map("a"), config_map("b")]);
    let (inventory, mut observed) = settled(&desired);
    observed
        .objects
        .get_mut(&config_map_id("a"))
        .unwrap()
        .fields = "others".to_owned();
    observed.objects.remove(&config_map_id("b"));
    assert_eq!(
        steps(&plan(&desired, &inventory, &observed, CREATE)),
        [
            "\"apply\" ConfigMap apps/a: somebody changed it",
            "\"create\" ConfigMap apps/b: somebody deleted it"
        ]
    );
}

#[test]
fn redundant_object_is_pruned_after_every_wave_is_ready() {
    let before = desired(vec![config_map("kept"), config_map("redundant")]);
    let (mut inventory, mut observed) = settled(&before);
    since_long(&mut inventory, "redundant");
    let after = desired(vec![config_map("kept")]);
    let pruning = plan(&after, &inventory, &observed, CREATE);
    assert_eq!(
        steps(&pruning),
        ["\"delete\" ConfigMap apps/redundant: it is no longer wanted"]
    );

    unready(
        observed.objects.get_mut(&config_map_id("kept")).unwrap(),
        "not yet",
    );
    let waiting = plan(&after, &inventory, &observed, CREATE);
    assert!(waiting.steps.is_empty() && waiting.waiting.len() == 1);
}

#[test]
fn object_of_somebody_else_stops_everything() {
    let desired = desired(vec![config_map("a"), config_map("b")]);
    let mut observed = Observed::default();
    let foreign = Live {
        owner: Owner::Other("the component `x/y`".to_owned()),
        ..live("")
    };
    observed.objects.insert(config_map_id("b"), foreign);
    let plan = plan(&desired, &[], &observed, CREATE);
    assert!(plan.steps.is_empty());
    assert_eq!(plan.refusals[0].reason, "belongs to the component `x/y`");
}

#[test]
fn adoption_follows_the_policy() {
    let cases = [
        (Owner::Nobody, "never", false),
        (Owner::Nobody, "if-unowned", true),
        (Owner::Other("x".to_owned()), "if-unowned", false),
        (Owner::Other("x".to_owned()), "always", true),
    ];
    for (owner, policy, adopted) in cases {
        let mut object = config_map("a");
        object["metadata"]["annotations"] = json!({"whipstaff.dev/adoption-policy": policy});
        let desired = desired(vec![object]);
        let mut observed = Observed::default();
        observed
            .objects
            .insert(config_map_id("a"), Live { owner, ..live("") });
        let plan = plan(&desired, &[], &observed, CREATE);
        assert_eq!(plan.refusals.is_empty(), adopted, "{policy}");
        assert_eq!(plan.steps.len(), usize::from(adopted), "{policy}");
    }
}

#[test]
fn missing_namespaces_are_created_first_or_refused() {
    let desired = desired(vec![config_map("a")]);
    let mut observed = Observed::default();
    observed.missing_namespaces.insert("apps".to_owned());
    let created = plan(&desired, &[], &observed, CREATE);
    assert_eq!(
        steps(&created)[0],
        "\"namespace\" Namespace apps: objects need it"
    );
    let policies = Policies {
        create_namespaces: false,
        ..*CREATE
    };
    let refused = plan(&desired, &[], &observed, &policies);
    assert_eq!(refused.refusals.len(), 1);
}

#[test]
fn completed_hook_is_neither_created_again_nor_waited_for() {
    let desired = desired(vec![config_map("a")]);
    let (mut inventory, _) = settled(&desired);
    inventory[0].phase = Phase::Completed;
    assert_eq!(
        plan(&desired, &inventory, &Observed::default(), CREATE),
        Plan::default()
    );
}

#[test]
fn deletion_goes_in_the_reverse_of_the_waves() {
    let desired = desired(vec![
        in_wave(config_map("first"), -1),
        config_map("last"),
        crd(),
    ]);
    let (inventory, mut observed) = settled(&desired);
    let mut order = Vec::new();
    loop {
        let plan = plan_deletion(&inventory, &observed, &BTreeSet::new(), &[]);
        if plan.steps.is_empty() {
            break;
        }
        for step in &plan.steps {
            order.push(step.key.name.clone());
            observed.objects.remove(&step.key.id());
        }
    }
    assert_eq!(order, ["last", "first", "widgets.example.org"]);
}

#[test]
fn deletion_leaves_orphans_and_what_others_took_over() {
    let mut kept = config_map("kept");
    kept["metadata"]["annotations"] = json!({"whipstaff.dev/delete-policy": "orphan"});
    let desired = desired(vec![kept, config_map("taken")]);
    let (inventory, mut observed) = settled(&desired);
    observed
        .objects
        .get_mut(&config_map_id("taken"))
        .unwrap()
        .owner = Owner::Other("somebody".to_owned());
    let plan = plan_deletion(&inventory, &observed, &BTreeSet::new(), &[]);
    assert_eq!(
        steps(&plan),
        ["\"release\" ConfigMap apps/kept: it is no longer wanted and stays"]
    );
    assert_eq!(plan.gone, BTreeSet::from([config_map_id("taken")]));
}

#[test]
fn object_that_is_going_away_is_waited_for() {
    let desired = desired(vec![config_map("a")]);
    let (inventory, mut observed) = settled(&desired);
    observed
        .objects
        .get_mut(&config_map_id("a"))
        .unwrap()
        .deleting = true;
    let plan = plan(&desired, &inventory, &observed, CREATE);
    assert_eq!(plan.waiting[0].reason, "is being deleted");
}

/// Says that an object became redundant so long ago that nobody will ask for it any more.
fn since_long(inventory: &mut [InventoryItem], name: &str) {
    let item = inventory.iter_mut().find(|item| item.name == name).unwrap();
    item.phase = Phase::Deleting;
    item.since = Some(Time(Timestamp::UNIX_EPOCH));
}

fn annotated(mut object: Value, annotations: &[(&str, &str)]) -> Value {
    for (suffix, value) in annotations {
        object["metadata"]["annotations"][format!("whipstaff.dev/{suffix}")] = json!(value);
    }
    object
}

fn of_kind(api_version: &str, kind: &str, name: &str) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}})
}

/// Executes plans on a model of the cluster, in which everything gets ready at once and deletions take no time, until there is
/// nothing left to do. Gives what was done, in order.
fn carry_out(
    desired: &Desired,
    inventory: &mut Vec<InventoryItem>,
    observed: &mut Observed,
) -> Vec<String> {
    let mut done = Vec::new();
    for round in 0..100 {
        let policies = Policies {
            now: NOW
                .checked_add(jiff::SignedDuration::from_secs(round * 3))
                .unwrap(),
            ..*CREATE
        };
        let plan = plan(desired, inventory, observed, &policies);
        assert!(plan.refusals.is_empty(), "{:?}", plan.refusals);
        if !plan.is_busy() {
            inventory.retain(|item| !plan.gone.contains(&item.id()));
            return done;
        }
        for step in &plan.steps {
            done.push(format!("{} {}", kind(&step.action), step.key.name));
        }
        crate::dependents::testing::carry_out(&plan, desired, inventory, observed, policies.now);
    }
    panic!("the plan does not come to an end: {done:?}");
}

#[test]
fn workloads_come_before_webhooks_and_instances_last() {
    let widget = of_kind("example.org/v1", "Widget", "widget");
    let webhook = of_kind(
        "admissionregistration.k8s.io/v1",
        "ValidatingWebhookConfiguration",
        "webhook",
    );
    let workload = of_kind("apps/v1", "Deployment", "workload");
    let desired = desired(vec![widget, webhook, workload, crd()]);
    let (mut inventory, _) = with_desired(&[], &desired, &Time(NOW));
    let mut observed = Observed::default();
    let done = carry_out(&desired, &mut inventory, &mut observed);
    let order = [
        "create widgets.example.org",
        "create workload",
        "create webhook",
        "create widget",
    ];
    assert_eq!(done, order);

    let mut order = Vec::new();
    loop {
        let plan = plan_deletion(&inventory, &observed, &BTreeSet::new(), &[]);
        if plan.steps.is_empty() {
            break;
        }
        for step in &plan.steps {
            order.push(step.key.name.clone());
            observed.objects.remove(&step.key.id());
        }
    }
    assert_eq!(
        order,
        ["widget", "webhook", "workload", "widgets.example.org"]
    );
}

#[test]
fn object_waits_for_what_it_depends_on() {
    let first = annotated(config_map("a"), &[("depends-on", "Secret/s")]);
    let secret = of_kind("v1", "Secret", "s");
    let desired = desired(vec![first, secret]);
    let (mut inventory, _) = with_desired(&[], &desired, &Time(NOW));
    let mut observed = Observed::default();
    let plan = plan(&desired, &inventory, &observed, CREATE);
    assert_eq!(steps(&plan), ["\"create\" Secret apps/s: it did not exist"]);
    assert_eq!(plan.waiting[0].reason, "waits for Secret apps/s");
    let done = carry_out(&desired, &mut inventory, &mut observed);
    assert_eq!(done, ["create s", "create a"]);

    let plan = plan_deletion(&inventory, &observed, &BTreeSet::new(), &[]);
    assert_eq!(plan.steps.len(), 1);
    assert_eq!(plan.waiting[0].reason, "is deleted after ConfigMap apps/a");
}

#[test]
fn object_that_did_its_work_is_purged_at_the_end_of_its_wave() {
    let job = annotated(config_map("job"), &[("purge-order", "0")]);
    let desired = desired(vec![
        job,
        config_map("beside"),
        in_wave(config_map("later"), 2),
    ]);
    let (mut inventory, _) = with_desired(&[], &desired, &Time(NOW));
    let mut observed = Observed::default();
    let done = carry_out(&desired, &mut inventory, &mut observed);
    assert_eq!(
        done,
        ["create beside", "create job", "purge job", "create later"]
    );
    assert!(carry_out(&desired, &mut inventory, &mut observed).is_empty());
}

#[test]
fn purge_waits_for_the_next_wave_that_there_is() {
    let job = annotated(config_map("job"), &[("purge-order", "1")]);
    let desired = desired(vec![job, in_wave(config_map("later"), 2)]);
    let (mut inventory, _) = with_desired(&[], &desired, &Time(NOW));
    let done = carry_out(&desired, &mut inventory, &mut Observed::default());
    assert_eq!(done, ["create job", "create later", "purge job"]);
}

#[test]
fn object_is_applied_again_when_its_time_comes() {
    let cases = [
        (&[][..], true),
        (&[("reapply-interval", "2h")], false),
        (&[("reconcile-policy", "once")], false),
        (&[("update-policy", "recreate")], false),
        (&[("drift-mode", "report")], false),
    ];
    for (annotations, due) in cases {
        let desired = desired(vec![annotated(config_map("a"), annotations)]);
        let (mut inventory, observed) = settled(&desired);
        inventory[0].applied_at = Some(Time(Timestamp::UNIX_EPOCH));
        let plan = plan(&desired, &inventory, &observed, CREATE);
        assert_eq!(plan.steps.len(), usize::from(due), "{annotations:?}");
        if due {
            assert_eq!(plan.steps[0].reason, Reason::Due);
        }
    }
}

#[test]
fn what_is_applied_only_once_is_never_changed_and_comes_back_when_it_is_deleted() {
    let once = |text: &str| {
        let mut object = annotated(config_map("a"), &[("reconcile-policy", "Once")]);
        object["data"] = json!({"text": text});
        desired(vec![object])
    };
    let (inventory, mut observed) = settled(&once("one"));
    let live = observed.objects.get_mut(&config_map_id("a")).unwrap();
    live.fields = "others".to_owned();
    let changed = once("two");
    assert!(!plan(&changed, &inventory, &observed, CREATE).is_busy());
    observed.objects.clear();
    let plan = plan(&changed, &inventory, &observed, CREATE);
    assert_eq!(
        steps(&plan),
        ["\"create\" ConfigMap apps/a: somebody deleted it"]
    );
}

#[test]
fn update_policies_decide_how_a_change_is_made() {
    let cases = [
        ("ssa-merge", false, "apply"),
        ("ssa-merge", true, "absorb"),
        ("ssa-override", true, "absorb"),
        ("replace", true, "apply"),
        ("recreate", false, "recreate"),
    ];
    for (policy, stray, expected) in cases {
        let desired = desired(vec![annotated(
            config_map("a"),
            &[("update-policy", policy)],
        )]);
        let (inventory, mut observed) = settled(&desired);
        let live = observed.objects.get_mut(&config_map_id("a")).unwrap();
        live.digest = "old".to_owned();
        live.stray.ours = stray;
        let plan = plan(&desired, &inventory, &observed, CREATE);
        assert_eq!(kind(&plan.steps[0].action), expected, "{policy}");
    }
}

#[test]
fn redundant_object_is_left_alone_for_a_moment_and_handed_over_to_who_asks_for_it() {
    let before = desired(vec![config_map("kept"), config_map("moved")]);
    let (mut inventory, observed) = settled(&before);
    let after = desired(vec![config_map("kept")]);
    let first = plan(&after, &inventory, &observed, CREATE);
    assert!(first.steps.is_empty() && first.waiting.len() == 1);
    let end = NOW.checked_add(jiff::SignedDuration::from_secs(2)).unwrap();
    assert_eq!(first.next_look, Some(end));

    let claimed = BTreeSet::from([config_map_id("moved")]);
    let asked = Policies {
        claimed: &claimed,
        ..*CREATE
    };
    let handed = plan(&after, &inventory, &observed, &asked);
    assert_eq!(
        steps(&handed),
        ["\"release\" ConfigMap apps/moved: another component takes it over"]
    );
    since_long(&mut inventory, "moved");
    let plan = plan(&after, &inventory, &observed, CREATE);
    assert_eq!(kind(&plan.steps[0].action), "delete");
}

#[test]
fn too_many_prunes_are_refused_before_anything_is_done() {
    let before = desired(vec![config_map("a"), config_map("b"), config_map("c")]);
    let (mut inventory, observed) = settled(&before);
    let after = desired(vec![config_map("a"), config_map("new")]);
    let limited = |percent, inventory: &[InventoryItem]| {
        let policy = PrunePolicy {
            max_percent: Some(percent),
            protect: None,
        };
        let policies = Policies {
            pruning: Pruning::new(Some(&policy)),
            ..*CREATE
        };
        plan(&after, inventory, &observed, &policies)
    };
    let refused = limited(50, &inventory);
    assert!(refused.steps.is_empty());
    assert_eq!(
        refused.refusals[0].reason,
        "would be pruned, with 2 of all 3 objects; `policies.prune.maxPercent` is 50"
    );
    assert!(limited(67, &inventory).refusals.is_empty());
    // What was begun is finished, although fewer objects are left.
    since_long(&mut inventory, "b");
    since_long(&mut inventory, "c");
    assert!(limited(10, &inventory).refusals.is_empty());
}

#[test]
fn protected_kinds_stay_unless_their_objects_say_otherwise() {
    for (annotations, kept) in [(&[][..], true), (&[("delete-policy", "delete")], false)] {
        let claim = annotated(of_kind("v1", "PersistentVolumeClaim", "data"), annotations);
        let before = desired(vec![config_map("a"), claim]);
        let (mut inventory, observed) = settled(&before);
        since_long(&mut inventory, "data");
        let after = desired(vec![config_map("a")]);
        let plan = plan(&after, &inventory, &observed, CREATE);
        assert_eq!(plan.kept.len(), usize::from(kept));
        assert_eq!(plan.steps.len(), usize::from(!kept));
        let deletion = plan_deletion(&inventory, &observed, &BTreeSet::new(), &[]);
        assert!(deletion.kept.is_empty() && deletion.steps.len() == 2);
    }
}

#[test]
fn what_serves_wanted_objects_is_not_pruned() {
    let widget = of_kind("example.org/v1", "Widget", "w");
    let definition = annotated(crd(), &[("delete-policy", "delete")]);
    let before = desired(vec![widget.clone(), definition]);
    let (inventory, observed) = settled(&before);
    let mut after = before.clone();
    after.objects.retain(|object| object.id.kind == "Widget");
    let plan = plan(&after, &inventory, &observed, CREATE);
    assert!(plan.steps.is_empty());
    assert_eq!(
        plan.refusals[0].reason,
        "would be deleted, and Widget.example.org apps/w needs it"
    );
}

#[test]
fn namespace_goes_after_everything_that_is_in_it() {
    let inside = annotated(config_map("inside"), &[("delete-order", "-1")]);
    let namespace = of_kind("v1", "Namespace", "apps");
    let desired = desired(vec![inside, namespace]);
    let (mut inventory, mut observed) = settled(&desired);
    // An older record may say otherwise.
    inventory[0].delete_order = 5;
    let plan = plan_deletion(&inventory, &observed, &BTreeSet::new(), &[]);
    assert_eq!(plan.steps.len(), 1);
    assert_eq!(plan.steps[0].key.name, "inside");
    observed.objects.remove(&config_map_id("inside"));
    let plan = plan_deletion(&inventory, &observed, &BTreeSet::new(), &[]);
    assert_eq!(plan.steps[0].key.kind, "Namespace");
}

#[test]
fn delete_policies_tell_pruning_from_deletion() {
    let cases = [
        ("delete", "delete", "delete"),
        ("orphan", "release", "release"),
        ("orphan-on-apply", "release", "delete"),
        ("orphan-on-delete", "delete", "release"),
    ];
    for (policy, pruned, deleted) in cases {
        let before = desired(vec![annotated(
            config_map("a"),
            &[("delete-policy", policy)],
        )]);
        let (mut inventory, observed) = settled(&before);
        since_long(&mut inventory, "a");
        let pruning = plan(&Desired::default(), &inventory, &observed, CREATE);
        assert_eq!(kind(&pruning.steps[0].action), pruned, "{policy}");
        let deletion = plan_deletion(&inventory, &observed, &BTreeSet::new(), &[]);
        assert_eq!(kind(&deletion.steps[0].action), deleted, "{policy}");
    }
}

#[test]
fn object_has_a_time_limit_of_its_own() {
    for (timeout, overdue) in [("1h", true), ("2h", false)] {
        let desired = desired(vec![annotated(config_map("a"), &[("timeout", timeout)])]);
        let (mut inventory, mut observed) = settled(&desired);
        inventory[0].since = Some(Time(Timestamp::UNIX_EPOCH));
        unready(
            observed.objects.get_mut(&config_map_id("a")).unwrap(),
            "not yet",
        );
        let plan = plan(&desired, &inventory, &observed, CREATE);
        assert_eq!(plan.waiting[0].overdue, Some(overdue), "{timeout}");
    }
}
