//! The proof that a release can be taken over without any change, or what would change.

use super::documents::{Cause, Documents, Verdict, is_precious};
use super::live::{Effect, LiveObject};
use crate::release::{Release, ReleaseName, Status};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use whipstaff_generator::{Digest, ObjectId};
use whipstaff_helm::Dialect;

/// Most things in the way that one sentence names.
const MAX_TOLD: usize = 5;

/// What was found out about a release.
#[derive(Debug, Clone)]
pub(crate) struct Proof {
    /// The release.
    pub(crate) release: ReleaseName,
    /// The revision that the objects come from.
    pub(crate) revision: i64,
    /// Later revisions that failed or were interrupted.
    pub(crate) later: Vec<(i64, Status)>,
    /// The chart, as `NAME-VERSION`.
    pub(crate) chart: String,
    /// The dialect that the chart was rendered in, if it has one.
    pub(crate) dialect: Option<Dialect>,
    /// Digest of what the release has stored.
    pub(crate) stored: Digest,
    /// What is stored and what is rendered.
    pub(crate) documents: Documents,
    /// What is there.
    pub(crate) live: Vec<LiveObject>,
}

/// How many objects there are of each sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    /// Objects of the release.
    pub(crate) documents: usize,
    /// Those that are rendered as they are stored.
    pub(crate) equal: usize,
    /// Those that are but for values that are kept.
    pub(crate) pinned: usize,
    /// Those that are not, or are on one side only.
    pub(crate) different: usize,
    /// Objects that somebody changed.
    pub(crate) drifted: usize,
    /// Objects that taking over would change, create, or cannot have.
    pub(crate) affected: usize,
    /// Hooks.
    pub(crate) hooks: usize,
}

impl Proof {
    /// What holds for a release of its manifest.
    pub(crate) fn stored_digest(release: &Release) -> Digest {
        let version = release.version.to_string();
        let parts = [
            release.namespace.as_str(),
            release.name.as_str(),
            &version,
            &release.manifest,
        ];
        Digest::of_parts(parts.map(str::as_bytes))
    }

    /// Whether nothing changes but our metadata.
    pub(crate) fn is_identical(&self) -> bool {
        self.documents.duplicates.is_empty()
            && self.documents.all.iter().all(|d| d.verdict.is_equal())
            && self.live.iter().all(|l| l.effect == Effect::Nothing)
    }

    /// How many objects there are of each sort.
    pub(crate) fn counts(&self) -> Counts {
        let of = |test: &dyn Fn(&Verdict) -> bool| {
            let all = self.documents.all.iter();
            all.filter(|document| test(&document.verdict)).count()
        };
        Counts {
            documents: of(&|verdict| !matches!(verdict, Verdict::Extra | Verdict::Definition)),
            equal: of(&|verdict| matches!(verdict, Verdict::Equal | Verdict::LeftOut)),
            pinned: of(&|verdict| matches!(verdict, Verdict::Pinned(_))),
            different: of(&|verdict| !verdict.is_equal()),
            drifted: self.live.iter().filter(|l| !l.drifted.is_empty()).count(),
            affected: self
                .live
                .iter()
                .filter(|l| l.effect != Effect::Nothing)
                .count(),
            hooks: self.documents.hooks.len(),
        }
    }

    /// What an approval is for: everything that was found, without values.
    pub(crate) fn digest(&self) -> Digest {
        let documents: Vec<_> = self
            .documents
            .all
            .iter()
            .map(|d| json!([d.id.to_string(), d.verdict]))
            .collect();
        let live: Vec<_> = self
            .live
            .iter()
            .map(|l| json!([l.id.to_string(), l.effect, l.drifted]))
            .collect();
        let duplicates = self.documents.duplicates.iter().map(ToString::to_string);
        let all = json!({
            "release": self.release.to_string(),
            "revision": self.revision,
            "stored": self.stored.to_string(),
            "documents": documents,
            "duplicates": duplicates.collect::<Vec<_>>(),
            "live": live,
        });
        Digest::of(all.to_string().as_bytes())
    }

    /// One sentence.
    pub(crate) fn summary(&self) -> String {
        let counts = self.counts();
        let mut text = format!(
            "{} of {} objects are rendered as the release has them",
            counts.equal + counts.pinned,
            counts.documents
        );
        if counts.pinned > 0 {
            let _ = write!(text, ", {} with values that are kept", counts.pinned);
        }
        if counts.different > 0 {
            let _ = write!(text, "; {} differ", counts.different);
        }
        if counts.drifted > 0 {
            let _ = write!(text, "; somebody changed {}", counts.drifted);
        }
        if self.is_identical() {
            text.push_str("; nothing changes");
        } else if counts.affected > 0 {
            let _ = write!(text, "; {} would change", counts.affected);
        }
        text
    }

