use super::*;

fn lines(metrics: &Metrics, start: &str) -> Vec<String> {
    let text = metrics.encode();
    let mut lines: Vec<_> = text
        .lines()
        .filter(|line| line.starts_with(start))
        .map(str::to_owned)
        .collect();
    lines.sort();
    lines
}

#[test]
fn reconciles_are_counted_by_controller_and_outcome() {
    let metrics = Metrics::new();
    let controller = metrics.controller("component");
    controller.reconciled(ReconcileOutcome::Changed, Duration::from_millis(30));
    controller.reconciled(ReconcileOutcome::Changed, Duration::from_secs(2));
    controller.failed(Class::NotReady);
    let text = metrics.encode();
    for line in [
        r#"whipstaff_reconcile_total{controller="component",outcome="changed"} 2"#,
        r#"whipstaff_reconcile_total{controller="component",outcome="failed"} 0"#,
        r#"whipstaff_reconcile_errors_total{controller="component",class="not_ready"} 1"#,
        r#"whipstaff_reconcile_errors_total{controller="component",class="denied"} 0"#,
    ] {
        assert!(text.contains(&format!("{line}\n")), "{line}: {text}");
    }
    assert_eq!(
        lines(&metrics, "whipstaff_reconcile_duration_seconds_sum"),
        [r#"whipstaff_reconcile_duration_seconds_sum{controller="component"} 2.03"#]
    );
    let bucket =
        r#"whipstaff_reconcile_duration_seconds_bucket{le="0.05",controller="component"} 1"#;
    assert!(metrics.encode().contains(bucket), "{}", metrics.encode());
}

fn report(name: &str, state: ComponentState, current: usize, failed: usize) -> ComponentReport {
    ComponentReport {
        namespace: "apps".to_owned(),
        name: name.to_owned(),
        state: Some(state),
        dependents: [
            (DependentStatus::Current, current),
            (DependentStatus::Failed, failed),
        ]
        .into(),
    }
}

#[test]
fn components_are_counted_and_named_as_they_were_last_reported() {
    let metrics = Metrics::new();
    metrics.report("1", report("shop", ComponentState::Processing, 1, 0));
    metrics.report("1", report("shop", ComponentState::Ready, 3, 0));
    metrics.report("2", report("blog", ComponentState::Ready, 3, 2));
    let text = metrics.encode();
    for line in [
        r#"whipstaff_components{state="ready"} 2"#,
        r#"whipstaff_components{state="deletion_pending"} 0"#,
        r#"whipstaff_dependents{status="failed"} 2"#,
        r#"whipstaff_component_state{namespace="apps",name="shop",state="ready"} 1"#,
        r#"whipstaff_component_state{namespace="apps",name="shop",state="processing"} 0"#,
        r#"whipstaff_component_dependents{namespace="apps",name="blog"} 5"#,
        r#"whipstaff_component_unready_dependents{namespace="apps",name="blog"} 2"#,
    ] {
        assert!(text.contains(&format!("{line}\n")), "{line}: {text}");
    }
}

#[test]
fn series_of_a_component_go_with_it() {
    let metrics = Metrics::new();
    metrics.report("1", report("shop", ComponentState::Ready, 3, 0));
    metrics.report("2", report("blog", ComponentState::Ready, 3, 0));
    metrics.forget("1");
    let text = metrics.encode();
    assert!(!text.contains("shop"), "{text}");
    assert!(text.contains("blog"), "{text}");
    assert!(
        text.contains("whipstaff_components{state=\"ready\"} 1\n"),
        "{text}"
    );
}

#[test]
fn operations_and_fetches_are_there_before_they_happen() {
    let metrics = Metrics::new();
    assert_eq!(
        lines(&metrics, "whipstaff_operations_total").len(),
        Operation::ALL.len()
    );
    metrics.operated(Operation::Delete);
    metrics.fetched(FetchOutcome::NotModified);
    let text = metrics.encode();
    assert!(
        text.contains("whipstaff_operations_total{action=\"delete\"} 1\n"),
        "{text}"
    );
    assert!(
        text.contains("whipstaff_fetch_total{outcome=\"not_modified\"} 1\n"),
        "{text}"
    );
    assert!(
        text.contains("whipstaff_fetch_total{outcome=\"downloaded\"} 0\n"),
        "{text}"
    );
    assert!(text.ends_with("# EOF\n"), "{text}");
}

#[test]
fn names_beyond_the_limit_are_counted_as_other() {
    let metrics = Metrics::new();
    for number in 0..MAX_NAMES + 10 {
        metrics.rendered(&format!("generator-{number}"), Duration::from_millis(1));
    }
    metrics.rendered("generator-0", Duration::from_millis(1));
    let counts = lines(&metrics, "whipstaff_render_duration_seconds_count");
    assert_eq!(counts.len(), MAX_NAMES + 1);
    let expected = r#"whipstaff_render_duration_seconds_count{generator="other"} 10"#;
    assert!(counts.iter().any(|line| line == expected), "{counts:?}");
    let expected = r#"whipstaff_render_duration_seconds_count{generator="generator-0"} 2"#;
    assert!(counts.iter().any(|line| line == expected), "{counts:?}");
}

#[test]
fn label_values_are_distinct() {
    fn distinct<'a>(texts: impl IntoIterator<Item = &'a str>) {
        let mut seen = BTreeSet::new();
        for text in texts {
            assert!(seen.insert(text), "{text}");
        }
    }
    distinct(Operation::ALL.iter().map(|value| value.as_str()));
    distinct(ReconcileOutcome::ALL.iter().map(|value| value.as_str()));
    distinct(ComponentState::ALL.iter().map(|value| value.as_str()));
    distinct(DependentStatus::ALL.iter().map(|value| value.as_str()));
    distinct(RequestMethod::ALL.iter().map(|value| value.as_str()));
    distinct(RequestAnswer::ALL.iter().map(|value| value.as_str()));
    distinct(FetchOutcome::ALL.iter().map(|value| value.as_str()));
    distinct(Class::ALL.iter().map(|value| value.as_str()));
}
