//! A component that goes through everything that can become of one, and what is left of its objects afterwards.

use k8s_openapi::api::core::v1::{ConfigMap, Secret, ServiceAccount};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use kube::runtime::conditions::is_crd_established;
use kube::runtime::wait::await_condition;
use kube::{Api, Client, ResourceExt};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::OnceCell;
use whipstaff::api::v1alpha1::{Component, State};
use whipstaff_test_support::{ChartServer, pack_files, shared};

/// Longest time that a component may take, faults and all.
const PATIENCE: Duration = Duration::from_mins(2);

const TEMPLATE: &str = r#"apiVersion: v1
kind: ServiceAccount
metadata: {name: account, annotations: {whipstaff.dev/apply-order: "-1"}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: changes}
data: {text: {{ .Values.text | quote }}}
---
apiVersion: v1
kind: Secret
metadata: {name: shifts, annotations: {whipstaff.dev/apply-order: {{ .Values.wave | quote }}}}
stringData: {word: {{ .Values.text | quote }}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Values.name | quote }}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: wanders, namespace: {{ .Values.place | quote }}}
"#;

static DEFINITIONS: OnceCell<()> = OnceCell::const_new();

/// What becomes of the component, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It is created.
    Install,
    /// Objects change.
    Upgrade,
    /// Objects change their wave, their name and their namespace.
    Move,
    /// It is deleted.
    Delete,
}

impl Phase {
    pub(crate) const ALL: [Self; 4] = [Self::Install, Self::Upgrade, Self::Move, Self::Delete];
}

/// A component and its two namespaces.
pub(crate) struct World {
    pub(crate) client: Client,
    pub(crate) namespace: String,
    /// The shard of its components; the namespace's name unless a test changes it.
    pub(crate) shard: String,
    other: String,
    pub(crate) charts: ChartServer,
}

impl World {
    pub(crate) async fn new(prefix: &str) -> Self {
        let plane = shared().await;
        let client = plane.client();
        DEFINITIONS
            .get_or_init(|| install_definitions(client.clone()))
            .await;
        let charts = ChartServer::start().unwrap();
        let chart = "apiVersion: v2\nname: all\nversion: 1.0.0\n";
        let files = [
            ("all/Chart.yaml", chart),
            ("all/templates/all.yaml", TEMPLATE),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
        charts.put("/all.tgz", pack_files(&files).unwrap());
        let namespace = whipstaff_test_support::namespace(prefix).await;
        Self {
            client,
            shard: namespace.clone(),
            namespace,
            other: whipstaff_test_support::namespace(&format!("{prefix}-other")).await,
            charts,
        }
    }

    pub(crate) fn components(&self) -> Api<Component> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// Creates a component, or replaces its spec.
    pub(crate) async fn apply(&self, name: &str, labels: Value, spec: Value) {
        let object = json!({
            "apiVersion": "whipstaff.dev/v1alpha1",
            "kind": "Component",
            "metadata": {"name": name, "labels": labels},
            "spec": spec,
        });
        let params = PatchParams::apply("test").force();
        let components = self.components();
        components
            .patch(name, &params, &Patch::Apply(&object))
            .await
            .unwrap();
    }

    /// Says what is wanted of the component `all` from now on.
    pub(crate) async fn begin(&self, phase: Phase) {
        let (text, wave, name, place) = match phase {
            Phase::Install => ("one", "0", "old", &self.namespace),
            Phase::Upgrade => ("two", "0", "old", &self.namespace),
            Phase::Move => ("two", "5", "new", &self.other),
            Phase::Delete => {
                self.components()
                    .delete("all", &DeleteParams::default())
                    .await
                    .unwrap();
                return;
            }
        };
        let url = self.charts.url("/all.tgz");
        let values = json!({"text": text, "wave": wave, "name": name, "place": place});
        let spec =
            json!({"source": {"url": {"url": url}}, "values": values, "retryInterval": "1s"});
        self.apply("all", self.labels(), spec).await;
    }

    /// The labels of a component that the operator of the test takes.
    pub(crate) fn labels(&self) -> Value {
        json!({"whipstaff.dev/shard": self.shard})
    }

    /// Waits until the component `all` is as wanted.
    pub(crate) async fn end(&self, phase: Phase) {
        if phase == Phase::Delete {
            self.until("all", |component| component.is_none()).await;
        } else {
            self.ready("all").await;
        }
    }

    /// Waits until a component of the present generation is ready.
    pub(crate) async fn ready(&self, name: &str) {
        self.until(name, |component| component.is_some_and(is_ready))
            .await;
    }

    pub(crate) async fn until(&self, name: &str, wanted: impl Fn(Option<&Component>) -> bool) {
        let components = self.components();
        let waiting = await_condition(components.clone(), name, |c: Option<&Component>| wanted(c));
        if tokio::time::timeout(PATIENCE, Box::pin(waiting))
            .await
            .is_err()
        {
            let now = components.get_opt(name).await.unwrap();
            let now = now.map(|component| serde_json::to_string_pretty(&component).unwrap());
            panic!("waited in vain for `{name}`: {}", now.unwrap_or_default());
        }
    }

    /// Everything that is there of ours in both namespaces, without what differs from run to run.
    pub(crate) async fn snapshot(&self) -> Vec<Value> {
        let mut objects = Vec::new();
        for namespace in [&self.namespace, &self.other] {
            objects.extend(self.list::<ConfigMap>(namespace).await);
            objects.extend(self.list::<Secret>(namespace).await);
            objects.extend(self.list::<ServiceAccount>(namespace).await);
        }
        objects
    }

    async fn list<K>(&self, namespace: &str) -> Vec<Value>
    where
        K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>
            + Clone
            + std::fmt::Debug
            + serde::Serialize
            + serde::de::DeserializeOwned,
    {
        let api: Api<K> = Api::namespaced(self.client.clone(), namespace);
        let ours = ListParams::default().labels("whipstaff.dev/owner-id");
        let found = api.list(&ours).await.unwrap();
        found
            .items
            .iter()
            .map(|object| self.without_what_differs(object))
            .collect()
    }

    fn without_what_differs(&self, object: &impl serde::Serialize) -> Value {
        let mut object = serde_json::to_value(object).unwrap();
        let metadata = object["metadata"].as_object_mut().unwrap();
        for field in [
            "uid",
            "resourceVersion",
            "creationTimestamp",
            "managedFields",
            "generation",
        ] {
            metadata.remove(field);
        }
        // Digests know the namespaces: the manifest's, and the label, which is one of the annotation.
        metadata["annotations"]
            .as_object_mut()
            .unwrap()
            .remove("whipstaff.dev/digest");
        metadata["labels"]
            .as_object_mut()
            .unwrap()
            .remove("whipstaff.dev/owner-id");
        let text = object.to_string();
        let text = text
            .replace(&self.other, "the-other")
            .replace(&self.namespace, "the-one");
        serde_json::from_str(&text).unwrap()
    }
}

async fn install_definitions(client: Client) {
    let definitions: Api<CustomResourceDefinition> = Api::all(client);
    for crd in whipstaff::crds() {
        let params = PatchParams::apply("test").force();
        let name = crd.name_any();
        definitions
            .patch(&name, &params, &Patch::Apply(&crd))
            .await
            .unwrap();
        await_condition(definitions.clone(), &name, is_crd_established())
            .await
            .unwrap();
    }
}

pub(crate) fn is_ready(component: &Component) -> bool {
    let status = component.status.as_ref();
    status.and_then(|status| status.state) == Some(State::Ready)
        && status.and_then(|status| status.applied_generation) == component.metadata.generation
}
