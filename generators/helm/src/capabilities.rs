//! `.Capabilities`: what templates may ask of the cluster (Helm 3.22, `pkg/chartutil/capabilities.go`; Helm 4.3,
//! `pkg/chart/common/capabilities.go`).

use serde_json::{Value as Json, json};
use std::{any::Any, rc::Rc};
use whipstaff_generator::Capabilities as ClusterCapabilities;
use whipstaff_gotemplate::{Dialect, FunctionError, Host, Kind, Method, Signature, Type, Value};

/// The Kubernetes version that Helm 3.22 and 4.3 render for without a cluster.
pub const DEFAULT_KUBE_VERSION: &str = "v1.37.0";

/// The API versions that Helm 3.22 and 4.3 assume without a cluster, in their order.
pub const DEFAULT_API_VERSIONS: &[&str] = &[
    "v1",
    "admissionregistration.k8s.io/v1",
    "admissionregistration.k8s.io/v1alpha1",
    "admissionregistration.k8s.io/v1beta1",
    "internal.apiserver.k8s.io/v1alpha1",
    "apps/v1",
    "apps/v1beta1",
    "apps/v1beta2",
    "authentication.k8s.io/v1",
    "authentication.k8s.io/v1alpha1",
    "authentication.k8s.io/v1beta1",
    "authorization.k8s.io/v1",
    "authorization.k8s.io/v1beta1",
    "autoscaling/v1",
    "autoscaling/v2",
    "batch/v1",
    "batch/v1beta1",
    "certificates.k8s.io/v1",
    "certificates.k8s.io/v1beta1",
    "certificates.k8s.io/v1alpha1",
    "coordination.k8s.io/v1alpha2",
    "coordination.k8s.io/v1beta1",
    "coordination.k8s.io/v1",
    "discovery.k8s.io/v1",
    "discovery.k8s.io/v1beta1",
    "events.k8s.io/v1",
    "events.k8s.io/v1beta1",
    "extensions/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1",
    "flowcontrol.apiserver.k8s.io/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1beta2",
    "flowcontrol.apiserver.k8s.io/v1beta3",
    "lifecycle.k8s.io/v1alpha1",
    "networking.k8s.io/v1",
    "networking.k8s.io/v1beta1",
    "node.k8s.io/v1",
    "node.k8s.io/v1alpha1",
    "node.k8s.io/v1beta1",
    "policy/v1",
    "policy/v1beta1",
    "rbac.authorization.k8s.io/v1",
    "rbac.authorization.k8s.io/v1beta1",
    "rbac.authorization.k8s.io/v1alpha1",
    "resource.k8s.io/v1",
    "resource.k8s.io/v1beta2",
    "resource.k8s.io/v1beta1",
    "resource.k8s.io/v1alpha3",
    "scheduling.k8s.io/v1alpha3",
    "scheduling.k8s.io/v1beta1",
    "scheduling.k8s.io/v1",
    "storage.k8s.io/v1beta1",
    "storage.k8s.io/v1",
    "storage.k8s.io/v1alpha1",
    "storagemigration.k8s.io/v1",
    "storagemigration.k8s.io/v1beta1",
    "apiextensions.k8s.io/v1beta1",
    "apiextensions.k8s.io/v1",
];

/// What Helm 4.1 (Kubernetes 1.35) and 4.2 (1.36) know in the place of an API version that 4.3 (1.37) knows.
fn known_instead<'a>(version: &'a &'a str, dialect: Dialect) -> &'a [&'a str] {
    match (dialect, *version) {
        (
            Dialect::V4_1 | Dialect::V4_2,
            "lifecycle.k8s.io/v1alpha1" | "storagemigration.k8s.io/v1",
        ) => &[],
        (Dialect::V4_1, "autoscaling/v2") => &[
            "autoscaling/v2",
            "autoscaling/v2beta1",
            "autoscaling/v2beta2",
        ],
        (Dialect::V4_1, "scheduling.k8s.io/v1alpha3") => &["scheduling.k8s.io/v1alpha1"],
        (Dialect::V4_2, "scheduling.k8s.io/v1alpha3") => &["scheduling.k8s.io/v1alpha2"],
        _ => std::slice::from_ref(version),
    }
}

/// The API versions and the Kubernetes version that templates see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderCapabilities {
    /// Version of Kubernetes.
    pub kube_version: RenderKubeVersion,
    /// `group/version` and `group/version/Kind`, in order; what is there twice stays twice.
    pub api_versions: Vec<String>,
}

/// A Kubernetes version as a dialect of Helm reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderKubeVersion {
    /// What `.Version` gives: with a vendor's suffix in Helm 4.1 and later, if there was one.
    pub version: String,
    /// What constraints are checked against.
    pub normalized: String,
    /// Major version.
    pub major: String,
    /// Minor version.
    pub minor: String,
}

