//! What a fleet of components costs, on a real API server.
//!
//! ```text
//! cargo build --release                           # the operator
//! cargo run --release --example scale              # a quick look: some dozens of components
//! cargo run --release --example scale -- full      # 1, 100, 300 and 1,000 components, 1,000 edits: about ten minutes
//! cargo run --release --example scale -- floor     # only what the writes alone cost
//! cargo run --release --example scale -- large     # one component of 2,000 objects
//! ```
//!
//! The operator is a process of its own (`--operator PATH` takes another program than the one that was built with the example).
//! All components come from one chart of four objects that are ready as soon as they exist, so that nothing but the operator and
//! the API server is measured. The `floor` is what no operator can do without: the four objects applied one after another, and
//! three writes of a small object, ten components at a time, by a program that does nothing else.

mod fleet;
mod floor;
mod operator;
mod report;
mod usage;

use anyhow::{Context as _, Result};
use clap::Parser;
use fleet::Fleet;
use operator::Operator;
use report::{Calls, print};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use usage::Usage;
use whipstaff_test_support::{AuditLog, AuditMark, ControlPlane, ControlPlaneOptions, Parts};

/// Components that are created, and edits that are made, at the same time; also the operator's own concurrency.
const CONCURRENCY: usize = 10;

#[derive(Parser)]
struct Arguments {
    /// How much is measured.
    #[arg(value_enum, default_value = "quick")]
    mode: Mode,
    /// The program that is measured.
    #[arg(long, value_name = "PATH")]
    operator: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Mode {
    Quick,
    Full,
    Floor,
    Large,
}

impl Mode {
    fn sizes(self) -> &'static [usize] {
        match self {
            Self::Quick => &[1, 50],
            Self::Full => &[1, 100, 300, 1000],
            Self::Floor | Self::Large => &[],
        }
    }

    fn edits(self) -> usize {
        if self == Self::Full { 1000 } else { 50 }
    }

    fn idle(self) -> Duration {
        Duration::from_secs(if self == Self::Full { 60 } else { 10 })
    }
}

/// What is measured, and with what.
struct Bench {
    plane: ControlPlane,
    audit: AuditLog,
    program: PathBuf,
    kubeconfig: tempfile::NamedTempFile,
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let options = ControlPlaneOptions {
        parts: Parts::api_only(),
        ..ControlPlaneOptions::default()
    };
    let plane = ControlPlane::start(options).await?;
    let access = operator::account(&plane).await?;
    let kubeconfig = tempfile::NamedTempFile::new()?;
    std::fs::write(kubeconfig.path(), access.kubeconfig())?;
    let bench = Bench {
        audit: plane.audit_log(),
        program: arguments.operator.map_or_else(operator::beside, Ok)?,
        kubeconfig,
        plane,
    };
    fleet::install_definitions(&bench.plane.client()).await?;
    let components = if arguments.mode == Mode::Quick {
        50
    } else {
        300
    };
    if arguments.mode != Mode::Large {
        floor::run(&bench, access.client(), components).await?;
    }
    for (index, &size) in arguments.mode.sizes().iter().enumerate() {
        let fleet = Fleet::new(&bench.plane, size).await?;
        let operator = bench.install(&fleet).await?;
        if index + 1 == arguments.mode.sizes().len() {
            bench.idle(&fleet, &operator, arguments.mode.idle()).await?;
            drop(operator);
            let operator = bench.restart(&fleet).await?;
            bench
                .edit(&fleet, &operator, arguments.mode.edits())
                .await?;
            bench.delete(&fleet, &operator).await?;
        } else {
            bench.delete(&fleet, &operator).await?;
        }
    }
    if matches!(arguments.mode, Mode::Large | Mode::Full) {
        bench.large().await?;
    }
    bench.plane.stop().await;
    Ok(())
}

impl Bench {
    fn api_server(&self) -> Result<Usage> {
        let processes = self.plane.processes();
        let id = processes.get("kube-apiserver");
        Usage::of(*id.context("the API server has no process")?)
    }

    fn start(&self) -> Result<Operator> {
        Operator::start(&self.program, self.kubeconfig.path(), CONCURRENCY)
    }

    async fn calls(&self, since: AuditMark) -> Result<Calls> {
        Ok(Calls::of_operator(&self.audit.entries_since(since).await?))
    }

    /// From the creation of the first component until the last is ready.
    async fn install(&self, fleet: &Fleet) -> Result<Operator> {
        let operator = self.start()?;
        // The definitions' watches are up, and what the start costs is not the components'.
        operator.settled(0).await?;
        let idle = operator.usage()?;
        print(&format!("\n{} components\n", fleet.size));
        report::line("idle operator", &format!("{:.1} MiB", idle.resident_mib()));
        let mark = self.audit.mark().await?;
        let (before, server) = (operator.usage()?, self.api_server()?);
        let began = Instant::now();
        fleet.create(CONCURRENCY).await?;
        let took = began.elapsed();
        let (after, server_after) = (operator.usage()?, self.api_server()?);
        let per = |duration: Duration| duration.as_secs_f64() * 1e3 / fleet.size as f64;
        report::line(
            "creation to Ready",
            &format!("{:.1} components/s", fleet.size as f64 / took.as_secs_f64()),
        );
        report::line(
            "CPU per component",
            &format!(
                "operator {:.1} ms, API server {:.1} ms",
                per(after.cpu.saturating_sub(before.cpu)),
                per(server_after.cpu.saturating_sub(server.cpu)),
            ),
        );
        report::line("peak memory", &format!("{:.1} MiB", after.peak_mib()));
        self.calls(mark).await?.print_per(fleet.size);
        Ok(operator)
    }

