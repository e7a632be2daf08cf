//! Putting the proof together.

use super::dialect::dialects;
use super::documents::{Documents, Scope, compare};
use super::error::AdoptError;
use super::live::Inspector;
use super::proof::Proof;
use super::rendering::Subject;
use crate::cluster::{Discovery, Objects};
use crate::dependents::OwnerId;
use crate::release::{History, Present, Record, Release, ReleaseName, Storage};
use serde_json::{Value, json};
use std::sync::Arc;
use whipstaff_generator::{Capabilities, FileTree, Generator as _, Limits, Release as Rendering};
use whipstaff_helm::{Dialect, HelmGenerator};

/// A release that can be taken over: the revision that counts, and its record.
#[derive(Debug, Clone)]
pub(crate) struct Adoptable {
    /// The revision, and what came after it.
    pub(crate) present: Present,
    /// Its record.
    pub(crate) record: Record,
}

/// What a proof is made with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Verifier<'a> {
    /// What the cluster serves.
    pub(crate) discovery: &'a Discovery,
    /// Requests, under the identity that takes over.
    pub(crate) objects: &'a Objects,
    /// Who takes over.
    pub(crate) owner: &'a OwnerId,
    /// Whether what others changed is put right; nothing to leave that to whether there is any.
    pub(crate) corrects: bool,
}

impl Adoptable {
    /// Reads the revision of a release that counts. With `pending` one that is under way is passed over.
    ///
    /// # Errors
    /// [`AdoptError`] when there is none, or its record cannot be read.
    pub(crate) async fn read(
        storage: &Storage,
        release: &ReleaseName,
        pending: bool,
    ) -> Result<Self, AdoptError> {
        let history = storage.history(release).await?;
        Self::of(storage, &history, pending).await
    }

    /// The same for a release whose revisions are known.
    pub(crate) async fn of(
        storage: &Storage,
        history: &History,
        pending: bool,
    ) -> Result<Self, AdoptError> {
        let refused = |problem| AdoptError::NotAdoptable {
            release: history.release.clone(),
            problem,
        };
        let present = history.present(pending).map_err(refused)?;
        let record = storage.read(&present.head).await?;
        let record = record.ok_or_else(|| refused(crate::release::NotAdoptable::Missing))?;
        Ok(Self { present, record })
    }

    /// Which rendering the objects come from: a rollback brings back what another revision was rendered to.
    pub(crate) fn rendering(&self) -> Rendering {
        let release = &self.record.release;
        let revision = release.info.rolled_back_to().unwrap_or(release.version);
        Rendering {
            revision,
            is_upgrade: revision > 1,
        }
    }

    /// What `now` answered, about.
    pub(crate) fn deployed_at(&self) -> i64 {
        let deployed = self.record.release.info.deployed_at();
        deployed.map_or(0, jiff::Timestamp::as_second)
    }
}

impl Verifier<'_> {
    /// Renders a chart in all dialects until one gives what a release has stored, and makes the proof in that one, or else in the one
    /// that comes nearest.
    ///
    /// # Errors
    /// [`AdoptError`] when it cannot be rendered in any, or the cluster cannot be asked.
    pub(crate) async fn search(
        &self,
        adoptable: &Adoptable,
        chart: &FileTree,
        limits: Limits,
    ) -> Result<Proof, AdoptError> {
        let resources = self.discovery.resources().await?;
        let release = &adoptable.record.release;
        let mut best: Option<(usize, Dialect, Documents)> = None;
        let mut failure = None;
        for dialect in dialects(release) {
            let subject = subject(adoptable, chart, dialect, &resources.capabilities, limits);
            let subject = match subject {
                Ok(subject) => subject,
                Err(error) => {
                    failure = failure.or(Some(error));
                    continue;
                }
            };
            let documents = match self.documents(release, &subject).await {
                Ok(documents) => documents,
                Err(error @ AdoptError::Render { .. }) => {
                    failure = failure.or(Some(error));
                    continue;
                }
                Err(error) => return Err(error),
            };
            let unequal = documents.all.iter().filter(|d| !d.verdict.is_equal());
            let unequal = unequal.count();
            if best.as_ref().is_none_or(|(least, ..)| unequal < *least) {
                best = Some((unequal, dialect, documents));
            }
            if unequal == 0 {
                break;
            }
        }
        match (best, failure) {
            (Some((_, dialect, documents)), _) => {
                self.prove(adoptable, documents, Some(dialect)).await
            }
            (None, Some(error)) => Err(error),
            (None, None) => Err(AdoptError::Render {
                report: "there is no dialect to render in".to_owned(),
            }),
        }
    }

    /// Compares what a release has stored with what a subject renders to.
    pub(crate) async fn documents(
        &self,
        release: &Release,
        subject: &Subject,
    ) -> Result<Documents, AdoptError> {
        let renderings = subject.renderings(self.discovery, self.objects).await?;
        let resources = self.discovery.resources().await?;
        let scope = Scope {
            resources: &resources,
            namespace: &subject.namespace,
        };
        Ok(compare(release, &renderings, scope)?)
    }

    /// Looks at the live objects and completes the proof.
    pub(crate) async fn prove(
        &self,
        adoptable: &Adoptable,
        documents: Documents,
        dialect: Option<Dialect>,
    ) -> Result<Proof, AdoptError> {
        let resources = self.discovery.resources().await?;
        let name = &adoptable.present.head.release;
        let inspector = Inspector {
            objects: self.objects,
            resources: &resources,
            owner: self.owner,
            release: name,
            corrects: self.corrects,
        };
        let live = inspector.inspect(&documents).await?;
        let release = &adoptable.record.release;
        Ok(Proof {
            release: name.clone(),
            revision: adoptable.present.head.revision,
            later: adoptable.present.later.clone(),
            chart: release.chart.title(),
            dialect,
            stored: Proof::stored_digest(release),
            documents,
            live,
        })
    }
}

fn subject(
    adoptable: &Adoptable,
    chart: &FileTree,
    dialect: Dialect,
    capabilities: &Capabilities,
    limits: Limits,
) -> Result<Subject, AdoptError> {
    let release = &adoptable.record.release;
    let options = json!({"dialect": dialect.to_string(), "includeCRDs": false});
    let prepared = HelmGenerator.prepare(chart, &options);
    let prepared = prepared.map_err(|error| AdoptError::render(&error))?;
    Ok(Subject {
        prepared: Arc::from(prepared),
        namespace: release.namespace.clone(),
        name: release.name.clone(),
        parameters: release.config.clone(),
        capabilities: capabilities.clone(),
        release: adoptable.rendering(),
        component: None::<Arc<Value>>,
        now: adoptable.deployed_at(),
        limits,
    })
}
