//! Collecting objects, and applying what kustomizations say to them.
//!
//! Mirrors `internal/target/kusttarget.go` of kustomize api v0.21.1.

use super::bookkeeping::drop_local;
use super::crds;
use super::origin::{Origin, add_transformation};
use super::session::Session;
use super::target::Target;
use super::transformer::Step;
use super::variables::Variables;
use crate::configuration::{Configuration, default_configuration};
use crate::error::{BuildError, BuildErrorKind, Result, fail};
use crate::generate::add_hashes;
use crate::go_text::go_quote;
use crate::kustomization::{COMPONENT_KIND, Mode, decode, schema};
use crate::node::Arena;
use crate::resource::{Resource, ResourceSet, annotation, read_objects, read_text};
use crate::transform::{annotate_all, fix_references};
use std::sync::Arc;
use whipstaff_generator::yaml;

/// What has been collected so far.
#[derive(Debug, Default)]
pub(super) struct Accumulator {
    pub(super) set: ResourceSet,
    pub(super) configuration: Arc<Configuration>,
    pub(super) variables: Variables,
}

impl Session<'_> {
    /// Makes the objects of the top kustomization.
    pub(super) fn make_objects(&mut self, target: &Target<'_>) -> Result<ResourceSet> {
        let mut all = self.accumulate(target, Accumulator::default())?;
        add_hashes(&mut self.store, all.set.items())?;
        fix_references(
            &mut self.store,
            all.set.items(),
            &all.configuration.name_reference,
        )?;
        let specs = &all.configuration.var_reference;
        all.variables
            .resolve(&mut self.store, all.set.items(), specs, &mut self.warnings)?;
        all.set.forget_ids();
        drop_local(&self.store, &mut all.set)?;
        Ok(all.set)
    }

    /// Applies a kustomization; a component starts with what its parent has collected.
    fn accumulate(&mut self, target: &Target<'_>, start: Accumulator) -> Result<Accumulator> {
        let mut all = start;
        let kustomization = target.kustomization();
        self.add_resources(target, &mut all, &kustomization.resources)
            .map_err(|error| error.within("accumulating resources"))?;
        all.configuration.merge_shared(&configuration(target)?)?;
        let crds = crds::configuration(&target.loader, &kustomization.crds).map_err(|error| {
            error.within(format!("loading CRDs [{}]", kustomization.crds.join(" ")))
        })?;
        if crds != Configuration::default() {
            Arc::make_mut(&mut all.configuration).merge(&crds)?;
        }
        self.run_generators(target, &mut all)?;
        let mut all = self
            .add_components(target, all)
            .map_err(|error| error.within("accumulating components"))?;
        let steps = self.transformers(target, &all.configuration)?;
        self.run_steps(&mut all.set, &steps)?;
        self.validate(target, &mut all.set)?;
        let variables = kustomization.vars.as_deref().unwrap_or_default();
        all.variables
            .register(&self.store, &mut all.set, variables)?;
        Ok(all)
    }

    /// Adds files and bases.
    pub(super) fn add_resources(
        &mut self,
        target: &Target<'_>,
        all: &mut Accumulator,
        paths: &[String],
    ) -> Result<()> {
        for path in paths {
            let Err(file_error) = self.add_file(target, all, path) else {
                continue;
            };
            let ends_search = matches!(
                file_error.kind(),
                BuildErrorKind::Remote | BuildErrorKind::Refused | BuildErrorKind::Limit
            );
            if ends_search {
                return Err(file_error);
            }
            let both = |error: BuildError| error.within(format!("accumulation err='{file_error}'"));
            let loader = match target.loader.enter(path) {
                Ok(loader) => loader,
                Err(_) if file_error.is_malformed_yaml() => return Err(file_error),
                Err(error) => return Err(both(error)),
            };
            let origin = target.origin.as_ref().map(|origin| origin.append(path));
            let base = self
                .load_below(target, loader, origin, false)
                .map_err(both)?;
            self.add_base(&base, all).map_err(both)?;
        }
        Ok(())
    }

    fn add_file(&mut self, target: &Target<'_>, all: &mut Accumulator, path: &str) -> Result<()> {
        let resources = self
            .read_file(target, path)
            .map_err(|error| error.within(format!("accumulating resources from '{path}'")))?;
        if let Some(origin) = &target.origin {
            let text = origin.append(path).text();
            annotate_all(&mut self.store, &resources, annotation::ORIGIN, &text)?;
        }
        all.set
            .append_all(&self.store, resources)
            .map_err(|error| error.within(format!("merging resources from '{path}'")))
    }

    fn read_file(&mut self, target: &Target<'_>, path: &str) -> Result<Vec<Resource>> {
        let content = target.loader.load(path)?;
        let result = read_text(&content).and_then(|text| {
            let resources = read_objects(&mut self.store, text)?;
            let mut set = ResourceSet::default();
            set.append_all(&self.store, resources)?;
            Ok(set.into_items())
        });
        result.map_err(|error| {
            if error.is_malformed_yaml() {
                let message = format!("{error} in File: {path}");
                return error.reworded(message);
            }
            error
        })
    }

    /// Loads a kustomization that another one names.
    fn load_below<'t>(
        &mut self,
        parent: &Target<'t>,
        loader: crate::files::Loader<'t>,
        origin: Option<Origin>,
        is_component: bool,
    ) -> Result<Target<'t>> {
        let root = loader.root().to_owned();
        let mut base = Target::load(self, loader)
            .map_err(|error| error.within(format!("couldn't make target for path '{root}'")))?;
        base.inherit(parent, origin);
        self.set_schema(&base, false)?;
        let kind = base.kustomization().kind.as_str();
        let wrong = |message: String| Err(BuildError::new(BuildErrorKind::Kustomization, message));
        match (is_component, kind == COMPONENT_KIND) {
            (true, false) => wrong(format!(
                "expected kind '{COMPONENT_KIND}' for path '{root}' but got '{kind}'"
            )),
            (false, true) => wrong(format!(
                "expected kind != '{COMPONENT_KIND}' for path '{root}'"
            )),
            _ => Ok(base),
        }
    }

    fn add_base(&mut self, base: &Target<'_>, all: &mut Accumulator) -> Result<()> {
        let root = base.loader.root();
        let built = self
            .accumulate(base, Accumulator::default())
            .map_err(|error| error.within(format!("recursed accumulation of path '{root}'")))?;
        let merge = || -> Result<()> {
            all.set.append_all(&self.store, built.set.into_items())?;
            all.configuration.merge_shared(&built.configuration)?;
            all.variables.merge(built.variables)
        };
        merge().map_err(|error| error.within(format!("recursed merging from path '{root}'")))
    }

    fn add_components(&mut self, target: &Target<'_>, start: Accumulator) -> Result<Accumulator> {
        let mut all = start;
        for path in &target.kustomization().components {
            let loader = target.loader.enter(path).map_err(|error| {
                let message = format!("loader.New {}", go_quote(error.message()));
                error.reworded(message)
            })?;
            let origin = target.origin.as_ref().map(|origin| origin.append(path));
            let result = self
                .load_below(target, loader, origin, true)
                .and_then(|component| self.add_component(&component, all));
            all = result.map_err(|error| {
                let message = format!("accumulateDirectory: {}", go_quote(error.message()));
                error.reworded(message)
            })?;
        }
        Ok(all)
    }

    fn add_component(&mut self, component: &Target<'_>, start: Accumulator) -> Result<Accumulator> {
        let root = component.loader.root();
        let mut all = self
            .accumulate(component, start)
            .map_err(|error| error.within(format!("recursed accumulation of path '{root}'")))?;
        all.set
            .check_unique(&self.store)
            .map_err(|error| error.within(format!("recursed merging from path '{root}'")))?;
        Ok(all)
    }

    pub(super) fn run_steps(&mut self, set: &mut ResourceSet, steps: &[Step]) -> Result<()> {
        for step in steps {
            step.transformer.run(&mut self.store, set)?;
            if let Some(origin) = &step.origin {
                add_transformation(&mut self.store, set.items(), origin)?;
            }
            set.drop_empty(&self.store);
        }
        Ok(())
    }

    /// Runs validators, which are transformers that may change nothing but one label.
    fn validate(&mut self, target: &Target<'_>, set: &mut ResourceSet) -> Result<()> {
        let validators = self.plugin_transformers(target, &target.kustomization().validators)?;
        for step in validators {
            let before: Vec<_> = set
                .items()
                .iter()
                .map(|resource| {
                    let mut arena = Arena::default();
                    let node = resource
                        .node()
                        .map(|node| arena.copy_from(&self.store.arena, node));
                    (resource.current_id(&self.store), arena, node)
                })
                .collect();
            step.transformer.run(&mut self.store, set)?;
            self.compare(&before, set)
                .map_err(|error| error.within("validator shouldn't modify the resource map"))?;
        }
        Ok(())
    }

    fn compare(
        &mut self,
        before: &[(crate::resource::Id, Arena, Option<crate::node::NodeId>)],
        set: &mut ResourceSet,
    ) -> Result<()> {
        if before.len() != set.len() {
            return Err(fail("lists have different number of entries"));
        }
        for resource in set.items() {
            let mut labels = resource.labels(&self.store);
            if labels.remove("validated-by").is_some() {
                resource.set_labels(&mut self.store, &labels)?;
            }
        }
        for (id, arena, node) in before {
            let found = set.with_current_id(&self.store, id);
            let Some(after) = found.first().and_then(|at| set.items().get(*at)) else {
                return Err(fail(format!("id in self missing from other; id: {id}")));
            };
            let is_same = match (node, after.node()) {
                (Some(node), Some(after)) => arena.is_equal(*node, &self.store.arena, after),
                (None, None) => true,
                _ => false,
            };
            if !is_same {
                return Err(fail(format!("nodes unequal: {id}")));
            }
        }
        Ok(())
    }
}

/// The defaults and what the files of a kustomization add.
fn configuration(target: &Target<'_>) -> Result<Arc<Configuration>> {
    let mut configuration = Arc::clone(default_configuration());
    if target.kustomization().configurations.is_empty() {
        return Ok(configuration);
    }
    let mut own = Configuration::default();
    for path in &target.kustomization().configurations {
        let content = target.loader.load(path)?;
        let text = read_text(&content)?;
        let unmarshal =
            |error: BuildError| error.within("error unmarshaling JSON: while decoding JSON");
        let value = yaml::from_str_strict(text).map_err(|error| fail(error.to_string()))?;
        let mut read: Configuration =
            decode(value, &schema::CONFIGURATION, Mode::KnownFields).map_err(unmarshal)?;
        read.sort();
        own.merge(&read)?;
    }
    Arc::make_mut(&mut configuration).merge(&own)?;
    Ok(configuration)
}
