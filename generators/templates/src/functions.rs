//! Functions that see the component, the cluster and the files (`internal/kustomize` and `internal/templatex` of
//! component-operator-runtime 0.3).

use crate::readable::Readable;
use serde_json::Value as Json;
use std::sync::Arc;
use whipstaff_generator::LookupQuestion;
use whipstaff_gotemplate::{
    Dialect, Function, FunctionError, FunctionTable, List, Runtime, Signature,
    Type::{Any, String as Text},
    Value, grow_stack,
};
use whipstaff_sprig::{COMPONENT_VALUE, component_functions};

/// Names of the values that a rendering lends.
pub(crate) const COMPONENT_DIGEST: &str = "componentDigest";
pub(crate) const COMPONENT_REVISION: &str = "componentRevision";
pub(crate) const NAMESPACE: &str = "namespace";
pub(crate) const NAME: &str = "name";
pub(crate) const KUBERNETES_VERSION: &str = "kubernetesVersion";
pub(crate) const API_RESOURCES: &str = "apiResources";
pub(crate) const FILES: &str = "files";

type Outcome = Result<Value, FunctionError>;
type Call = fn(&mut dyn Runtime, &[Value]) -> Outcome;

/// All functions that templates may call.
pub(crate) fn functions() -> FunctionTable {
    let mut table = whipstaff_sprig::functions(Dialect::default());
    table.extend(component_functions());
    table.extend(context_functions());
    table.extend(lookup_functions());
    table.extend(refused_functions());
    table
}

const fn function(
    name: &'static str,
    parameters: &'static [whipstaff_gotemplate::Type],
    call: Call,
) -> Function {
    Function {
        name,
        signature: Signature {
            parameters,
            variadic: None,
        },
        call,
    }
}

fn context_functions() -> [Function; 10] {
    [
        function("component", &[], |runtime, _| {
            lent(runtime, COMPONENT_VALUE)
        }),
        function(COMPONENT_DIGEST, &[], |runtime, _| {
            lent(runtime, COMPONENT_DIGEST)
        }),
        function(COMPONENT_REVISION, &[], |runtime, _| {
            lent(runtime, COMPONENT_REVISION)
        }),
        function(NAMESPACE, &[], |runtime, _| lent(runtime, NAMESPACE)),
        function(NAME, &[], |runtime, _| lent(runtime, NAME)),
        function(KUBERNETES_VERSION, &[], |runtime, _| {
            lent(runtime, KUBERNETES_VERSION)
        }),
        function(API_RESOURCES, &[], |runtime, _| {
            lent(runtime, API_RESOURCES)
        }),
        function("listFiles", &[Text], list_files),
        function("existsFile", &[Text], |runtime, a| {
            let path = text(a, 0);
            Ok(readable(runtime).get(&path).is_some().into())
        }),
        function("readFile", &[Text], read_file),
    ]
}

fn lookup_functions() -> [Function; 6] {
    const QUESTION: &[whipstaff_gotemplate::Type] = &[Text, Text, Text, Text];
    [
        function("lookup", QUESTION, |runtime, a| {
            lookup(runtime, question(a, false), false)
        }),
        function("mustLookup", QUESTION, |runtime, a| {
            lookup(runtime, question(a, false), true)
        }),
        function("localLookup", QUESTION, |runtime, a| {
            lookup(runtime, question(a, true), false)
        }),
        function("mustLocalLookup", QUESTION, |runtime, a| {
            lookup(runtime, question(a, true), true)
        }),
        function("lookupList", QUESTION, |runtime, a| {
            lookup_list(runtime, &list_question(a, false))
        }),
        function("localLookupList", QUESTION, |runtime, a| {
            lookup_list(runtime, &list_question(a, true))
        }),
    ]
}

