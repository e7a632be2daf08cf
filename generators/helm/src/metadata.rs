//! `Chart.yaml`: what a chart says about itself (Helm 4.3, `pkg/chart/v2/metadata.go`).

use crate::decode::{DecodeError, Fields};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use whipstaff_gotemplate::Dialect;
use whipstaff_sprig::semver::Version;

/// Most dependencies that a chart may declare.
pub const MAX_DECLARED_DEPENDENCIES: usize = 1_000;

/// The contents of `Chart.yaml`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Metadata {
    /// `v1` or `v2`; `v1` when the file does not say.
    pub api_version: String,
    /// Name of the chart.
    pub name: String,
    /// Version of the chart, semantic.
    pub version: String,
    /// Constraint on the Kubernetes version, or empty.
    pub kube_version: String,
    /// One sentence.
    pub description: String,
    /// `application`, `library`, or empty for an application.
    pub kind: String,
    /// Words to find it by.
    pub keywords: Vec<String>,
    /// Address of the project's page.
    pub home: String,
    /// Addresses of the sources.
    pub sources: Vec<String>,
    /// Declared dependencies, in order; those of `requirements.yaml` in old charts. Without a list (as against an empty one) the
    /// dependencies of subcharts are not looked at either.
    pub dependencies: Option<Vec<Dependency>>,
    /// Who maintains it.
    pub maintainers: Vec<Maintainer>,
    /// Address of an icon.
    pub icon: String,
    /// Version of the application, free text.
    pub app_version: String,
    /// Whether it should no longer be used.
    pub deprecated: bool,
    /// Free annotations, if there are any.
    pub annotations: Option<BTreeMap<String, String>>,
    /// Unused, kept for templates that print it.
    pub condition: String,
    /// Unused, kept for templates that print it.
    pub tags: String,
}

/// Somebody who maintains a chart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Maintainer {
    /// Name.
    pub name: String,
    /// Address for mail.
    pub email: String,
    /// Address of a page.
    pub url: String,
}

/// A chart that another one depends on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Dependency {
    /// Name of the chart.
    pub name: String,
    /// Version or range of versions.
    pub version: String,
    /// Where it comes from.
    pub repository: String,
    /// Paths into the values, separated by commas; the first that is a boolean decides.
    pub condition: String,
    /// Names below `tags` in the values.
    pub tags: Vec<String>,
    /// What `Chart.yaml` says under `enabled`; overwritten by conditions and tags.
    pub enabled: bool,
    /// Values to be taken over from the dependency: texts, or maps with `child` and `parent`.
    pub import_values: Vec<Value>,
    /// Name that the chart gets instead of its own, or empty.
    pub alias: String,
    /// Whether a rendering has brought the imports into one form.
    pub(crate) imports_rewritten: bool,
}

/// Metadata that Helm refuses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MetadataError {
    /// A field has the wrong type.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// A field that must be there is empty.
    #[error("validation: chart.metadata.{field} is required")]
    Missing {
        /// Name of the field.
        field: &'static str,
    },
    /// The name is `.` or `..`.
    #[error("validation: chart.metadata.name {name:?} is not allowed")]
    NameNotAllowed {
        /// The name.
        name: String,
    },
    /// The name has a slash in it.
    #[error("validation: chart.metadata.name {name:?} is invalid")]
    Name {
        /// The name.
        name: String,
    },
    /// The version is not semantic.
    #[error("validation: chart.metadata.version {version:?} is invalid")]
    Version {
        /// The version.
        version: String,
    },
    /// The type is unknown.
    #[error("validation: chart.metadata.type must be application or library")]
    Kind,
    /// A list has an item that is null.
    #[error("validation: {list} must not contain empty or null nodes")]
    NullItem {
        /// Name of the list.
        list: &'static str,
    },
    /// An alias has characters other than letters, digits, `_` and `-`.
    #[error("validation: dependency {name:?} has disallowed characters in the alias")]
    Alias {
        /// Name of the dependency.
        name: String,
    },
    /// Two dependencies have the same name.
    #[error("validation: more than one dependency with name or alias {name:?}")]
    DuplicateDependency {
        /// The name or alias.
        name: String,
    },
    /// There are more than [`MAX_DECLARED_DEPENDENCIES`].
    #[error("validation: more than {MAX_DECLARED_DEPENDENCIES} dependencies")]
    TooManyDependencies,
}

