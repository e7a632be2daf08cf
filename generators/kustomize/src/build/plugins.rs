//! Generators and transformers that are configured by objects.
//!
//! Mirrors `internal/plugins/loader` of kustomize api v0.21.1: built-in ones only; programs, shared libraries and containers are
//! refused.

use super::accumulate::Accumulator;
use super::generators::{Generator, GeneratorStep};
use super::origin::{Origin, set_origin};
use super::session::Session;
use super::target::Target;
use super::transformer::{Step, Transformer};
use super::transformers::{load_json_patch, load_merge_patches, load_patch, load_replacements};
use crate::configuration::FieldSpecs;
use crate::error::{BuildError, BuildErrorKind, Result, fail};
use crate::files::Loader;
use crate::generate::{Chart, DataKind, PolicyArgs};
use crate::kustomization::{
    GeneratorArgs, HelmChart, HelmGlobals, Image, Mode, Patch, ReplacementField, Replica, Selector,
    decode, schema,
};
use crate::resource::{Resource, Store, read_objects, read_text};
use crate::transform::{RoleBindingSubjects, ValueTarget};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use whipstaff_generator::yaml;

/// What the built-in plugins take, but for patches and generators.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Config {
    metadata: Metadata,
    labels: BTreeMap<String, String>,
    annotations: BTreeMap<String, String>,
    field_specs: Option<FieldSpecs>,
    image_tag: Image,
    replica: Replica,
    prefix: String,
    suffix: String,
    unset_only: bool,
    set_role_binding_subjects: String,
    target: Option<Selector>,
    path: String,
    json_op: String,
    paths: Vec<String>,
    patches: String,
    replacements: Vec<ReplacementField>,
    value: String,
    targets: Vec<ValueTarget>,
    target_file_path: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Metadata {
    name: String,
    namespace: String,
}

/// A plugin that is ready.
enum Plugin {
    Generator(Generator),
    Transformer(Box<Transformer>),
}

