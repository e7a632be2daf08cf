//! What somebody else did to a component's objects, and what other components ask of it.

use super::error::ReconcileError;
use super::resource::Component;
use super::run::Run;
use crate::api::v1alpha1::{AdoptionPolicy, InventoryItem};
use crate::cluster::{ComponentName, Objects};
use crate::dependents::{
    Change, Claims, Desired, DesiredObject, Judgement, Observed, Outcome, OwnerId, Plan, Reason,
    Refusal, RefusalCause, describe, judge, owned_fields,
};
use crate::events::Notice;
use kube::ResourceExt;
use kube::runtime::events::EventType;
use std::collections::HashMap;
use whipstaff_generator::ObjectId;

/// What is known of a change that will be put right.
#[derive(Debug, Clone)]
pub(crate) struct Judged {
    /// Resource version of the object that was looked at.
    version: u64,
    /// The differences, for a person.
    pub(super) what: String,
}

/// What somebody changed in one object, and what is to be done about it.
#[derive(Debug)]
pub(super) struct Verdict {
    /// The object.
    pub(super) id: ObjectId,
    /// Whether it is left as it is.
    pub(super) is_accepted: bool,
    /// The differences that matter, for a person.
    pub(super) what: String,
    /// Digest of our fields as they are now.
    fields: String,
}

impl Verdict {
    /// Records an object as it is, and gives whether what is to be told of it is news.
    pub(super) fn record(&self, item: &mut InventoryItem) -> bool {
        item.fields.clone_from(&self.fields);
        let is_news = !self.what.is_empty() && item.drift != self.what;
        item.drift.clone_from(&self.what);
        is_news
    }
}

/// Objects that a plan puts right.
pub(super) fn drifted(plan: &Plan) -> impl Iterator<Item = ObjectId> {
    let steps = plan.steps.iter();
    let drifted = steps.filter(|step| step.reason == Reason::Drifted);
    drifted.map(|step| step.key.id())
}

/// Compares a manifest with the live object; nothing when there is none.
pub(super) async fn verdict(
    objects: &Objects,
    object: &DesiredObject,
    manager: &str,
) -> Result<Option<Verdict>, ReconcileError> {
    let id = &object.id;
    let read = objects.read(&object.resource, &id.namespace, &id.name);
    let read = read.await;
    let Some(live) = read.map_err(|cause| ReconcileError::read(id.clone(), cause))? else {
        return Ok(None);
    };
    let (is_accepted, differences) = match judge(object, &live, manager) {
        Judgement::Correct(differences) => (false, differences),
        Judgement::Accept(differences) => (true, differences),
    };
    Ok(Some(Verdict {
        id: id.clone(),
        is_accepted,
        what: describe(&differences),
        fields: owned_fields(&live, manager),
    }))
}

/// Asks the owners of refused objects for them, or withdraws what was asked for.
pub(super) fn claim(
    claims: &Claims,
    owner: &OwnerId,
    name: &ComponentName,
    desired: &Desired,
    refusals: &[Refusal],
) {
    if refusals.is_empty() && !claims.has(owner) {
        return;
    }
    let never = |id: &ObjectId| {
        let mut objects = desired.objects.iter();
        objects.any(|object| object.id == *id && object.adoption == AdoptionPolicy::Never)
    };
    let wanted = refusals
        .iter()
        .filter(|refusal| refusal.cause == RefusalCause::Owned && !never(&refusal.id));
    claims.claim(owner, name, wanted.map(|refusal| refusal.id.clone()));
}

/// Tells who asked for objects that they are free now.
pub(super) fn hand_over(claims: &Claims, changes: &[Change]) {
    for change in changes {
        if matches!(change.outcome, Outcome::Released | Outcome::Deleted) {
            claims.released(&change.id);
        }
    }
}

impl<C: Component> Run<'_, C> {
    /// Looks at what others changed. A change that is left as it is gets recorded; gives whether there was one, so that the plan is
    /// not right any more.
    pub(super) async fn judge(
        &mut self,
        plan: &Plan,
        desired: &Desired,
        observed: &Observed,
    ) -> Result<bool, ReconcileError> {
        let wanted: HashMap<_, _> = desired.objects.iter().map(|o| (&o.id, o)).collect();
        let mut accepted = false;
        for id in drifted(plan) {
            let Some(object) = wanted.get(&id) else {
                continue;
            };
            let version = observed.objects.get(&id).map_or(0, |live| live.version);
            if self.memory.judged.get(&id).map(|known| known.version) == Some(version) {
                continue;
            }
            let manager = self.owner.names().field_manager();
            let Some(verdict) = verdict(&self.objects, object, manager).await? else {
                continue;
            };
            if verdict.is_accepted {
                self.accept(&verdict).await;
                accepted = true;
            } else {
                let what = verdict.what;
                self.memory.judged.insert(id, Judged { version, what });
            }
        }
        Ok(accepted)
    }

    /// Records an object as it is, and tells of it if it is not as wanted.
    async fn accept(&mut self, verdict: &Verdict) {
        let id = &verdict.id;
        self.memory.live.remove(id);
        self.memory.judged.remove(id);
        let mut items = self.status.inventory.iter_mut();
        let Some(item) = items.find(|item| item.id() == *id) else {
            return;
        };
        if verdict.record(item) {
            let note = format!(
                "{id} was changed by somebody and is left so: {}",
                verdict.what
            );
            self.tell("Drifted", "Report", EventType::Warning, &note)
                .await;
        }
    }

    /// Tells of objects that were put right, each with what was wrong.
    pub(super) async fn tell_corrections(&mut self, changes: &[Change]) {
        for change in changes.iter().filter(|change| change.is_correction()) {
            let mut note = format!("{} was put right: {}", change.id, change.reason);
            let judged = self.memory.judged.remove(&change.id);
            if let Some(judged) = judged.filter(|judged| !judged.what.is_empty()) {
                note.push_str(": ");
                note.push_str(&judged.what);
            }
            self.tell("Corrected", "Correct", EventType::Normal, &note)
                .await;
        }
    }

    pub(super) async fn tell(&self, reason: &str, action: &str, severity: EventType, note: &str) {
        let reference = self.component.object_ref(&());
        let notice = Notice {
            severity,
            reason,
            action,
            note,
        };
        self.context.events.publish(&reference, &notice).await;
    }

    /// Asks the owners of refused objects for them, or withdraws what was asked for.
    pub(super) fn claim(&self, desired: &Desired, refusals: &[Refusal]) {
        let name = (self.namespace.clone(), self.component.name_any());
        let claims = &self.target.cluster.claims;
        claim(claims, &self.owner, &name, desired, refusals);
    }

    /// Tells who asked for objects that they are free now.
    pub(super) fn hand_over(&self, changes: &[Change]) {
        hand_over(&self.target.cluster.claims, changes);
    }
}
