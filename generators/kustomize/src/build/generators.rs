//! The generators of a kustomization.

use super::accumulate::Accumulator;
use super::origin::{Origin, add_origins};
use super::session::Session;
use super::target::Target;
use super::transformers::trouble;
use crate::error::{Result, fail};
use crate::generate::{Chart, DataKind, PolicyArgs, make_data_object, make_policy_account};
use crate::kustomization::{GeneratorArgs, GeneratorOptions};
use crate::resource::{Resource, ResourceSet};
use serde_json::{Map, Value};

/// Something that makes objects.
#[derive(Debug)]
pub(super) enum Generator {
    Data(DataKind, Box<GeneratorArgs>),
    Chart(Box<Chart>),
    Policy(Box<PolicyArgs>),
}

/// A generator and where it comes from.
#[derive(Debug)]
pub(super) struct GeneratorStep {
    pub(super) generator: Generator,
    pub(super) origin: Option<Origin>,
}

impl Session<'_> {
    /// Runs all generators of a kustomization, and adds what they make.
    pub(super) fn run_generators(
        &mut self,
        target: &Target<'_>,
        all: &mut Accumulator,
    ) -> Result<()> {
        let mut steps = self.own_generators(target)?;
        let plugins = self
            .plugin_generators(target)
            .map_err(|error| error.within("loading generator plugins"))?;
        steps.extend(plugins);
        for step in &steps {
            let resources = self.generate(target, &step.generator)?;
            if let Some(origin) = &step.origin {
                add_origins(&mut self.store, &resources, origin)?;
            }
            for resource in resources {
                all.set.absorb(&mut self.store, resource).map_err(|error| {
                    // Go prints the address of the generator here.
                    error.within("merging from generator &{0xc000000000 <nil>}")
                })?;
            }
        }
        Ok(())
    }

    fn own_generators(&self, target: &Target<'_>) -> Result<Vec<GeneratorStep>> {
        let kustomization = target.kustomization();
        let mut steps = Vec::new();
        let mut add = |kind: &str, generator: Generator| {
            let origin = target.origin.as_ref();
            steps.push(GeneratorStep {
                generator,
                origin: origin.map(|origin| origin.builtin(target.file_name, kind)),
            });
        };
        let lists = [
            (
                DataKind::ConfigMap,
                "ConfigMapGenerator",
                &kustomization.config_map_generator,
            ),
            (
                DataKind::Secret,
                "SecretGenerator",
                &kustomization.secret_generator,
            ),
        ];
        for (kind, name, list) in lists {
            for args in list {
                let mut args = args.clone();
                args.options =
                    merged_options(args.options, kustomization.generator_options.as_ref());
                add(name, Generator::Data(kind, Box::new(args)));
            }
        }
        let globals = kustomization.helm_globals.clone().unwrap_or_default();
        for chart in &kustomization.helm_charts {
            let mut chart = chart.clone();
            if chart.namespace.is_empty() {
                chart.namespace = if kustomization.namespace.is_empty() {
                    target.chart_namespace.clone()
                } else {
                    kustomization.namespace.clone()
                };
            }
            let config = chart_config(&chart, &globals);
            let chart = Chart::new(&target.loader, &self.helm, chart, &globals)
                .map_err(|error| trouble(&error, "HelmChartInflationGenerator", &config))?;
            add(
                "HelmChartInflationGenerator",
                Generator::Chart(Box::new(chart)),
            );
        }
        Ok(steps)
    }

    fn generate(&mut self, target: &Target<'_>, generator: &Generator) -> Result<Vec<Resource>> {
        match generator {
            Generator::Data(kind, args) => Ok(vec![make_data_object(
                &mut self.store,
                &target.loader,
                *kind,
                args,
            )?]),
            Generator::Policy(args) => make_policy_account(&mut self.store, args),
            Generator::Chart(chart) => {
                let resources = chart.inflate(&mut self.store, &target.loader, self.charts)?;
                let mut set = ResourceSet::default();
                set.append_all(&self.store, resources).map_err(|error| {
                    fail(format!("could not parse bytes into resource map: {error}"))
                })?;
                Ok(set.into_items())
            }
        }
    }
}

/// What the configuration of a chart looks like in messages.
fn chart_config<C: serde::Serialize, G: serde::Serialize>(chart: &C, globals: &G) -> Value {
    let mut config = Map::new();
    for part in [serde_json::to_value(globals), serde_json::to_value(chart)] {
        if let Ok(Value::Object(map)) = part {
            config.extend(map);
        }
    }
    Value::Object(config)
}

/// The options of an entry over those of the kustomization; switches that are on in either are on.
fn merged_options(
    local: Option<GeneratorOptions>,
    global: Option<&GeneratorOptions>,
) -> Option<GeneratorOptions> {
    let Some(global) = global else { return local };
    let mut merged = global.clone();
    let local = local.unwrap_or_default();
    merged.labels.extend(local.labels);
    merged.annotations.extend(local.annotations);
    merged.disable_name_suffix_hash |= local.disable_name_suffix_hash;
    merged.immutable |= local.immutable;
    Some(merged)
}