impl Session<'_> {
    /// The generators that objects configure.
    pub(super) fn plugin_generators(&mut self, target: &Target<'_>) -> Result<Vec<GeneratorStep>> {
        let entries = &target.kustomization().generators;
        let configs = self.plugin_configs(target, entries, "configuring external generator")?;
        let mut steps = Vec::new();
        for config in configs {
            let plugin = self
                .plugin(target, &config)
                .and_then(|plugin| match plugin {
                    Plugin::Generator(generator) => Ok(generator),
                    Plugin::Transformer(_) => Err(self.not_a(&config, "generator")),
                })
                .map_err(|error| error.within("failed to load generator"))?;
            steps.push(GeneratorStep {
                generator: plugin,
                origin: Origin::of_plugin(&self.store, &config),
            });
        }
        Ok(steps)
    }

    /// The transformers that objects configure.
    pub(super) fn plugin_transformers(
        &mut self,
        target: &Target<'_>,
        entries: &[String],
    ) -> Result<Vec<Step>> {
        let configs = self.plugin_configs(target, entries, "configuring external transformer")?;
        let mut steps = Vec::new();
        for config in configs {
            match self.plugin(target, &config)? {
                Plugin::Transformer(transformer) => steps.push(Step {
                    transformer: *transformer,
                    origin: Origin::of_plugin(&self.store, &config),
                }),
                Plugin::Generator(_) => return Err(self.not_a(&config, "transformer")),
            }
        }
        Ok(steps)
    }

    fn not_a(&self, config: &Resource, role: &str) -> BuildError {
        match config.original_id(&self.store) {
            Ok(id) => fail(format!("plugin {id} not a {role}")),
            Err(error) => error,
        }
    }

    /// The objects that stand in a list themselves, or in files and folders.
    fn plugin_configs(
        &mut self,
        target: &Target<'_>,
        entries: &[String],
        action: &str,
    ) -> Result<Vec<Resource>> {
        let mut all = Accumulator::default();
        let mut paths = Vec::new();
        for entry in entries {
            let Ok(inline) = read_objects(&mut self.store, entry) else {
                paths.push(entry.clone());
                continue;
            };
            let mut checked = crate::resource::ResourceSet::default();
            if checked.append_all(&self.store, inline).is_err() {
                paths.push(entry.clone());
                continue;
            }
            let inline = checked.into_items();
            if let Some(origin) = &target.origin {
                let origin = origin.append(target.file_name);
                for resource in &inline {
                    set_origin(&mut self.store, resource, &origin)?;
                }
            }
            all.set
                .append_all(&self.store, inline)
                .map_err(|error| error.within(action))?;
        }
        self.add_resources(target, &mut all, &paths)?;
        Ok(all.set.into_items())
    }

    fn plugin(&mut self, target: &Target<'_>, config: &Resource) -> Result<Plugin> {
        let gvk = config.gvk(&self.store);
        let id = config.original_id(&self.store)?;
        if !gvk.group.is_empty() || gvk.version != "builtin" {
            return Err(BuildError::new(
                BuildErrorKind::Refused,
                format!(
                    "external plugins disabled; unable to load external plugin '{}'",
                    id.gvk.kind
                ),
            ));
        }
        let value = config
            .value(&self.store)
            .map_err(|error| error.within(format!("marshalling yaml from res {id}")))?;
        match self.builtin(&target.loader, &gvk.kind, value) {
            Ok(Some(plugin)) => Ok(plugin),
            Ok(None) => Err(fail(format!("unable to load builtin {gvk}"))),
            Err(error) => Err(error.within(format!("plugin {id} fails configuration"))),
        }
    }

    /// The built-in plugin of a kind; none if there is none.
    fn builtin(&mut self, loader: &Loader<'_>, kind: &str, value: Value) -> Result<Option<Plugin>> {
        if let Some(generator) = self.builtin_generator(loader, kind, &value)? {
            return Ok(Some(Plugin::Generator(generator)));
        }
        let transformer = match kind {
            "PatchTransformer" => {
                let text = yaml::to_string(&value);
                let patch: Patch = unmarshal(value, &schema::PATCH)?;
                Some(load_patch(&mut self.store, loader, &patch, &text)?)
            }
            _ => builtin_transformer(&mut self.store, loader, kind, value)?,
        };
        Ok(transformer.map(|transformer| Plugin::Transformer(Box::new(transformer))))
    }

    fn builtin_generator(
        &self,
        loader: &Loader<'_>,
        kind: &str,
        value: &Value,
    ) -> Result<Option<Generator>> {
        let data = match kind {
            "ConfigMapGenerator" => DataKind::ConfigMap,
            "SecretGenerator" => DataKind::Secret,
            "IAMPolicyGenerator" => {
                let args: PolicyArgs = unmarshal(value.clone(), &schema::PLUGIN)?;
                return Ok(Some(Generator::Policy(Box::new(args))));
            }
            "HelmChartInflationGenerator" => {
                let chart: HelmChart = unmarshal(value.clone(), &schema::HELM_PLUGIN)?;
                let globals: HelmGlobals = unmarshal(value.clone(), &schema::HELM_PLUGIN_GLOBALS)?;
                let chart = Chart::new(loader, &self.helm, chart, &globals)?;
                return Ok(Some(Generator::Chart(Box::new(chart))));
            }
            _ => return Ok(None),
        };
        let mut args: GeneratorArgs = unmarshal(value.clone(), &schema::SECRET_ARGS)?;
        let Config { metadata, .. } = unmarshal(value.clone(), &schema::PLUGIN)?;
        if args.name.is_empty() {
            args.name = metadata.name;
        }
        if args.namespace.is_empty() {
            args.namespace = metadata.namespace;
        }
        Ok(Some(Generator::Data(data, Box::new(args))))
    }
}

