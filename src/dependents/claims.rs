//! Objects that change hands between components.
//!
//! A component that is refused an object because another component owns it registers a claim. Once the owner no longer wants the
//! object, it hands it over instead of deleting it. Claims are kept in memory: a claim that is lost is made again by the next attempt.

use super::ownership::OwnerId;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedSender;
use whipstaff_generator::ObjectId;

/// How long a claim holds unless it is made again; a refused component tries again far more often.
const MAX_AGE: Duration = Duration::from_mins(10);

/// Namespace and name of a component.
type ComponentName = (String, String);

/// A cluster, and an object there.
type Claimed = (String, ObjectId);

/// The claims of all components of a process, of whatever kind. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClaimBook(Arc<Mutex<HashMap<Claimed, Claim>>>);

/// The claims of all components on objects of one cluster, as the components of one kind see them.
#[derive(Debug, Clone)]
pub(crate) struct Claims {
    cluster: String,
    wake: UnboundedSender<ComponentName>,
    book: ClaimBook,
}

#[derive(Debug)]
struct Claim {
    claimant: String,
    name: ComponentName,
    wake: UnboundedSender<ComponentName>,
    made: Instant,
}

impl Claims {
    /// The claims of a book on objects of a cluster. Components of a kind that get what they claimed are sent to `wake`.
    pub(crate) fn new(
        book: &ClaimBook,
        cluster: &str,
        wake: UnboundedSender<ComponentName>,
    ) -> Self {
        Self {
            cluster: cluster.to_owned(),
            wake,
            book: book.clone(),
        }
    }

    /// Replaces the claims of a component. An object goes to who claimed it first.
    pub(crate) fn claim(
        &self,
        claimant: &OwnerId,
        name: &ComponentName,
        objects: impl IntoIterator<Item = ObjectId>,
    ) {
        let cluster = || self.cluster.clone();
        let wanted: BTreeSet<_> = objects.into_iter().map(|id| (cluster(), id)).collect();
        let mut claims = self.claims();
        claims.retain(|claimed, claim| {
            claim.made.elapsed() < MAX_AGE
                && (claim.claimant != claimant.annotation() || wanted.contains(claimed))
        });
        for id in wanted {
            let claim = claims.entry(id).or_insert_with(|| Claim {
                claimant: claimant.annotation().to_owned(),
                name: name.clone(),
                wake: self.wake.clone(),
                made: Instant::now(),
            });
            if claim.claimant == claimant.annotation() {
                claim.made = Instant::now();
            }
        }
    }

    /// Whether a component claims anything.
    pub(crate) fn has(&self, claimant: &OwnerId) -> bool {
        let is_theirs = |claim: &Claim| claim.claimant == claimant.annotation();
        self.claims().values().any(is_theirs)
    }

    /// What components other than this one ask for.
    pub(crate) fn of_others(&self, us: &OwnerId) -> BTreeSet<ObjectId> {
        let claims = self.claims();
        let others = claims.iter().filter(|((cluster, _), claim)| {
            *cluster == self.cluster
                && claim.claimant != us.annotation()
                && claim.made.elapsed() < MAX_AGE
        });
        others.map(|((_, id), _)| id.clone()).collect()
    }

    /// Tells who claimed an object that it is free.
    pub(crate) fn released(&self, id: &ObjectId) {
        let claimed = (self.cluster.clone(), id.clone());
        if let Some(claim) = self.claims().remove(&claimed) {
            // Fails only while the operator stops: then nobody is left to wake.
            let _ = claim.wake.send(claim.name);
        }
    }

    fn claims(&self) -> MutexGuard<'_, HashMap<Claimed, Claim>> {
        // Nothing that holds the lock can leave the map half changed.
        self.book.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dependents::testing::{config_map_id, owner, owner_named};

    #[test]
    fn first_claimant_gets_the_object_and_is_woken() {
        let (wake, mut woken) = tokio::sync::mpsc::unbounded_channel();
        let claims = Claims::new(&ClaimBook::default(), "", wake);
        let name = |name: &str| ("apps".to_owned(), name.to_owned());
        let (first, second) = (owner_named("first"), owner_named("second"));
        claims.claim(&first, &name("first"), [config_map_id("a")]);
        claims.claim(&second, &name("second"), [config_map_id("a")]);
        assert_eq!(
            claims.of_others(&owner()),
            BTreeSet::from([config_map_id("a")])
        );
        assert!(claims.of_others(&first).is_empty() && !claims.has(&second));
        claims.released(&config_map_id("a"));
        assert_eq!(woken.try_recv().unwrap(), name("first"));
        assert!(claims.of_others(&owner()).is_empty());
    }

    #[test]
    fn claim_that_is_not_made_again_is_withdrawn() {
        let (wake, _woken) = tokio::sync::mpsc::unbounded_channel();
        let claims = Claims::new(&ClaimBook::default(), "", wake);
        let name = ("apps".to_owned(), "first".to_owned());
        let first = owner_named("first");
        claims.claim(&first, &name, [config_map_id("a"), config_map_id("b")]);
        claims.claim(&first, &name, [config_map_id("b")]);
        assert_eq!(
            claims.of_others(&owner()),
            BTreeSet::from([config_map_id("b")])
        );
    }

    #[test]
    fn kinds_share_a_book_and_clusters_are_told_apart() {
        let channel = tokio::sync::mpsc::unbounded_channel;
        let ((wake, mut woken), (other, _other)) = (channel(), channel());
        let book = ClaimBook::default();
        let claims = Claims::new(&book, "", wake);
        let name = ("apps".to_owned(), "first".to_owned());
        claims.claim(&owner_named("first"), &name, [config_map_id("a")]);
        let of_another_kind = Claims::new(&book, "", other.clone());
        assert_eq!(
            of_another_kind.of_others(&owner()),
            BTreeSet::from([config_map_id("a")])
        );
        let of_another_cluster = Claims::new(&book, "elsewhere", other);
        assert!(of_another_cluster.of_others(&owner()).is_empty());
        of_another_cluster.released(&config_map_id("a"));
        of_another_kind.released(&config_map_id("a"));
        assert_eq!(woken.try_recv().unwrap(), name);
    }
}
