//! Rendered files to manifests and hooks, sorted (Helm 3.22, `pkg/releaseutil/manifest_sorter.go`).

use crate::{
    context::is_partial,
    decode::{DecodeError, Fields},
    kinds::compare_kinds,
    render::RenderedFiles,
    split::{split_documents, trim_start},
};
use bytes::Bytes;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use whipstaff_generator::{HookDeletePolicy, HookEvent, yaml};
use whipstaff_gotemplate::Dialect;

const HOOK: &str = "helm.sh/hook";
/// The fields that tell what a document is.
const HEAD: &[&str] = &["apiVersion", "kind", "metadata"];
const HOOK_WEIGHT: &str = "helm.sh/hook-weight";
const HOOK_DELETE_POLICY: &str = "helm.sh/hook-delete-policy";

/// A document that a chart rendered to.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    /// Path of the template.
    pub path: String,
    /// The text.
    pub content: Bytes,
    /// The text as YAML; null in a rendering for texts alone.
    pub value: Json,
    /// `kind`, or empty.
    pub kind: String,
    /// `apiVersion`, or empty.
    pub api_version: String,
}

/// A document with a hook annotation.
#[derive(Debug, Clone, PartialEq)]
pub struct HookManifest {
    /// The document.
    pub manifest: Manifest,
    /// `metadata.name`, or empty.
    pub name: String,
    /// When it runs.
    pub events: Vec<HookEvent>,
    /// Order among the hooks of an event.
    pub weight: i64,
    /// When its object is removed; unknown policies are left out.
    pub delete_policies: Vec<HookDeletePolicy>,
}

/// What a rendering's files hold.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Sorted {
    pub(crate) manifests: Vec<Manifest>,
    pub(crate) hooks: Vec<HookManifest>,
    pub(crate) warnings: Vec<String>,
}

/// A rendered document that cannot be classified.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// It is not YAML.
    #[error("YAML parse error on {path}")]
    Yaml {
        /// Path of the template.
        path: String,
        /// Line of the rendered file that the document begins at, from one.
        line: usize,
        /// What is wrong.
        #[source]
        cause: Box<yaml::Error>,
    },
    /// It is not a map, or a field that tells what it is has the wrong type.
    #[error("YAML parse error on {path}")]
    Fields {
        /// Path of the template.
        path: String,
        /// Line of the rendered file that the document begins at, from one.
        line: usize,
        /// What is wrong.
        #[source]
        cause: DecodeError,
    },
}

/// Whether the values of manifests are wanted, or what they are is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Values {
    Wanted,
    Unwanted,
}

/// Splits rendered files into documents, tells hooks from manifests and sorts both by kind.
///
/// # Errors
/// [`ManifestError`] on the first document that is not YAML or not an object.
pub(crate) fn sort_manifests(
    files: RenderedFiles,
    dialect: Dialect,
    values: Values,
) -> Result<Sorted, ManifestError> {
    let mut sorted = Sorted::default();
    for (path, content) in files {
        if is_partial(&path) || trim_start(&content).is_empty() {
            continue;
        }
        // Documents share the bytes of their file.
        let content = Bytes::from(content);
        for document in split_documents(&content, dialect) {
            classify(&path, &content, document, (dialect, values), &mut sorted)?;
        }
    }
    sorted
        .manifests
        .sort_by(|one, other| compare_kinds(&one.kind, &other.kind, dialect));
    sorted
        .hooks
        .sort_by(|one, other| compare_kinds(&one.manifest.kind, &other.manifest.kind, dialect));
    Ok(sorted)
}

fn line_of(content: &[u8], document: &[u8]) -> usize {
    // A document is a part of its file.
    let offset = (document.as_ptr() as usize).saturating_sub(content.as_ptr() as usize);
    let before = content.get(..offset).unwrap_or_default();
    1 + memchr::memchr_iter(b'\n', before).count()
}

