//! An API server that does what API servers do on bad days, and several operators on one cluster: in the end everything is as if
//! nothing had happened.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::missing_panics_doc,
    reason = "a test that cannot go on has failed"
)]

mod extension;
mod operators;
mod server;
mod world;

use serde_json::{Value, json};
use whipstaff_test_support::pack_files;
use world::World;

impl World {
    /// Serves a chart with one template, and gives a spec that installs it.
    pub(crate) fn chart(&self, name: &str, template: &str) -> Value {
        let files = [
            (
                format!("{name}/Chart.yaml"),
                format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\n"),
            ),
            (format!("{name}/templates/all.yaml"), template.to_owned()),
        ];
        let path = format!("/{name}.tgz");
        self.charts.put(&path, pack_files(&files).unwrap());
        json!({"source": {"url": {"url": self.charts.url(&path)}}, "retryInterval": "1s"})
    }
}
