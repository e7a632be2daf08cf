//! Asking the API server about every write before the first one is made.

use super::desired::{Desired, DesiredObject};
use super::order::Stage;
use super::plan::Observed;
use crate::api::v1alpha1::UpdatePolicy;
use crate::cluster::{ApplyOptions, Objects, RequestError};
use futures::{StreamExt, stream};
use std::collections::BTreeSet;
use whipstaff_generator::ObjectId;

/// How many objects are checked at once.
const PARALLEL_CHECKS: usize = 8;

/// Applies everything that will change as a dry run, so that an object that the API server refuses stops the run before anything
/// is written. What cannot be checked yet is passed over: objects in namespaces and of kinds that do not exist, and objects that
/// will be deleted first. Gives each refused object with the API server's words.
pub(crate) async fn preflight(
    desired: &Desired,
    observed: &Observed,
    objects: &Objects,
    manager: &str,
) -> Vec<(ObjectId, RequestError)> {
    let absent = absent_definitions(desired, observed);
    let new_namespaces = new_namespaces(desired, observed);
    let options = ApplyOptions {
        dry_run: true,
        ..ApplyOptions::forced(manager)
    };
    let checks: Vec<_> = desired
        .objects
        .iter()
        .filter(|object| needs_check(object, observed, &absent, &new_namespaces))
        .map(|object| async move {
            let ObjectId {
                namespace, name, ..
            } = &object.id;
            let answer = objects
                .apply(&object.resource, namespace, name, &object.manifest, options)
                .await;
            answer
                .err()
                .filter(RequestError::is_invalid)
                .map(|error| (object.id.clone(), error))
        })
        .collect();
    let mut refused: Vec<_> = stream::iter(checks)
        .buffer_unordered(PARALLEL_CHECKS)
        .filter_map(|e| async { e })
        .collect()
        .await;
    refused.sort_by(|a, b| a.0.cmp(&b.0));
    refused
}

fn needs_check(
    object: &DesiredObject,
    observed: &Observed,
    absent: &BTreeSet<(&str, &str)>,
    new_namespaces: &BTreeSet<&str>,
) -> bool {
    let live = observed.objects.get(&object.id);
    let changes = match live {
        None => true,
        // It will be deleted first: a dry run would only find out that it cannot be changed in place.
        Some(_) if object.update == UpdatePolicy::Recreate => false,
        Some(live) => live.digest != object.digest,
    };
    changes
        && !object.unserved
        && !observed.missing_namespaces.contains(&object.id.namespace)
        && !new_namespaces.contains(object.id.namespace.as_str())
        && !absent.contains(&(object.id.group.as_str(), object.id.kind.as_str()))
}

/// Namespaces that are among the objects and not there yet.
fn new_namespaces<'a>(desired: &'a Desired, observed: &Observed) -> BTreeSet<&'a str> {
    let namespaces = desired
        .objects
        .iter()
        .filter(|object| object.stage == Stage::Namespace);
    namespaces
        .filter(|object| !observed.objects.contains_key(&object.id))
        .map(|object| object.id.name.as_str())
        .collect()
}

/// Kinds that the component defines and that are not established yet.
fn absent_definitions<'a>(
    desired: &'a Desired,
    observed: &Observed,
) -> BTreeSet<(&'a str, &'a str)> {
    let definition_missing = |group: &str, plural: &str| {
        let name = format!("{plural}.{group}");
        desired.objects.iter().any(|object| {
            object.id.kind == "CustomResourceDefinition"
                && object.id.name == name
                && !observed.objects.contains_key(&object.id)
        })
    };
    desired
        .objects
        .iter()
        .filter(|object| {
            object.defined && definition_missing(&object.id.group, &object.resource.plural)
        })
        .map(|object| (object.id.group.as_str(), object.id.kind.as_str()))
        .collect()
}
