//! What somebody else did to a component's objects, and what other components ask of it.

use super::error::ReconcileError;
use super::resource::Component;
use super::run::Run;
use crate::dependents::{
    Change, Desired, Judgement, Observed, Outcome, Plan, Reason, Refusal, RefusalCause, describe,
    judge, owned_fields,
};
use crate::events::Notice;
use kube::ResourceExt;
use kube::runtime::events::EventType;
use serde_json::Value;
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

impl<C: Component> Run<'_, C> {
    /// Looks at what others changed. A change that is left as it is gets recorded; gives whether there was one, so that the plan is
    /// not right any more.
    pub(super) async fn judge(
        &mut self,
        plan: &Plan,
        desired: &Desired,
        observed: &Observed,
    ) -> Result<bool, ReconcileError> {
        let drifted = plan
            .steps
            .iter()
            .filter(|step| step.reason == Reason::Drifted);
        let drifted: Vec<_> = drifted.map(|step| step.key.id()).collect();
        if drifted.is_empty() {
            return Ok(false);
        }
        let wanted: HashMap<_, _> = desired.objects.iter().map(|o| (&o.id, o)).collect();
        let mut accepted = false;
        for id in drifted {
            let Some(object) = wanted.get(&id) else {
                continue;
            };
            let version = observed.objects.get(&id).map_or(0, |live| live.version);
            if self.memory.judged.get(&id).map(|known| known.version) == Some(version) {
                continue;
            }
            let read = self
                .objects
                .read(&object.resource, &id.namespace, &id.name)
                .await;
            let Some(live) = read.map_err(|cause| ReconcileError::read(id.clone(), cause))? else {
                continue;
            };
            match judge(object, &live, self.owner.names().field_manager()) {
                Judgement::Correct(differences) => {
                    let what = describe(&differences);
                    self.memory.judged.insert(id, Judged { version, what });
                }
                Judgement::Accept(differences) => {
                    self.accept(&id, &live, describe(&differences)).await;
                    accepted = true;
                }
            }
        }
        Ok(accepted)
    }

    /// Records an object as it is, and tells of it if it is not as wanted.
    async fn accept(&mut self, id: &ObjectId, live: &Value, told: String) {
        let fields = owned_fields(live, self.owner.names().field_manager());
        self.memory.live.remove(id);
        self.memory.judged.remove(id);
        let mut items = self.status.inventory.iter_mut();
        let Some(item) = items.find(|item| item.id() == *id) else {
            return;
        };
        item.fields = fields;
        let is_news = !told.is_empty() && item.drift != told;
        item.drift.clone_from(&told);
        if is_news {
            let note = format!("{id} was changed by somebody and is left so: {told}");
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
        use crate::api::v1alpha1::AdoptionPolicy;
        let claims = &self.target.cluster.claims;
        if refusals.is_empty() && !claims.has(&self.owner) {
            return;
        }
        let never = |id: &ObjectId| {
            let mut objects = desired.objects.iter();
            objects.any(|object| object.id == *id && object.adoption == AdoptionPolicy::Never)
        };
        let owned = refusals
            .iter()
            .filter(|refusal| refusal.cause == RefusalCause::Owned && !never(&refusal.id));
        let wanted = owned.map(|refusal| refusal.id.clone());
        let name = (self.namespace.clone(), self.component.name_any());
        claims.claim(&self.owner, &name, wanted);
    }

    /// Tells who asked for objects that they are free now.
    pub(super) fn hand_over(&self, changes: &[Change]) {
        for change in changes {
            if matches!(change.outcome, Outcome::Released | Outcome::Deleted) {
                self.target.cluster.claims.released(&change.id);
            }
        }
    }
}