/// A text that is not a Kubernetes version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KubeVersionError {
    /// It has no numbers.
    #[error("invalid kube version '{text}': could not parse {text:?} as version")]
    Unreadable {
        /// The text.
        text: String,
    },
    /// It has a major version only.
    #[error("invalid kube version '{text}': illegal version string {text:?}")]
    TooShort {
        /// The text.
        text: String,
    },
}

impl RenderKubeVersion {
    /// Reads a version as `--kube-version` does: at least major and minor, anything after them.
    ///
    /// # Errors
    /// [`KubeVersionError`] when there is no such pair of numbers.
    pub fn parse(text: &str, dialect: Dialect) -> Result<Self, KubeVersionError> {
        let invalid = || KubeVersionError::Unreadable {
            text: text.to_owned(),
        };
        let bare = text
            .trim_start()
            .strip_prefix('v')
            .unwrap_or(text.trim_start());
        let end = bare
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(bare.len());
        let core = bare[..end].trim_end_matches('.');
        let mut numbers = Vec::new();
        for part in core.split('.') {
            let refused = numbers.is_empty() && part.len() > 1 && part.starts_with('0');
            let number = part.parse::<u64>().ok().filter(|_| !refused);
            numbers.push(number.ok_or_else(invalid)?);
        }
        let [major, minor, ..] = numbers[..] else {
            return Err(KubeVersionError::TooShort {
                text: text.to_owned(),
            });
        };
        let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
        let normalized = format!("v{}", numbers.join("."));
        let version = if dialect < Dialect::V4_1 {
            normalized.clone()
        } else if text.starts_with('v') {
            text.to_owned()
        } else {
            format!("v{text}")
        };
        Ok(Self {
            version,
            normalized,
            major: major.to_string(),
            minor: minor.to_string(),
        })
    }
}

impl RenderCapabilities {
    /// What Helm assumes without a cluster: what the client library of its version knows.
    pub fn offline(dialect: Dialect) -> Self {
        let minor = match dialect {
            Dialect::V4_1 => "35",
            Dialect::V4_2 => "36",
            _ => "37",
        };
        let version = format!("v1.{minor}.0");
        Self {
            kube_version: RenderKubeVersion {
                normalized: version.clone(),
                version,
                major: "1".to_owned(),
                minor: minor.to_owned(),
            },
            api_versions: DEFAULT_API_VERSIONS
                .iter()
                .flat_map(|version| known_instead(version, dialect))
                .map(|&version| version.to_owned())
                .collect(),
        }
    }

    /// What a cluster says of itself. Helm takes the version as the cluster gives it.
    pub fn of_cluster(cluster: &ClusterCapabilities, dialect: Dialect) -> Self {
        let given = &cluster.kube_version;
        let normalized = RenderKubeVersion::parse(&given.version, dialect)
            .map_or_else(|_| given.version.clone(), |parsed| parsed.normalized);
        let constrained = if dialect < Dialect::V4_1 {
            given.version.clone()
        } else {
            normalized
        };
        Self {
            kube_version: RenderKubeVersion {
                version: given.version.clone(),
                normalized: constrained,
                major: given.major.clone(),
                minor: given.minor.clone(),
            },
            api_versions: cluster.api_versions.iter().cloned().collect(),
        }
    }

    /// The object that templates see.
    pub(crate) fn to_value(&self, dialect: Dialect) -> Value {
        Value::host(CapabilitiesHost {
            kube_version: Rc::new(self.kube_version.clone()),
            api_versions: self.api_versions.as_slice().into(),
            dialect,
        })
    }
}

#[derive(Debug)]
struct CapabilitiesHost {
    kube_version: Rc<RenderKubeVersion>,
    api_versions: Rc<[String]>,
    dialect: Dialect,
}

impl CapabilitiesHost {
    fn kube_version(&self) -> KubeVersionHost {
        KubeVersionHost {
            version: Rc::clone(&self.kube_version),
            dialect: self.dialect,
        }
    }
}

