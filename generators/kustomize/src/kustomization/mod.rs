//! Kustomization files.

mod decode;
pub(crate) mod schema;
mod types;

pub(crate) use decode::{Mode, decode, normalize};
pub(crate) use types::*;

use crate::error::{BuildError, BuildErrorKind, Result};
use serde_json::{Map, Value};
use whipstaff_generator::yaml;

/// Names of kustomization files, in the order they are looked for.
pub(crate) const FILE_NAMES: [&str; 3] =
    ["kustomization.yaml", "kustomization.yml", "Kustomization"];

const KUSTOMIZATION_KIND: &str = "Kustomization";
/// The kind of components.
pub(crate) const COMPONENT_KIND: &str = "Component";
const KUSTOMIZATION_VERSION: &str = "kustomize.config.k8s.io/v1beta1";
const COMPONENT_VERSION: &str = "kustomize.config.k8s.io/v1alpha1";

fn wrong(message: impl Into<String>) -> BuildError {
    BuildError::new(BuildErrorKind::Kustomization, message)
}

/// Reads a kustomization file; deprecated fields are moved to where they belong, and warned of.
///
/// # Errors
/// When it is no YAML, has unknown fields or wrong types, is empty, or is of another kind.
///
/// **Source**: `types/kustomization.go` of kustomize api v0.21.1.
pub(crate) fn read(
    content: &[u8],
    root: &str,
    warnings: &mut Vec<String>,
) -> Result<Kustomization> {
    let invalid = |error: BuildError| error.within("invalid Kustomization");
    let value = yaml::from_slice(content).map_err(|error| invalid(wrong(error.message())))?;
    let normal = decode::normalize(value, &schema::KUSTOMIZATION, Mode::Strict).map_err(invalid)?;
    let is_empty = is_empty(&normal);
    let mut kustomization: Kustomization = serde_json::from_value(Value::Object(normal))
        .map_err(|error| invalid(wrong(error.to_string())))?;
    warn(&kustomization, warnings);
    fix(&mut kustomization);
    if is_empty {
        return Err(wrong("kustomization.yaml is empty"));
    }
    check_kind(&kustomization, root)?;
    Ok(kustomization)
}

/// Whether there is nothing but a type, once deprecated fields are moved.
fn is_empty(fields: &Map<String, Value>) -> bool {
    fields.iter().all(|(name, value)| {
        let moved = matches!(
            name.as_str(),
            "bases" | "imageTags" | "helmChartInflationGenerator"
        );
        let is_empty_list = value.as_array().is_some_and(Vec::is_empty);
        matches!(name.as_str(), "kind" | "apiVersion")
            || value.as_str().is_some_and(str::is_empty)
            || (moved && is_empty_list)
    })
}

fn warn(kustomization: &Kustomization, warnings: &mut Vec<String>) {
    let fields = [
        (kustomization.bases.is_some(), "bases", "resources", ""),
        (
            kustomization.common_labels.is_some(),
            "commonLabels",
            "labels",
            "",
        ),
        (
            kustomization.image_tags.is_some(),
            "imageTags",
            "images",
            "",
        ),
        (
            kustomization.patches_json6902.is_some(),
            "patchesJson6902",
            "patches",
            "",
        ),
        (
            kustomization.patches_strategic_merge.is_some(),
            "patchesStrategicMerge",
            "patches",
            "",
        ),
        (
            kustomization.vars.is_some(),
            "vars",
            "replacements",
            "[EXPERIMENTAL] ",
        ),
    ];
    for (is_used, old, new, mark) in fields {
        if is_used {
            warnings.push(format!(
                "# Warning: '{old}' is deprecated. Please use '{new}' instead. {mark}Run 'kustomize edit fix' to update your \
                 Kustomization automatically."
            ));
        }
    }
}

fn fix(kustomization: &mut Kustomization) {
    if kustomization.kind.is_empty() {
        KUSTOMIZATION_KIND.clone_into(&mut kustomization.kind);
    }
    if kustomization.api_version.is_empty() {
        required_version(kustomization).clone_into(&mut kustomization.api_version);
    }
    let bases = kustomization.bases.take().unwrap_or_default();
    kustomization.resources.extend(bases);
    let tags = kustomization.image_tags.take().unwrap_or_default();
    kustomization.images.extend(tags);
    let generators = kustomization
        .config_map_generator
        .iter_mut()
        .chain(&mut kustomization.secret_generator);
    for generator in generators {
        if !generator.env.is_empty() {
            generator.envs.push(std::mem::take(&mut generator.env));
        }
    }
    fix_charts(kustomization);
}

fn fix_charts(kustomization: &mut Kustomization) {
    let mut globals = HelmGlobals::default();
    for old in std::mem::take(&mut kustomization.helm_chart_inflation_generator) {
        if !old.helm_home.is_empty() {
            globals.config_home = old.helm_home;
        }
        if !old.chart_home.is_empty() {
            globals.chart_home = old.chart_home;
        }
        kustomization.helm_charts.push(HelmChart {
            name: old.chart_name,
            version: old.chart_version,
            repo: old.chart_repo_url,
            values_file: old.values,
            values_inline: old.values_local,
            values_merge: old.values_merge,
            release_name: old.release_name,
            ..HelmChart::default()
        });
    }
    let has_globals = !globals.chart_home.is_empty() || !globals.config_home.is_empty();
    if kustomization.helm_globals.is_none() && has_globals {
        kustomization.helm_globals = Some(globals);
    }
}

fn required_version(kustomization: &Kustomization) -> &'static str {
    if kustomization.kind == COMPONENT_KIND {
        COMPONENT_VERSION
    } else {
        KUSTOMIZATION_VERSION
    }
}

fn check_kind(kustomization: &Kustomization, root: &str) -> Result<()> {
    let kind = kustomization.kind.as_str();
    let mut problems = Vec::new();
    if kind != KUSTOMIZATION_KIND && kind != COMPONENT_KIND {
        problems.push(format!(
            "kind should be {KUSTOMIZATION_KIND} or {COMPONENT_KIND}"
        ));
    }
    let required = required_version(kustomization);
    if kustomization.api_version != required {
        problems.push(format!("apiVersion for {kind} should be {required}"));
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(wrong(format!(
        "Failed to read kustomization file under {root}:\n{}",
        problems.join("\n")
    )))
}

#[cfg(test)]
mod tests {
    use super::read;

    fn problem(text: &str) -> String {
        let read = read(text.as_bytes(), "/app", &mut Vec::new());
        read.map_or_else(|error| error.to_string(), |_| String::new())
    }

    #[test]
    fn files_are_read_as_go_reads_them() {
        let cases = [
            ("NAMEPREFIX: a-\n", ""),
            ("resources: []\n", ""),
            ("bases: []\n", "kustomization.yaml is empty"),
            (
                "foo: 1\n",
                "invalid Kustomization: json: unknown field \"foo\"",
            ),
            (
                "namespace: n\n",
                "invalid Kustomization: json: cannot unmarshal bool into Go struct field Kustomization.namespace of type string",
            ),
            (
                "kind: Foo\nresources: []\n",
                "Failed to read kustomization file under /app:\nkind should be Kustomization or Component",
            ),
        ];
        for (text, want) in cases {
            assert_eq!(problem(text), want, "{text:?}");
        }
    }
}
