//! Whipstaff beside the real kustomize 5.8.1, in one run, as whole processes by their processor time and memory: the builds of the
//! fixtures, and a generated tree of growing size.
//!
//! `cargo bench --bench kustomize` takes the fixtures; `cargo bench --bench kustomize -- FOLDER` takes every kustomization below a
//! folder instead. The real kustomize is built from its Go modules the first time.

#![allow(
    clippy::print_stdout,
    missing_docs,
    reason = "what a benchmark prints is its result"
)]

mod process;

use anyhow::{Context, Result, bail};
use process::{Usage, folders, ratio, usage};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use whipstaff_test_support::kustomize_program;

/// How often each process is run; the run that takes the least counts.
const ROUNDS: usize = 3;
/// How deep below a folder kustomizations are looked for.
const MAX_DEPTH: usize = 5;
/// Objects of the generated trees that both build.
const SIZES: [usize; 3] = [500, 1_000, 2_000];
/// Objects of the generated tree that only ours builds.
const LARGEST: usize = 5_000;
/// Deployments of one base.
const PER_BASE: usize = 50;
/// Objects for one Deployment: it, its Service, its service account and its settings.
const PER_DEPLOYMENT: usize = 4;

fn main() -> Result<()> {
    let theirs = kustomize_program()?;
    let ours = PathBuf::from(env!("CARGO_BIN_EXE_whipstaff"));
    compare_builds(&ours, &theirs)?;
    println!(
        "\n{:>8} {:>10} {:>10} {:>7} {:>9} {:>9}",
        "objects", "ours", "kustomize", "ratio", "ours", "kustomize"
    );
    for size in SIZES {
        let tree = Tree::new(size)?;
        let own = tree.build(&ours, ROUNDS)?;
        let real = tree.build(&theirs, 1)?;
        println!(
            "{size:>8} {:>10.1?} {:>10.1?} {:>7.1} {:>6} MB {:>6} MB",
            own.time,
            real.time,
            ratio(real.time, own.time),
            own.bytes >> 20,
            real.bytes >> 20,
        );
    }
    let own = Tree::new(LARGEST)?.build(&ours, ROUNDS)?;
    println!(
        "{LARGEST:>8} {:>10.1?} {:>28} MB",
        own.time,
        own.bytes >> 20
    );
    Ok(())
}

fn compare_builds(ours: &Path, theirs: &Path) -> Result<()> {
    let mut kustomizations = Vec::new();
    for folder in folders("fixtures/kustomize") {
        find(&folder, 0, &mut kustomizations)
            .with_context(|| format!("cannot read {}", folder.display()))?;
    }
    let (mut own, mut real) = (Vec::new(), Vec::new());
    for folder in &kustomizations {
        let folder = folder.to_str().context("a path is not UTF-8")?;
        if let (Some(one), Some(other)) = (
            usage(ours, &["build", folder], ROUNDS)?,
            usage(theirs, &["build", folder], 1)?,
        ) {
            own.push(one);
            real.push(other);
        }
    }
    if own.is_empty() {
        bail!("there is no kustomization that both can build");
    }
    let (our_time, their_time) = (sum(&own), sum(&real));
    println!(
        "{} kustomizations of {}, the rest refused by one of both",
        own.len(),
        kustomizations.len()
    );
    println!(
        "processor time: {our_time:.2?} and {their_time:.2?}, ratio {:.1}",
        ratio(their_time, our_time)
    );
    println!(
        "most memory: mean {:.1} MB and {:.1} MB",
        mean_megabytes(&own),
        mean_megabytes(&real)
    );
    Ok(())
}

fn sum(usages: &[Usage]) -> Duration {
    usages.iter().map(|usage| usage.time).sum()
}

fn mean_megabytes(usages: &[Usage]) -> f64 {
    let sum: u64 = usages.iter().map(|usage| usage.bytes).sum();
    sum as f64 / usages.len() as f64 / 1e6
}

/// Collects the kustomizations that stand at the top of their tree, or anywhere in it.
fn find(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<()> {
    if folder.join("kustomization.yaml").is_file() {
        found.push(folder.to_owned());
    }
    if depth == MAX_DEPTH {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && !path.is_symlink() {
            find(&path, depth + 1, found)?;
        }
    }
    Ok(())
}

/// A generated overlay over as many bases as it takes.
struct Tree(tempfile::TempDir);

impl Tree {
    fn new(objects: usize) -> Result<Self> {
        let tree = Self(tempfile::tempdir()?);
        let bases = objects.div_ceil(PER_BASE * PER_DEPLOYMENT);
        let mut overlay = OVERLAY.to_owned();
        for base in 0..bases {
            tree.add_base(base)?;
            let _ = writeln!(overlay, "- ../base{base}");
        }
        tree.write("overlay/kustomization.yaml", &overlay)?;
        Ok(tree)
    }

    fn add_base(&self, base: usize) -> Result<()> {
        let mut resources = "resources:\n".to_owned();
        let mut generators = "configMapGenerator:\n".to_owned();
        for number in 0..PER_BASE {
            let name = format!("app-{base}-{number}");
            self.write(
                &format!("base{base}/{name}.yaml"),
                &OBJECTS.replace("NAME", &name),
            )?;
            let _ = writeln!(resources, "- {name}.yaml");
            let _ = writeln!(
                generators,
                "- name: {name}\n  literals: [number={number}, base={base}]"
            );
        }
        self.write(
            &format!("base{base}/kustomization.yaml"),
            &(resources + &generators),
        )
    }

    fn write(&self, path: &str, text: &str) -> Result<()> {
        let path = self.0.path().join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        Ok(fs::write(path, text)?)
    }

    fn build(&self, program: &Path, rounds: usize) -> Result<Usage> {
        let overlay = self.0.path().join("overlay");
        let overlay = overlay.to_str().context("a path is not UTF-8")?;
        usage(program, &["build", overlay], rounds)?.context("the generated tree is refused")
    }
}

const OBJECTS: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: NAME
spec:
  replicas: 1
  selector:
    matchLabels:
      app: NAME
  template:
    metadata:
      labels:
        app: NAME
    spec:
      serviceAccountName: NAME
      containers:
      - name: main
        image: registry.example.com/shop:1.0
        ports:
        - containerPort: 8080
        env:
        - name: PEER
          value: none
        envFrom:
        - configMapRef:
            name: NAME
---
apiVersion: v1
kind: Service
metadata:
  name: NAME
spec:
  selector:
    app: NAME
  ports:
  - port: 80
    targetPort: 8080
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: NAME
";

const OVERLAY: &str = "\
namePrefix: live-
namespace: shop
labels:
- pairs:
    team: stern
  includeSelectors: true
images:
- name: registry.example.com/shop
  newTag: \"2.0\"
patches:
- target:
    kind: Deployment
  patch: |-
    - op: replace
      path: /spec/replicas
      value: 3
- target:
    kind: Deployment
    name: app-0-.*
  patch: |-
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: any
    spec:
      template:
        spec:
          containers:
          - name: main
            resources:
              limits:
                memory: 1Gi
replacements:
- source:
    kind: Service
    name: app-0-0
    fieldPath: metadata.name
  targets:
  - select:
      kind: Deployment
    fieldPaths:
    - spec.template.spec.containers.[name=main].env.[name=PEER].value
resources:
";
