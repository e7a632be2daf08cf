//! Which Helm wrote a record.

use crate::release::{ApplyMethod, Release};
use whipstaff_helm::Dialect;

/// The dialects in the order in which they are likely to give what is stored; the first is the guess.
///
/// Only Helm 4 says how it applied, and writes when the chart's schema was made; only Helm 3 writes empty texts for times that are not.
/// From 4.2 on, documents keep the line breaks that they end with.
pub(crate) fn dialects(release: &Release) -> [Dialect; 4] {
    let [v3, v4_1, v4_2, v4_3] = [Dialect::V3, Dialect::V4_1, Dialect::V4_2, Dialect::V4_3];
    if !is_by_helm_4(release) {
        return [v3, v4_1, v4_3, v4_2];
    }
    let manifest = &release.manifest;
    let keeps_line_breaks = manifest.contains("\n\n---\n") || manifest.ends_with("\n\n");
    if release.info.rollback_revision > 0 || keeps_line_breaks || manifest.is_empty() {
        [v4_3, v4_2, v4_1, v3]
    } else {
        [v4_1, v4_3, v4_2, v3]
    }
}

fn is_by_helm_4(release: &Release) -> bool {
    if release.info.deleted.as_deref() == Some("") {
        return false;
    }
    release.apply_method != ApplyMethod::Unknown
        || release.chart.other.contains_key("schemamodtime")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn guess(record: Value) -> Dialect {
        let release = serde_json::from_value(record).unwrap();
        dialects(&release)[0]
    }

    #[test]
    fn helm_3_and_4_are_told_apart_by_what_they_write() {
        assert_eq!(guess(json!({"info": {"deleted": ""}})), Dialect::V3);
        assert_eq!(guess(json!({})), Dialect::V3);
        let manifest = "---\n# Source: a\nkind: A\n";
        let record = |more: Value| {
            let mut record = json!({"manifest": manifest, "apply_method": "csa"});
            record
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            record
        };
        assert_eq!(guess(record(json!({}))), Dialect::V4_1);
        assert_eq!(
            guess(record(json!({"manifest": format!("{manifest}\n")}))),
            Dialect::V4_3
        );
        let rollback = json!({"info": {"rollback_revision": 2}});
        assert_eq!(guess(record(rollback)), Dialect::V4_3);
    }

    #[test]
    fn every_dialect_is_tried_in_the_end() {
        for record in [json!({}), json!({"apply_method": "ssa"})] {
            let release = serde_json::from_value(record).unwrap();
            let mut all = dialects(&release);
            all.sort();
            assert_eq!(
                all,
                [Dialect::V3, Dialect::V4_1, Dialect::V4_2, Dialect::V4_3]
            );
        }
    }
}
