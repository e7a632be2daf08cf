//! Generators by name, and how one is chosen.

use crate::{FileTree, Generator};
use std::sync::Arc;

/// The generators that a host knows, in the order in which they are asked whether a file tree is theirs.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    generators: Vec<Arc<dyn Generator>>,
}

/// A generator that was chosen for a file tree, and why.
#[derive(Debug, Clone)]
pub struct Detected {
    /// The generator.
    pub generator: Arc<dyn Generator>,
    /// Why it was chosen, for a person: "found `Chart.yaml`".
    pub reason: String,
}

/// No generator could be chosen.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegistryError {
    /// A name that nothing is registered under.
    #[error("no generator is called `{name}`; known are {known}")]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// No generator recognises the files.
    #[error("no generator recognises the files; name one of {known}")]
    Undetected {
        /// The names that exist.
        known: String,
    },
}

impl Registry {
    /// A registry without generators.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a generator; one with the same name is replaced.
    pub fn register(&mut self, generator: Arc<dyn Generator>) {
        self.generators
            .retain(|known| known.name() != generator.name());
        self.generators.push(generator);
    }

    /// The generator of a name, or the first that recognises the files when no name is given.
    ///
    /// # Errors
    /// [`RegistryError`] when the name is unknown or nothing recognises the files.
    pub fn choose(&self, name: Option<&str>, files: &FileTree) -> Result<Detected, RegistryError> {
        if let Some(name) = name {
            let generator = self
                .generators
                .iter()
                .find(|g| g.name() == name)
                .ok_or_else(|| RegistryError::Unknown {
                    name: name.to_owned(),
                    known: self.known(),
                })?;
            return Ok(Detected {
                generator: Arc::clone(generator),
                reason: "named".to_owned(),
            });
        }
        self.generators
            .iter()
            .find_map(|generator| {
                let reason = generator.detects(files)?;
                Some(Detected {
                    generator: Arc::clone(generator),
                    reason,
                })
            })
            .ok_or_else(|| RegistryError::Undetected {
                known: self.known(),
            })
    }

    fn known(&self) -> String {
        let names: Vec<_> = self
            .generators
            .iter()
            .map(|g| format!("`{}`", g.name()))
            .collect();
        names.join(", ")
    }
}
