//! The transformers that the fields of a kustomization stand for.
//!
//! Mirrors `internal/target/kusttarget_configplugin.go` of kustomize api v0.21.1.

use super::session::Session;
use super::target::Target;
use super::transformer::{PatchContent, Step, Transformer};
use crate::configuration::{Configuration, FieldSpec};
use crate::error::{BuildError, Result, fail};
use crate::files::Loader;
use crate::go_text::go_quote;
use crate::kustomization::{
    Kustomization, Label, Mode, Patch, PatchOptions, Replacement, ReplacementField, Selector,
    decode, schema,
};
use crate::patch::JsonPatch;
use crate::resource::{Resource, Store, annotation, read_objects, read_text};
use crate::transform::RoleBindingSubjects;
use serde_json::{Value, json};
use whipstaff_generator::yaml;

impl Session<'_> {
    /// The transformers of a kustomization, in the order they run in.
    pub(super) fn transformers(
        &mut self,
        target: &Target<'_>,
        configuration: &Configuration,
    ) -> Result<Vec<Step>> {
        let mut steps = Vec::new();
        let mut add = |kind: &str, transformers: Vec<Transformer>| {
            for transformer in transformers {
                let origin = target.origin.as_ref();
                steps.push(Step {
                    transformer,
                    origin: origin.map(|origin| origin.builtin(target.file_name, kind)),
                });
            }
        };
        add(
            "PatchStrategicMergeTransformer",
            self.merge_patches(target)?,
        );
        add("PatchTransformer", self.patches(target)?);
        let kustomization = target.kustomization();
        for (kind, transformer) in names(kustomization, configuration) {
            add(kind, vec![transformer]);
        }
        add("LabelTransformer", labels(target, configuration)?);
        if !kustomization.common_annotations.is_empty() {
            add(
                "AnnotationsTransformer",
                vec![Transformer::Entries {
                    entries: kustomization.common_annotations.clone(),
                    specs: configuration.common_annotations.clone(),
                }],
            );
        }
        add("PatchJson6902Transformer", json_patches(target)?);
        let replicas = kustomization
            .replicas
            .iter()
            .map(|replica| Transformer::Replicas {
                replica: replica.clone(),
                specs: configuration.replicas.clone(),
            });
        add("ReplicaCountTransformer", replicas.collect());
        let images = kustomization.images.iter().map(|image| Transformer::Image {
            image: image.clone(),
            specs: configuration.images.clone(),
        });
        add("ImageTagTransformer", images.collect());
        add("ReplacementTransformer", replacements(target)?);
        steps.extend(self.plugin_transformers(target, &kustomization.transformers)?);
        Ok(steps)
    }

    fn merge_patches(&mut self, target: &Target<'_>) -> Result<Vec<Transformer>> {
        let paths = target
            .kustomization()
            .patches_strategic_merge
            .as_deref()
            .unwrap_or_default();
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let patches =
            load_merge_patches(&mut self.store, &target.loader, paths, "").map_err(|error| {
                trouble(
                    &error,
                    "PatchStrategicMergeTransformer",
                    &json!({ "paths": paths }),
                )
            })?;
        Ok(vec![Transformer::MergePatches(patches)])
    }

    fn patches(&mut self, target: &Target<'_>) -> Result<Vec<Transformer>> {
        let mut transformers = Vec::new();
        for patch in &target.kustomization().patches {
            let config = serde_json::to_value(patch).unwrap_or_default();
            let transformer = load_patch(
                &mut self.store,
                &target.loader,
                patch,
                &yaml::to_string(&config),
            )
            .map_err(|error| trouble(&error, "PatchTransformer", &config))?;
            transformers.push(transformer);
        }
        Ok(transformers)
    }
}

/// The error for a field that cannot be used.
pub(super) fn trouble(error: &BuildError, plugin: &str, config: &Value) -> BuildError {
    error.clone().within(format!(
        "trouble configuring builtin {plugin} with config: `\n{}`",
        yaml::to_string(config)
    ))
}

/// Loads strategic merge patches, each as text or out of a file.
///
/// # Errors
/// When one is neither, or there are none.
pub(super) fn load_merge_patches(
    store: &mut Store,
    loader: &Loader<'_>,
    paths: &[String],
    text: &str,
) -> Result<Vec<Resource>> {
    if paths.is_empty() && text.is_empty() {
        return Err(fail("empty file path and empty patch content"));
    }
    let mut patches = Vec::new();
    for path in paths {
        if let Ok(inline) = read_objects(store, path) {
            patches.extend(inline);
            continue;
        }
        let content = loader.load(path)?;
        let read = read_text(&content).and_then(|text| read_objects(store, text));
        patches.extend(read.map_err(|error| in_file(error, path))?);
    }
    if !text.is_empty() {
        patches.extend(read_objects(store, text)?);
    }
    if patches.is_empty() {
        return Err(fail(format!(
            "patch appears to be empty; files=[{}], Patch={text}",
            paths.join(" ")
        )));
    }
    Ok(patches)
}

