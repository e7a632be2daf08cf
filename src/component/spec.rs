//! What the spec of a Component means for rendering: options, parts, and transformers in their order.

use super::references::{Reference, References};
use super::resource::{GeneratorOptions, Origin, Part};
use super::variables::Variables;
use crate::api::v1alpha1::{
    ComponentSpec, DirectoryOptions, HelmOptions, KustomizeOptions, Substitute, UndefinedVariable,
};
use crate::cluster::is_cluster_scoped;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::sync::Arc;
use whipstaff_generator::{
    CheckNames, CommonAnnotations, CommonLabels, Error, ErrorKind, ObjectSet, Pipeline,
    Substitution, TransformContext, Transformer, Undefined,
};
use whipstaff_kustomize::Transformations;

/// The parameters: those out of ConfigMaps and Secrets in their order, and the spec's own over them.
pub(super) fn parameters<'a>(
    spec: &'a ComponentSpec,
    references: &References,
) -> Result<Cow<'a, Map<String, Value>>, Error> {
    if spec.values_from.is_empty() {
        return Ok(Cow::Borrowed(&spec.values));
    }
    let mut all = Map::new();
    for source in &spec.values_from {
        let Some(bytes) = references.bytes(&Reference::from(source)) else {
            continue;
        };
        match whipstaff_generator::yaml::from_slice(bytes) {
            Ok(Value::Object(values)) => merge(&mut all, values),
            Ok(Value::Null) => {}
            // What the reader says may quote a Secret.
            _ => {
                let (kind, name) = (source.kind, &source.name);
                let message = format!("the values of the {kind} `{name}` are not YAML of a map");
                return Err(Error::new(ErrorKind::Parameters, message));
            }
        }
    }
    merge(&mut all, spec.values.clone());
    Ok(Cow::Owned(all))
}

fn merge(base: &mut Map<String, Value>, over: Map<String, Value>) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Value::Object(base)), Value::Object(over)) => merge(base, over),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

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
pub(super) fn pipeline(spec: &ComponentSpec, variables: &Variables) -> Result<Pipeline, Error> {
    let mut pipeline = Pipeline::new();
    let patches = fields([("patches", json!(spec.patches))]);
    if !spec.patches.is_empty() {
        pipeline = pipeline.then(&patches, transformations(&patches, "patches")?);
    }
    let names = fields([
        ("namePrefix", json!(spec.name_prefix)),
        ("nameSuffix", json!(spec.name_suffix)),
        ("images", json!(spec.images)),
    ]);
    if names != json!({}) {
        pipeline = pipeline
            .then(&Value::Null, Arc::new(FillNamespaces))
            .then(&names, transformations(&names, "names or images")?);
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
        let mut made_of = json!({ "substitute": substitute });
        if !substitute.from.is_empty() {
            made_of["variables"] = json!(variables.digest().to_string());
        }
        pipeline = pipeline.then(&made_of, Arc::new(substitution(substitute, variables)));
    }
    if pipeline.is_empty() {
        return Ok(pipeline);
    }
    Ok(pipeline.then(&Value::Null, Arc::new(CheckNames)))
}

/// Gives objects without a namespace the one that they will be applied in. References are followed from namespace to namespace, and
/// charts name theirs in some objects only. What this gives to objects that are outside of namespaces is taken away again before they
/// are applied.
#[derive(Debug)]
struct FillNamespaces;

impl Transformer for FillNamespaces {
    fn transform(
        &self,
        objects: &mut ObjectSet,
        context: &TransformContext<'_>,
    ) -> Result<(), Error> {
        for item in objects.iter_mut() {
            let object = &mut item.object;
            let is_missing = object.namespace().is_empty();
            if is_missing && !is_cluster_scoped(object.group(), object.kind()) {
                object.set_namespace(context.namespace);
            }
        }
        Ok(())
    }
}

/// Fields of a kustomization, without those that have nothing in them.
fn fields<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let is_given = |value: &Value| *value != json!([]) && *value != json!("");
    let given = fields.into_iter().filter(|(_, value)| is_given(value));
    Value::Object(given.map(|(key, value)| (key.to_owned(), value)).collect())
}

fn transformations(fields: &Value, what: &str) -> Result<Arc<dyn Transformer>, Error> {
    let read = Transformations::from_json(fields);
    let transformations = read.map_err(|error| refused(what).caused_by(error))?;
    Ok(Arc::new(transformations))
}

fn substitution(substitute: &Substitute, variables: &Variables) -> Substitution {
    // What stands in the spec itself comes over what is read.
    let mut all = variables.values().clone();
    all.extend(substitute.variables.clone());
    let variables = all.into_iter().collect();
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
        on_return: None,
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
        .exclusive()
}

#[cfg(test)]
mod tests {
    use super::*;
    use whipstaff_generator::{Generated, Object};

    fn spec(fields: &Value) -> ComponentSpec {
        let mut spec = json!({"source": {"url": {"url": "https://example.org/a.tgz"}}});
        let map = spec.as_object_mut().unwrap();
        map.extend(fields.as_object().unwrap().clone());
        serde_json::from_value(spec).unwrap()
    }

    fn bent(fields: &Value, objects: &[Value]) -> Result<Vec<Value>, Error> {
        let mut generated = Generated::default();
        for object in objects {
            let object = Object::from_value(object.clone()).unwrap();
            generated.objects.push(object, "a.yaml");
        }
        let context = TransformContext::new("apps", "shop");
        pipeline(&spec(fields), &Variables::default())?.apply(&mut generated, &context)?;
        let objects = generated.objects.into_iter();
        Ok(objects.map(|item| item.object.into_value()).collect())
    }

    #[test]
    fn references_follow_new_names_whether_namespaces_are_named_or_not() {
        let account =
            json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"}});
        let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": "b"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
            "subjects": [{"kind": "ServiceAccount", "name": "a", "namespace": "apps"}]});
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "apps"},
            "spec": {"serviceAccountName": "a", "containers": []}});
        let found = bent(&json!({"namePrefix": "my-"}), &[account, binding, pod]).unwrap();
        assert_eq!(found[0]["metadata"]["name"], "my-a");
        assert_eq!(found[1]["subjects"][0]["name"], "my-a");
        assert_eq!(found[1]["metadata"].get("namespace"), None);
        assert_eq!(found[2]["spec"]["serviceAccountName"], "my-a");
    }

    #[test]
    fn transformers_run_in_the_documented_order() {
        let map =
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {}});
        let fields = json!({
            "namePrefix": "my-",
            "patches": [{"target": {"name": "c"},
                "patch": "- {op: add, path: /data/x, value: '${word}'}"}],
            "labels": {"l": "${word}"},
            "substitute": {"variables": {"word": "yes"}},
        });
        let found = bent(&fields, &[map]).unwrap();
        assert_eq!(found[0]["data"]["x"], "yes");
        assert_eq!(found[0]["metadata"]["name"], "my-c");
        assert_eq!(found[0]["metadata"]["labels"]["l"], "yes");
    }

    #[test]
    fn names_that_cannot_be_applied_are_refused_and_nothing_asked_for_changes_nothing() {
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}});
        let error = bent(&json!({"namePrefix": "a/"}), std::slice::from_ref(&map)).unwrap_err();
        assert!(error.report().contains("not allowed"), "{}", error.report());
        assert_eq!(bent(&json!({}), std::slice::from_ref(&map)).unwrap(), [map]);
        let malformed = json!({"patches": [{"patch": "a", "target": {"labelSelector": "=="}}]});
        assert!(bent(&malformed, &[]).is_err());
    }
}