    /// A fleet in which nothing changes.
    async fn idle(&self, fleet: &Fleet, operator: &Operator, time: Duration) -> Result<()> {
        // What the last installation caused is over.
        tokio::time::sleep(Duration::from_secs(2)).await;
        print(&format!(
            "\n{} unchanged components for {} s\n",
            fleet.size,
            time.as_secs()
        ));
        let mark = self.audit.mark().await?;
        let before = operator.usage()?;
        tokio::time::sleep(time).await;
        let after = operator.usage()?;
        let calls = self.calls(mark).await?;
        let minutes = time.as_secs_f64() / 60.0;
        report::line(
            "per minute",
            &format!(
                "{:.0} calls, {:.0} writes, {:.0} ms of CPU",
                calls.total() as f64 / minutes,
                calls.writes() as f64 / minutes,
                after.cpu.saturating_sub(before.cpu).as_secs_f64() * 1e3 / minutes,
            ),
        );
        report::line("memory", &format!("{:.1} MiB", after.resident_mib()));
        Ok(())
    }

    /// An operator that starts when everything is ready.
    async fn restart(&self, fleet: &Fleet) -> Result<Operator> {
        print(&format!("\nrestart over {} ready components\n", fleet.size));
        let mark = self.audit.mark().await?;
        let server = self.api_server()?;
        let began = Instant::now();
        let operator = self.start()?;
        operator.settled(fleet.size).await?;
        let took = began.elapsed();
        let (usage, server_after) = (operator.usage()?, self.api_server()?);
        // Whatever would be written late is written now.
        tokio::time::sleep(Duration::from_secs(2)).await;
        let calls = self.calls(mark).await?;
        report::line("time to settle", &format!("{:.2} s", took.as_secs_f64()));
        report::line("writes", &calls.writes().to_string());
        report::line(
            "CPU",
            &format!(
                "operator {:.2} s, API server {:.2} s",
                usage.cpu.as_secs_f64(),
                server_after.cpu.saturating_sub(server.cpu).as_secs_f64()
            ),
        );
        report::line("peak memory", &format!("{:.1} MiB", usage.peak_mib()));
        calls.print_per(fleet.size);
        Ok(operator)
    }

    /// From an edit by somebody else until the object is as it was.
    async fn edit(&self, fleet: &Fleet, operator: &Operator, edits: usize) -> Result<()> {
        print(&format!("\n{edits} edits\n"));
        let before = operator.usage()?;
        let mut times = fleet.edit(edits).await?;
        let after = operator.usage()?;
        times.sort_unstable();
        let at = |part: f64| times[((times.len() - 1) as f64 * part).round() as usize];
        report::line(
            "edit to correction",
            &format!(
                "median {} ms, p99 {} ms, longest {} ms",
                at(0.5).as_millis(),
                at(0.99).as_millis(),
                at(1.0).as_millis()
            ),
        );
        let cpu = after.cpu.saturating_sub(before.cpu).as_secs_f64() * 1e3 / edits as f64;
        report::line("CPU per edit", &format!("operator {cpu:.1} ms"));
        Ok(())
    }

    async fn delete(&self, fleet: &Fleet, operator: &Operator) -> Result<()> {
        let mark = self.audit.mark().await?;
        let before = operator.usage()?;
        let began = Instant::now();
        fleet.delete(CONCURRENCY).await?;
        let took = began.elapsed();
        let cpu = operator.usage()?.cpu.saturating_sub(before.cpu);
        print(&format!("\ndeletion of {} components\n", fleet.size));
        report::line(
            "deletion to gone",
            &format!(
                "{:.1} components/s, operator {:.1} ms each",
                fleet.size as f64 / took.as_secs_f64(),
                cpu.as_secs_f64() * 1e3 / fleet.size as f64,
            ),
        );
        self.calls(mark).await?.print_per(fleet.size);
        Ok(())
    }

    /// One component of very many objects.
    async fn large(&self) -> Result<()> {
        const OBJECTS: usize = 2000;
        let fleet = Fleet::large(&self.plane).await?;
        let operator = self.start()?;
        operator.settled(0).await?;
        print(&format!("\none component of {OBJECTS} objects\n"));
        for (what, text) in [("installed", "one"), ("upgraded", "two")] {
            let began = Instant::now();
            fleet.apply_large(OBJECTS, text).await?;
            let bytes = fleet.status_bytes().await?;
            let took = began.elapsed().as_secs_f64();
            report::line(what, &format!("{took:.1} s, {bytes} bytes of status"));
        }
        let began = Instant::now();
        fleet.delete(1).await?;
        report::line(
            "deleted",
            &format!("{:.1} s", began.elapsed().as_secs_f64()),
        );
        report::line(
            "peak memory",
            &format!("{:.1} MiB", operator.usage()?.peak_mib()),
        );
        Ok(())
    }
}
