use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::Deserialize;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};

use crate::{Access, Error};

/// Users of the control plane's own parts. Their names are the supervisor's choice.
const PARTS: [&str; 4] = [
    "system:kube-controller-manager",
    "system:kube-scheduler",
    "system:kwok",
    "system:apiserver",
];
const WRITES: [&str; 5] = ["create", "update", "patch", "delete", "deletecollection"];

/// How long an answered request may take to show up in the log, and how often to look.
const SETTLE_LIMIT: Duration = Duration::from_secs(10);
const SETTLE_EVERY: Duration = Duration::from_millis(10);

static SETTLED: AtomicU64 = AtomicU64::new(0);

/// The audit log of an API server: every request that it answered, without bodies.
#[derive(Debug, Clone)]
pub struct AuditLog {
    path: PathBuf,
    access: Access,
}

/// A moment of an [`AuditLog`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AuditMark(u64);

impl AuditMark {
    /// Before the first request.
    pub const START: Self = Self(0);
}

/// One answered request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`, or an HTTP
    /// method in lower case where there is no resource.
    pub verb: String,
    /// Who asked: the user that was impersonated, if one was.
    pub user: String,
    /// Who asked in the name of `user`, if that was someone else.
    pub impersonator: Option<String>,
    /// The client program.
    pub user_agent: String,
    /// API group, empty for the core group.
    pub group: String,
    /// Plural name of the resource, empty where there is none.
    pub resource: String,
    /// `status` for example, empty where there is none.
    pub subresource: String,
    /// Empty for what has none.
    pub namespace: String,
    /// Empty for lists, and for creations whose name the server chose.
    pub name: String,
    /// HTTP status of the answer; 0 if the client went away first.
    pub code: u16,
    /// Path and query.
    pub uri: String,
}

impl AuditEntry {
    /// Whether this is a write that the API server took: a change, or at least the wish for one.
    pub fn is_write(&self) -> bool {
        WRITES.contains(&self.verb.as_str())
            && !self.resource.is_empty()
            && (200..300).contains(&self.code)
            && !self.uri.contains("dryRun=")
    }

    /// Whether a part of the control plane asked, not its user.
    pub fn is_by_control_plane(&self) -> bool {
        PARTS.contains(&self.user.as_str())
    }
}

impl AuditLog {
    pub(crate) fn new(path: PathBuf, access: Access) -> Self {
        Self { path, access }
    }

    /// Where the log is, a JSON event a line.
    pub fn path(&self) -> &std::path::Path {
        &self.path
    }

    /// The present moment: everything that was answered until now is before it.
    ///
    /// # Errors
    ///
    /// When the API server or the log cannot be read.
    pub async fn mark(&self) -> Result<AuditMark, Error> {
        let from = self.length().await?;
        let beacon = format!(
            "/livez/ping?beacon={}",
            SETTLED.fetch_add(1, Ordering::Relaxed)
        );
        self.ask(&beacon).await?;
        let needle = format!("\"requestURI\":\"{beacon}\"");
        let looking = async {
            loop {
                let text = self.read_from(from).await?;
                if let Some(at) = text.find(&needle) {
                    let line_end = text.get(at..).and_then(|rest| rest.find('\n'));
                    if let Some(line_end) = line_end {
                        return Ok(AuditMark(from + (at + line_end + 1) as u64));
                    }
                }
                tokio::time::sleep(SETTLE_EVERY).await;
            }
        };
        tokio::time::timeout(SETTLE_LIMIT, looking)
            .await
            .unwrap_or_else(|_| {
                Err(Error::AuditStuck {
                    path: self.path.clone(),
                })
            })
    }

    /// All requests between the mark and now, in the order in which they were answered.
    ///
    /// # Errors
    ///
    /// When the API server or the log cannot be read.
    pub async fn entries_since(&self, mark: AuditMark) -> Result<Vec<AuditEntry>, Error> {
        let end = self.mark().await?;
        let text = self.read_from(mark.0).await?;
        let wanted = text.get(..(end.0 - mark.0) as usize).unwrap_or(&text);
        let events: Result<Vec<Event>, _> = wanted.lines().map(serde_json::from_str).collect();
        Ok(events
            .map_err(Error::AuditLine)?
            .into_iter()
            .map(AuditEntry::from)
            .collect())
    }

    /// How many writes to the namespace's objects were taken since the mark, not counting those of
    /// the control plane's own parts.
    ///
    /// # Errors
    ///
    /// When the API server or the log cannot be read.
    pub async fn count_writes(&self, namespace: &str, since: AuditMark) -> Result<usize, Error> {
        let entries = self.entries_since(since).await?;
        let counts = |entry: &&AuditEntry| {
            entry.is_write() && !entry.is_by_control_plane() && entry.namespace == namespace
        };
        Ok(entries.iter().filter(counts).count())
    }

    async fn ask(&self, path: &str) -> Result<(), Error> {
        let action = "leave a beacon in the audit log";
        let request = hyper::Request::get(path).body(Vec::new());
        let request = request.map_err(|cause| Error::api(action)(kube::Error::HttpError(cause)))?;
        self.access
            .client()
            .request_text(request)
            .await
            .map_err(Error::api(action))?;
        Ok(())
    }

    async fn length(&self) -> Result<u64, Error> {
        let metadata = tokio::fs::metadata(&self.path).await;
        Ok(metadata.map_err(Error::file("read", &self.path))?.len())
    }

    async fn read_from(&self, position: u64) -> Result<String, Error> {
        let read = async {
            let mut file = tokio::fs::File::open(&self.path).await?;
            file.seek(std::io::SeekFrom::Start(position)).await?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).await?;
            Ok(bytes)
        };
        let bytes = read.await.map_err(Error::file("read", &self.path))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct Event {
    verb: String,
    user: User,
    impersonated_user: Option<User>,
    user_agent: String,
    object_ref: ObjectRef,
    response_status: Status,
    #[serde(rename = "requestURI")]
    uri: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct User {
    username: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ObjectRef {
    api_group: String,
    resource: String,
    subresource: String,
    namespace: String,
    name: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Status {
    code: u16,
}

impl From<Event> for AuditEntry {
    fn from(event: Event) -> Self {
        let asking = event.user.username;
        let (user, impersonator) = match event.impersonated_user {
            Some(other) => (other.username, Some(asking)),
            None => (asking, None),
        };
        let object = event.object_ref;
        Self {
            verb: event.verb,
            user,
            impersonator,
            user_agent: event.user_agent,
            group: object.api_group,
            resource: object.resource,
            subresource: object.subresource,
            namespace: object.namespace,
            name: object.name,
            code: event.response_status.code,
            uri: event.uri,
        }
    }
}
