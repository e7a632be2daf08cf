//! Which fields the transformers work on.
//!
//! Mirrors `internal/plugins/builtinconfig` and `types/fieldspec.go` of kustomize api v0.21.1.

mod defaults;
mod field_spec;

pub(crate) use defaults::default_configuration;
pub(crate) use field_spec::{FieldSpec, FieldSpecs, NameReference};

use crate::error::{Result, fail};
use serde::Deserialize;
use std::borrow::Cow;
use std::sync::Arc;

/// The field specifications of a kustomization.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Configuration {
    pub(crate) name_prefix: FieldSpecs,
    pub(crate) name_suffix: FieldSpecs,
    pub(crate) namespace: FieldSpecs,
    pub(crate) common_labels: FieldSpecs,
    pub(crate) labels: FieldSpecs,
    pub(crate) template_labels: FieldSpecs,
    pub(crate) common_annotations: FieldSpecs,
    pub(crate) name_reference: Cow<'static, [NameReference]>,
    pub(crate) var_reference: FieldSpecs,
    pub(crate) images: FieldSpecs,
    pub(crate) replicas: FieldSpecs,
}

impl Configuration {
    /// Adds what another has more; most kustomizations have the defaults alone, which are then not copied.
    ///
    /// # Errors
    /// As [`Configuration::merge`].
    pub(crate) fn merge_shared(self: &mut Arc<Self>, other: &Arc<Self>) -> Result<()> {
        if Arc::ptr_eq(self, other) {
            return Ok(());
        }
        if Arc::ptr_eq(other, default_configuration()) && **self == Self::default() {
            *self = Arc::clone(other);
            return Ok(());
        }
        Arc::make_mut(self).merge(other)
    }

    /// Adds what another configuration has more.
    ///
    /// # Errors
    /// When both have a field, and only one of them creates it.
    pub(crate) fn merge(&mut self, other: &Self) -> Result<()> {
        let groups = [
            ("NamePrefix", &mut self.name_prefix, &other.name_prefix),
            ("NameSuffix", &mut self.name_suffix, &other.name_suffix),
            ("NameSpace", &mut self.namespace, &other.namespace),
            (
                "CommonAnnotations",
                &mut self.common_annotations,
                &other.common_annotations,
            ),
            (
                "CommonLabels",
                &mut self.common_labels,
                &other.common_labels,
            ),
            ("Labels", &mut self.labels, &other.labels),
            (
                "TemplateLabels",
                &mut self.template_labels,
                &other.template_labels,
            ),
            (
                "VarReference",
                &mut self.var_reference,
                &other.var_reference,
            ),
        ];
        for (name, own, others) in groups {
            own.merge(others)
                .map_err(|error| error.within(format!("failed to merge {name} fieldSpec")))?;
        }
        for reference in &*other.name_reference {
            self.merge_reference(reference)
                .map_err(|error| error.within("failed to merge NameReference fieldSpec"))?;
        }
        let groups = [
            ("Images", &mut self.images, &other.images),
            ("Replicas", &mut self.replicas, &other.replicas),
        ];
        for (name, own, others) in groups {
            own.merge(others)
                .map_err(|error| error.within(format!("failed to merge {name} fieldSpec")))?;
        }
        self.sort();
        Ok(())
    }

    /// Adds the places that may name a type.
    pub(crate) fn merge_reference(&mut self, other: &NameReference) -> Result<()> {
        let mut found = false;
        let all = self.name_reference.to_mut();
        for own in all.iter_mut().filter(|own| own.gvk() == other.gvk()) {
            own.field_specs.merge(&other.field_specs)?;
            found = true;
        }
        if !found {
            all.push(other.clone());
        }
        Ok(())
    }

    /// Sorts by type.
    pub(crate) fn sort(&mut self) {
        for specs in [
            &mut self.name_prefix,
            &mut self.name_suffix,
            &mut self.namespace,
            &mut self.common_labels,
            &mut self.labels,
            &mut self.template_labels,
            &mut self.common_annotations,
            &mut self.var_reference,
            &mut self.images,
            &mut self.replicas,
        ] {
            specs.sort();
        }
        field_spec::sort_by_type(&mut self.name_reference, |reference| {
            [&reference.group, &reference.version, &reference.kind]
        });
    }
}

/// The error for two specifications of a field of which only one creates it.
fn conflict() -> crate::error::BuildError {
    fail("conflicting fieldspecs")
}