/// The value of a manifest is that of its text with a line break behind it: Helm puts one there when it joins manifests, and applies what
/// is joined. Block scalars at the end of a document show it.
fn classify(
    path: &str,
    content: &Bytes,
    document: &[u8],
    (dialect, values): (Dialect, Values),
    sorted: &mut Sorted,
) -> Result<(), ManifestError> {
    let yaml_error = |cause| ManifestError::Yaml {
        path: path.to_owned(),
        line: line_of(content, document),
        cause: Box::new(cause),
    };
    let value = match values {
        Values::Wanted => yaml::from_slice(&[document, b"\n"].concat()),
        Values::Unwanted => yaml::fields_from_slice(document, HEAD),
    };
    let mut value = value.map_err(yaml_error)?;
    let field_error = |cause| ManifestError::Fields {
        path: path.to_owned(),
        line: line_of(content, document),
        cause,
    };
    let head = Head::read(&value, dialect).map_err(field_error)?;
    if values == Values::Unwanted {
        value = Json::Null;
    }
    let manifest = Manifest {
        path: path.to_owned(),
        content: content.slice_ref(document),
        value,
        kind: head.kind,
        api_version: head.api_version,
    };
    let Some(hook) = head.annotations.get(HOOK) else {
        sorted.manifests.push(manifest);
        return Ok(());
    };
    let mut manifest = manifest;
    if values == Values::Wanted && document.ends_with(b"\n") {
        // Hooks are applied one by one, and only what does not end in a line break gets one.
        manifest.value = yaml::from_slice(document).map_err(yaml_error)?;
    }
    let Some(events) = hook.split(',').map(event).collect() else {
        sorted.warnings.push(format!(
            "{path}: a document with the unknown hook {hook:?} is left out"
        ));
        return Ok(());
    };
    let weight = head.annotations.get(HOOK_WEIGHT);
    let policies = head.annotations.get(HOOK_DELETE_POLICY);
    sorted.hooks.push(HookManifest {
        manifest,
        name: head.name,
        events,
        weight: weight
            .and_then(|weight| weight.parse().ok())
            .unwrap_or_default(),
        delete_policies: policies
            .map(|policies| policies.split(',').filter_map(delete_policy).collect())
            .unwrap_or_default(),
    });
    Ok(())
}

/// The type of the metadata that Helm reads, as Go prints it.
const METADATA_TYPE: &str = "struct { Name string \"json:\\\"name\\\"\"; Annotations map[string]string \"json:\\\"annotations\\\"\" }";

/// What Helm reads of a document.
struct Head {
    api_version: String,
    kind: String,
    name: String,
    annotations: BTreeMap<String, String>,
}

impl Head {
    fn read(value: &Json, dialect: Dialect) -> Result<Self, DecodeError> {
        let go_type = if dialect.is_v4() {
            "util.SimpleHead"
        } else {
            "releaseutil.SimpleHead"
        };
        let fields = Fields::of("SimpleHead", go_type, value)?;
        let metadata = fields.inner("metadata", ".metadata", METADATA_TYPE)?;
        Ok(Self {
            api_version: fields.text("apiVersion")?,
            kind: fields.text("kind")?,
            name: metadata.text("name")?,
            annotations: metadata.text_map("annotations")?.unwrap_or_default(),
        })
    }
}

fn event(name: &str) -> Option<HookEvent> {
    Some(match name.trim().to_lowercase().as_str() {
        "pre-install" => HookEvent::PreInstall,
        "post-install" => HookEvent::PostInstall,
        "pre-delete" => HookEvent::PreDelete,
        "post-delete" => HookEvent::PostDelete,
        "pre-upgrade" => HookEvent::PreUpgrade,
        "post-upgrade" => HookEvent::PostUpgrade,
        "pre-rollback" => HookEvent::PreRollback,
        "post-rollback" => HookEvent::PostRollback,
        "test" | "test-success" => HookEvent::Test,
        _ => return None,
    })
}

