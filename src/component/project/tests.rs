use super::*;
use crate::dependents::{Refusal, RefusalCause};
use whipstaff_generator::ObjectId;

fn time(second: i64) -> Time {
    Time(jiff::Timestamp::from_second(second).unwrap())
}

fn facts() -> Facts {
    Facts {
        generation: Some(2),
        deleting: false,
        timeout: Duration::from_mins(1),
    }
}

fn waiting() -> Outcome {
    Outcome::Waiting(vec![Waiting {
        since: Some(time(0)),
        ..Waiting::new(id(), "1 of 2 replicas are available".to_owned())
    }])
}

fn id() -> ObjectId {
    ObjectId {
        group: "apps".to_owned(),
        kind: "Deployment".to_owned(),
        namespace: "shop".to_owned(),
        name: "web".to_owned(),
    }
}

fn condition<'a>(status: &'a ComponentStatus, type_: &str) -> Option<&'a Condition> {
    status
        .conditions
        .iter()
        .find(|condition| condition.type_ == type_)
}

#[test]
fn ready_component_has_its_generation_applied_and_no_other_condition() {
    let status = project(
        ComponentStatus::default(),
        &Outcome::Ready,
        facts(),
        &time(10),
    );
    assert_eq!(status.state, Some(State::Ready));
    assert_eq!(
        (status.observed_generation, status.applied_generation),
        (Some(2), Some(2))
    );
    assert_eq!(status.conditions.len(), 1);
    assert_eq!(condition(&status, "Ready").unwrap().status, "True");
}

#[test]
fn waiting_names_the_object_the_reason_and_since_when() {
    let status = project(ComponentStatus::default(), &waiting(), facts(), &time(10));
    assert_eq!(status.state, Some(State::Processing));
    assert_eq!(
        condition(&status, "Ready").unwrap().message,
        "waiting for Deployment shop/web: 1 of 2 replicas are available (since 00:00:00)"
    );
    assert_eq!(condition(&status, "Reconciling").unwrap().status, "True");
}

#[test]
fn timeout_is_an_error_and_recovery_ends_it() {
    let first = project(ComponentStatus::default(), &waiting(), facts(), &time(0));
    let early = project(first.clone(), &waiting(), facts(), &time(59));
    assert_eq!(early.state, Some(State::Processing));
    let late = project(first, &waiting(), facts(), &time(60));
    assert_eq!(late.state, Some(State::Error));
    assert_eq!(condition(&late, "Ready").unwrap().reason, "Timeout");
    let recovered = project(late, &Outcome::Ready, facts(), &time(70));
    assert_eq!(
        (recovered.state, recovered.processing_since),
        (Some(State::Ready), None)
    );
}

#[test]
fn unchanged_outcome_gives_an_equal_status() {
    let first = project(
        ComponentStatus::default(),
        &Outcome::Ready,
        facts(),
        &time(10),
    );
    assert_eq!(
        project(first.clone(), &Outcome::Ready, facts(), &time(99)),
        first
    );
}

#[test]
fn failures_that_a_person_must_mend_are_stalled_and_others_reconciling() {
    let mended_by_a_person = Outcome::Failed(ReconcileError::Refused {
        refusals: vec![Refusal {
            id: id(),
            reason: "exists already".to_owned(),
            cause: RefusalCause::Owned,
        }],
        partly: false,
    });
    let status = project(
        ComponentStatus::default(),
        &mended_by_a_person,
        facts(),
        &time(0),
    );
    assert_eq!(status.state, Some(State::Error));
    assert!(condition(&status, "Stalled").is_some() && condition(&status, "Reconciling").is_none());
    assert_eq!(
        condition(&status, "Ready").unwrap().message,
        "nothing was applied: Deployment shop/web exists already"
    );

    let elsewhere = Outcome::Failed(ReconcileError::Credentials {
        name: "login".to_owned(),
        problem: "does not exist",
    });
    let status = project(ComponentStatus::default(), &elsewhere, facts(), &time(0));
    assert_eq!(status.state, Some(State::Pending));
    assert!(condition(&status, "Stalled").is_none() && condition(&status, "Reconciling").is_some());
}

#[test]
fn transition_times_move_only_with_the_status() {
    let first = project(ComponentStatus::default(), &waiting(), facts(), &time(5));
    let second = project(first, &Outcome::Applying, facts(), &time(9));
    assert_eq!(
        condition(&second, "Ready").unwrap().last_transition_time,
        time(5)
    );
}

#[test]
fn clock_that_jumps_neither_puts_the_timeout_off_nor_ends_the_work() {
    let status = |since| ComponentStatus {
        processing_since: Some(time(since)),
        ..ComponentStatus::default()
    };
    // It was a year ahead when the work began.
    let back = project(status(31_536_000), &waiting(), facts(), &time(100));
    assert_eq!(back.processing_since, Some(time(100)));
    assert_eq!(back.state, Some(State::Processing));
    let timed_out = project(back, &waiting(), facts(), &time(161));
    assert_eq!(condition(&timed_out, "Ready").unwrap().reason, "Timeout");
    // It is a year ahead now: a timeout is told, and the objects are waited for all the same.
    let ahead = project(status(100), &waiting(), facts(), &time(31_536_000));
    assert_eq!(condition(&ahead, "Ready").unwrap().reason, "Timeout");
    let ready = project(ahead, &Outcome::Ready, facts(), &time(200));
    assert_eq!(
        (ready.state, ready.processing_since),
        (Some(State::Ready), None)
    );
}
