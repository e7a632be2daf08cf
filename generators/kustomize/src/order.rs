//! The order of the output.
//!
//! Mirrors `internal/builtins/SortOrderTransformer.go` of kustomize api v0.21.1 and `resid/gvk.go` of kyaml v0.21.1.

use crate::error::{Result, fail};
use crate::kustomization::SortOptions;
use crate::resource::{Gvk, Id, ResourceSet, Store};
use std::cmp::Ordering;
use std::collections::HashMap;

/// Kinds that come first, in this order.
const FIRST: [&str; 22] = [
    "Namespace",
    "ResourceQuota",
    "StorageClass",
    "CustomResourceDefinition",
    "ServiceAccount",
    "PodSecurityPolicy",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "ConfigMap",
    "Secret",
    "Endpoints",
    "Service",
    "LimitRange",
    "PriorityClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Deployment",
    "StatefulSet",
    "CronJob",
    "PodDisruptionBudget",
];

/// Kinds that come last, in this order.
const LAST: [&str; 2] = [
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
];

/// The ranks of kinds: below zero for the first ones, above for the last ones.
enum Ranks {
    Standard,
    Chosen(HashMap<String, i64>),
}

impl Ranks {
    fn chosen(first: &[String], last: &[String]) -> Self {
        let mut ranks = HashMap::new();
        let count = i64::try_from(first.len()).unwrap_or(i64::MAX);
        for (rank, kind) in (-count..0).zip(first) {
            ranks.insert(kind.clone(), rank);
        }
        for (rank, kind) in (1..).zip(last) {
            ranks.insert(kind.clone(), rank);
        }
        Self::Chosen(ranks)
    }

    fn of(&self, kind: &str) -> i64 {
        match self {
            Self::Standard => standard_rank(kind),
            Self::Chosen(ranks) => ranks.get(kind).copied().unwrap_or(0),
        }
    }
}

fn standard_rank(kind: &str) -> i64 {
    let ranked = |list: &[&str], first: i64| {
        let found = (first..).zip(list).find(|(_, listed)| **listed == kind);
        found.map(|(rank, _)| rank)
    };
    ranked(&FIRST, -(FIRST.len() as i64))
        .or_else(|| ranked(&LAST, 1))
        .unwrap_or(0)
}

/// Compares types, given as group, version and kind, as lists of field specifications are sorted: as [`Gvk::sort_text`] would.
pub(crate) fn compare_types(one: [&str; 3], two: [&str; 3]) -> Ordering {
    if one == two {
        return Ordering::Equal;
    }
    let text = |[group, version, kind]: [&str; 3]| Gvk::sort_parts(group, version, kind).concat();
    standard_rank(one[2])
        .cmp(&standard_rank(two[2]))
        .then_with(|| text(one).cmp(&text(two)))
}

/// Puts the objects into the order of the output; without options, the one that kustomize calls legacy.
///
/// # Errors
/// When the options contradict each other, or two objects have the same id.
pub(crate) fn sort(
    store: &Store,
    set: &mut ResourceSet,
    options: Option<&SortOptions>,
) -> Result<()> {
    let ranks = match options {
        None => Ranks::Standard,
        Some(options) => match ranks_of(options)? {
            Some(ranks) => ranks,
            None => return Ok(()),
        },
    };
    let mut items: Vec<_> = set
        .items()
        .iter()
        .map(|resource| {
            let id = resource.current_id(store);
            let key = (ranks.of(&id.gvk.kind), id.gvk.sort_text(), id.sort_text());
            (id, key, resource.clone())
        })
        .collect();
    items.sort_by(compare);
    *set.items_mut() = items.into_iter().map(|(_, _, resource)| resource).collect();
    set.check_unique(store)
        .map_err(|error| error.within("SortOrderTransformer: Failed to append to resources"))
}

type Sortable<R> = (Id, (i64, String, String), R);

fn compare<R>(first: &Sortable<R>, second: &Sortable<R>) -> Ordering {
    let (one, (rank, gvk, id), _) = first;
    let (two, (other_rank, other_gvk, other_id), _) = second;
    let by_gvk = if one.gvk.kind == "Namespace"
        && two.gvk.kind == "Namespace"
        && (one.gvk.group.is_empty() || two.gvk.group.is_empty())
    {
        other_gvk.cmp(gvk)
    } else {
        gvk.cmp(other_gvk)
    };
    rank.cmp(other_rank)
        .then(by_gvk)
        .then_with(|| id.cmp(other_id))
}

/// The ranks that options ask for; none for the order of accumulation.
fn ranks_of(options: &SortOptions) -> Result<Option<Ranks>> {
    match options.order.as_str() {
        "fifo" if options.legacy_sort_options.is_some() => Err(fail(
            "the field 'sortOptions.legacySortOptions' is set but the selected sort order is 'fifo', not 'legacy'",
        )),
        "fifo" => Ok(None),
        "legacy" => Ok(Some(match &options.legacy_sort_options {
            None => Ranks::Standard,
            Some(legacy) => Ranks::chosen(&legacy.order_first, &legacy.order_last),
        })),
        _ => Err(fail(
            "the field 'sortOptions.order' must be one of [fifo, legacy]",
        )),
    }
}
