use super::{changed, condition, workloads::deployment};
use crate::status::{
    Assessment, HintError, Hints,
    Status::{Current, Failed, InProgress},
    assess_with_hints,
};
use serde_json::json;

#[test]
fn hints_make_an_object_wait_for_what_will_come() {
    let thing =
        json!({"apiVersion": "example.org/v1", "kind": "Thing", "metadata": {"generation": 2}});
    let ready = |generation: i64| json!({"/status/conditions": [{"type": "Ready", "status": "True", "observedGeneration": generation}]});
    let others = |blue: &str| {
        json!({"/status/conditions": [
            condition("Green", "True", "", ""), condition("Blue", blue, "", "")]})
    };
    let unseen = "no controller has looked at the object yet";
    let cases = [
        ("", json!({}), Current, "object exists"),
        ("has-observed-generation", json!({}), InProgress, unseen),
        (
            "has-observed-generation",
            json!({"/status/observedGeneration": 2}),
            Current,
            "object exists",
        ),
        (
            "has-observed-generation",
            ready(2),
            Current,
            "Ready is True",
        ),
        (
            "has-observed-generation",
            ready(1),
            InProgress,
            "generation 2 is not observed yet; the last one was 1",
        ),
        (
            "has-ready-condition",
            json!({}),
            InProgress,
            "the condition Ready is missing",
        ),
        ("has-ready-condition", ready(1), Current, "Ready is True"),
        (
            "conditions=Green;Blue",
            others("True"),
            Current,
            "object exists",
        ),
        (
            "conditions=Green;Blue",
            others("False"),
            InProgress,
            "Blue is False",
        ),
        (
            "conditions=Red",
            others("True"),
            InProgress,
            "the condition Red is missing",
        ),
        (
            "has-ready-condition,conditions=Green",
            ready(2),
            InProgress,
            "the condition Green is missing",
        ),
    ];
    for (hints, changes, status, message) in cases {
        let hints = Hints::parse(hints).unwrap();
        let assessment = assess_with_hints(&changed(&thing, &changes), &hints);
        let expected = Assessment {
            status,
            message: message.to_owned(),
        };
        assert_eq!(assessment, expected, "{hints:?} {changes}");
    }
}

#[test]
fn hinted_conditions_do_not_hide_a_failure() {
    let failed = json!({"/status/conditions": [
        condition("Progressing", "False", "ProgressDeadlineExceeded", "no progress")]});
    let hints = Hints::parse("conditions=Other").unwrap();
    assert_eq!(
        assess_with_hints(&changed(&deployment(), &failed), &hints).status,
        Failed
    );
}

#[test]
fn hints_may_be_written_in_any_case() {
    let expected =
        Hints::parse("has-observed-generation,has-ready-condition,conditions=A;B").unwrap();
    for text in [
        "HasObservedGeneration,HasReadyCondition,Conditions=A;B",
        "hasObservedGeneration,has_ready_condition,conditions=A,conditions=B",
        " has-observed-generation , has-ready-condition , conditions = A ; B ",
    ] {
        assert_eq!(Hints::parse(text), Ok(expected.clone()), "{text}");
    }
    assert!(expected.has_observed_generation() && expected.has_ready_condition());
    assert_eq!(expected.conditions(), ["A", "B"]);
    assert_eq!(Hints::parse(""), Ok(Hints::default()));
}

#[test]
fn hints_that_make_no_sense_are_refused() {
    let unknown = |hint: &str| HintError::Unknown {
        hint: hint.to_owned(),
    };
    let missing = HintError::MissingValue {
        hint: "conditions".to_owned(),
    };
    for (text, expected) in [
        ("has-status", unknown("has-status")),
        ("has-ready-condition,", unknown("")),
        (
            "HasReadyCondition=true",
            HintError::UnexpectedValue {
                hint: "has-ready-condition".to_owned(),
            },
        ),
        ("conditions", missing.clone()),
        ("conditions=", missing.clone()),
        ("conditions=A;;B", missing),
    ] {
        assert_eq!(Hints::parse(text), Err(expected), "{text}");
    }
}