impl MetadataError {
    /// The same with Go's names of types in this dialect.
    pub(crate) fn in_dialect(self, dialect: Dialect) -> Self {
        match self {
            Self::Decode(error) => Self::Decode(error.in_dialect(dialect)),
            other => other,
        }
    }
}

impl Metadata {
    /// Declared dependencies, none when there is no list.
    pub fn dependencies(&self) -> &[Dependency] {
        self.dependencies.as_deref().unwrap_or_default()
    }

    /// Reads the fields of `Chart.yaml` without checking them.
    pub(crate) fn decode(value: &Value) -> Result<Self, MetadataError> {
        let fields = Fields::of("Metadata", "chart.Metadata", value)?;
        let mut metadata = Self {
            api_version: fields.text("apiVersion")?,
            name: fields.text("name")?,
            version: fields.text("version")?,
            kube_version: fields.text("kubeVersion")?,
            description: fields.text("description")?,
            kind: fields.text("type")?,
            keywords: fields.texts("keywords")?,
            home: fields.text("home")?,
            sources: fields.texts("sources")?,
            dependencies: fields
                .get("dependencies")
                .map(|_| dependencies(&fields))
                .transpose()?,
            maintainers: maintainers(&fields)?,
            icon: fields.text("icon")?,
            app_version: fields.text("appVersion")?,
            deprecated: fields.boolean("deprecated")?,
            annotations: fields.text_map("annotations")?,
            condition: fields.text("condition")?,
            tags: fields.text("tags")?,
        };
        if metadata.api_version.is_empty() {
            "v1".clone_into(&mut metadata.api_version);
        }
        Ok(metadata)
    }

    /// Takes over the dependencies of a `requirements.yaml`.
    pub(crate) fn decode_requirements(&mut self, value: &Value) -> Result<(), MetadataError> {
        let fields = Fields::of("Metadata", "chart.Metadata", value)?;
        if fields.get("dependencies").is_some() {
            self.dependencies = Some(dependencies(&fields)?);
        }
        Ok(())
    }

    /// Makes texts printable and checks what Helm checks.
    pub(crate) fn validate(&mut self) -> Result<(), MetadataError> {
        self.sanitize();
        for (field, text) in [("apiVersion", &self.api_version), ("name", &self.name)] {
            if text.is_empty() {
                return Err(MetadataError::Missing { field });
            }
        }
        let name = self.name.clone();
        if name == "." || name == ".." {
            return Err(MetadataError::NameNotAllowed { name });
        }
        if name.contains('/') {
            return Err(MetadataError::Name { name });
        }
        if self.version.is_empty() {
            return Err(MetadataError::Missing { field: "version" });
        }
        if Version::parse(&self.version).is_err() {
            return Err(MetadataError::Version {
                version: self.version.clone(),
            });
        }
        if !matches!(self.kind.as_str(), "" | "application" | "library") {
            return Err(MetadataError::Kind);
        }
        self.validate_dependencies()
    }

    fn validate_dependencies(&self) -> Result<(), MetadataError> {
        if self.dependencies().len() > MAX_DECLARED_DEPENDENCIES {
            return Err(MetadataError::TooManyDependencies);
        }
        let mut names = BTreeSet::new();
        for dependency in self.dependencies() {
            let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            if !dependency.alias.chars().all(allowed) {
                return Err(MetadataError::Alias {
                    name: dependency.name.clone(),
                });
            }
            let name = dependency.name_in_chart();
            if !names.insert(name) {
                return Err(MetadataError::DuplicateDependency {
                    name: name.to_owned(),
                });
            }
        }
        Ok(())
    }

