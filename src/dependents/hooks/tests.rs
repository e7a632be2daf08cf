use super::*;
use crate::dependents::testing::{generated, live, options, owner, resources};
use whipstaff_generator::Object;

fn hook(kind: &str, name: &str, weight: i64, policies: &[HookDeletePolicy]) -> Hook {
    let api_version = if kind == "Job" { "batch/v1" } else { "v1" };
    let value = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}});
    Hook {
        object: Object::from_value(value).unwrap(),
        source: "t.yaml".to_owned(),
        events: vec![HookEvent::PreInstall],
        weight,
        delete_policies: policies.to_vec(),
    }
}

fn prepared(hooks: Vec<Hook>) -> Vec<DesiredHook> {
    let (owner, resources) = (owner(), resources());
    let mut generated = generated(vec![]);
    generated.hooks = hooks;
    let options = options(&owner, &resources);
    prepare_hooks(
        HookEvent::PreInstall,
        &generated,
        &Desired::default(),
        &options,
    )
    .unwrap()
}

#[test]
fn hooks_run_by_weight_and_then_by_name() {
    let hooks = prepared(vec![
        hook("ConfigMap", "z", 1_000_000, &[]),
        hook("ConfigMap", "c", 0, &[]),
        hook("Secret", "b", 0, &[]),
        hook("ConfigMap", "a", -5, &[]),
    ]);
    let names: Vec<_> = hooks.iter().map(|hook| hook.id().name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c", "z"]);
}

#[test]
fn hook_without_policies_makes_room_for_itself_and_stays() {
    use HookDeletePolicy::{BeforeHookCreation, HookFailed, HookSucceeded};
    let hooks = prepared(vec![
        hook("ConfigMap", "a", 0, &[]),
        hook("ConfigMap", "b", 0, &[HookSucceeded]),
    ]);
    let deleted = |hook: &DesiredHook| {
        [BeforeHookCreation, HookSucceeded, HookFailed].map(|policy| hook.is_deleted_by(policy))
    };
    assert_eq!(deleted(&hooks[0]), [true, false, false]);
    assert_eq!(deleted(&hooks[1]), [false, true, false]);
}

#[test]
fn finished_jobs_stay_long_enough_to_be_seen() {
    let mut short = hook("Job", "a", 0, &[]);
    let spec = json!({"ttlSecondsAfterFinished": 0});
    short.object.fields_mut().insert("spec".to_owned(), spec);
    let marked = prepared(vec![short])[0].marked(owner().names(), "run");
    let ttl = marked.manifest.pointer("/spec/ttlSecondsAfterFinished");
    assert_eq!(ttl, Some(&json!(60)));
}

#[test]
fn hook_of_another_run_is_replaced_and_that_of_this_one_is_waited_for() {
    let job = &prepared(vec![hook("Job", "a", 0, &[])])[0];
    let kept = &prepared(vec![hook("Job", "a", 0, &[HookDeletePolicy::HookFailed])])[0];
    let object = json!({"status": {}});
    let old = live("another");
    let uid = old.uid.clone();
    let found = Some((&object, &old));
    assert_eq!(
        job.next("run", false, found),
        NextForHook::Write(Action::Recreate { uid })
    );
    assert_eq!(
        kept.next("run", false, found),
        NextForHook::Write(Action::Apply)
    );
    let ours = live("run");
    let waits = job.next("run", true, Some((&object, &ours)));
    assert_eq!(waits, NextForHook::Wait("runs".to_owned()));
    let done = json!({"status": {"conditions": [{"type": "Complete", "status": "True"}]}});
    assert_eq!(
        job.next("run", true, Some((&done, &ours))),
        NextForHook::Succeeded
    );
    assert_eq!(
        job.next("run", false, None),
        NextForHook::Write(Action::Create)
    );
    assert!(matches!(
        job.next("run", true, None),
        NextForHook::Failed(_)
    ));
}

#[test]
fn what_belongs_to_others_is_not_touched() {
    let job = &prepared(vec![hook("Job", "a", 0, &[])])[0];
    let object = json!({});
    let theirs = Live {
        owner: Owner::Other("somebody".to_owned()),
        ..live("")
    };
    assert_eq!(
        job.next("run", false, Some((&object, &theirs))),
        NextForHook::Refuse("belongs to somebody".to_owned())
    );
}
