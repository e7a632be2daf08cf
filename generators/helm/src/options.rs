//! The `helm` block of a Component.

use crate::capabilities::RenderKubeVersion;
use serde::Deserialize;
use serde_json::Value as Json;
use whipstaff_generator::{Error, ErrorKind};
use whipstaff_gotemplate::Dialect;

/// How a chart is rendered.
// These are a user's switches, each of them on or off by itself.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct HelmOptions {
    /// Name of the release; the component's when it is left out.
    pub release_name: Option<String>,
    /// Which Helm's behaviour is wanted: `v3`, `v4`, `v4.1`, `v4.2` or `v4.3`. The newest when it is left out.
    #[serde(deserialize_with = "dialect")]
    pub dialect: Dialect,
    /// Whether the objects of `crds/` are part of the output. True when it is left out.
    #[serde(rename = "includeCRDs")]
    pub include_crds: bool,
    /// Whether hooks that only run on `helm test` are left out.
    pub skip_tests: bool,
    /// Whether all hooks are left out.
    pub disable_hooks: bool,
    /// Whether `values.schema.json` is passed over.
    pub skip_schema_validation: bool,
    /// Kubernetes version to render for instead of the cluster's.
    pub kube_version: Option<String>,
    /// API versions to assume besides those that the cluster serves.
    pub api_versions: Vec<String>,
}

impl Default for HelmOptions {
    fn default() -> Self {
        Self {
            release_name: None,
            dialect: Dialect::default(),
            include_crds: true,
            skip_tests: false,
            disable_hooks: false,
            skip_schema_validation: false,
            kube_version: None,
            api_versions: Vec::new(),
        }
    }
}

impl HelmOptions {
    /// Reads the options; null stands for the defaults.
    ///
    /// # Errors
    /// [`ErrorKind::Parameters`] when an option is unknown or has a value that it cannot have.
    pub fn from_json(options: &Json) -> Result<Self, Error> {
        if options.is_null() {
            return Ok(Self::default());
        }
        let invalid = || {
            Error::new(
                ErrorKind::Parameters,
                "invalid options of the `helm` generator",
            )
        };
        if !options.is_object() {
            return Err(invalid());
        }
        let options = Self::deserialize(options).map_err(|error| invalid().caused_by(error))?;
        if let Some(version) = &options.kube_version {
            RenderKubeVersion::parse(version, options.dialect)
                .map_err(|error| Error::new(ErrorKind::Parameters, error.to_string()))?;
        }
        Ok(options)
    }
}

fn dialect<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Dialect, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map_or(Ok(Dialect::default()), |text| {
        text.parse().map_err(serde::de::Error::custom)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn options_are_read_and_have_defaults() {
        assert_eq!(
            HelmOptions::from_json(&Json::Null).unwrap(),
            HelmOptions::default()
        );
        let options = HelmOptions::from_json(&json!({
            "releaseName": "r", "dialect": "v3", "includeCRDs": false, "kubeVersion": "1.30",
            "apiVersions": ["a/v1"], "disableHooks": true,
        }))
        .unwrap();
        assert_eq!(options.dialect, Dialect::V3);
        assert!(!options.include_crds && options.disable_hooks);
    }

    #[test]
    fn options_that_are_unknown_or_wrong_are_named() {
        let cases = [
            (json!({"includeCrds": true}), "includeCrds"),
            (json!({"dialect": "v5"}), "v5"),
            (json!({"kubeVersion": "x"}), "invalid kube version 'x'"),
            (json!([]), "invalid options"),
        ];
        for (options, part) in cases {
            let report = HelmOptions::from_json(&options).unwrap_err().report();
            assert!(report.contains(part), "{report}");
        }
    }
}
