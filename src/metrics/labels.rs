//! The values that metric labels may have.

use crate::class::Class;
use prometheus_client::encoding::{EncodeLabelValue, LabelValueEncoder};
use std::fmt::{self, Write};

/// Declares an enum whose variants are label values, so that a label can never take another one.
macro_rules! label {
    ($(#[$enum_doc:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$enum_doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub(crate) enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $name {
            /// Every value.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The text of the label.
            pub(crate) fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }

        impl EncodeLabelValue for $name {
            fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), fmt::Error> {
                encoder.write_str(self.as_str())
            }
        }
    };
}

label! {
    /// How a reconcile ended.
    ReconcileOutcome {
        /// Nothing had to be done.
        Unchanged = "unchanged",
        /// Something was written and nothing is awaited.
        Changed = "changed",
        /// Dependents, dependencies or an approval are awaited.
        Waiting = "waiting",
        /// The component is gone.
        Deleted = "deleted",
        /// It ended with an error.
        Failed = "failed",
    }
}

label! {
    /// A write to a dependent.
    Operation {
        /// An object was created.
        Create = "create",
        /// An object was changed to what is desired.
        Apply = "apply",
        /// An object was deleted to be created again.
        Recreate = "recreate",
        /// An object of somebody else was taken over.
        Adopt = "adopt",
        /// An object was let go without being deleted.
        Orphan = "orphan",
        /// An object that is no longer desired was deleted.
        Delete = "delete",
        /// An object was deleted at the end of its wave.
        Purge = "purge",
        /// A hook was run.
        Hook = "hook",
        /// A missing namespace was created.
        Namespace = "namespace",
    }
}

label! {
    /// The state of a component.
    ComponentState {
        /// Not looked at yet, or waiting for its dependencies.
        Pending = "pending",
        /// Being applied.
        Processing = "processing",
        /// Applied and ready.
        Ready = "ready",
        /// To be deleted, and held back.
        DeletionPending = "deletion_pending",
        /// Being deleted.
        Deleting = "deleting",
        /// Failed.
        Error = "error",
    }
}

label! {
    /// The kstatus value of a dependent.
    DependentStatus {
        /// On its way to what is desired.
        InProgress = "in_progress",
        /// Failed to get there.
        Failed = "failed",
        /// As desired.
        Current = "current",
        /// Being deleted.
        Terminating = "terminating",
        /// Not there.
        NotFound = "not_found",
        /// Not known.
        Unknown = "unknown",
    }
}

label! {
    /// How a fetch of an artifact was answered.
    FetchOutcome {
        /// From the cache, without a request.
        Cached = "cached",
        /// From the cache, after the server said that nothing changed.
        NotModified = "not_modified",
        /// Downloaded.
        Downloaded = "downloaded",
        /// Not at all.
        Failed = "failed",
    }
}

label! {
    /// What a request does.
    RequestMethod {
        /// It reads.
        Get = "GET",
        /// It creates.
        Post = "POST",
        /// It replaces.
        Put = "PUT",
        /// It changes or applies.
        Patch = "PATCH",
        /// It deletes.
        Delete = "DELETE",
        /// Any other.
        Other = "other",
    }
}

label! {
    /// How an API server answered a request.
    RequestAnswer {
        /// It did what was asked for.
        Success = "success",
        /// It refused: the request is at fault, or the object is not as supposed.
        Refused = "refused",
        /// It has too much to do.
        Throttled = "throttled",
        /// It failed.
        Failed = "failed",
        /// Not at all.
        None = "none",
    }
}

impl EncodeLabelValue for Class {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), fmt::Error> {
        encoder.write_str(self.as_str())
    }
}
