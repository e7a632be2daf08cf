//! Transforming objects that come from anywhere.

use super::session::Session;
use super::target::Target;
use crate::configuration::default_configuration;
use crate::error::{Result, over_limit};
use crate::files::{LoadRestrictor, Loader};
use crate::generate::HelmSettings;
use crate::kustomization::Kustomization;
use crate::limits::MAX_RESOURCES;
use crate::node::from_value;
use crate::resource::{Resource, check};
use crate::transform::fix_references;
use serde_json::Value;
use whipstaff_generator::FileTree;

/// Does to objects what the transformers of a kustomization say, and gives each with the place that it came from.
///
/// Objects keep their order; those that a patch deletes are gone. Names that change are changed in the objects that use them.
pub(crate) fn transform_objects(
    kustomization: &Kustomization,
    objects: &[&Value],
) -> Result<Vec<(usize, Value)>> {
    if objects.len() > MAX_RESOURCES {
        return Err(over_limit("objects", MAX_RESOURCES));
    }
    let files = FileTree::new();
    let loader = Loader::new(&files, None, "/", "/", LoadRestrictor::RootOnly)?;
    let target = Target::of(kustomization.clone(), loader);
    let mut session = Session::new(None, HelmSettings::default());
    let mut set = crate::resource::ResourceSet::default();
    for (place, value) in objects.iter().enumerate() {
        let node = from_value(&mut session.store.arena, value);
        check(&session.store, node)?;
        let mut resource = Resource::new(node);
        resource.place = place;
        set.append(&session.store, resource)?;
    }
    let configuration = default_configuration();
    let steps = session.transformers(&target, configuration)?;
    session.run_steps(&mut set, &steps)?;
    fix_references(
        &mut session.store,
        set.items(),
        &configuration.name_reference,
    )?;
    for resource in set.items() {
        resource.remove_build_annotations(&mut session.store)?;
    }
    set.items()
        .iter()
        .map(|resource| Ok((resource.place, resource.value(&session.store)?)))
        .collect()
}