impl Host for CapabilitiesHost {
    fn type_name(&self) -> &'static str {
        if self.dialect.is_v4() {
            "*common.Capabilities"
        } else {
            "*chartutil.Capabilities"
        }
    }

    fn kind(&self) -> Kind {
        Kind::Ptr
    }

    fn field(&self, name: &str) -> Option<Value> {
        match name {
            "KubeVersion" => Some(Value::host(self.kube_version())),
            "APIVersions" => Some(Value::host(VersionSet {
                versions: Rc::clone(&self.api_versions),
                dialect: self.dialect,
            })),
            "HelmVersion" => Some(Value::host(BuildInfo {
                dialect: self.dialect,
            })),
            _ => None,
        }
    }

    fn to_data(&self) -> Option<Value> {
        Some(data_of(
            self,
            &["KubeVersion", "APIVersions", "HelmVersion"],
        ))
    }

    fn print(&self) -> Vec<u8> {
        let versions = self.api_versions.join(" ");
        let version = String::from_utf8_lossy(&self.kube_version().print_fields()).into_owned();
        let build = BuildInfo {
            dialect: self.dialect,
        }
        .print();
        let build = String::from_utf8_lossy(&build).into_owned();
        format!("&{{{version} [{versions}] {build}}}").into_bytes()
    }

    fn to_json(&self) -> Option<Json> {
        Some(json!({
            "KubeVersion": self.kube_version().to_json(),
            "APIVersions": *self.api_versions,
            "HelmVersion": BuildInfo { dialect: self.dialect }.to_json(),
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[derive(Debug)]
struct KubeVersionHost {
    version: Rc<RenderKubeVersion>,
    dialect: Dialect,
}

impl KubeVersionHost {
    fn print_fields(&self) -> Vec<u8> {
        let RenderKubeVersion {
            version,
            normalized,
            major,
            minor,
        } = &*self.version;
        if self.dialect.is_v4() {
            format!("{{{version} {normalized} {major} {minor}}}").into_bytes()
        } else {
            format!("{{{version} {major} {minor}}}").into_bytes()
        }
    }

    fn text(&self) -> &str {
        if self.dialect.is_v4() {
            &self.version.normalized
        } else {
            &self.version.version
        }
    }
}

impl Host for KubeVersionHost {
    fn type_name(&self) -> &'static str {
        if self.dialect.is_v4() {
            "common.KubeVersion"
        } else {
            "chartutil.KubeVersion"
        }
    }

    fn kind(&self) -> Kind {
        Kind::Struct
    }

    fn method(&self, name: &str) -> Option<Method> {
        const NOTHING: Signature = Signature {
            parameters: &[],
            variadic: None,
        };
        match name {
            "String" => Some(Method {
                signature: NOTHING,
                call: |host, _, _| on::<Self>(host, |this| Value::from(this.text())),
            }),
            "GitVersion" => Some(Method {
                signature: NOTHING,
                call: |host, _, _| {
                    on::<Self>(host, |this| Value::from(this.version.version.as_str()))
                },
            }),
            _ => None,
        }
    }

    fn field(&self, name: &str) -> Option<Value> {
        match name {
            "Version" => Some(Value::from(self.version.version.as_str())),
            "Major" => Some(Value::from(self.version.major.as_str())),
            "Minor" => Some(Value::from(self.version.minor.as_str())),
            _ => None,
        }
    }

    fn to_data(&self) -> Option<Value> {
        let Value::Map(data) = data_of(self, &["Version", "Major", "Minor"]) else {
            return None;
        };
        data.insert("GitVersion", Value::from(self.version.version.as_str()));
        Some(Value::Map(data))
    }

    /// An action prints it by its `String` method, for it is reached through a pointer.
    fn print(&self) -> Vec<u8> {
        self.text().as_bytes().to_vec()
    }

    fn to_json(&self) -> Option<Json> {
        let RenderKubeVersion {
            version,
            major,
            minor,
            ..
        } = &*self.version;
        Some(json!({"Version": version, "Major": major, "Minor": minor}))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[derive(Debug)]
struct VersionSet {
    versions: Rc<[String]>,
    dialect: Dialect,
}

impl Host for VersionSet {
    fn type_name(&self) -> &'static str {
        if self.dialect.is_v4() {
            "common.VersionSet"
        } else {
            "chartutil.VersionSet"
        }
    }

    fn kind(&self) -> Kind {
        Kind::Slice
    }

    fn truth(&self) -> bool {
        !self.versions.is_empty()
    }

    fn method(&self, name: &str) -> Option<Method> {
        const TEXT: Signature = Signature {
            parameters: &[Type::String],
            variadic: None,
        };
        (name == "Has").then_some(Method {
            signature: TEXT,
            call: |host, _, arguments| {
                let version = arguments
                    .first()
                    .and_then(Value::as_bytes)
                    .cloned()
                    .unwrap_or_default();
                on::<Self>(host, |this| {
                    Value::Bool(
                        this.versions
                            .iter()
                            .any(|known| known.as_bytes() == &version[..]),
                    )
                })
            },
        })
    }

    fn len(&self) -> Option<usize> {
        Some(self.versions.len())
    }

    fn entries(&self) -> Option<Vec<(Value, Value)>> {
        let versions = self.versions.iter().enumerate();
        Some(
            versions
                .map(|(at, v)| (Value::int(at as i64), Value::from(v.as_str())))
                .collect(),
        )
    }

    fn to_data(&self) -> Option<Value> {
        Some(Value::strings(self.versions.iter().map(String::as_str)))
    }

    fn print(&self) -> Vec<u8> {
        format!("[{}]", self.versions.join(" ")).into_bytes()
    }

    fn to_json(&self) -> Option<Json> {
        Some(json!(*self.versions))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Fields of a host object as a map.
fn data_of(host: &dyn Host, fields: &[&str]) -> Value {
    let field = |name: &&str| Some(((*name).to_owned(), host.field(name)?));
    Value::map(fields.iter().filter_map(field))
}

/// What the Helm says of itself that a dialect follows.
#[derive(Debug)]
struct BuildInfo {
    dialect: Dialect,
}

impl BuildInfo {
    fn version(&self) -> &'static str {
        match self.dialect {
            Dialect::V3 => "v3.22.0",
            Dialect::V4_1 => "v4.1.4",
            Dialect::V4_2 => "v4.2.4",
            Dialect::V4_3 => "v4.3.1",
        }
    }
}

const GO_VERSION: &str = "go1.26.8";
const KUBE_CLIENT_VERSION: &str = "v1.37";

impl Host for BuildInfo {
    fn type_name(&self) -> &'static str {
        "version.BuildInfo"
    }

    fn kind(&self) -> Kind {
        Kind::Struct
    }

    fn field(&self, name: &str) -> Option<Value> {
        match name {
            "Version" => Some(Value::from(self.version())),
            "GitCommit" | "GitTreeState" => Some(Value::from("")),
            "GoVersion" => Some(Value::from(GO_VERSION)),
            "KubeClientVersion" if self.dialect.is_v4() => Some(Value::from(KUBE_CLIENT_VERSION)),
            _ => None,
        }
    }

    fn to_data(&self) -> Option<Value> {
        const FIELDS: &[&str] = &[
            "Version",
            "GitCommit",
            "GitTreeState",
            "GoVersion",
            "KubeClientVersion",
        ];
        Some(data_of(self, FIELDS))
    }

    fn print(&self) -> Vec<u8> {
        let client = if self.dialect.is_v4() {
            format!(" {KUBE_CLIENT_VERSION}")
        } else {
            String::new()
        };
        format!("{{{}   {GO_VERSION}{client}}}", self.version()).into_bytes()
    }

    fn to_json(&self) -> Option<Json> {
        let mut info = json!({"version": self.version(), "go_version": GO_VERSION});
        if self.dialect.is_v4() {
            info["kube_client_version"] = json!(KUBE_CLIENT_VERSION);
        }
        Some(info)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn on<T: 'static>(host: &dyn Host, call: impl FnOnce(&T) -> Value) -> Result<Value, FunctionError> {
    let this = host.as_any().downcast_ref::<T>();
    this.map(call)
        .ok_or_else(|| FunctionError::new("method called on a value of another type"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kube_versions_are_read_by_dialect() {
        let cases = [
            ("1.31", "v1.31", "v1.31", "v1.31", "31"),
            ("1.02", "v1.2", "v1.02", "v1.2", "2"),
            ("v1.5x", "v1.5", "v1.5x", "v1.5", "5"),
            ("v1.31.2", "v1.31.2", "v1.31.2", "v1.31.2", "31"),
            (
                "1.27.16-gke.5",
                "v1.27.16",
                "v1.27.16-gke.5",
                "v1.27.16",
                "27",
            ),
            ("v1.30.1+k3s1", "v1.30.1", "v1.30.1+k3s1", "v1.30.1", "30"),
        ];
        for (text, v3, v4, normalized, minor) in cases {
            let read = |dialect| RenderKubeVersion::parse(text, dialect).unwrap();
            assert_eq!(read(Dialect::V3).version, v3);
            assert_eq!(read(Dialect::V4_3).version, v4);
            assert_eq!(read(Dialect::V4_3).normalized, normalized);
            assert_eq!(read(Dialect::V3).minor, minor);
        }
        for text in [
            "",
            "v",
            "1",
            "x",
            "1.x",
            "-1.2",
            "01.2",
            "99999999999999999999.1",
        ] {
            assert!(
                RenderKubeVersion::parse(text, Dialect::V3).is_err(),
                "{text}"
            );
        }
    }

    #[test]
    fn offline_capabilities_know_group_versions_but_no_kinds() {
        let offline = RenderCapabilities::offline(Dialect::V4_3);
        assert_eq!(offline.kube_version.version, "v1.37.0");
        assert!(
            offline
                .api_versions
                .iter()
                .any(|version| version == "policy/v1")
        );
        assert!(
            !offline
                .api_versions
                .iter()
                .any(|version| version.matches('/').count() > 1)
        );
    }
}