fn in_file(error: BuildError, path: &str) -> BuildError {
    if error.is_malformed_yaml() {
        let message = format!("{error} in File: {path}");
        return error.reworded(message);
    }
    error
}

/// Loads a patch of either kind; `config` is the text of what configures it.
///
/// # Errors
/// When it is none, or both.
pub(super) fn load_patch(
    store: &mut Store,
    loader: &Loader<'_>,
    patch: &Patch,
    config: &str,
) -> Result<Transformer> {
    let inline = patch.patch.trim();
    let (text, source) = match (inline.is_empty(), patch.path.is_empty()) {
        (true, true) => {
            return Err(fail(format!(
                "must specify one of patch and path in\n{config}"
            )));
        }
        (false, false) => {
            return Err(fail(format!(
                "patch and path can't be set at the same time\n{config}"
            )));
        }
        (false, true) => (inline.to_owned(), format!("[patch: {}]", go_quote(inline))),
        (true, false) => {
            let content = loader.load(&patch.path).map_err(|error| {
                error.within(format!(
                    "failed to get the patch file from path({})",
                    patch.path
                ))
            })?;
            (
                String::from_utf8_lossy(&content).into_owned(),
                format!("[path: {}]", go_quote(&patch.path)),
            )
        }
    };
    let content = patch_content(store, &text, &source)?;
    if let (PatchContent::Merge(patches), Some(options)) = (&content, &patch.options) {
        allow(store, patches, options)?;
    }
    Ok(Transformer::Patch {
        content,
        target: patch.target.clone(),
        source,
    })
}

fn patch_content(store: &mut Store, text: &str, source: &str) -> Result<PatchContent> {
    let merge = read_objects(store, text);
    let json = if text.is_empty() {
        Err(fail("empty json patch operations"))
    } else {
        JsonPatch::parse(text)
    };
    match (merge, json) {
        (Err(_), Err(_)) => Err(fail(format!(
            "unable to parse SM or JSON patch from {source}"
        ))),
        (Ok(merge), Ok(json)) if !merge.is_empty() && !json.is_empty() => Err(fail(format!(
            "illegally qualifies as both an SM and JSON patch: {source}"
        ))),
        (Ok(merge), _) if merge.is_empty() => Ok(PatchContent::Nothing),
        (Ok(merge), _) => Ok(PatchContent::Merge(merge)),
        (Err(_), Ok(json)) => Ok(PatchContent::Json(json)),
    }
}

fn allow(store: &mut Store, patches: &[Resource], options: &PatchOptions) -> Result<()> {
    for patch in patches {
        if options.allow_name_change {
            patch.switch_on(store, annotation::ALLOW_NAME_CHANGE)?;
        }
        if options.allow_kind_change {
            patch.switch_on(store, annotation::ALLOW_KIND_CHANGE)?;
        }
    }
    Ok(())
}

/// What changes namespaces and names, and the kind that each stands for.
fn names(
    kustomization: &Kustomization,
    configuration: &Configuration,
) -> Vec<(&'static str, Transformer)> {
    let mut names = Vec::new();
    if !kustomization.namespace.is_empty() {
        let namespace = Transformer::Namespace {
            namespace: kustomization.namespace.clone(),
            specs: configuration.namespace.clone(),
            unset_only: false,
            subjects: RoleBindingSubjects::DefaultOnly,
        };
        names.push(("NamespaceTransformer", namespace));
    }
    if !kustomization.name_prefix.is_empty() {
        let text = kustomization.name_prefix.clone();
        let specs = configuration.name_prefix.clone();
        names.push(("PrefixTransformer", Transformer::Prefix { text, specs }));
    }
    if !kustomization.name_suffix.is_empty() {
        let text = kustomization.name_suffix.clone();
        let specs = configuration.name_suffix.clone();
        names.push(("SuffixTransformer", Transformer::Suffix { text, specs }));
    }
    names
}

fn labels(target: &Target<'_>, configuration: &Configuration) -> Result<Vec<Transformer>> {
    let kustomization = target.kustomization();
    let common = kustomization.common_labels.clone().unwrap_or_default();
    if kustomization.labels.is_empty() && common.is_empty() {
        return Ok(Vec::new());
    }
    let mut transformers = Vec::new();
    for label in &kustomization.labels {
        transformers.push(label_transformer(label, configuration)?);
    }
    transformers.push(Transformer::Entries {
        entries: common,
        specs: configuration.common_labels.clone(),
    });
    Ok(transformers)
}

fn label_transformer(label: &Label, configuration: &Configuration) -> Result<Transformer> {
    let failed = |error: BuildError| error.within("failed to merge labels");
    let mut specs = label.field_specs.clone();
    specs.merge(&configuration.labels).map_err(failed)?;
    if label.include_selectors {
        specs.merge(&configuration.common_labels).map_err(failed)?;
    } else {
        if label.include_templates {
            specs
                .merge(&configuration.template_labels)
                .map_err(|error| error.within("failed to merge template fieldSpec"))?;
        }
        let own = FieldSpec::any("metadata/labels", true);
        specs.merge_one(&own).map_err(failed)?;
    }
    Ok(Transformer::Entries {
        entries: label.pairs.clone(),
        specs,
    })
}

