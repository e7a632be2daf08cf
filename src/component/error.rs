//! Why a reconciliation failed.

use super::identity::IdentityError;
use super::kubeconfig::KubeConfigError;
use super::mask::Mask;
use super::spill::SpillError;
use crate::adopt::AdoptError;
use crate::api::v1alpha1::{DurationError, VariableSourceKind};
use crate::class::Class;
use crate::cluster::{DiscoveryError, LookupError, RequestError};
use crate::dependents::{ExecuteError, ObserveError, PrepareError, Refusal, RefusalCause};
use crate::release::CodecError;
use crate::source::SourceError;
use crate::status::{ExpressionError, HealthError};
use std::time::Duration;
use whipstaff_generator::{DigestError, ErrorKind, Fault, ObjectId, RegistryError};
use whipstaff_sops::KeyError;

/// Most objects that one message names.
const MAX_NAMED: usize = 5;
/// When to look again for a ConfigMap or Secret that is missing, although no watch told of it.
const MISSING_RETRY: Duration = Duration::from_secs(10);

/// Why a reconciliation failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ReconcileError {
    #[error("`spec.{field}` is malformed")]
    Duration {
        field: &'static str,
        #[source]
        cause: DurationError,
    },
    #[error(transparent)]
    Health(#[from] HealthError),
    #[error("a dependency's `ready` cannot be used")]
    DependencyReady(#[source] ExpressionError),
    #[error("`spec.{field}` is zero, and must be more")]
    ZeroDuration { field: &'static str },
    #[error("`spec.source.url.digest` is malformed")]
    Digest(#[source] DigestError),
    #[error("the Secret `{name}` with the credentials cannot be read")]
    ReadCredentials {
        name: String,
        #[source]
        cause: RequestError,
    },
    #[error("the Secret `{name}` with the credentials {problem}")]
    Credentials { name: String, problem: &'static str },
    #[error(transparent)]
    Adopt(#[from] AdoptError),
    #[error("the Secret `{name}` with the stored chart cannot be read")]
    ReadRecord {
        name: String,
        #[source]
        cause: RequestError,
    },
    #[error("the Secret `{name}` with the stored chart does not exist, or holds no record")]
    RecordMissing { name: String },
    #[error("the Secret `{name}` holds no record of a release")]
    Record {
        name: String,
        #[source]
        cause: Box<CodecError>,
    },
    #[error("the {kind} `{name}` with variables cannot be read")]
    ReadVariables {
        kind: VariableSourceKind,
        name: String,
        #[source]
        cause: RequestError,
    },
    #[error("the {kind} `{name}` with variables does not exist")]
    VariablesMissing {
        kind: VariableSourceKind,
        name: String,
    },
    #[error(
        "the {kind} `{name}` with variables is not given, and there is no cluster to read it from"
    )]
    VariablesNotGiven {
        kind: VariableSourceKind,
        name: String,
    },
    #[error("{} is set, and the generator is `{generator}`", options_field(.part, .field))]
    UnusedOptions {
        part: String,
        field: &'static str,
        generator: String,
    },
    #[error("the Secret `{name}` with the keys for decryption cannot be read")]
    ReadKeys {
        name: String,
        #[source]
        cause: RequestError,
    },
    #[error("the Secret `{name}` with the keys for decryption does not exist")]
    KeysMissing { name: String },
    #[error(
        "the Secret `{name}` holds no key for decryption: no entry ends in `.agekey` or `.asc`"
    )]
    NoKeys { name: String },
    #[error("the Secret `{name}` holds a key for decryption that cannot be used")]
    Keys {
        name: String,
        #[source]
        cause: KeyError,
    },
    #[error("{report}")]
    Decrypt { report: String },
    /// Another error, without what was encrypted.
    #[error("{report}")]
    Masked {
        report: String,
        class: Class,
        reason: &'static str,
        fault: Option<Fault>,
    },
    #[error("{}", list(missing.iter().cloned()))]
    ReferencesMissing { missing: Vec<String> },
    #[error("the {kind} `{name}`, which the component refers to, cannot be read")]
    ReadReference {
        kind: VariableSourceKind,
        name: String,
        #[source]
        cause: RequestError,
    },
    #[error(
        "the {kind} `{name}`, which the component refers to, is not given, and there is no cluster to read it from"
    )]
    ReferenceNotGiven {
        kind: VariableSourceKind,
        name: String,
    },
    #[error("the Secret `{name}` holds no usable kubeconfig")]
    KubeConfig {
        name: String,
        #[source]
        cause: KubeConfigError,
    },
    #[error("a {point} hook failed")]
    Hook {
        point: &'static str,
        #[source]
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error(
        "the {event} hook {message}; it runs again when the component changes, or when it is asked to reconcile"
    )]
    ChartHook {
        event: &'static str,
        message: String,
    },
    #[error("the {event} hook {message}; it is tried again")]
    DeletionHook {
        event: &'static str,
        message: String,
    },
    #[error("the code of the operator panicked")]
    Panicked,
    #[error(
        "the objects are rendered for {is}, and were applied for {was}: neither namespace nor name of the target can change"
    )]
    TargetMoved { was: String, is: String },
    #[error("waiting for {}", list(waiting.iter().cloned()))]
    Dependencies { waiting: Vec<String> },
    #[error("the dependency {name} cannot be read")]
    ReadDependency {
        name: String,
        #[source]
        cause: RequestError,
    },
    #[error("it depends on itself: {cycle}")]
    DependencyCycle { cycle: String },
    #[error("waiting until these are gone, which depend on it: {}", list(dependants.iter().cloned()))]
    DependedOn { dependants: Vec<String> },
    #[error("nothing is deleted before these finalizers are removed: {}", list(finalizers.iter().map(|f| format!("`{f}`"))))]
    ForeignFinalizers { finalizers: Vec<String> },
    #[error(transparent)]
    Identity(#[from] IdentityError),
    #[error(transparent)]
    Fetch(#[from] SourceError),
    #[error("{} is `{path}`, and the source has no files there", path_field(.part))]
    Path { part: String, path: String },
    #[error(transparent)]
    Generator(#[from] RegistryError),
    #[error("{report}")]
    Render {
        report: String,
        kind: ErrorKind,
        fault: Option<Fault>,
    },
    #[error("rendering asks for more live objects after {rounds} rounds")]
    LookupRounds { rounds: usize },
    #[error("rendering was cut short")]
    RenderTask(#[source] tokio::task::JoinError),
    #[error("the Secret `{name}`, which random values are derived from, cannot be read or written")]
    Seed {
        name: String,
        #[source]
        cause: Box<kube::Error>,
    },
    #[error(
        "the Secret `{name}` is not one that random values can be derived from: rename or delete it"
    )]
    ForeignSeed { name: String },
    #[error("the operating system gives no random bytes")]
    Random(#[source] getrandom::Error),
    #[error(transparent)]
    Lookup(#[from] LookupError),
    #[error(transparent)]
    Discovery(#[from] DiscoveryError),
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    #[error("{} was applied: {}", if *partly { "not everything" } else { "nothing" }, list(refusals.iter().map(|r| format!("{} {}", r.id, r.reason))))]
    Refused {
        refusals: Vec<Refusal>,
        /// Whether anything is applied that stays.
        partly: bool,
    },
    #[error(
        "nothing was applied: the API server refuses {}",
        list(objects.iter().map(|(id, error)| refused(id, error)))
    )]
    Preflight {
        objects: Vec<(ObjectId, RequestError)>,
    },
    #[error(transparent)]
    Observe(#[from] ObserveError),
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    #[error("cannot {verb}")]
    Component {
        verb: &'static str,
        #[source]
        cause: Box<kube::Error>,
    },
    #[error("what is kept in the Secret `{name}` cannot be written or read")]
    Inventory {
        name: String,
        #[source]
        cause: SpillError,
    },
    #[error("the component is gone")]
    Gone,
    #[error("somebody else wrote the component's status meanwhile")]
    Overtaken,
    #[error("the objects did not settle in {rounds} rounds")]
    Rounds { rounds: usize },
}

impl ReconcileError {
    /// An object that cannot be read.
    pub(crate) fn read(id: ObjectId, cause: RequestError) -> Self {
        Self::Observe(ObserveError::Read {
            id: Box::new(id),
            cause,
        })
    }

    /// What it says about trying again.
    pub(crate) fn fault(&self) -> Option<Fault> {
        match self {
            Self::Masked { fault, .. } | Self::Render { fault, .. } => *fault,
            Self::Hook { cause, .. } => Fault::of(&**cause),
            Self::ReferencesMissing { .. } => Some(Fault::Retriable(Some(MISSING_RETRY))),
            Self::Dependencies { .. }
            | Self::DependedOn { .. }
            | Self::ForeignFinalizers { .. } => Some(Fault::Retriable(None)),
            _ => None,
        }
    }

    /// What kind of failure it is.
    pub(crate) fn class(&self) -> Class {
        match self.fault() {
            Some(Fault::Retriable(_)) => return Class::NotReady,
            Some(Fault::Terminal) => return Class::Invalid,
            None => {}
        }
        match self {
            Self::Hook { .. }
            | Self::ChartHook { .. }
            | Self::DeletionHook { .. }
            | Self::Panicked => Class::Failed,
            Self::Fetch(error) => error.class(),
            Self::Adopt(error) => error.class(),
            Self::Masked { class, .. } => *class,
            Self::ReadCredentials { cause, .. }
            | Self::ReadRecord { cause, .. }
            | Self::ReadKeys { cause, .. }
            | Self::ReadVariables { cause, .. }
            | Self::ReadReference { cause, .. }
            | Self::ReadDependency { cause, .. }
            | Self::Lookup(LookupError::Request { cause, .. })
            | Self::Observe(ObserveError::Read { cause, .. })
            | Self::Execute(ExecuteError::Write { cause, .. }) => request_class(cause),
            Self::Execute(
                ExecuteError::ForeignInstance { .. } | ExecuteError::WouldChange { .. },
            )
            | Self::Refused { .. }
            | Self::Overtaken => Class::Conflict,
            Self::ForeignSeed { .. }
            | Self::Credentials { .. }
            | Self::RecordMissing { .. }
            | Self::KeysMissing { .. }
            | Self::NoKeys { .. }
            | Self::VariablesMissing { .. }
            | Self::VariablesNotGiven { .. }
            | Self::ReferenceNotGiven { .. }
            | Self::Prepare(PrepareError::UnknownKind { .. }) => Class::NotReady,
            Self::Execute(ExecuteError::Immutable { .. })
            | Self::ZeroDuration { .. }
            | Self::Duration { .. }
            | Self::Digest(_)
            | Self::Health(_)
            | Self::DependencyReady(_)
            | Self::UnusedOptions { .. }
            | Self::KubeConfig { .. }
            | Self::DependencyCycle { .. }
            | Self::TargetMoved { .. }
            | Self::Path { .. }
            | Self::Keys { .. }
            | Self::Record { .. }
            | Self::Decrypt { .. }
            | Self::Generator(_)
            | Self::Render { .. }
            | Self::LookupRounds { .. }
            | Self::Prepare(_)
            | Self::Preflight { .. } => Class::Invalid,
            _ => Class::Transient,
        }
    }

    /// The reason of conditions and events: one word, from a fixed set.
    pub(crate) fn reason(&self) -> &'static str {
        let reads = matches!(
            self,
            Self::Observe(_)
                | Self::Execute(_)
                | Self::Lookup(_)
                | Self::ReadReference { .. }
                | Self::ReadDependency { .. }
        );
        if reads && self.class() == Class::Denied {
            return "Denied";
        }
        let is_code = matches!(self, Self::Render { .. } | Self::Hook { .. });
        if is_code && matches!(self.fault(), Some(Fault::Retriable(_))) {
            return "Retrying";
        }
        match self {
            Self::Masked { reason, .. } => reason,
            Self::Fetch(SourceError::Digest { .. }) => "DigestMismatch",
            Self::Fetch(SourceError::Archive { .. }) => "InvalidArchive",
            Self::Render { kind, .. } => match kind {
                ErrorKind::Parameters => "InvalidParameters",
                ErrorKind::Output => "InvalidOutput",
                _ => "RenderFailed",
            },
            Self::Prepare(PrepareError::UnknownKind { .. }) => "KindNotServed",
            Self::Refused { refusals, .. } => refused_reason(refusals),
            Self::Execute(ExecuteError::Immutable { .. }) => "ImmutableField",
            Self::Execute(ExecuteError::ForeignInstance { .. }) => "InUse",
            Self::Execute(ExecuteError::WouldChange { .. }) => "AdoptionWouldChange",
            Self::Execute(ExecuteError::Write { cause, .. }) if cause.is_invalid() => {
                "InvalidObject"
            }
            _ => self.reason_of_variant(),
        }
    }

    /// The reason of failures that one name is enough for.
    fn reason_of_variant(&self) -> &'static str {
        match self {
            Self::Hook { .. } | Self::ChartHook { .. } | Self::DeletionHook { .. } => "HookFailed",
            Self::Panicked => "Panicked",
            Self::ReferencesMissing { .. } => "Retrying",
            Self::ReadReference { .. } | Self::ReferenceNotGiven { .. } => "ReferencesUnavailable",
            Self::KubeConfig { .. } => "InvalidKubeConfig",
            Self::Dependencies { .. } | Self::ReadDependency { .. } => "DependencyNotReady",
            Self::DependencyCycle { .. } => "DependencyCycle",
            Self::DependedOn { .. } => "DependedOn",
            Self::ForeignFinalizers { .. } => "DeletionBlocked",
            Self::Duration { .. }
            | Self::ZeroDuration { .. }
            | Self::Digest(_)
            | Self::Health(_)
            | Self::DependencyReady(_)
            | Self::UnusedOptions { .. }
            | Self::TargetMoved { .. } => "InvalidSpec",
            Self::ReadVariables { .. }
            | Self::VariablesMissing { .. }
            | Self::VariablesNotGiven { .. } => "VariablesUnavailable",
            Self::ReadKeys { .. }
            | Self::KeysMissing { .. }
            | Self::NoKeys { .. }
            | Self::Keys { .. } => "KeysUnavailable",
            Self::Decrypt { .. } => "DecryptionFailed",
            Self::ReadCredentials { .. } | Self::Credentials { .. } => "CredentialsUnavailable",
            Self::Identity(_) => "IdentityUnavailable",
            Self::Fetch(_)
            | Self::ReadRecord { .. }
            | Self::RecordMissing { .. }
            | Self::Record { .. } => "FetchFailed",
            Self::Adopt(error) => error.reason(),
            Self::Path { .. } => "PathNotFound",
            Self::Generator(_) => "GeneratorUnknown",
            Self::Render { .. } | Self::LookupRounds { .. } | Self::RenderTask(_) => "RenderFailed",
            Self::Seed { .. } | Self::ForeignSeed { .. } | Self::Random(_) => "SeedUnavailable",
            Self::Lookup(_) => "LookupFailed",
            Self::Prepare(_) | Self::Preflight { .. } => "InvalidObject",
            Self::Execute(_) | Self::Rounds { .. } => "ApplyFailed",
            Self::Inventory { .. } => "InventoryUnavailable",
            Self::Overtaken | Self::Gone => "Overtaken",
            _ => "ClusterUnavailable",
        }
    }

    /// The same failure, told without the secrets of a mask.
    pub(crate) fn masked(self, mask: &Mask) -> Self {
        let told = self.report();
        let report = mask.apply(&told);
        if report == told {
            return self;
        }
        Self::Masked {
            report,
            class: self.class(),
            reason: self.reason(),
            fault: self.fault(),
        }
    }

    /// The whole chain on one line, for a person.
    pub(crate) fn report(&self) -> String {
        crate::causes::on_one_line(self)
    }
}

fn refused(id: &ObjectId, error: &RequestError) -> String {
    if error.is_immutable() {
        format!(
            "{id}: {error}; with the policy `immutable: Recreate` it would be deleted and created anew"
        )
    } else {
        format!("{id}: {error}")
    }
}

fn refused_reason(refusals: &[Refusal]) -> &'static str {
    match refusals.first().map(|refusal| refusal.cause) {
        Some(RefusalCause::Pruning) => "PruningRefused",
        Some(RefusalCause::Namespace) => "NamespaceMissing",
        Some(RefusalCause::Owned) | None => "OwnedByOthers",
    }
}

fn path_field(part: &str) -> String {
    if part.is_empty() {
        "`spec.path`".to_owned()
    } else {
        format!("`path` of the generator `{part}`")
    }
}

fn options_field(part: &str, field: &str) -> String {
    if part.is_empty() {
        format!("`spec.{field}`")
    } else {
        format!("`{field}` of the generator `{part}`")
    }
}

fn request_class(error: &RequestError) -> Class {
    if error.is_denied() {
        Class::Denied
    } else if error.is_invalid() {
        Class::Invalid
    } else if error.is_conflict() {
        Class::Conflict
    } else if error.is_not_found() {
        Class::NotReady
    } else {
        Class::Transient
    }
}

fn list(items: impl ExactSizeIterator<Item = String>) -> String {
    let hidden = items.len().saturating_sub(MAX_NAMED);
    let mut text = items.take(MAX_NAMED).collect::<Vec<_>>().join("; ");
    if hidden > 0 {
        text.push_str("; and ");
        text.push_str(&hidden.to_string());
        text.push_str(" more");
    }
    text
}
