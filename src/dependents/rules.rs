//! Rules that a set of objects must keep among themselves, checked before anything is written.

use super::desired::{DesiredObject, PrepareError};
use super::kinds::serves;
use super::order::{Stage, gate};
use super::references::Reference;
use std::collections::{BTreeMap, HashMap};
use whipstaff_generator::ObjectId;

/// Checks the order of what serves or holds others, and resolves what objects depend on. `objects` are in the order in which they are
/// applied; `references` says what each depends on.
pub(super) fn check(
    objects: &mut [DesiredObject],
    references: &BTreeMap<ObjectId, Vec<Reference>>,
) -> Result<(), PrepareError> {
    for owner in objects.iter() {
        check_owner(owner, objects)?;
    }
    resolve(objects, references)?;
    check_cycles(objects)
}

/// What serves a kind, or is a namespace, must be there before its objects come and until they are gone.
fn check_owner(owner: &DesiredObject, objects: &[DesiredObject]) -> Result<(), PrepareError> {
    if !matches!(
        owner.stage,
        Stage::Namespace | Stage::Definition | Stage::ApiService
    ) {
        return Ok(());
    }
    if owner.purge_order.is_some() {
        return Err(broken(
            owner,
            "cannot be purged: other objects need it".to_owned(),
        ));
    }
    for object in objects.iter().filter(|object| governs(owner, object)) {
        if object.apply_order < owner.apply_order {
            return Err(broken(
                object,
                format!(
                    "is applied in wave {}, before {} that it needs, in wave {}",
                    object.apply_order, owner.id, owner.apply_order
                ),
            ));
        }
        if object.delete_order > owner.delete_order {
            return Err(broken(
                object,
                format!(
                    "is deleted in wave {}, after {} that it needs, in wave {}",
                    object.delete_order, owner.id, owner.delete_order
                ),
            ));
        }
    }
    Ok(())
}

/// Whether an object cannot be without another one: its namespace, or what serves its kind.
fn governs(owner: &DesiredObject, object: &DesiredObject) -> bool {
    match owner.stage {
        Stage::Namespace => owner.id.name == object.id.namespace,
        _ => owner
            .manages
            .iter()
            .any(|served| serves(served, &object.key)),
    }
}

fn resolve(
    objects: &mut [DesiredObject],
    references: &BTreeMap<ObjectId, Vec<Reference>>,
) -> Result<(), PrepareError> {
    if references.values().all(Vec::is_empty) {
        return Ok(());
    }
    let mut resolved = Vec::new();
    for (position, object) in objects.iter().enumerate() {
        let wanted = references.get(&object.id).map_or(&[][..], Vec::as_slice);
        let mut found = Vec::new();
        for reference in wanted {
            found.push(target(object, reference, objects)?);
        }
        if !found.is_empty() {
            resolved.push((position, found));
        }
    }
    for (position, found) in resolved {
        if let Some(object) = objects.get_mut(position) {
            object.depends_on = found;
        }
    }
    Ok(())
}

fn target(
    object: &DesiredObject,
    reference: &Reference,
    objects: &[DesiredObject],
) -> Result<ObjectId, PrepareError> {
    let mut meant = objects
        .iter()
        .filter(|other| reference.matches(&other.id, &object.id.namespace));
    let Some(first) = meant.next() else {
        return Err(broken(
            object,
            format!("depends on `{reference}`, which is not among the objects"),
        ));
    };
    if let Some(second) = meant.next() {
        let (first, second) = (&first.id, &second.id);
        return Err(broken(
            object,
            format!("depends on `{reference}`, which may be {first} or {second}"),
        ));
    }
    let later = (first.apply_order, gate(first.stage)) > (object.apply_order, gate(object.stage));
    if later {
        return Err(broken(
            object,
            format!("depends on {}, which is applied after it", first.id),
        ));
    }
    Ok(first.id.clone())
}

fn check_cycles(objects: &[DesiredObject]) -> Result<(), PrepareError> {
    let by_id: HashMap<_, _> = objects.iter().map(|object| (&object.id, object)).collect();
    let mut open: HashMap<&ObjectId, usize> = objects
        .iter()
        .map(|object| (&object.id, object.depends_on.len()))
        .collect();
    let mut dependants: HashMap<&ObjectId, Vec<&ObjectId>> = HashMap::new();
    for object in objects {
        for target in &object.depends_on {
            dependants.entry(target).or_default().push(&object.id);
        }
    }
    let mut free: Vec<&ObjectId> = objects
        .iter()
        .filter(|object| object.depends_on.is_empty())
        .map(|object| &object.id)
        .collect();
    while let Some(id) = free.pop() {
        open.remove(id);
        for dependant in dependants.get(id).into_iter().flatten() {
            if let Some(left) = open.get_mut(dependant) {
                *left = left.saturating_sub(1);
                if *left == 0 {
                    free.push(dependant);
                }
            }
        }
    }
    let first = objects.iter().find(|object| open.contains_key(&object.id));
    let Some(first) = first else { return Ok(()) };
    // Whoever is left depends on somebody who is left: going on from one to the next ends in the circle.
    let mut path: Vec<&ObjectId> = Vec::new();
    let mut at = first;
    while !path.contains(&&at.id) {
        path.push(&at.id);
        let next = at.depends_on.iter().find(|id| open.contains_key(id));
        match next.and_then(|id| by_id.get(id)) {
            Some(next) => at = next,
            None => break,
        }
    }
    let circle = path.iter().skip_while(|id| ***id != at.id);
    let names: Vec<_> = circle.chain([&&at.id]).map(ToString::to_string).collect();
    Err(broken(
        at,
        format!("depends on itself: {}", names.join(" -> ")),
    ))
}

fn broken(object: &DesiredObject, problem: String) -> PrepareError {
    PrepareError::Rule {
        id: Box::new(object.id.clone()),
        file: object.source.clone(),
        problem,
    }
}