/// What templates of component-operator-runtime may call and must not be able to: dialling any cluster from inside the operator,
/// and reading its environment variables.
fn refused_functions() -> [Function; 5] {
    const QUESTION: &[whipstaff_gotemplate::Type] = &[Text, Text, Text, Text, Any];
    const NO_KUBE_CONFIG: Call = |_, _| {
        Err(FunctionError::new(
            "looking up with a kubeconfig is not supported: templates see the target and the local cluster only",
        ))
    };
    const NO_ENVIRONMENT: Call = |_, _| {
        Err(FunctionError::new(
            "environment variables are not supported: templates do not see those of the operator",
        ))
    };
    [
        function("lookupWithKubeConfig", QUESTION, NO_KUBE_CONFIG),
        function("mustLookupWithKubeConfig", QUESTION, NO_KUBE_CONFIG),
        function("lookupListWithKubeConfig", QUESTION, NO_KUBE_CONFIG),
        function("env", &[Text], NO_ENVIRONMENT),
        function("expandenv", &[Text], NO_ENVIRONMENT),
    ]
}

fn text(arguments: &[Value], index: usize) -> String {
    let bytes = arguments.get(index).and_then(Value::as_bytes);
    bytes.map_or_else(String::new, |bytes| bytes.to_text().into_owned())
}

#[allow(clippy::unnecessary_wraps, reason = "the result of a function")]
fn lent(runtime: &mut dyn Runtime, name: &str) -> Outcome {
    Ok(runtime.environment().value(name).unwrap_or_default())
}

fn readable(runtime: &mut dyn Runtime) -> Readable {
    Readable::of(runtime.environment().value(FILES))
}

fn list_files(runtime: &mut dyn Runtime, a: &[Value]) -> Outcome {
    let files = readable(runtime);
    // Matching goes through all of them.
    runtime.charge(files.len().saturating_mul(size_of::<Value>()))?;
    let names = files.matching(&text(a, 0))?;
    Ok(Value::strings(names))
}

fn read_file(runtime: &mut dyn Runtime, a: &[Value]) -> Outcome {
    let path = text(a, 0);
    let files = readable(runtime);
    let Some(content) = files.get(&path) else {
        return Err(FunctionError::new(format!("file {path} does not exist")));
    };
    runtime.charge(content.len().saturating_mul(size_of::<Value>()))?;
    Ok(Value::List(List::of_bytes(Arc::clone(content))))
}

fn question(a: &[Value], local: bool) -> LookupQuestion {
    LookupQuestion {
        api_version: text(a, 0),
        kind: text(a, 1),
        namespace: text(a, 2),
        name: text(a, 3),
        local,
        ..LookupQuestion::default()
    }
}

fn list_question(a: &[Value], local: bool) -> LookupQuestion {
    LookupQuestion {
        selector: text(a, 3),
        name: String::new(),
        ..question(a, local)
    }
}

fn lookup(runtime: &mut dyn Runtime, question: LookupQuestion, must: bool) -> Outcome {
    let answer = runtime.environment().lookup(question.clone())?;
    if !answer.is_null() {
        return answered(runtime, &answer);
    }
    if must {
        let LookupQuestion { kind, name, .. } = question;
        return Err(FunctionError::new(format!("{kind} {name:?} not found")));
    }
    Ok(Value::map::<&str>([]))
}

/// The items of a list. The API server leaves out what they all share.
fn lookup_list(runtime: &mut dyn Runtime, question: &LookupQuestion) -> Outcome {
    let mut answer = runtime.environment().lookup(question.clone())?;
    let items = match answer.get_mut("items").map(Json::take) {
        Some(Json::Array(items)) => items,
        _ => Vec::new(),
    };
    let mut values = Vec::with_capacity(items.len());
    for item in items {
        let value = answered(runtime, &item)?;
        if let Value::Map(object) = &value {
            for (key, shared) in [
                ("apiVersion", &question.api_version),
                ("kind", &question.kind),
            ] {
                if !object.contains(key.as_bytes()) {
                    object.insert(key, Value::from(shared.as_str()));
                }
            }
        }
        values.push(value);
    }
    Ok(Value::list(values))
}

/// An answer as a value, whose memory is taken from the budget.
fn answered(runtime: &mut dyn Runtime, answer: &Json) -> Outcome {
    runtime.charge(weight(answer))?;
    Ok(Value::from_json_integers(answer))
}

fn weight(json: &Json) -> usize {
    let inner = match json {
        Json::String(text) => text.len(),
        Json::Array(items) => grow_stack(|| items.iter().map(weight).sum()),
        Json::Object(entries) => grow_stack(|| {
            let weights = entries.iter().map(|(key, value)| key.len() + weight(value));
            weights.sum()
        }),
        _ => 0,
    };
    inner + size_of::<Value>()
}