/// `yaml.Unmarshal`, which passes over what it does not know.
fn unmarshal<T: serde::de::DeserializeOwned>(
    value: Value,
    shape: &'static schema::Struct,
) -> Result<T> {
    decode(value, shape, Mode::Lenient)
        .map_err(|error| error.within("error unmarshaling JSON: while decoding JSON"))
}

fn builtin_transformer(
    store: &mut Store,
    loader: &Loader<'_>,
    kind: &str,
    value: Value,
) -> Result<Option<Transformer>> {
    let config: Config = unmarshal(value, &schema::PLUGIN)?;
    let specs = config.field_specs.clone().unwrap_or_default();
    let entries = |entries: &BTreeMap<String, String>, specs| Transformer::Entries {
        entries: entries.clone(),
        specs,
    };
    Ok(Some(match kind {
        "AnnotationsTransformer" => entries(&config.annotations, specs),
        "LabelTransformer" => entries(&config.labels, specs),
        "HashTransformer" => Transformer::Hash,
        "ImageTagTransformer" => Transformer::Image {
            image: config.image_tag.clone(),
            specs,
        },
        "NamespaceTransformer" => Transformer::Namespace {
            namespace: config.metadata.namespace.clone(),
            specs,
            unset_only: config.unset_only,
            subjects: RoleBindingSubjects::parse(&config.set_role_binding_subjects)?,
        },
        "PatchJson6902Transformer" => load_json_patch(
            loader,
            config.target.as_ref(),
            &config.path,
            &config.json_op,
        )?,
        "PatchStrategicMergeTransformer" => Transformer::MergePatches(load_merge_patches(
            store,
            loader,
            &config.paths,
            &config.patches,
        )?),
        "PrefixTransformer" => prefix(&config)?,
        "SuffixTransformer" => suffix(&config)?,
        "PrefixSuffixTransformer" => Transformer::Many(vec![prefix(&config)?, suffix(&config)?]),
        "ReplacementTransformer" => {
            Transformer::Replacements(load_replacements(loader, &config.replacements)?)
        }
        "ReplicaCountTransformer" => Transformer::Replicas {
            replica: config.replica.clone(),
            specs,
        },
        "ValueAddTransformer" => value_transformer(loader, config)?,
        _ => return Ok(None),
    }))
}

fn prefix(config: &Config) -> Result<Transformer> {
    let (text, specs) = (config.prefix.clone(), required_specs(config)?);
    Ok(Transformer::Prefix { text, specs })
}

fn suffix(config: &Config) -> Result<Transformer> {
    let (text, specs) = (config.suffix.clone(), required_specs(config)?);
    Ok(Transformer::Suffix { text, specs })
}

/// Prefixes and suffixes have no fields of their own.
fn required_specs(config: &Config) -> Result<FieldSpecs> {
    let specs = config.field_specs.clone();
    specs.ok_or_else(|| fail("fieldSpecs is not expected to be nil"))
}

fn value_transformer(loader: &Loader<'_>, config: Config) -> Result<Transformer> {
    let mut value = config.value.trim().to_owned();
    if value.is_empty() {
        loader
            .root()
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .clone_into(&mut value);
    }
    let mut targets = config.targets;
    if !config.target_file_path.is_empty() {
        let content = loader.load(&config.target_file_path)?;
        let file = yaml::from_str(read_text(&content)?).map_err(|error| fail(error.to_string()))?;
        let more: Config = unmarshal(file, &schema::PLUGIN)?;
        targets.extend(more.targets);
    }
    if targets.is_empty() {
        return Err(fail("must specify at least one target"));
    }
    for target in &targets {
        if target.field_path.is_empty() {
            return Err(fail("fieldPath cannot be empty"));
        }
        if target.file_path_position < 0 {
            return Err(fail(format!(
                "value of FilePathPosition ({}) cannot be negative",
                target.file_path_position
            )));
        }
    }
    Ok(Transformer::Value { value, targets })
}
