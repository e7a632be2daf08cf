//! A kustomization and the folder that it is in.

use super::origin::Origin;
use super::session::Session;
use crate::error::{BuildError, BuildErrorKind, Result};
use crate::files::Loader;
use crate::kustomization::{FILE_NAMES, Kustomization, read};

/// A kustomization that was loaded.
#[derive(Debug)]
pub(super) struct Target<'a> {
    pub(super) loader: Loader<'a>,
    pub(super) file_name: &'static str,
    /// Where the folder is, seen from the top; none when origins are not asked for.
    pub(super) origin: Option<Origin>,
    /// The namespace that charts of bases go to.
    pub(super) chart_namespace: String,
    kustomization: Kustomization,
}

impl<'a> Target<'a> {
    /// Loads the kustomization of a folder.
    ///
    /// # Errors
    /// When there is none, or more than one, or it is wrong.
    pub(super) fn load(session: &mut Session<'_>, loader: Loader<'a>) -> Result<Self> {
        session.count_kustomization()?;
        let mut found = FILE_NAMES
            .into_iter()
            .filter_map(|name| loader.load(name).ok().map(|content| (name, content)));
        let wrong = |message: String| BuildError::new(BuildErrorKind::Kustomization, message);
        let Some((file_name, content)) = found.next() else {
            return Err(wrong(format!(
                "unable to find one of 'kustomization.yaml', 'kustomization.yml' or 'Kustomization' in directory '{}'",
                loader.root()
            )));
        };
        if found.next().is_some() {
            return Err(wrong(format!(
                "Found multiple kustomization files under: {}\n",
                loader.root()
            )));
        }
        drop(found);
        let kustomization = read(&content, loader.root(), &mut session.warnings)?;
        let origin = (!kustomization.build_metadata.is_empty()).then(Origin::default);
        Ok(Self {
            loader,
            file_name,
            origin,
            chart_namespace: String::new(),
            kustomization,
        })
    }

    /// A kustomization that stands in no file.
    pub(super) fn of(kustomization: Kustomization, loader: Loader<'a>) -> Self {
        Self {
            loader,
            file_name: "",
            origin: None,
            chart_namespace: String::new(),
            kustomization,
        }
    }

    pub(super) fn kustomization(&self) -> &Kustomization {
        &self.kustomization
    }

    /// Takes over what a kustomization passes down to its bases.
    pub(super) fn inherit(&mut self, parent: &Self, origin: Option<Origin>) {
        self.kustomization
            .build_metadata
            .clone_from(&parent.kustomization.build_metadata);
        self.origin = origin;
        self.chart_namespace = if parent.kustomization.namespace.is_empty() {
            parent.chart_namespace.clone()
        } else {
            parent.kustomization.namespace.clone()
        };
    }
}
