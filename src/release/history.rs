//! All revisions of a release, and which of them counts.

use super::record::Status;
use super::storage::{Head, ReleaseName};
use std::fmt;

/// The revisions of one release, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct History {
    /// The release.
    pub(crate) release: ReleaseName,
    /// What is known of the revisions without reading them.
    pub(crate) revisions: Vec<Head>,
}

/// The revision that the objects in the cluster come from, and what is to be said of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Present {
    /// The revision.
    pub(crate) head: Head,
    /// Later revisions that failed, or are under way: some objects may be as those had them.
    pub(crate) later: Vec<(i64, Status)>,
}

/// Why no revision of a release can be taken over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotAdoptable {
    /// There is no record of it.
    Missing,
    /// A revision is under way, or was interrupted.
    Pending {
        /// The revision.
        revision: i64,
        /// What it waits for.
        status: Status,
    },
    /// It was uninstalled.
    Uninstalled,
    /// It is being uninstalled, or that was interrupted.
    Uninstalling,
    /// No revision was ever deployed.
    NeverDeployed,
}

impl fmt::Display for NotAdoptable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("there is no such release"),
            Self::Pending { revision, status } => write!(
                f,
                "revision {revision} is {status}: Helm is at work, or was interrupted"
            ),
            Self::Uninstalled => f.write_str("it is uninstalled"),
            Self::Uninstalling => f.write_str("it is being uninstalled, or that was interrupted"),
            Self::NeverDeployed => f.write_str("no revision of it was ever deployed"),
        }
    }
}

impl History {
    /// All releases among some records, each with its revisions in order.
    pub(crate) fn of_all(mut heads: Vec<Head>) -> Vec<Self> {
        heads.sort_by(|a, b| (&a.release, a.revision).cmp(&(&b.release, b.revision)));
        heads
            .chunk_by(|a, b| a.release == b.release)
            .filter_map(|revisions| {
                let first = revisions.first()?;
                Some(Self {
                    release: first.release.clone(),
                    revisions: revisions.to_vec(),
                })
            })
            .collect()
    }

    /// The revisions of one release, which may have none.
    pub(crate) fn of(release: ReleaseName, mut revisions: Vec<Head>) -> Self {
        revisions.sort_by_key(|head| head.revision);
        Self { release, revisions }
    }

    /// The last revision.
    pub(crate) fn last(&self) -> Option<&Head> {
        self.revisions.last()
    }

    /// The revision that the objects in the cluster come from: the last one that was deployed, whatever failed after it.
    ///
    /// # Errors
    /// [`NotAdoptable`] when there is none, or when a later one is under way; with `pending` it is passed over.
    pub(crate) fn present(&self, pending: bool) -> Result<Present, NotAdoptable> {
        let last = self.last().ok_or(NotAdoptable::Missing)?;
        match &last.status {
            Status::Uninstalled => return Err(NotAdoptable::Uninstalled),
            Status::Uninstalling => return Err(NotAdoptable::Uninstalling),
            status if status.is_pending() && !pending => {
                return Err(NotAdoptable::Pending {
                    revision: last.revision,
                    status: status.clone(),
                });
            }
            _ => {}
        }
        let deployed = self
            .revisions
            .iter()
            .rfind(|h| h.status == Status::Deployed);
        // An interrupted upgrade may have left none that is called deployed, and a first one that was interrupted has no other.
        let superseded = || {
            self.revisions
                .iter()
                .rfind(|h| h.status == Status::Superseded)
        };
        let first = || (last.status == Status::PendingInstall).then_some(last);
        let head = deployed.or_else(superseded).or_else(first);
        let head = head.ok_or(NotAdoptable::NeverDeployed)?;
        let later = self.revisions.iter().filter(|h| h.revision > head.revision);
        Ok(Present {
            head: head.clone(),
            later: later.map(|h| (h.revision, h.status.clone())).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::Driver;

    fn history(statuses: &[Status]) -> History {
        let release = ReleaseName::new("apps", "web");
        let heads = statuses.iter().zip(1..).map(|(status, revision)| Head {
            driver: Driver::Secrets,
            release: release.clone(),
            revision,
            status: status.clone(),
            object: format!("sh.helm.release.v1.web.v{revision}"),
            version: String::new(),
            chunked: None,
        });
        History::of(release.clone(), heads.collect())
    }

    fn present(statuses: &[Status], pending: bool) -> Result<i64, NotAdoptable> {
        let present = history(statuses).present(pending);
        present.map(|present| present.head.revision)
    }

    #[test]
    fn deployed_revision_counts_whatever_failed_after_it() {
        use Status::*;
        assert_eq!(
            present(&[Superseded, Deployed, Failed, Failed], false),
            Ok(2)
        );
        assert_eq!(present(&[Superseded, Superseded, Deployed], false), Ok(3));
        assert_eq!(present(&[Superseded, Failed], false), Ok(1));
    }

    #[test]
    fn pending_revisions_are_passed_over_only_by_choice() {
        use Status::*;
        let pending = NotAdoptable::Pending {
            revision: 2,
            status: PendingUpgrade,
        };
        assert_eq!(present(&[Deployed, PendingUpgrade], false), Err(pending));
        assert_eq!(present(&[Deployed, PendingUpgrade], true), Ok(1));
        assert_eq!(present(&[PendingInstall], true), Ok(1));
    }

    #[test]
    fn what_is_not_there_is_not_taken_over() {
        use Status::*;
        assert_eq!(present(&[], true), Err(NotAdoptable::Missing));
        assert_eq!(
            present(&[Uninstalled], true),
            Err(NotAdoptable::Uninstalled)
        );
        assert_eq!(
            present(&[Uninstalling], true),
            Err(NotAdoptable::Uninstalling)
        );
        assert_eq!(present(&[Failed], true), Err(NotAdoptable::NeverDeployed));
    }

    #[test]
    fn records_are_sorted_into_releases() {
        let mut heads = history(&[Status::Superseded, Status::Deployed]).revisions;
        let mut other = heads[0].clone();
        other.release = ReleaseName::new("other", "web");
        heads.insert(0, other);
        heads.swap(1, 2);
        let all = History::of_all(heads);
        let shown: Vec<_> = all
            .iter()
            .map(|h| (h.release.namespace.as_str(), h.revisions.len()))
            .collect();
        assert_eq!(shown, [("apps", 2), ("other", 1)]);
        assert_eq!(all[0].last().map(|head| head.revision), Some(2));
    }
}
