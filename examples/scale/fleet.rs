//! Components in a namespace of their own.

use anyhow::{Context as _, Result, bail};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::runtime::conditions::is_crd_established;
use kube::runtime::wait::await_condition;
use kube::runtime::watcher::{Event, watch_object};
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, Client, ResourceExt as _};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::pin::pin;
use std::time::{Duration, Instant};
use whipstaff::api::v1alpha1::{Component, State};
use whipstaff_test_support::{ChartServer, ControlPlane, pack_files};

/// Longest that one step may take.
const PATIENCE: Duration = Duration::from_mins(10);
/// Name of the component of very many objects.
const LARGE: &str = "large";

const CHART: &str = "apiVersion: v2\nname: small\nversion: 1.0.0\n";
const OBJECTS: &str = r#"apiVersion: v1
kind: ServiceAccount
metadata: {name: "{{ .Release.Name }}", labels: {app: "{{ .Release.Name }}"}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}", labels: {app: "{{ .Release.Name }}"}}
data: {text: as written}
---
apiVersion: v1
kind: Secret
metadata: {name: "{{ .Release.Name }}", labels: {app: "{{ .Release.Name }}"}}
stringData: {word: secret}
---
apiVersion: v1
kind: Service
metadata: {name: "{{ .Release.Name }}", labels: {app: "{{ .Release.Name }}"}}
spec: {clusterIP: None, ports: [{port: 80}]}
"#;
const MANY: &str = r#"{{- range until (int .Values.count) }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: "large-object-number-{{ . }}"}
data: {text: {{ $.Values.text | quote }}}
{{- end }}
"#;

/// Components, their chart, and where they are.
pub(crate) struct Fleet {
    /// How many there are.
    pub(crate) size: usize,
    components: Api<Component>,
    config_maps: Api<ConfigMap>,
    url: String,
    _charts: ChartServer,
}

/// Installs the definition of components.
pub(crate) async fn install_definitions(client: &Client) -> Result<()> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    for crd in whipstaff::crds() {
        definitions.create(&PostParams::default(), &crd).await?;
        await_condition(definitions.clone(), &crd.name_any(), is_crd_established()).await?;
    }
    Ok(())
}

impl Fleet {
    /// A fleet of which nothing exists yet.
    pub(crate) async fn new(plane: &ControlPlane, size: usize) -> Result<Self> {
        Self::of_chart(plane, size, OBJECTS).await
    }

    /// A fleet of one component that may have very many objects.
    pub(crate) async fn large(plane: &ControlPlane) -> Result<Self> {
        Self::of_chart(plane, 1, MANY).await
    }

    async fn of_chart(plane: &ControlPlane, size: usize, objects: &str) -> Result<Self> {
        let namespace = plane.namespace("fleet").await?;
        let charts = ChartServer::start()?;
        let files = [
            ("small/Chart.yaml".to_owned(), CHART.to_owned()),
            ("small/templates/all.yaml".to_owned(), objects.to_owned()),
        ];
        charts.put("/small.tgz", pack_files(&files)?);
        Ok(Self {
            size,
            components: Api::namespaced(plane.client(), &namespace),
            config_maps: Api::namespaced(plane.client(), &namespace),
            url: charts.url("/small.tgz"),
            _charts: charts,
        })
    }

    fn names(&self) -> BTreeSet<String> {
        (0..self.size).map(|number| format!("c{number}")).collect()
    }

    async fn apply(&self, name: &str, values: Value) -> Result<()> {
        let object = json!({
            "apiVersion": "whipstaff.dev/v1alpha1",
            "kind": "Component",
            "metadata": {"name": name},
            "spec": {"source": {"url": {"url": self.url}}, "interval": "1h", "values": values},
        });
        let params = PatchParams::apply("scale").force();
        self.components
            .patch(name, &params, &Patch::Apply(&object))
            .await?;
        Ok(())
    }

    /// Creates all components, so many at a time, and waits until they are ready.
    pub(crate) async fn create(&self, concurrency: usize) -> Result<()> {
        let mut changes = pin!(watcher(self.components.clone(), watcher::Config::default()));
        // The watch is there before the first component.
        while let Some(event) = changes.try_next().await? {
            if matches!(event, Event::InitDone) {
                break;
            }
        }
        let creating = stream::iter(self.names())
            .map(|name| async move { self.apply(&name, json!({})).await })
            .buffer_unordered(concurrency)
            .try_collect::<Vec<_>>();
        let waiting = async {
            let mut missing = self.names();
            while !missing.is_empty() {
                match changes.try_next().await?.context("the watch ended")? {
                    Event::Apply(component) if is_ready(&component) => {
                        missing.remove(&component.name_any());
                    }
                    _ => {}
                }
            }
            Ok(())
        };
        let both = futures::future::try_join(creating, waiting);
        tokio::time::timeout(PATIENCE, both)
            .await
            .context("components do not get ready")??;
        Ok(())
    }

