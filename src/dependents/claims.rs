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

/// The claims of all components.
#[derive(Debug, Clone)]
pub(crate) struct Claims {
    wake: UnboundedSender<ComponentName>,
    claims: Arc<Mutex<HashMap<ObjectId, Claim>>>,
}

#[derive(Debug)]
struct Claim {
    claimant: String,
    name: ComponentName,
    wake: UnboundedSender<ComponentName>,
    made: Instant,
}

impl Claims {
    /// No claims. Components of a kind that get what they claimed are sent to `wake`.
    pub(crate) fn new(wake: UnboundedSender<ComponentName>) -> Self {
        Self {
            wake,
            claims: Arc::default(),
        }
    }

    /// Replaces the claims of a component. An object goes to who claimed it first.
    pub(crate) fn claim(
        &self,
        claimant: &OwnerId,
        name: &ComponentName,
        objects: impl IntoIterator<Item = ObjectId>,
    ) {
        let wanted: BTreeSet<_> = objects.into_iter().collect();
        let mut claims = self.claims();
        claims.retain(|id, claim| {
            claim.made.elapsed() < MAX_AGE
                && (claim.claimant != claimant.annotation() || wanted.contains(id))
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
        let others = claims.iter().filter(|(_, claim)| {
            claim.claimant != us.annotation() && claim.made.elapsed() < MAX_AGE
        });
        others.map(|(id, _)| id.clone()).collect()
    }

    /// Tells who claimed an object that it is free.
    pub(crate) fn released(&self, id: &ObjectId) {
        if let Some(claim) = self.claims().remove(id) {
            // Fails only while the operator stops: then nobody is left to wake.
            let _ = claim.wake.send(claim.name);
        }
    }

    fn claims(&self) -> MutexGuard<'_, HashMap<ObjectId, Claim>> {
        // Nothing that holds the lock can leave the map half changed.
        self.claims.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dependents::testing::{config_map_id, owner, owner_named};

    #[test]
    fn first_claimant_gets_the_object_and_is_woken() {
        let (wake, mut woken) = tokio::sync::mpsc::unbounded_channel();
        let claims = Claims::new(wake);
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
        let claims = Claims::new(wake);
        let name = ("apps".to_owned(), "first".to_owned());
        let first = owner_named("first");
        claims.claim(&first, &name, [config_map_id("a"), config_map_id("b")]);
        claims.claim(&first, &name, [config_map_id("b")]);
        assert_eq!(
            claims.of_others(&owner()),
            BTreeSet::from([config_map_id("b")])
        );
    }
}
