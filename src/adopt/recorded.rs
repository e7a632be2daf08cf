//! Records of the real Helm, which `fixtures/releases` holds.

use super::dialect::dialects;
use super::documents::{Scope, Verdict, compare};
use super::rendering::Renderings;
use super::source::{chart_files, missing_charts};
use crate::cluster::Resources;
use crate::release::{ApplyMethod, Release, Status, decode, encode};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;
use whipstaff_generator::{Capabilities, Generator as _, Input, LookupSnapshot};
use whipstaff_helm::{Dialect, HelmGenerator};

fn recorded(name: &str) -> Release {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/releases");
    decode(&std::fs::read(folder.join(name)).unwrap()).unwrap()
}

#[test]
fn records_of_both_helms_are_read_and_lose_nothing_when_they_are_written() {
    for (name, dialect, method) in [
        ("helm-3.22.release", Dialect::V3, ApplyMethod::Unknown),
        (
            "helm-4.3-client.release",
            Dialect::V4_3,
            ApplyMethod::ClientSide,
        ),
        (
            "helm-4.3-server.release",
            Dialect::V4_3,
            ApplyMethod::ServerSide,
        ),
    ] {
        let release = recorded(name);
        assert_eq!((release.name.as_str(), release.version), ("web", 1));
        assert_eq!(release.info.status, Status::Deployed);
        assert_eq!(release.apply_method, method);
        assert_eq!(release.config["text"], "other");
        assert_eq!(release.hooks[0].events, ["pre-install"]);
        assert!(release.info.deployed_at().is_some());
        assert!(missing_charts(&release).is_empty());
        assert_eq!(dialects(&release)[0], dialect, "{name}");
        let stored = encode(&release).unwrap();
        assert_eq!(decode(stored.as_bytes()).unwrap(), release);
    }
}

#[test]
fn stored_charts_render_to_what_is_stored() {
    for name in [
        "helm-3.22.release",
        "helm-4.3-client.release",
        "helm-4.3-server.release",
    ] {
        let release = recorded(name);
        let chart = chart_files(&release).unwrap();
        let options = json!({"dialect": dialects(&release)[0].to_string()});
        let prepared = HelmGenerator.prepare(&chart, &options).unwrap();
        let capabilities = Capabilities {
            kube_version: "v1.34.0".parse().unwrap(),
            api_versions: BTreeSet::new(),
        };
        let lookups = LookupSnapshot::new();
        let (namespace, config) = (&release.namespace, &release.config);
        let input = Input::new(namespace, "web", config, &capabilities, &lookups);
        let base = prepared.generate(&input).unwrap();
        let renderings = Renderings {
            base,
            ..Renderings::default()
        };
        let resources = Resources::fixed(&[]);
        let scope = Scope {
            resources: &resources,
            namespace,
        };
        let documents = compare(&release, &renderings, scope).unwrap();
        assert_eq!(documents.all.len(), 2);
        assert!(documents.all.iter().all(|d| d.verdict == Verdict::Equal));
        assert_eq!(documents.hooks[0].id.name, "web-hook");
    }
}
