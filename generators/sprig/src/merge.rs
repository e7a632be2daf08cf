//! Merging maps in place as `dario.cat/mergo` 1.0.1 does under Sprig's `merge` and `mergeOverwrite`.

use crate::{
    declare::Outcome,
    defaults::is_empty,
    equality::{MAX_VALUE_DEPTH, too_deep},
    lists::charge_items,
};
use whipstaff_gotemplate::{FunctionError, Kind, Map, MapZero, Runtime, Value};

/// The only error of merging that Sprig drops: all others are panics.
pub(crate) const MISMATCH: &str = "src and dst must be of same type";

/// Which side wins where both have a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Precedence {
    /// The destination, unless its value is empty (`merge`).
    Destination,
    /// The source, even if its value is empty (`mergeOverwrite`).
    Source,
}

/// Merges the sources into the destination one after the other, and gives back the destination itself.
pub(crate) fn merge_all(
    runtime: &mut dyn Runtime,
    destination: Option<&Map>,
    sources: &[Value],
    precedence: Precedence,
) -> Outcome {
    let destination = destination.cloned();
    let destination =
        destination.unwrap_or_else(|| Map::new(whipstaff_gotemplate::MapType::ANY, [].into()));
    for source in sources.iter().filter_map(Value::as_map) {
        merge(runtime, &destination, source, precedence, MAX_VALUE_DEPTH)?;
    }
    Ok(Value::Map(destination))
}

/// What the destination does not have is shared with the source afterwards, not copied.
fn merge(
    runtime: &mut dyn Runtime,
    destination: &Map,
    source: &Map,
    precedence: Precedence,
    depth: usize,
) -> Result<(), FunctionError> {
    if destination.is_same(source) {
        return Ok(());
    }
    let depth = depth.checked_sub(1).ok_or_else(too_deep)?;
    charge_items(runtime, source.len())?;
    refuse_other_elements(destination, source)?;
    for (key, theirs) in source.entries() {
        let ours = destination.get(&key);
        if matches!(theirs, Value::Nil) {
            if precedence == Precedence::Source {
                destination.insert(key, theirs);
            }
            continue;
        }
        if let (Some(Value::Map(ours)), Value::Map(theirs)) = (&ours, &theirs) {
            merge(runtime, ours, theirs, precedence, depth)?;
            if !ours.is_empty() {
                continue;
            }
        }
        if precedence == Precedence::Destination && is_pointer_under_map(ours.as_ref(), &theirs) {
            return Err(FunctionError::new(MISMATCH));
        }
        let is_free = ours.as_ref().is_none_or(is_empty);
        if precedence == Precedence::Source || is_free {
            destination.insert(key, theirs);
        }
    }
    Ok(())
}

/// Go cannot put the elements of an untyped map into a `map[string]string`, and panics.
fn refuse_other_elements(destination: &Map, source: &Map) -> Result<(), FunctionError> {
    let (ours, theirs) = (destination.map_type().zero, source.map_type().zero);
    if ours != MapZero::String || ours == theirs || source.is_empty() {
        return Ok(());
    }
    Err(FunctionError::new(
        "reflect.Value.SetMapIndex: value of type interface {} is not assignable to type string",
    ))
}

/// The one combination of types that is an error: a pointer's place where the source has a map.
fn is_pointer_under_map(ours: Option<&Value>, theirs: &Value) -> bool {
    let Some(Value::Host(host)) = ours else {
        return false;
    };
    host.kind() == Kind::Ptr && matches!(theirs, Value::Map(_))
}