    /// One sentence, and the first things that are in the way.
    pub(crate) fn told(&self) -> String {
        let mut text = self.summary();
        let unequal = self.documents.all.iter().filter(|d| !d.verdict.is_equal());
        let unequal = unequal.map(|document| {
            let id = &document.id;
            match &document.verdict {
                Verdict::Different(fields) => format!("{id} differs in {}", fields.join(", ")),
                Verdict::Missing => format!("{id} is not rendered"),
                _ => format!("{id} is not in the release"),
            }
        });
        let affected = self.live.iter().filter_map(|live| {
            let told = live.effect.told()?;
            Some(format!("{} {told}", live.id))
        });
        let duplicates = self.documents.duplicates.iter();
        let duplicates = duplicates.map(|id| format!("{id} is there twice"));
        let all: Vec<_> = duplicates.chain(unequal).chain(affected).collect();
        for problem in all.iter().take(MAX_TOLD) {
            text.push_str("; ");
            text.push_str(problem);
        }
        if all.len() > MAX_TOLD {
            let _ = write!(text, "; and {} more", all.len() - MAX_TOLD);
        }
        text
    }

    /// The whole of it for a person.
    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "Release {}, revision {}, chart {}",
            self.release, self.revision, self.chart
        );
        if let Some(dialect) = self.dialect {
            let _ = write!(text, ", rendered as Helm {dialect} does");
        }
        text.push('\n');
        for (revision, status) in &self.later {
            let _ = writeln!(
                text,
                "  revision {revision} after it is {status}, and counts for nothing"
            );
        }
        self.tell_documents(&mut text);
        self.tell_live(&mut text);
        self.tell_kept_apart(&mut text);
        self.tell_verdict(&mut text);
        text
    }

    fn tell_documents(&self, text: &mut String) {
        let counts = self.counts();
        let _ = writeln!(
            text,
            "\nObjects of the release: {}, of which {} are rendered as they are stored",
            counts.documents,
            counts.equal + counts.pinned
        );
        for id in &self.documents.duplicates {
            let _ = writeln!(text, "  {id} is there twice");
        }
        for document in &self.documents.all {
            let id = &document.id;
            match &document.verdict {
                Verdict::Equal => {}
                Verdict::Pinned(fields) => {
                    let _ = writeln!(text, "  {id} is equal but for");
                    for (pointer, cause) in fields {
                        let _ = writeln!(text, "    {pointer} ({cause}): {}", kept(*cause));
                    }
                }
                Verdict::Different(fields) => {
                    let fields = fields.join(", ");
                    let _ = writeln!(
                        text,
                        "  {id}, from {}, DIFFERS in {fields}",
                        document.source
                    );
                }
                Verdict::Missing => {
                    let _ = writeln!(text, "  {id} is NOT RENDERED: it would be left alone");
                }
                Verdict::LeftOut => {
                    let _ = writeln!(
                        text,
                        "  {id} is left out by the chart because it is there: it is left alone"
                    );
                }
                Verdict::Extra => {
                    let _ = writeln!(text, "  {id} is NOT IN THE RELEASE: it is new");
                }
                Verdict::Definition => {
                    let _ = writeln!(text, "  {id} comes from the folder `crds`");
                }
            }
        }
    }

    fn tell_live(&self, text: &mut String) {
        let drifted: Vec<_> = self.live.iter().filter(|l| !l.drifted.is_empty()).collect();
        if !drifted.is_empty() {
            text.push_str("\nChanged by somebody since:\n");
        }
        for live in drifted {
            let _ = writeln!(text, "  {}: {}", live.id, live.drift);
        }
    }

    fn tell_kept_apart(&self, text: &mut String) {
        let namespace = &self.release.namespace;
        let ids = || self.documents.all.iter().map(|document| &document.id);
        let elsewhere: Vec<_> = ids()
            .filter(|id| !id.namespace.is_empty() && id.namespace != *namespace)
            .collect();
        tell(text, "In other namespaces", &elsewhere);
        let precious: Vec<_> = ids()
            .filter(|id| is_precious(&id.group, &id.kind))
            .collect();
        tell(text, "Kept when the Component is deleted", &precious);
        if !self.documents.hooks.is_empty() {
            text.push_str("\nHooks, whose objects are left alone:\n");
        }
        for hook in &self.documents.hooks {
            let _ = writeln!(text, "  {} ({})", hook.id, hook.events.join(", "));
        }
    }

    fn tell_verdict(&self, text: &mut String) {
        let mut effects: BTreeMap<&ObjectId, String> = BTreeMap::new();
        for live in &self.live {
            if let Some(told) = live.effect.told() {
                effects.insert(&live.id, told);
            }
        }
        let untouched = self.live.len() - effects.len();
        let _ = writeln!(
            text,
            "\nOn adoption {untouched} objects get labels, annotations and another field manager, and nothing else changes in them"
        );
        for (id, told) in effects {
            let _ = writeln!(text, "  {id} {told}");
        }
        let verdict = if self.is_identical() {
            "NOTHING CHANGES"
        } else {
            "SOMETHING CHANGES, OR IS NOT PROVED"
        };
        let _ = writeln!(text, "\n{verdict}\nDigest of the proof: {}", self.digest());
    }
}

fn kept(cause: Cause) -> &'static str {
    match cause {
        Cause::Random | Cause::Time => "made anew each time, kept as the release has it",
        Cause::Lookup => "comes out otherwise now, kept as the release has it",
    }
}

fn tell(text: &mut String, what: &str, ids: &[&ObjectId]) {
    if ids.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{what}:");
    for id in ids {
        let _ = writeln!(text, "  {id}");
    }
}
