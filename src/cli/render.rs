//! `whipstaff render`: what the operator would apply for a Component.

use super::global::GlobalArguments;
use super::source_files::read_source;
use super::{TIME_LIMIT, block_on, write_error, write_out};
use crate::api::v1alpha1::{Component, VariableSourceKind};
use crate::component::{Preview, PreviewOptions, SecretEntries, preview, variable_entries};
use crate::operator::default_generators;
use anyhow::{Context as _, Result, anyhow, bail};
use kube::{Config, ResourceExt};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;
use whipstaff_generator::{Capabilities, FileTree, KubeVersion, Limits, yaml};
use whipstaff_helm::{Dialect, RenderCapabilities};

/// Largest manifest in bytes.
const MAX_MANIFEST_BYTES: u64 = 16 * 1024 * 1024;
/// Namespace of Components when neither they nor a flag nor the kubeconfig names one.
const DEFAULT_NAMESPACE: &str = "default";

/// Print the objects that the operator would apply for a Component, in the order in which it would apply them, with its marks.
///
/// With a cluster, templates see what it serves and the objects that they look up, as the Component's service account; if the
/// Component is there already, its revision and the seed of its random values are taken over. Otherwise, and with `--offline`, random
/// values are derived from a fixed seed (they are not those that the operator will make), and the time is the beginning of 2025.
/// Nothing is written to the cluster. With `--offline`, kinds that Kubernetes itself does not have are taken to be in namespaces unless
/// the Component brings their definition, and the owner's mark names no cluster. What was encrypted in the source is printed as it is applied: in plain text.
#[derive(Debug, clap::Args)]
pub(crate) struct RenderArguments {
    /// Manifest with the Component, or several; `-` is standard input
    #[arg(short = 'f', long = "filename", value_name = "FILE")]
    manifest: String,
    /// Files instead of those of the source: a folder or an archive; `NAME=PATH` for one of several generators
    #[arg(long = "source", value_name = "PATH")]
    sources: Vec<String>,
    /// Ask no cluster; a source that `--source` does not give is still fetched
    #[arg(long)]
    offline: bool,
    /// Manifest of a Secret that the Component names, instead of the cluster's (may be given several times)
    #[arg(long = "secret", value_name = "FILE")]
    secrets: Vec<String>,
    /// Manifest of a ConfigMap that the Component names, instead of the cluster's (may be given several times)
    #[arg(long = "config-map", value_name = "FILE")]
    config_maps: Vec<String>,
    /// Namespace of Components that name none
    #[arg(short, long)]
    namespace: Option<String>,
    /// With `--offline`: Kubernetes version that templates see
    #[arg(long, value_name = "VERSION", requires = "offline")]
    kube_version: Option<String>,
    /// With `--offline`: API versions that templates see besides the usual ones
    #[arg(
        short,
        long,
        value_name = "VERSIONS",
        value_delimiter = ',',
        requires = "offline"
    )]
    api_versions: Vec<String>,
    #[command(flatten)]
    global: GlobalArguments,
}

/// Renders and prints.
pub(crate) fn run(arguments: &RenderArguments) -> Result<()> {
    let mut components = Vec::new();
    for manifest in read_manifests(&arguments.manifest)? {
        components.push(component(&manifest)?);
    }
    if components.is_empty() {
        bail!("{} holds no Component", arguments.manifest);
    }
    if components.len() > 1 && !arguments.sources.is_empty() {
        bail!(
            "`--source` is for a single Component, and there are {}",
            components.len()
        );
    }
    block_on(async {
        let cluster = if arguments.offline {
            None
        } else {
            Some(arguments.global.config().await?)
        };
        for component in &mut components {
            let namespace = component
                .namespace()
                .or_else(|| arguments.namespace.clone());
            let default = || cluster.as_ref().map(|c| c.default_namespace.clone());
            component.metadata.namespace = namespace
                .or_else(default)
                .or_else(|| Some(DEFAULT_NAMESPACE.to_owned()));
            let options = arguments.options(component, cluster.clone())?;
            let shown = format!("Component `{}`", component.name_any());
            match Box::pin(preview(component, options)).await {
                Ok(preview) => print(&preview)?,
                Err(error) => return Err(anyhow!(error.report()).context(shown)),
            }
        }
        Ok(())
    })
}

impl RenderArguments {
    fn options(&self, component: &Component, cluster: Option<Config>) -> Result<PreviewOptions> {
        let mut limits = Limits::default();
        limits.time = TIME_LIMIT;
        Ok(PreviewOptions {
            generators: default_generators(),
            cluster,
            capabilities: self.capabilities()?,
            files: self.files(component)?,
            secrets: given(&self.secrets, VariableSourceKind::Secret)?,
            config_maps: given(&self.config_maps, VariableSourceKind::ConfigMap)?,
            limits,
        })
    }

