//! What is printed.

use std::collections::BTreeMap;
use whipstaff_test_support::AuditEntry;

/// Requests of the operator by verb and resource.
pub(crate) struct Calls {
    counts: BTreeMap<String, usize>,
    writes: usize,
}

impl Calls {
    /// The requests of the operator among all.
    pub(crate) fn of_operator(entries: &[AuditEntry]) -> Self {
        let mut calls = Self {
            counts: BTreeMap::new(),
            writes: 0,
        };
        for entry in entries
            .iter()
            .filter(|entry| entry.user == super::operator::USER)
        {
            let mut what = match (entry.resource.as_str(), entry.subresource.as_str()) {
                ("", _) => "discovery".to_owned(),
                (resource, "") => resource.to_owned(),
                (resource, subresource) => format!("{resource}/{subresource}"),
            };
            if entry.uri.contains("dryRun=") {
                what.push_str(" (dry run)");
            }
            if entry.code >= 400 {
                what = format!("{what} ({})", entry.code);
            }
            *calls
                .counts
                .entry(format!("{} {what}", entry.verb))
                .or_default() += 1;
            calls.writes += usize::from(entry.is_write());
        }
        calls
    }

    /// How many there were.
    pub(crate) fn total(&self) -> usize {
        self.counts.values().sum()
    }

    /// How many the API server took as writes.
    pub(crate) fn writes(&self) -> usize {
        self.writes
    }

    /// Prints how many there were for each component.
    pub(crate) fn print_per(&self, components: usize) {
        let per = |count: usize| count as f64 / components.max(1) as f64;
        line("calls per component", &format!("{:.2}", per(self.total())));
        for (what, &count) in self.counts.iter().filter(|(_, count)| per(**count) >= 0.01) {
            print(&format!("      {:>8.2}  {what}\n", per(count)));
        }
    }
}

/// Prints a figure with its name.
pub(crate) fn line(name: &str, value: &str) {
    print(&format!("  {name:<22}{value}\n"));
}

/// Prints text.
#[expect(clippy::print_stdout, reason = "what the example has to say")]
pub(crate) fn print(text: &str) {
    print!("{text}");
}
