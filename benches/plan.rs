//! How long planning takes: 5,000 objects in ten waves.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a benchmark that cannot run says so"
)]

use criterion::{Criterion, criterion_group, criterion_main};
use std::collections::BTreeSet;
use whipstaff::Planning;
use whipstaff::generator::Capabilities;

const OBJECTS: usize = 5_000;

fn plan(criterion: &mut Criterion) {
    let capabilities = Capabilities {
        kube_version: "v1.37.0".parse().unwrap(),
        api_versions: BTreeSet::new(),
    };
    let planning = Planning::new(OBJECTS, capabilities).unwrap();
    assert_eq!(planning.settled(), 0);
    assert_eq!(planning.new_objects(), OBJECTS / 10);
    let mut group = criterion.benchmark_group("plan 5000 objects");
    group.bench_function("settled", |bencher| bencher.iter(|| planning.settled()));
    group.bench_function("new", |bencher| bencher.iter(|| planning.new_objects()));
    group.bench_function("redundant", |bencher| bencher.iter(|| planning.redundant()));
    group.finish();
}

criterion_group!(benches, plan);
criterion_main!(benches);