    fn sanitize(&mut self) {
        let texts = [
            &mut self.name,
            &mut self.description,
            &mut self.home,
            &mut self.icon,
            &mut self.condition,
            &mut self.tags,
            &mut self.app_version,
            &mut self.kube_version,
        ];
        let lists = self.sources.iter_mut().chain(&mut self.keywords);
        let maintainers = self
            .maintainers
            .iter_mut()
            .flat_map(|person| [&mut person.name, &mut person.email, &mut person.url]);
        let dependencies = self
            .dependencies
            .iter_mut()
            .flatten()
            .flat_map(|dependency| {
                [
                    &mut dependency.name,
                    &mut dependency.version,
                    &mut dependency.repository,
                    &mut dependency.condition,
                ]
                .into_iter()
                .chain(&mut dependency.tags)
            });
        for text in texts
            .into_iter()
            .chain(lists)
            .chain(maintainers)
            .chain(dependencies)
        {
            sanitize(text);
        }
    }
}

impl Dependency {
    /// The name that the dependency has inside the chart: its alias, if it has one.
    pub fn name_in_chart(&self) -> &str {
        if self.alias.is_empty() {
            &self.name
        } else {
            &self.alias
        }
    }

    fn decode(fields: &Fields<'_>) -> Result<Self, MetadataError> {
        Ok(Self {
            name: fields.text("name")?,
            version: fields.text("version")?,
            repository: fields.text("repository")?,
            condition: fields.text("condition")?,
            tags: fields.texts("tags")?,
            enabled: fields.boolean("enabled")?,
            import_values: fields.list("import-values", "[]interface {}")?.to_vec(),
            alias: fields.text("alias")?,
            imports_rewritten: false,
        })
    }
}

/// Dependencies out of a `dependencies` list, as in `Chart.yaml`, `Chart.lock` and `requirements.yaml`.
pub(crate) fn dependencies(fields: &Fields<'_>) -> Result<Vec<Dependency>, MetadataError> {
    let decode = |item: &Value| match item {
        Value::Null => Err(MetadataError::NullItem {
            list: "dependencies",
        }),
        item => Dependency::decode(&fields.item(
            "dependencies",
            "Dependency.dependencies",
            "chart.Dependency",
            item,
        )?),
    };
    fields
        .list("dependencies", "[]*chart.Dependency")?
        .iter()
        .map(decode)
        .collect()
}

fn maintainers(fields: &Fields<'_>) -> Result<Vec<Maintainer>, MetadataError> {
    let decode = |item: &Value| {
        if item.is_null() {
            return Err(MetadataError::NullItem {
                list: "maintainers",
            });
        }
        let fields = fields.item(
            "maintainers",
            "Maintainer.maintainers",
            "chart.Maintainer",
            item,
        )?;
        Ok(Maintainer {
            name: fields.text("name")?,
            email: fields.text("email")?,
            url: fields.text("url")?,
        })
    };
    fields
        .list("maintainers", "[]*chart.Maintainer")?
        .iter()
        .map(decode)
        .collect()
}

/// Makes every white space a plain space and drops what cannot be printed.
fn sanitize(text: &mut String) {
    let printable = |c: char| c == ' ' || !(c.is_control() || is_format_or_space(c));
    let clean = text
        .chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c })
        .filter(|c| printable(*c))
        .collect();
    *text = clean;
}

