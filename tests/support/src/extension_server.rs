use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use http_body_util::BodyExt as _;
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::{Method, Request, Response};
use serde_json::{Map, Value, json};
use tokio::sync::{broadcast, mpsc};

use crate::https_server::{HttpsServer, Served, json_answer, read_json, status};
use crate::{ControlPlane, Error};

/// Events of watches that may be on their way; who is slower loses some.
const WATCH_ROOM: usize = 256;

/// An extension API server: it serves the namespaced kind `Thing` (`things`) of a group in `v1`, as simply as can be: objects are kept
/// in memory, applied as they are sent, and deleted at once.
///
/// While it is closed, as it is at first, every call fails.
#[derive(Debug)]
pub struct ExtensionServer {
    server: HttpsServer,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    group: String,
    store: Mutex<Store>,
    events: broadcast::Sender<(&'static str, Value)>,
}

#[derive(Debug, Default)]
struct Store {
    version: u64,
    objects: BTreeMap<(String, String), Value>,
}

/// What a request is about: a namespace, and an object in it.
struct Target {
    namespace: Option<String>,
    name: Option<String>,
}

impl ExtensionServer {
    /// Starts a server of a group that is closed. It ends when it is dropped.
    ///
    /// # Errors
    ///
    /// When there is no free port.
    pub async fn start(plane: &ControlPlane, group: &str) -> Result<Self, Error> {
        let state = Arc::new(State {
            group: group.to_owned(),
            store: Mutex::default(),
            events: broadcast::Sender::new(WATCH_ROOM),
        });
        let shared = Arc::clone(&state);
        let server = HttpsServer::start(plane, move |request| {
            let state = Arc::clone(&shared);
            async move { state.answer(request).await }
        });
        Ok(Self {
            server: server.await?,
            state,
        })
    }

    /// Answers from now on, or does not any more.
    pub fn set_open(&self, open: bool) {
        self.server.set_open(open);
    }

    /// Manifests of the `Service` and the `APIService` that lead here.
    pub fn registration(&self, namespace: &str, service: &str) -> [Value; 2] {
        let (group, port) = (&self.state.group, self.server.port());
        let service_object = json!({"apiVersion": "v1", "kind": "Service",
            "metadata": {"name": service, "namespace": namespace},
            "spec": {"type": "ExternalName", "externalName": "localhost", "ports": [{"port": port}]}});
        let api_service = json!({"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
            "metadata": {"name": format!("v1.{group}")},
            "spec": {"group": group, "version": "v1", "insecureSkipTLSVerify": true,
                "groupPriorityMinimum": 1000, "versionPriority": 10,
                "service": {"name": service, "namespace": namespace, "port": port}}});
        [service_object, api_service]
    }

    /// An object as it is now.
    pub fn object(&self, namespace: &str, name: &str) -> Option<Value> {
        let key = (namespace.to_owned(), name.to_owned());
        self.state.store().objects.get(&key).cloned()
    }
}

impl State {
    async fn answer(&self, request: Request<Incoming>) -> Served {
        let prefix = format!("/apis/{}/v1", self.group);
        let path = request.uri().path().to_owned();
        let rest = match path.strip_prefix(&prefix) {
            Some("" | "/") => return json_answer(200, &self.discovery()),
            Some(rest) => target(rest),
            None => None,
        };
        let Some(target) = rest else {
            return json_answer(404, &status(404, "NotFound", "there is nothing here"));
        };
        let accept = request.headers().get(hyper::header::ACCEPT);
        let accept = accept.and_then(|accept| accept.to_str().ok());
        let metadata_only = accept.is_some_and(|a| a.contains("as=PartialObjectMetadata"));
        let watches = request.uri().query().is_some_and(|query| {
            let mut pairs = query.split('&');
            pairs.any(|pair| matches!(pair, "watch=true" | "watch=1"))
        });
        match (request.method().clone(), target.name.is_some()) {
            (Method::GET, false) if watches => self.watch(metadata_only),
            (Method::GET, false) => json_answer(200, &self.list(&target, metadata_only)),
            (Method::GET, true) => self.found(&target),
            (Method::PATCH, true) => match read_json(request).await {
                Some(object) => self.apply(&target, object),
                None => json_answer(415, &status(415, "UnsupportedMediaType", "not JSON")),
            },
            (Method::DELETE, true) => self.delete(&target),
            _ => json_answer(405, &status(405, "MethodNotAllowed", "not here")),
        }
    }