fn json_patches(target: &Target<'_>) -> Result<Vec<Transformer>> {
    let patches = target
        .kustomization()
        .patches_json6902
        .as_deref()
        .unwrap_or_default();
    let mut transformers = Vec::new();
    for patch in patches {
        let mut config = serde_json::Map::new();
        if let Some(target) = &patch.target {
            config.insert(
                "target".to_owned(),
                serde_json::to_value(target).unwrap_or_default(),
            );
        }
        for (name, text) in [("path", &patch.path), ("jsonOp", &patch.patch)] {
            if !text.is_empty() {
                config.insert(name.to_owned(), text.clone().into());
            }
        }
        let transformer = load_json_patch(
            &target.loader,
            patch.target.as_ref(),
            &patch.path,
            &patch.patch,
        );
        transformers.push(transformer.map_err(|error| {
            trouble(&error, "PatchJson6902Transformer", &Value::Object(config))
        })?);
    }
    Ok(transformers)
}

/// Loads a JSON patch.
///
/// # Errors
/// When it is none, or there is no name of a target.
pub(super) fn load_json_patch(
    loader: &Loader<'_>,
    target: Option<&Selector>,
    path: &str,
    text: &str,
) -> Result<Transformer> {
    let Some(target) = target.filter(|target| !target.name.is_empty()) else {
        return Err(fail("must specify the target name"));
    };
    let text = match (path.is_empty(), text.is_empty()) {
        (true, true) => return Err(fail("empty file path and empty jsonOp")),
        (false, false) => return Err(fail("must specify a file path or jsonOp, not both")),
        (true, false) => text.to_owned(),
        (false, true) => {
            let content = loader.load(path)?;
            if content.is_empty() {
                return Err(fail(format!("patch file '{path}' empty seems to be empty")));
            }
            String::from_utf8_lossy(&content).into_owned()
        }
    };
    let json = if text.starts_with('[') {
        text.clone()
    } else {
        let value = yaml::from_str(&text).map_err(|error| fail(error.to_string()))?;
        whipstaff_generator::go_json::to_string(&value)
    };
    let operations =
        JsonPatch::parse(&text).map_err(|error| error.within(format!("decoding {json}")))?;
    if operations.is_empty() {
        return Err(fail(format!(
            "patch appears to be empty; file={path}, JsonOp={json}"
        )));
    }
    Ok(Transformer::JsonPatch {
        patch: operations,
        target: target.clone(),
    })
}

fn replacements(target: &Target<'_>) -> Result<Vec<Transformer>> {
    let fields = &target.kustomization().replacements;
    if fields.is_empty() {
        return Ok(Vec::new());
    }
    let replacements = load_replacements(&target.loader, fields).map_err(|error| {
        let list: Vec<_> = fields
            .iter()
            .map(|field| serde_json::to_value(field).unwrap_or_default())
            .collect();
        trouble(
            &error,
            "ReplacementTransformer",
            &json!({ "Replacements": list }),
        )
    })?;
    Ok(vec![Transformer::Replacements(replacements)])
}

/// The replacements that stand here and in files.
///
/// # Errors
/// When a file cannot be read, or an entry has both a path and a replacement.
pub(super) fn load_replacements(
    loader: &Loader<'_>,
    fields: &[ReplacementField],
) -> Result<Vec<Replacement>> {
    let mut replacements = Vec::new();
    for field in fields {
        let own = &field.replacement;
        if field.path.is_empty() {
            replacements.push(own.clone());
            continue;
        }
        if own.source.is_some()
            || own
                .targets
                .as_ref()
                .is_some_and(|targets| !targets.is_empty())
        {
            return Err(fail("cannot specify both path and inline replacement"));
        }
        let content = loader.load(&field.path)?;
        let value = yaml::from_slice(&content).map_err(|error| fail(error.to_string()))?;
        let wrap = |error: BuildError| error.within("error unmarshaling JSON: while decoding JSON");
        let mut read = |value: Value| -> Result<()> {
            replacements.push(decode(value, &schema::REPLACEMENT, Mode::Lenient).map_err(wrap)?);
            Ok(())
        };
        match value {
            Value::Array(items) => items.into_iter().try_for_each(read)?,
            Value::Object(_) => read(value)?,
            other => {
                let kind = match other {
                    Value::String(_) => "string",
                    Value::Bool(_) => "bool",
                    Value::Number(_) => "float64",
                    _ => "invalid",
                };
                return Err(fail(format!(
                    "unsupported replacement type encountered within replacement path: {kind}"
                )));
            }
        }
    }
    Ok(replacements)
}