    /// Deletes all components, and waits until they are gone.
    pub(crate) async fn delete(&self, concurrency: usize) -> Result<()> {
        let names = self
            .components
            .list_metadata(&kube::api::ListParams::default())
            .await?;
        let names: BTreeSet<_> = names
            .items
            .iter()
            .map(kube::ResourceExt::name_any)
            .collect();
        let mut changes = pin!(watcher(self.components.clone(), watcher::Config::default()));
        while let Some(event) = changes.try_next().await? {
            if matches!(event, Event::InitDone) {
                break;
            }
        }
        let deleting = stream::iter(names.clone())
            .map(|name| async move {
                self.components
                    .delete(&name, &DeleteParams::default())
                    .await
            })
            .buffer_unordered(concurrency)
            .map_err(anyhow::Error::from)
            .try_collect::<Vec<_>>();
        let waiting = async {
            let mut left = names;
            while !left.is_empty() {
                if let Event::Delete(component) =
                    changes.try_next().await?.context("the watch ended")?
                {
                    left.remove(&component.name_any());
                }
            }
            Ok(())
        };
        let both = futures::future::try_join(deleting, waiting);
        tokio::time::timeout(PATIENCE, both)
            .await
            .context("components do not go")??;
        Ok(())
    }

    /// Edits an object of one component after another, and says how long each took to be as it was.
    pub(crate) async fn edit(&self, edits: usize) -> Result<Vec<Duration>> {
        let mut changes =
            pin!(watcher(self.config_maps.clone(), watcher::Config::default()).default_backoff());
        while let Some(event) = changes.try_next().await? {
            if matches!(event, Event::InitDone) {
                break;
            }
        }
        let params = PatchParams {
            field_manager: Some("somebody".to_owned()),
            ..PatchParams::default()
        };
        let mut times = Vec::with_capacity(edits);
        for number in 0..edits {
            let name = format!("c{}", number % self.size);
            let edit = json!({"data": {"text": format!("edit {number}")}});
            let began = Instant::now();
            self.config_maps
                .patch(&name, &params, &Patch::Merge(&edit))
                .await?;
            let undone = async {
                let mut edited = false;
                while let Some(event) = changes.try_next().await? {
                    let Event::Apply(object) = event else {
                        continue;
                    };
                    if object.name_any() != name {
                        continue;
                    }
                    let text = object.data.as_ref().and_then(|data| data.get("text"));
                    let is_right = text.is_some_and(|text| text == "as written");
                    if edited && is_right {
                        return Ok(());
                    }
                    edited |= !is_right;
                }
                bail!("the watch ended")
            };
            tokio::time::timeout(PATIENCE, undone)
                .await
                .context("an edit is not undone")??;
            times.push(began.elapsed());
        }
        Ok(times)
    }

    /// Applies the component of very many objects, and waits until it is ready.
    pub(crate) async fn apply_large(&self, objects: usize, text: &str) -> Result<()> {
        self.apply(LARGE, json!({"count": objects, "text": text}))
            .await?;
        let mut changes = pin!(watch_object(self.components.clone(), LARGE));
        let waiting = async {
            while let Some(component) = changes.try_next().await? {
                let is_current = component.as_ref().is_some_and(|component| {
                    let status = component.status.as_ref();
                    is_ready(component)
                        && status.and_then(|s| s.applied_generation)
                            == component.metadata.generation
                });
                if is_current {
                    return Ok(());
                }
            }
            bail!("the watch ended")
        };
        tokio::time::timeout(PATIENCE, waiting)
            .await
            .context("the component does not get ready")?
    }

    /// Size of the status of the component of very many objects.
    pub(crate) async fn status_bytes(&self) -> Result<usize> {
        let component = self.components.get(LARGE).await?;
        Ok(serde_json::to_vec(&component.status)?.len())
    }
}

fn is_ready(component: &Component) -> bool {
    let state = component.status.as_ref().and_then(|status| status.state);
    state == Some(State::Ready)
}