    fn discovery(&self) -> Value {
        json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": format!("{}/v1", self.group),
            "resources": [{"name": "things", "singularName": "thing", "namespaced": true, "kind": "Thing",
                "verbs": ["get", "list", "watch", "patch", "delete"]}]})
    }

    fn list(&self, target: &Target, metadata_only: bool) -> Value {
        let store = self.store();
        let wanted = target.namespace.as_ref();
        let inside = store
            .objects
            .iter()
            .filter(|((namespace, _), _)| wanted.is_none_or(|wanted| wanted == namespace));
        let items: Vec<_> = inside
            .map(|(_, object)| shown(object, metadata_only))
            .collect();
        json!({"kind": "ThingList", "apiVersion": format!("{}/v1", self.group),
            "metadata": {"resourceVersion": store.version.to_string()}, "items": items})
    }

    fn watch(&self, metadata_only: bool) -> Served {
        let mut events = self.events.subscribe();
        let (sender, lines) = mpsc::channel(1);
        tokio::spawn(async move {
            while let Ok((type_, object)) = events.recv().await {
                let event = json!({"type": type_, "object": shown(&object, metadata_only)});
                if sender
                    .send(Bytes::from(format!("{event}\n")))
                    .await
                    .is_err()
                {
                    return;
                }
            }
        });
        Response::new(Lines(lines).boxed_unsync())
    }

    fn found(&self, target: &Target) -> Served {
        match self.store().objects.get(&key(target)) {
            Some(object) => json_answer(200, object),
            None => json_answer(404, &status(404, "NotFound", "no such thing")),
        }
    }

    /// What was applied before is replaced, whoever applied it. The version "1" is that of no object.
    fn apply(&self, target: &Target, mut object: Value) -> Served {
        let mut store = self.store();
        let before = store.objects.get(&key(target)).cloned();
        let asked = object
            .pointer("/metadata/resourceVersion")
            .and_then(Value::as_str);
        if before.is_some() && asked == Some("1") {
            return json_answer(409, &status(409, "Conflict", "it exists"));
        }
        store.version += 1;
        let version = store.version.to_string();
        let fields = json!([{"manager": "whipstaff", "operation": "Apply", "apiVersion": object["apiVersion"],
            "fieldsType": "FieldsV1", "fieldsV1": fields(&object)}]);
        let Some(Value::Object(metadata)) = object.get_mut("metadata") else {
            return json_answer(400, &status(400, "BadRequest", "no metadata"));
        };
        let uid = before
            .as_ref()
            .and_then(|before| before.pointer("/metadata/uid").cloned());
        let uid = uid.unwrap_or_else(|| json!(format!("thing-{version}")));
        metadata.insert("resourceVersion".to_owned(), json!(version));
        metadata.insert("uid".to_owned(), uid);
        metadata.insert("namespace".to_owned(), json!(target.namespace));
        metadata.insert("managedFields".to_owned(), fields);
        store.objects.insert(key(target), object.clone());
        let type_ = if before.is_some() {
            "MODIFIED"
        } else {
            "ADDED"
        };
        // Nobody may be watching.
        let _ = self.events.send((type_, object.clone()));
        json_answer(if before.is_some() { 200 } else { 201 }, &object)
    }

    fn delete(&self, target: &Target) -> Served {
        let mut store = self.store();
        let Some(mut object) = store.objects.remove(&key(target)) else {
            return json_answer(404, &status(404, "NotFound", "no such thing"));
        };
        store.version += 1;
        object["metadata"]["resourceVersion"] = json!(store.version.to_string());
        let _ = self.events.send(("DELETED", object.clone()));
        json_answer(200, &object)
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A body that goes on for as long as there are lines to come.
struct Lines(mpsc::Receiver<Bytes>);

impl Body for Lines {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let line = self.0.poll_recv(context);
        line.map(|line| line.map(|line| Ok(Frame::data(line))))
    }
}

fn target(path: &str) -> Option<Target> {
    let parts: Vec<_> = path.trim_start_matches('/').split('/').collect();
    let (namespace, rest) = match parts[..] {
        ["namespaces", namespace, ref rest @ ..] => (Some(namespace.to_owned()), rest.to_vec()),
        ref rest => (None, rest.to_vec()),
    };
    let name = match rest[..] {
        ["things"] => None,
        ["things", name] => Some(name.to_owned()),
        _ => return None,
    };
    Some(Target { namespace, name })
}

fn key(target: &Target) -> (String, String) {
    (
        target.namespace.clone().unwrap_or_default(),
        target.name.clone().unwrap_or_default(),
    )
}

fn shown(object: &Value, metadata_only: bool) -> Value {
    if !metadata_only {
        return object.clone();
    }
    json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": object["metadata"]})
}

/// The fields of an applied object, as its managed fields name them.
fn fields(object: &Value) -> Value {
    let Value::Object(entries) = object else {
        return json!({});
    };
    let known = ["apiVersion", "kind", "name", "namespace", "resourceVersion"];
    let named = entries
        .iter()
        .filter(|(name, _)| !known.contains(&name.as_str()));
    let named = named.map(|(name, value)| (format!("f:{name}"), fields(value)));
    Value::Object(named.collect::<Map<_, _>>())
}