    fn capabilities(&self) -> Result<Capabilities> {
        let offline = RenderCapabilities::offline(Dialect::default());
        let version = self.kube_version.as_deref();
        let kube_version: KubeVersion = version.unwrap_or(&offline.kube_version.version).parse()?;
        let mut api_versions: std::collections::BTreeSet<_> =
            offline.api_versions.into_iter().collect();
        api_versions.extend(self.api_versions.iter().cloned());
        Ok(Capabilities {
            kube_version,
            api_versions,
        })
    }

    /// The files that were given, by the generators that they are for.
    fn files(&self, component: &Component) -> Result<BTreeMap<String, Arc<FileTree>>> {
        let generators = &component.spec.generators;
        let mut files = BTreeMap::new();
        for source in &self.sources {
            let named = source
                .split_once('=')
                .filter(|(name, _)| generators.iter().any(|part| part.name == *name));
            let (name, path) = named.unwrap_or(("", source));
            let tree = Arc::new(read_source(Path::new(path))?);
            if files.insert(name.to_owned(), tree).is_some() {
                bail!("`--source` gives the same files twice: {source}");
            }
        }
        let Some(own) = files.get("").cloned() else {
            return Ok(files);
        };
        // Those that have no source of their own share the Component's.
        for part in generators.iter().filter(|part| part.source.is_none()) {
            let known = files.entry(part.name.clone());
            known.or_insert_with(|| Arc::clone(&own));
        }
        Ok(files)
    }
}

/// The objects of a kind in manifests, by name.
fn given(paths: &[String], kind: VariableSourceKind) -> Result<BTreeMap<String, SecretEntries>> {
    let mut objects = BTreeMap::new();
    for path in paths {
        for manifest in read_manifests(path)? {
            let text = |pointer: &str| manifest.pointer(pointer).and_then(Value::as_str);
            let name = text("/metadata/name").map(str::to_owned);
            let is_one = text("/kind") == Some(kind.to_string().as_str());
            let Some(name) = name.filter(|_| is_one) else {
                bail!("{path} holds something else than {kind}s with names");
            };
            objects.insert(name, variable_entries(kind, &manifest));
        }
    }
    Ok(objects)
}

fn component(manifest: &Value) -> Result<Component> {
    let text = |field: &str| manifest.get(field).and_then(Value::as_str);
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if (api_version, kind) != (Some("whipstaff.dev/v1alpha1"), Some("Component")) {
        bail!(
            "expected a Component of `whipstaff.dev/v1alpha1` and found {} of `{}`",
            kind.unwrap_or("nothing"),
            api_version.unwrap_or_default()
        );
    }
    let component: Component =
        serde_json::from_value(manifest.clone()).context("the Component is malformed")?;
    let known = serde_json::to_value(&component.spec)?;
    let given = manifest.get("spec").unwrap_or(&Value::Null);
    if let Some(field) = unknown_field(given, &known) {
        bail!("the Component has an unknown field `spec{field}`");
    }
    if component.name_any().is_empty() {
        bail!("the Component has no `metadata.name`");
    }
    Ok(component)
}

/// The path of a field that was not understood: it is not there when what was understood is written again. Fields with nothing in
/// them may be left out then.
fn unknown_field(given: &Value, known: &Value) -> Option<String> {
    match (given, known) {
        (Value::Object(given), Value::Object(known)) => given.iter().find_map(|(key, value)| {
            let inner = match known.get(key) {
                Some(known) => unknown_field(value, known)?,
                None if is_nothing(value) => return None,
                None => String::new(),
            };
            Some(format!(".{key}{inner}"))
        }),
        (Value::Array(given), Value::Array(known)) => {
            let pairs = given.iter().zip(known).enumerate();
            let mut unknown = pairs.filter_map(|(index, (given, known))| {
                Some(format!("[{index}]{}", unknown_field(given, known)?))
            });
            unknown.next()
        }
        _ => None,
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.values().all(is_nothing),
        _ => false,
    }
}

fn read_manifests(path: &str) -> Result<Vec<Value>> {
    let mut text = String::new();
    let unreadable = || format!("cannot read {path}");
    if path == "-" {
        let input = io::stdin()
            .take(MAX_MANIFEST_BYTES)
            .read_to_string(&mut text);
        input.with_context(unreadable)?;
    } else {
        let file = fs::File::open(path).with_context(unreadable)?;
        let input = file.take(MAX_MANIFEST_BYTES).read_to_string(&mut text);
        input.with_context(unreadable)?;
    }
    let documents = yaml::documents(&text).with_context(unreadable)?;
    let values = documents.into_iter().map(|document| document.value);
    Ok(values.filter(|value| !value.is_null()).collect())
}

fn print(preview: &Preview) -> Result<()> {
    for warning in &preview.warnings {
        write_error(&format!("warning: {warning}"));
    }
    let mut text = String::new();
    for object in &preview.desired.objects {
        let _ = write!(text, "---\n# wave {}", object.apply_order);
        if !object.source.is_empty() {
            let _ = write!(text, ", from {}", object.source.replace('\n', " "));
        }
        text.push('\n');
        text.push_str(&yaml::to_string(&object.manifest));
    }
    write_out(&text)
}
