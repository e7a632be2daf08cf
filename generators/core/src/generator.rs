//! The two traits that every generator implements, and what goes in and out.

use crate::{Capabilities, Consulted, Error, FileTree, LookupSnapshot, Object, ObjectSet};
use serde_json::{Map, Value};
use std::time::Duration;

/// Turns file trees into something that renders.
///
/// An implementation reads and compiles here, once per file tree and options, so that [`Prepared::generate`] only renders. It does
/// no I/O: all it may read is in the [`FileTree`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a generator",
    note = "implement `name`, `detects` and `prepare`; what `prepare` returns implements `Prepared`"
)]
pub trait Generator: Send + Sync + std::fmt::Debug {
    /// The name that `spec.generator` chooses it by: lower case, for example `helm`.
    fn name(&self) -> &str;

    /// Why a file tree looks like one of this generator's, for example "found `Chart.yaml`"; `None` when it does not.
    fn detects(&self, files: &FileTree) -> Option<String>;

    /// Reads and compiles a file tree. The result may be kept and used for many inputs, on any thread.
    ///
    /// `options` are the generator's own (the `helm` block of a Component, for example); null when there are none.
    ///
    /// # Errors
    /// When files are missing or malformed, or options unknown; with file, line and column where they are known.
    fn prepare(&self, files: &FileTree, options: &Value) -> Result<Box<dyn Prepared>, Error>;

    /// The same for a folder of a tree; empty for the tree itself. Whoever reads files outside of the folder (bases of a
    /// kustomization) overrides this; all others see the folder only.
    ///
    /// # Errors
    /// As [`Generator::prepare`].
    fn prepare_folder(
        &self,
        files: &FileTree,
        folder: &str,
        options: &Value,
    ) -> Result<Box<dyn Prepared>, Error> {
        self.prepare(&files.subtree(folder), options)
    }
}

/// A compiled file tree.
pub trait Prepared: Send + Sync + std::fmt::Debug {
    /// Renders. The same input gives the same output, byte for byte.
    ///
    /// # Errors
    /// When a template fails, parameters are refused or a limit is reached; with file, line and column where they are known.
    fn generate(&self, input: &Input<'_>) -> Result<Generated, Error>;
}

/// Everything that a rendering may depend on.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Input<'a> {
    /// Namespace that objects are rendered for.
    pub namespace: &'a str,
    /// Name that objects are rendered for: the release name of a Helm chart.
    pub name: &'a str,
    /// The user's parameters: the values of a Helm chart.
    pub parameters: &'a Map<String, Value>,
    /// Whether this is a first installation or an upgrade.
    pub release: Release,
    /// What the target cluster offers.
    pub capabilities: &'a Capabilities,
    /// Live objects that are known so far.
    pub lookups: &'a LookupSnapshot,
    /// The component that is rendered for, as the API server shows it, for generators whose templates see it.
    pub component: Option<&'a Value>,
    /// Where random values come from.
    pub seed: Seed,
    /// What a rendering may use up.
    pub limits: Limits,
}

impl<'a> Input<'a> {
    /// An input with an installation's release, a random seed, default limits and no component.
    pub fn new(
        namespace: &'a str,
        name: &'a str,
        parameters: &'a Map<String, Value>,
        capabilities: &'a Capabilities,
        lookups: &'a LookupSnapshot,
    ) -> Self {
        Self {
            namespace,
            name,
            parameters,
            release: Release::default(),
            capabilities,
            lookups,
            component: None,
            seed: Seed::Random,
            limits: Limits::default(),
        }
    }
}

/// Which rendering of a component this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Release {
    /// Counts from one.
    pub revision: i64,
    /// Whether something was installed before.
    pub is_upgrade: bool,
}

impl Default for Release {
    fn default() -> Self {
        Self {
            revision: 1,
            is_upgrade: false,
        }
    }
}

/// Where random values and the time come from.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Seed {
    /// From the operating system, and from the clock: two renderings differ, as with Helm.
    Random,
    /// Not known yet: who draws random values fails, [`Consulted`] says so, and the host renders again with a seed. Spares hosts to
    /// keep seeds for what never draws.
    Unknown {
        /// What `now` answers, in seconds of the Unix epoch.
        now: i64,
    },
    /// From these bytes: two renderings agree.
    Stable {
        /// Secret bytes that all random values are derived from.
        key: [u8; 32],
        /// What `now` answers, in seconds of the Unix epoch.
        now: i64,
    },
}

impl std::fmt::Debug for Seed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Passwords are derived from the key.
        f.write_str(match self {
            Self::Random => "Random",
            Self::Unknown { .. } => "Unknown",
            Self::Stable { .. } => "Stable(…)",
        })
    }
}

/// What a rendering may use up before it is stopped with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Steps of the template engine: nodes executed and elements ranged over.
    pub steps: u64,
    /// Bytes of output, intermediate strings included.
    pub output_bytes: u64,
    /// Nesting of template calls.
    pub depth: u32,
    /// Wall time.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 50_000_000,
            output_bytes: 512 * 1024 * 1024,
            depth: 1_000,
            time: Duration::from_mins(1),
        }
    }
}

/// What a rendering gives.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Generated {
    /// Objects to be kept in the cluster, in the order to be applied in.
    pub objects: ObjectSet,
    /// Objects that run at certain points of a component's life.
    pub hooks: Vec<Hook>,
    /// A text for the user, or empty.
    pub notes: String,
    /// What was consulted beside files and parameters.
    pub consulted: Consulted,
    /// The dialect that was rendered in, for generators that have dialects.
    pub dialect: Option<String>,
    /// What a user should know although rendering succeeded.
    pub warnings: Vec<String>,
}

/// An object that runs at certain points of a component's life, as Helm's hooks do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// The object.
    pub object: Object,
    /// The file that it came from.
    pub source: String,
    /// When it runs.
    pub events: Vec<HookEvent>,
    /// Order among the hooks of one event, lowest first; ties are broken by name.
    pub weight: i64,
    /// When its object is removed.
    pub delete_policies: Vec<HookDeletePolicy>,
}

/// When a hook runs (`helm.sh/hook`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HookEvent {
    /// Before the first installation.
    PreInstall,
    /// After the first installation.
    PostInstall,
    /// Before an upgrade.
    PreUpgrade,
    /// After an upgrade.
    PostUpgrade,
    /// Before a rollback.
    PreRollback,
    /// After a rollback.
    PostRollback,
    /// Before deletion.
    PreDelete,
    /// After deletion.
    PostDelete,
    /// On `helm test`.
    Test,
}

/// When a hook's object is removed (`helm.sh/hook-delete-policy`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HookDeletePolicy {
    /// Before it is created anew.
    BeforeHookCreation,
    /// After it succeeded.
    HookSucceeded,
    /// After it failed.
    HookFailed,
}
