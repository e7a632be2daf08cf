//! What the spec of a Component means for rendering: options, parts, and transformers in their order.

use super::resource::{GeneratorOptions, Origin, Part};
use crate::api::v1alpha1::{
    ComponentSpec, DirectoryOptions, HelmOptions, KustomizeOptions, Substitute, UndefinedVariable,
};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use whipstaff_generator::{
    CheckNames, CommonAnnotations, CommonLabels, Error, ErrorKind, Pipeline, Substitution,
    Undefined,
};
use whipstaff_kustomize::Transformations;

/// Options of the single generator.
pub(super) fn options(spec: &ComponentSpec) -> GeneratorOptions {
    by_generator(
        spec.helm.as_ref(),
        spec.kustomize.as_ref(),
        spec.directory.as_ref(),
        &spec.options,
    )
}

/// The generators, if there are several.
pub(super) fn parts(spec: &ComponentSpec) -> Vec<Part<'_>> {
    spec.generators
        .iter()
        .map(|part| Part {
            name: &part.name,
            origin: Origin::of(part.source.as_ref().unwrap_or(&spec.source)),
            path: part.path.as_deref().unwrap_or_default(),
            generator: part.generator.as_deref(),
            options: by_generator(
                part.helm.as_ref(),
                part.kustomize.as_ref(),
                part.directory.as_ref(),
                &part.options,
            ),
            parameters: &part.values,
        })
        .collect()
}

/// The transformers in their order: what kustomize does (patches, names, images), labels, annotations, variables, and the check of
/// names, which is made in any case where one of the others is asked for.
pub(super) fn pipeline(spec: &ComponentSpec) -> Result<Pipeline, Error> {
    let mut pipeline = Pipeline::new();
    let fields = kustomization(spec);
    if !fields.is_empty() {
        let fields = Value::Object(fields);
        let transformations = Transformations::from_json(&fields)
            .map_err(|error| refused("patches, images or names").caused_by(error))?;
        pipeline = pipeline.then(&fields, Arc::new(transformations));
    }
    if !spec.labels.is_empty() {
        let labels = CommonLabels(spec.labels.clone());
        pipeline = pipeline.then(&json!({ "labels": spec.labels }), Arc::new(labels));
    }
    if !spec.annotations.is_empty() {
        let annotations = CommonAnnotations(spec.annotations.clone());
        let made_of = json!({ "annotations": spec.annotations });
        pipeline = pipeline.then(&made_of, Arc::new(annotations));
    }
    if let Some(substitute) = &spec.substitute {
        let made_of = json!({ "substitute": substitute });
        pipeline = pipeline.then(&made_of, Arc::new(substitution(substitute)));
    }
    if pipeline.is_empty() {
        return Ok(pipeline);
    }
    Ok(pipeline.then(&Value::Null, Arc::new(CheckNames)))
}

/// The fields of the spec that a kustomization has too, as one.
fn kustomization(spec: &ComponentSpec) -> Map<String, Value> {
    let mut fields = Map::new();
    if !spec.patches.is_empty() {
        fields.insert("patches".to_owned(), json!(spec.patches));
    }
    if !spec.name_prefix.is_empty() {
        fields.insert("namePrefix".to_owned(), json!(spec.name_prefix));
    }
    if !spec.name_suffix.is_empty() {
        fields.insert("nameSuffix".to_owned(), json!(spec.name_suffix));
    }
    if !spec.images.is_empty() {
        fields.insert("images".to_owned(), json!(spec.images));
    }
    fields
}

fn substitution(substitute: &Substitute) -> Substitution {
    let variables = substitute.variables.clone().into_iter().collect();
    let undefined = match substitute.undefined.unwrap_or_default() {
        UndefinedVariable::Refuse => Undefined::Refuse,
        UndefinedVariable::Empty => Undefined::Empty,
        UndefinedVariable::Keep => Undefined::Keep,
    };
    Substitution::new(variables, undefined)
}

fn refused(what: &str) -> Error {
    let message = format!("the {what} of the spec are malformed");
    Error::new(ErrorKind::Parameters, message)
}

fn by_generator(
    helm: Option<&HelmOptions>,
    kustomize: Option<&KustomizeOptions>,
    directory: Option<&DirectoryOptions>,
    others: &Map<String, Value>,
) -> GeneratorOptions {
    let helm = helm.map(|helm| HelmOptions {
        // What is not the generator's to heed.
        hooks: None,
        randomness: None,
        ..helm.clone()
    });
    let others = if others.is_empty() {
        Value::Null
    } else {
        Value::Object(others.clone())
    };
    // Null for a block that is not there.
    GeneratorOptions::any(others)
        .with("helm", json!(helm))
        .with("kustomize", json!(kustomize))
        .with("directory", json!(directory))
}
