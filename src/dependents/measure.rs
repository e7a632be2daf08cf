//! A component of any size, to measure how long planning takes.

use super::desired::{Desired, PrepareOptions, prepare};
use super::inventory::with_desired;
use super::names::Names;
use super::ownership::{Owner, OwnerId, OwnerScope};
use super::plan::{Live, Observed, Plan, Policies, Stray, plan};
use super::prune::Pruning;
use crate::api::v1alpha1::{self as api, InventoryItem};
use crate::cluster::Resources;
use crate::status::{Assessment, Status};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use whipstaff_generator::{Capabilities, Error, Generated, Object};

/// A component whose objects are planned again and again.
#[derive(Debug)]
pub struct Planning {
    desired: Desired,
    inventory: Vec<InventoryItem>,
    absent: Observed,
    settled: Observed,
}

impl Planning {
    /// A component of some number of objects, in four kinds and ten waves.
    ///
    /// # Errors
    /// When the objects are malformed, which they are not.
    pub fn new(objects: usize, capabilities: Capabilities) -> Result<Self, Error> {
        let kinds = [
            ("v1", "ConfigMap"),
            ("v1", "Secret"),
            ("v1", "Service"),
            ("apps/v1", "Deployment"),
        ];
        let mut generated = Generated::default();
        for (number, (api_version, kind)) in (0..objects).zip(kinds.iter().cycle()) {
            let wave = (number % 10).to_string();
            let object = json!({"apiVersion": api_version, "kind": kind, "metadata": {
                "name": format!("object-{number}"), "annotations": {"whipstaff.dev/apply-order": wave}}});
            generated
                .objects
                .push(Object::from_value(object)?, "all.yaml");
        }
        let scope = OwnerScope::new(Names::shared(), "cluster", "Component", "whipstaff.dev");
        let objects = generated.objects.iter().map(|item| &item.object);
        let options = PrepareOptions {
            owner: &OwnerId::new(&scope, "apps", "shop"),
            namespace: "apps",
            adopted: false,
            policies: &api::Policies::default(),
            component: "",
            reapply: Some(Duration::from_hours(1)),
            additional_types: &[],
            resources: &Resources::assumed(capabilities, objects),
        };
        let desired = prepare(&generated, &options).unwrap_or_default();
        let now = Time(Timestamp::UNIX_EPOCH);
        let (mut inventory, _) = with_desired(&[], &desired, &now);
        let mut settled = Observed::default();
        let digests: BTreeMap<_, _> = desired.objects.iter().map(|o| (&o.id, &o.digest)).collect();
        for item in &mut inventory {
            let id = item.id();
            let digest = digests.get(&id).map(|digest| (*digest).clone());
            let live = live(digest.unwrap_or_default());
            item.fields.clone_from(&live.fields);
            item.digest.clone_from(&live.digest);
            settled.objects.insert(id, live);
        }
        Ok(Self {
            desired,
            inventory,
            absent: Observed::default(),
            settled,
        })
    }

    /// Plans when everything is as it should be: every wave is looked at. Gives the number of steps.
    pub fn settled(&self) -> usize {
        self.plan(&self.desired, &self.settled).steps.len()
    }

    /// Plans when nothing is there. Gives the number of steps.
    pub fn new_objects(&self) -> usize {
        self.plan(&self.desired, &self.absent).steps.len()
    }

    /// Plans when nothing is wanted any more. Gives the number of objects that are waited for.
    pub fn redundant(&self) -> usize {
        self.plan(&Desired::default(), &self.settled).waiting.len()
    }

    fn plan(&self, desired: &Desired, observed: &Observed) -> Plan {
        let policies = Policies {
            create_namespaces: true,
            pruning: Pruning::new(None),
            claimed: &BTreeSet::new(),
            additional_types: &[],
            until_hooks: false,
            now: Timestamp::UNIX_EPOCH,
        };
        plan(desired, &self.inventory, observed, &policies)
    }
}

fn live(digest: String) -> Live {
    Live {
        uid: "uid".to_owned(),
        version: 1,
        deleting: false,
        finalizers: Vec::new(),
        owner: Owner::Us,
        digest,
        fields: "fields".to_owned(),
        stray: Stray::default(),
        assessment: Assessment {
            status: Status::Current,
            message: String::new(),
        },
    }
}
