//! What all kustomizations of a build share.

use super::target::Target;
use crate::error::{Result, over_limit};
use crate::generate::{ChartInflator, HelmSettings};
use crate::limits::MAX_KUSTOMIZATIONS;
use crate::resource::{Store, read_text};

/// A build that is going on.
#[derive(Debug)]
pub(super) struct Session<'a> {
    pub(super) store: Store,
    pub(super) warnings: Vec<String>,
    pub(super) charts: Option<&'a dyn ChartInflator>,
    pub(super) helm: HelmSettings,
    kustomizations: usize,
}

impl<'a> Session<'a> {
    pub(super) fn new(charts: Option<&'a dyn ChartInflator>, helm: HelmSettings) -> Self {
        Self {
            store: Store::default(),
            warnings: Vec::new(),
            charts,
            helm,
            kustomizations: 0,
        }
    }

    /// Counts one more kustomization.
    ///
    /// # Errors
    /// When there are too many.
    pub(super) fn count_kustomization(&mut self) -> Result<()> {
        self.kustomizations += 1;
        if self.kustomizations > MAX_KUSTOMIZATIONS {
            return Err(over_limit("kustomizations in a build", MAX_KUSTOMIZATIONS));
        }
        Ok(())
    }

    /// Takes the schema that a kustomization names.
    ///
    /// # Errors
    /// When it cannot be read, or is not known.
    pub(super) fn set_schema(&mut self, target: &Target<'_>, is_top: bool) -> Result<()> {
        let openapi = &target.kustomization().openapi;
        let content = openapi
            .get("path")
            .map(|path| target.loader.load(path))
            .transpose()?;
        let document = content.as_deref().map(read_text).transpose()?;
        let version = openapi.get("version").map(String::as_str);
        self.store.types.set(version, document, is_top)
    }
}
