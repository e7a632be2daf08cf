//! A namespace, a server for charts, and an operator that all tests of this binary share.

use k8s_openapi::api::core::v1::Event;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ListParams, Patch, PatchParams, PostParams};
use kube::runtime::conditions::is_crd_established;
use kube::{Api, Client, ResourceExt};
use serde_json::{Value, json};
use std::path::Path;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;
use whipstaff::api::v1alpha1::{Component, InventoryItem, State};
use whipstaff::{OperatorOptions, crds, run_operator};
use whipstaff_test_support::{ChartServer, eventually, pack_files, shared};

static OPERATOR: OnceCell<()> = OnceCell::const_new();

/// What one test works with.
pub(crate) struct World {
    pub(crate) client: Client,
    pub(crate) namespace: String,
    pub(crate) charts: ChartServer,
}

impl World {
    pub(crate) async fn new(prefix: &str) -> Self {
        let plane = shared().await;
        OPERATOR
            .get_or_init(|| start_operator(plane.config()))
            .await;
        Self {
            client: plane.client(),
            namespace: whipstaff_test_support::namespace(prefix).await,
            charts: ChartServer::start().unwrap(),
        }
    }

    /// Serves a chart whose templates are given, and gives its address.
    pub(crate) fn chart(&self, name: &str, templates: &[(&str, &str)]) -> String {
        let metadata = format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\n");
        let chart_file = format!("{name}/Chart.yaml");
        let mut files = vec![(chart_file, metadata)];
        for (path, text) in templates {
            files.push((format!("{name}/{path}"), (*text).to_owned()));
        }
        let path = format!("/{name}.tgz");
        self.charts.put(&path, pack_files(&files).unwrap());
        self.charts.url(&path)
    }

    /// Serves an archive of files, and gives its address.
    pub(crate) fn archive(&self, name: &str, files: &[(&str, &str)]) -> String {
        let files: Vec<_> = files
            .iter()
            .map(|(path, text)| (format!("{name}/{path}"), (*text).to_owned()))
            .collect();
        let path = format!("/{name}.tgz");
        self.charts.put(&path, pack_files(&files).unwrap());
        self.charts.url(&path)
    }

    pub(crate) fn components(&self) -> Api<Component> {
        self.api()
    }

    pub(crate) fn api<K>(&self) -> Api<K>
    where
        K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>,
    {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// Creates a component, or replaces its spec.
    pub(crate) async fn component(&self, name: &str, spec: Value) -> Component {
        let object = json!({
            "apiVersion": "whipstaff.dev/v1alpha1",
            "kind": "Component",
            "metadata": {"name": name},
            "spec": spec,
        });
        let params = PatchParams::apply("test").force();
        self.components()
            .patch(name, &params, &Patch::Apply(&object))
            .await
            .unwrap()
    }

    /// Merges something into a component.
    pub(crate) async fn merge(&self, name: &str, patch: Value) {
        let params = PatchParams::default();
        self.components()
            .patch(name, &params, &Patch::Merge(patch))
            .await
            .unwrap();
    }

    /// A component with nothing but a chart at an address.
    pub(crate) async fn install(&self, name: &str, url: &str) -> Component {
        self.component(name, json!({"source": {"url": {"url": url}}}))
            .await
    }

    pub(crate) async fn create<K>(&self, value: Value) -> K
    where
        K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>
            + Clone
            + std::fmt::Debug
            + serde::Serialize
            + serde::de::DeserializeOwned,
    {
        let object: K = serde_json::from_value(value).unwrap();
        self.api()
            .create(&PostParams::default(), &object)
            .await
            .unwrap()
    }

    /// Waits until the component of the present generation is as wanted.
    pub(crate) async fn wait(&self, name: &str, wanted: impl Fn(&Component) -> bool) -> Component {
        let current = |component: &Component| {
            let observed = component
                .status
                .as_ref()
                .and_then(|s| s.observed_generation);
            observed == component.metadata.generation && wanted(component)
        };
        eventually(&self.components(), name, |c| c.is_some_and(current))
            .await
            .unwrap()
    }

    pub(crate) async fn ready(&self, name: &str) -> Component {
        self.wait(name, |component| state(component) == Some(State::Ready))
            .await
    }

    /// Waits until the Ready condition has a reason, and gives its message.
    pub(crate) async fn reason(&self, name: &str, reason: &str) -> String {
        let component = self
            .wait(name, |c| condition(c).is_some_and(|(r, _)| r == reason))
            .await;
        condition(&component).unwrap().1
    }

    /// Events about a component with a reason, as their notes.
    pub(crate) async fn events(&self, name: &str, reason: &str) -> Vec<String> {
        let events: Api<Event> = self.api();
        let events = events.list(&ListParams::default()).await.unwrap();
        events
            .into_iter()
            .filter(|e| e.involved_object.name.as_deref() == Some(name))
            .filter(|e| e.reason.as_deref() == Some(reason))
            .filter_map(|e| e.message)
            .collect()
    }

    /// Waits for an event about a component with a reason, and gives its note.
    pub(crate) async fn event(&self, name: &str, reason: &str) -> String {
        let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(30);
        loop {
            if let Some(note) = self.events(name, reason).await.into_iter().next() {
                return note;
            }
            assert!(
                tokio::time::Instant::now() < deadline,
                "no event `{reason}` about `{name}`"
            );
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    }
}

pub(crate) fn state(component: &Component) -> Option<State> {
    component.status.as_ref()?.state
}

/// Reason and message of the Ready condition.
pub(crate) fn condition(component: &Component) -> Option<(String, String)> {
    let status = component.status.as_ref()?;
    let ready = status
        .conditions
        .iter()
        .find(|condition| condition.type_ == "Ready")?;
    Some((ready.reason.clone(), ready.message.clone()))
}

/// The inventory as `Kind name`.
pub(crate) fn inventory(component: &Component) -> Vec<String> {
    let items = component.status.iter().flat_map(|status| &status.inventory);
    items
        .map(|item| format!("{} {}", item.kind, item.name))
        .collect()
}

pub(crate) fn item<'a>(component: &'a Component, kind: &str, name: &str) -> &'a InventoryItem {
    let items = &component.status.as_ref().unwrap().inventory;
    items
        .iter()
        .find(|item| item.kind == kind && item.name == name)
        .unwrap()
}

/// The folder with the project's own charts.
pub(crate) fn fixture(chart: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/charts")
        .join(chart)
}

/// Installs the definitions and runs an operator on a thread of its own: every test has its own runtime, and this one outlives
/// them all.
async fn start_operator(config: kube::Config) {
    let client = Client::try_from(config.clone()).unwrap();
    let definitions: Api<CustomResourceDefinition> = Api::all(client);
    for crd in crds() {
        let name = crd.name_any();
        let params = PatchParams::apply("test").force();
        definitions
            .patch(&name, &params, &Patch::Apply(&crd))
            .await
            .unwrap();
        let established =
            kube::runtime::wait::await_condition(definitions.clone(), &name, is_crd_established());
        established.await.unwrap();
    }
    let _ = whipstaff::init_telemetry("warn,whipstaff=info", whipstaff::LogFormat::Text);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let run = run_operator(config, OperatorOptions::default(), CancellationToken::new());
        runtime.block_on(run).unwrap();
    });
}