fn delete_policy(name: &str) -> Option<HookDeletePolicy> {
    Some(match name.trim().to_lowercase().as_str() {
        "before-hook-creation" => HookDeletePolicy::BeforeHookCreation,
        "hook-succeeded" => HookDeletePolicy::HookSucceeded,
        "hook-failed" => HookDeletePolicy::HookFailed,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(files: &[(&str, &str)]) -> Result<Sorted, ManifestError> {
        let files = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
            .collect();
        sort_manifests(files, Dialect::V3, Values::Wanted)
    }

    #[test]
    fn manifests_are_sorted_by_kind_and_keep_their_order_within() {
        let found = sorted(&[
            (
                "c/templates/b.yaml",
                "kind: Service\nname: 1\n---\nkind: Deployment\nname: 2\n",
            ),
            (
                "c/templates/a.yaml",
                "kind: Deployment\nname: 3\n---\n# only a comment\n",
            ),
            ("c/templates/_x.yaml", "kind: Service\n"),
            ("c/templates/z.yaml", " \n"),
        ])
        .unwrap();
        let kinds: Vec<_> = found
            .manifests
            .iter()
            .map(|m| (m.path.as_str(), m.kind.as_str()))
            .collect();
        assert_eq!(
            kinds,
            [
                ("c/templates/b.yaml", "Service"),
                ("c/templates/a.yaml", "Deployment"),
                ("c/templates/b.yaml", "Deployment"),
                ("c/templates/a.yaml", ""),
            ]
        );
    }

    #[test]
    fn texts_at_the_end_of_a_document_have_the_line_break_that_helm_puts_there() {
        let text = |document: &str, dialect| {
            let files = RenderedFiles::from([(
                "c/templates/a.yaml".to_owned(),
                document.as_bytes().to_vec(),
            )]);
            let sorted = sort_manifests(files, dialect, Values::Wanted).unwrap();
            let hooks = sorted.hooks.into_iter().map(|hook| hook.manifest);
            let mut all = sorted.manifests.into_iter().chain(hooks);
            all.next().unwrap().value["x"].as_str().unwrap().to_owned()
        };
        let hook = "metadata: {annotations: {helm.sh/hook: pre-install}}\n";
        for (document, dialect, expected) in [
            ("x: |\n  text", Dialect::V3, "text\n"),
            ("x: |\n  text\n", Dialect::V3, "text\n"),
            ("x: |+\n  text\n\n", Dialect::V3, "text\n"),
            ("x: |+\n  text\n\n", Dialect::V4_3, "text\n\n\n"),
            ("x: |-\n  text\n", Dialect::V4_3, "text"),
        ] {
            assert_eq!(text(document, dialect), expected, "{document:?}");
        }
        let kept = format!("{hook}x: |+\n  text\n\n");
        assert_eq!(text(&kept, Dialect::V4_3), "text\n\n");
        let cut = format!("{hook}x: |\n  text");
        assert_eq!(text(&cut, Dialect::V4_3), "text\n");
    }

    #[test]
    fn hooks_are_told_by_their_annotation() {
        let hook = |annotations: &str| {
            let text =
                format!("kind: Job\nmetadata:\n  name: j\n  annotations: {{{annotations}}}\n");
            sorted(&[("c/templates/a.yaml", &text)]).unwrap()
        };
        let found = hook(
            "helm.sh/hook: ' Pre-Install, post-upgrade', helm.sh/hook-weight: -5, \
             helm.sh/hook-delete-policy: 'hook-succeeded,other, before-hook-creation'",
        );
        assert!(found.manifests.is_empty());
        let only = &found.hooks[0];
        assert_eq!(only.events, [HookEvent::PreInstall, HookEvent::PostUpgrade]);
        assert_eq!((only.weight, only.name.as_str()), (-5, "j"));
        assert_eq!(
            only.delete_policies,
            [
                HookDeletePolicy::HookSucceeded,
                HookDeletePolicy::BeforeHookCreation
            ]
        );
        assert_eq!(
            hook("helm.sh/hook: test-success").hooks[0].events,
            [HookEvent::Test]
        );
        assert_eq!(
            hook("helm.sh/hook: test, helm.sh/hook-weight: x").hooks[0].weight,
            0
        );
        assert_eq!(hook("other: a").manifests.len(), 1);
        let unknown = hook("helm.sh/hook: 'crd-install,pre-install'");
        assert!(unknown.hooks.is_empty() && unknown.manifests.is_empty());
        assert_eq!(unknown.warnings.len(), 1);
    }

    #[test]
    fn what_is_no_object_is_refused_with_its_line() {
        let error = sorted(&[("c/templates/a.yaml", "kind: A\n---\njust text\n")]).unwrap_err();
        assert!(
            matches!(error, ManifestError::Fields { line: 3, .. }),
            "{error:?}"
        );
        assert_eq!(error.to_string(), "YAML parse error on c/templates/a.yaml");
        let error = sorted(&[(
            "c/templates/a.yaml",
            "metadata:\n  annotations:\n    a: [1]\n",
        )])
        .unwrap_err();
        assert!(matches!(error, ManifestError::Fields { .. }));
        assert!(sorted(&[("c/templates/a.yaml", "a: b: c\n")]).is_err());
        assert!(
            sorted(&[(
                "c/templates/a.yaml",
                "metadata:\n  annotations:\n    a: 5\n"
            )])
            .is_ok()
        );
    }
}
