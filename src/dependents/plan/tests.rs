use super::*;
use crate::dependents::inventory::with_desired;
use crate::dependents::plan_deletion;
use crate::dependents::testing::{config_map, config_map_id, crd, desired, in_wave, live, settled};
use serde_json::json;

const CREATE: Policies = Policies {
    create_namespaces: true,
};

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
        Action::Recreate { .. } => "recreate",
        Action::Purge { .. } => "purge",
        Action::Delete { .. } => "delete",
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
    let (inventory, mut observed) = settled(&before);
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
    let refused = plan(
        &desired,
        &[],
        &observed,
        Policies {
            create_namespaces: false,
        },
    );
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
        let plan = plan_deletion(&inventory, &observed);
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
    let plan = plan_deletion(&inventory, &observed);
    assert!(plan.steps.is_empty() && plan.waiting.is_empty());
    assert_eq!(plan.gone.len(), 2);
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