/// Separators, format characters and private or unassigned areas that Go's `unicode.IsPrint` denies and that text is likely to hold.
fn is_format_or_space(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{600}'..='\u{605}'
            | '\u{61c}'
            | '\u{6dd}'
            | '\u{70f}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{e000}'..='\u{f8ff}'
            | '\u{feff}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{fffe}'..='\u{ffff}'
            | '\u{e0000}'..='\u{10ffff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: &Value) -> Result<Metadata, MetadataError> {
        let mut metadata = Metadata::decode(value)?;
        metadata.validate()?;
        Ok(metadata)
    }

    #[test]
    fn fields_are_read_and_made_printable() {
        let metadata = read(&json!({
            "name": "shop", "version": 1, "appVersion": 1.5, "description": "a\tb\u{7}c",
            "maintainers": [{"name": "x\ny"}], "annotations": {"n": 1},
        }))
        .unwrap();
        assert_eq!(metadata.api_version, "v1");
        assert_eq!(
            (metadata.version.as_str(), metadata.app_version.as_str()),
            ("1", "1.5")
        );
        assert_eq!(metadata.description, "a bc");
        assert_eq!(metadata.maintainers[0].name, "x y");
        assert_eq!(metadata.annotations.unwrap()["n"], "1");
    }

    #[test]
    fn wrong_types_are_named_as_go_names_them() {
        let refusal = |value: Value, dialect| {
            let error = Metadata::decode(&value).unwrap_err().in_dialect(dialect);
            let text = error.to_string();
            text.split_once("cannot unmarshal ").unwrap().1.to_owned()
        };
        let cases = [
            (
                json!({"dependencies": [{"name": ["a"]}]}),
                "array into Go struct field Dependency.dependencies.name of type string",
                "array into Go struct field Dependency.dependencies.name of type string",
            ),
            (
                json!({"dependencies": ["a"]}),
                "string into Go struct field Metadata.dependencies of type chart.Dependency",
                "string into Go struct field Metadata.dependencies of type v2.Dependency",
            ),
            (
                json!({"maintainers": "a"}),
                "string into Go struct field Metadata.maintainers of type []*chart.Maintainer",
                "string into Go struct field Metadata.maintainers of type []*v2.Maintainer",
            ),
        ];
        for (value, helm_3, helm_4) in cases {
            assert_eq!(refusal(value.clone(), Dialect::V3), helm_3);
            assert_eq!(refusal(value, Dialect::V4_3), helm_4);
        }
    }

    #[test]
    fn invalid_metadata_is_refused_with_helms_text() {
        let cases = [
            (
                json!({"version": "1.0.0"}),
                "validation: chart.metadata.name is required",
            ),
            (
                json!({"name": "a"}),
                "validation: chart.metadata.version is required",
            ),
            (
                json!({"name": "..", "version": "1.0.0"}),
                "validation: chart.metadata.name \"..\" is not allowed",
            ),
            (
                json!({"name": "a/b", "version": "1.0.0"}),
                "validation: chart.metadata.name \"a/b\" is invalid",
            ),
            (
                json!({"name": "a", "version": "1.2.3.4"}),
                "validation: chart.metadata.version \"1.2.3.4\" is invalid",
            ),
            (
                json!({"name": "a", "version": "1.0.0", "type": "plugin"}),
                "validation: chart.metadata.type must be application or library",
            ),
            (
                json!({"name": "a", "version": "1.0.0", "maintainers": [null]}),
                "validation: maintainers must not contain empty or null nodes",
            ),
            (
                json!({"name": "a", "version": "1.0.0", "dependencies": [null]}),
                "validation: dependencies must not contain empty or null nodes",
            ),
            (
                json!({"name": "a", "version": "1.0.0", "dependencies": [{"name": "b", "alias": "x.y"}]}),
                "validation: dependency \"b\" has disallowed characters in the alias",
            ),
            (
                json!({"name": "a", "version": "1.0.0",
                       "dependencies": [{"name": "b"}, {"name": "c", "alias": "b"}]}),
                "validation: more than one dependency with name or alias \"b\"",
            ),
        ];
        for (value, message) in cases {
            assert_eq!(read(&value).unwrap_err().to_string(), message);
        }
    }
}
