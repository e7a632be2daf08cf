//! Specifications of fields.

use super::conflict;
use crate::error::Result;
use crate::order::compare_types;
use crate::resource::Gvk;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashMap;

/// A part of a specification; what is known without a configuration borrows it.
pub(crate) type Text = Cow<'static, str>;

/// A field of some types; empty parts of the type are any.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct FieldSpec {
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(crate) group: Text,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(crate) version: Text,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(crate) kind: Text,
    /// Names with slashes between them; `\/` is a slash in a name.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(crate) path: Text,
    /// Whether the field is made where it is missing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) create: bool,
}

impl FieldSpec {
    /// A field of all types.
    pub(crate) fn any(path: &'static str, create: bool) -> Self {
        Self {
            path: path.into(),
            create,
            ..Self::default()
        }
    }

    pub(crate) fn gvk(&self) -> Gvk {
        Gvk {
            group: self.group.to_string(),
            version: self.version.to_string(),
            kind: self.kind.to_string(),
        }
    }

    /// Whether an object of the type may have the field.
    pub(crate) fn selects(&self, gvk: &Gvk) -> bool {
        self.takes(&gvk.group, &gvk.version, &gvk.kind)
    }

    /// Whether all types of another specification are among those of this one.
    fn covers(&self, other: &Self) -> bool {
        self.takes(&other.group, &other.version, &other.kind)
    }

    fn takes(&self, group: &str, version: &str, kind: &str) -> bool {
        let fits = |wanted: &str, own: &str| wanted.is_empty() || wanted == own;
        fits(&self.kind, kind) && fits(&self.group, group) && fits(&self.version, version)
    }
}

/// Field specifications, without two for the same field.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct FieldSpecs(pub(crate) Cow<'static, [FieldSpec]>);

impl FieldSpecs {
    /// The field of all types alone.
    pub(crate) fn any(path: &'static str, create: bool) -> Self {
        Self(Cow::Owned(vec![FieldSpec::any(path, create)]))
    }

    /// Adds one, unless there is one for the same field that selects as much.
    ///
    /// # Errors
    /// When only one of both creates the field.
    pub(crate) fn merge_one(&mut self, new: &FieldSpec) -> Result<()> {
        let found = self
            .0
            .iter()
            .find(|own| own.path == new.path && new.covers(own));
        match found {
            Some(own) if own.create != new.create => Err(conflict()),
            Some(_) => Ok(()),
            None => {
                self.0.to_mut().push(new.clone());
                Ok(())
            }
        }
    }

    /// Adds others.
    ///
    /// # Errors
    /// As [`FieldSpecs::merge_one`].
    pub(crate) fn merge(&mut self, others: &Self) -> Result<()> {
        // What is known without a configuration names no field twice.
        let are_distinct = others.0.len() < 2 || matches!(others.0, Cow::Borrowed(_));
        if self.0.is_empty() && are_distinct {
            self.0.clone_from(&others.0);
            return Ok(());
        }
        if self.0 == others.0 {
            return Ok(());
        }
        let own = self.0.to_mut();
        // By path, so that long lists do not have to be gone over for each new one.
        let mut by_path: HashMap<Text, Vec<usize>> = HashMap::new();
        for (at, own) in own.iter().enumerate() {
            by_path.entry(own.path.clone()).or_default().push(at);
        }
        for new in &*others.0 {
            let places = by_path.entry(new.path.clone()).or_default();
            let found = places
                .iter()
                .filter_map(|at| own.get(*at))
                .find(|own| new.covers(own));
            match found {
                Some(own) if own.create != new.create => return Err(conflict()),
                Some(_) => {}
                None => {
                    places.push(own.len());
                    own.push(new.clone());
                }
            }
        }
        Ok(())
    }

    pub(super) fn sort(&mut self) {
        sort_by_type(&mut self.0, |spec| [&spec.group, &spec.version, &spec.kind]);
    }
}

/// The fields that may name objects of a type.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct NameReference {
    pub(crate) group: Text,
    pub(crate) version: Text,
    pub(crate) kind: Text,
    pub(crate) field_specs: FieldSpecs,
}

impl NameReference {
    /// The type that is named.
    pub(crate) fn gvk(&self) -> Gvk {
        Gvk {
            group: self.group.to_string(),
            version: self.version.to_string(),
            kind: self.kind.to_string(),
        }
    }
}

/// Sorts a list by group, version and kind of its entries. One that is sorted stays shared.
pub(super) fn sort_by_type<T: Clone>(
    list: &mut Cow<'static, [T]>,
    parts: impl Fn(&T) -> [&str; 3],
) {
    if !list.is_sorted_by(|one, two| compare_types(parts(one), parts(two)).is_le()) {
        list.to_mut()
            .sort_by(|one, two| compare_types(parts(one), parts(two)));
    }
}
