//! Releases, and what there is of them in a cluster.

use crate::world::World;
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet, StatefulSet};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim, Pod, Secret, Service};
use kube::api::{DynamicObject, ListParams};
use kube::{Resource, ResourceExt};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use whipstaff::api::v1alpha1::{AdoptionPhase, AdoptionStatus, Component};
use whipstaff_test_support::{AuditEntry, AuditMark, Helm, eventually, pack_files, shared};

/// What the release is called.
pub(crate) const NAME: &str = "web";

const METADATA: &str = "apiVersion: v2\nname: web\nversion: 1.2.3\nappVersion: \"9\"\n";
const VALUES: &str = "replicas: 2\ngreeting: hello\nport: 80\nnothing: null\n";
const WORKLOADS: &str = r#"apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
  labels: {app.kubernetes.io/managed-by: {{ .Release.Service }}, app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata:
      labels: {app: {{ .Release.Name }}}
      annotations:
        seed: {{ randAlphaNum 8 }}
        rolled: {{ now | date "20060102150405" | quote }}
    spec:
      containers:
        - name: main
          image: example.org/web:1
          ports: [{containerPort: {{ .Values.port }}}]
          resources: {limits: {cpu: 1000m, memory: 1Gi}}
          env: [{name: REVISION, value: {{ .Release.Revision | quote }}}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: {{ .Release.Name }}-db}
spec:
  serviceName: {{ .Release.Name }}
  replicas: 1
  selector: {matchLabels: {app: {{ .Release.Name }}-db}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}-db}}
    spec: {containers: [{name: main, image: example.org/db:1}]}
  volumeClaimTemplates:
    - metadata: {name: data}
      spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: {{ .Release.Name }}-once}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: example.org/job:1}]}}}
"#;
const REST: &str = r#"apiVersion: v1
kind: Service
metadata: {name: {{ .Release.Name }}}
spec: {selector: {app: {{ .Release.Name }}}, ports: [{name: http, port: {{ .Values.port }}}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}}
data: {greeting: {{ .Values.greeting | quote }}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: {{ .Release.Name }}-files}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Secret
metadata: {name: {{ .Release.Name }}}
stringData:
  password: {{ randAlphaNum 24 }}
  id: {{ uuidv4 }}
  given: {{ .Values.given | default "" | quote }}
{{- $kept := lookup "v1" "Secret" .Release.Namespace (printf "%s-kept" .Release.Name) }}
---
apiVersion: v1
kind: Secret
metadata: {name: {{ .Release.Name }}-kept}
data:
  password: {{ if $kept }}{{ $kept.data.password }}{{ else }}{{ randAlphaNum 24 | b64enc }}{{ end }}
"#;
const HOOK: &str = r#"apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-hook
  annotations: {helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-delete-policy: before-hook-creation}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: example.org/job:1}]}}}
"#;

/// The files of the chart.
pub(crate) fn chart() -> Vec<(String, String)> {
    [
        ("Chart.yaml", METADATA),
        ("values.yaml", VALUES),
        ("templates/workloads.yaml", WORKLOADS),
        ("templates/rest.yaml", REST),
        ("templates/hook.yaml", HOOK),
    ]
    .map(|(path, text)| (format!("web/{path}"), text.to_owned()))
    .to_vec()
}

/// Which Helm makes a release, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Maker {
    Helm3,
    Helm4Client,
    Helm4Server,
}

impl Maker {
    pub(crate) fn helm(self) -> Helm {
        match self {
            Self::Helm3 => Helm::V3,
            Self::Helm4Client | Self::Helm4Server => Helm::V4,
        }
    }

    fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Helm3 => &[],
            Self::Helm4Client => &["--server-side=false"],
            Self::Helm4Server => &["--server-side=true"],
        }
    }
}

/// A namespace with a release and the chart that it came from.
pub(crate) struct Fleet {
    pub(crate) world: World,
    pub(crate) url: String,
    pub(crate) maker: Maker,
    folder: tempfile::TempDir,
}

impl Fleet {
    /// A release that Helm installed, whose workloads are up.
    pub(crate) async fn install(prefix: &str, maker: Maker) -> Self {
        let world = World::new(prefix).await;
        let packed = pack_files(&chart()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("web.tgz"), &packed).unwrap();
        world.charts.put("/web.tgz", packed);
        let url = world.charts.url("/web.tgz");
        let fleet = Self {
            world,
            url,
            maker,
            folder,
        };
        let mut arguments = vec!["--set", "given=hunter22"];
        arguments.extend(maker.flags());
        fleet.helm_with_chart("install", &arguments).await.unwrap();
        fleet.up().await;
        fleet
    }

    pub(crate) fn archive(&self) -> PathBuf {
        self.folder.path().join("web.tgz")
    }

    pub(crate) async fn helm_with_chart(
        &self,
        verb: &str,
        more: &[&str],
    ) -> Result<String, String> {
        let archive = self.archive();
        let arguments = [&[verb, NAME, archive.to_str().unwrap()], more].concat();
        self.helm(&arguments).await
    }

    /// Runs Helm: its output, or its error.
    pub(crate) async fn helm(&self, arguments: &[&str]) -> Result<String, String> {
        let plane = shared().await;
        let (helm, namespace) = (self.maker.helm(), &self.world.namespace);
        let output = helm.run_aside(plane.kubeconfig(), namespace, arguments);
        let output = output.await.unwrap();
        if output.status.success() {
            Ok(String::from_utf8(output.stdout).unwrap())
        } else {
            Err(String::from_utf8(output.stderr).unwrap())
        }
    }

    /// Waits until the workloads have their pods, and nothing more happens to them.
    async fn up(&self) {
        let available = |d: Option<&Deployment>| {
            let status = d.and_then(|d| d.status.as_ref());
            status.is_some_and(|s| {
                s.available_replicas.is_some() && s.available_replicas == s.replicas
            })
        };
        let deployments = self.world.api::<Deployment>();
        eventually(&deployments, NAME, available).await.unwrap();
        let ready = |s: Option<&StatefulSet>| {
            let status = s.and_then(|s| s.status.as_ref());
            status.is_some_and(|s| s.ready_replicas == Some(1))
        };
        eventually(&self.world.api::<StatefulSet>(), "web-db", ready)
            .await
            .unwrap();
        let done = |j: Option<&Job>| {
            let status = j.and_then(|j| j.status.as_ref());
            status.is_some_and(|s| s.completion_time.is_some())
        };
        eventually(&self.world.api::<Job>(), "web-once", done)
            .await
            .unwrap();
    }

    /// UIDs and generations of everything that must not be touched.
    pub(crate) async fn identities(&self) -> BTreeMap<String, (String, Option<i64>)> {
        let mut all = BTreeMap::new();
        all.extend(self.kind::<Deployment>().await);
        all.extend(self.kind::<ReplicaSet>().await);
        all.extend(self.kind::<StatefulSet>().await);
        all.extend(self.kind::<Pod>().await);
        all.extend(self.kind::<Job>().await);
        all.extend(self.kind::<PersistentVolumeClaim>().await);
        all.extend(self.kind::<Service>().await);
        all.extend(self.kind::<ConfigMap>().await);
        all.extend(self.kind::<Secret>().await);
        // A Deployment counts changes of its annotations, too.
        for (key, (_, generation)) in &mut all {
            if key.starts_with("Deployment ") {
                *generation = None;
            }
        }
        all.retain(|key, _| !key.contains("whipstaff-") && !key.contains("kube-root-ca"));
        all
    }

    async fn kind<K>(&self) -> BTreeMap<String, (String, Option<i64>)>
    where
        K: Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>
            + Clone
            + std::fmt::Debug
            + serde::de::DeserializeOwned,
    {
        let found = self.world.api::<K>().list(&ListParams::default()).await;
        let items = found.unwrap().items.into_iter();
        items
            .map(|object| {
                let key = format!("{} {}", K::kind(&()), object.name_any());
                let metadata = object.meta();
                (key, (metadata.uid.clone().unwrap(), metadata.generation))
            })
            .collect()
    }

    /// A Component for the release, with fields over the usual ones.
    pub(crate) async fn component(&self, name: &str, more: Value) -> Component {
        let mut spec = json!({
            "source": {"url": {"url": self.url}},
            "targetName": NAME,
            "values": {"given": "hunter22"},
            "helm": {"dialect": match self.maker { Maker::Helm3 => "v3", _ => "v4.3" }},
            "adopt": {"helmRelease": {"name": NAME}},
        });
        merge(&mut spec, more);
        self.world.component(name, spec).await
    }

    /// Waits until the proof is there.
    pub(crate) async fn verified(&self, name: &str) -> AdoptionStatus {
        let component = self.world.wait(name, |c| adoption(c).is_some()).await;
        adoption(&component).unwrap().clone()
    }

    /// Approves the proof, and waits until everything is the component's.
    pub(crate) async fn approve(&self, name: &str) -> Component {
        let digest = self.verified(name).await.digest;
        let patch =
            json!({"metadata": {"annotations": {"whipstaff.dev/approve-adoption": digest}}});
        self.world.merge(name, patch).await;
        self.adopted(name).await
    }

    pub(crate) async fn adopted(&self, name: &str) -> Component {
        let done = |c: &Component| adoption(c).is_some_and(|a| a.phase == AdoptionPhase::Adopted);
        self.world.wait(name, done).await;
        self.world.ready(name).await
    }

    /// The managers of an object's fields, those of status apart.
    pub(crate) async fn managers(&self, kind: &str, plural: &str, group: &str) -> Vec<String> {
        let resource = kube::core::ApiResource {
            group: group.to_owned(),
            version: "v1".to_owned(),
            api_version: if group.is_empty() {
                "v1".to_owned()
            } else {
                format!("{group}/v1")
            },
            kind: kind.to_owned(),
            plural: plural.to_owned(),
        };
        let (client, namespace) = (self.world.client.clone(), &self.world.namespace);
        let api = kube::Api::<DynamicObject>::namespaced_with(client, namespace, &resource);
        let object = api.get(NAME).await.unwrap();
        let entries = object.managed_fields().iter();
        let own = entries.filter(|entry| entry.subresource.is_none());
        own.map(|e| {
            format!(
                "{} {}",
                e.manager.clone().unwrap(),
                e.operation.clone().unwrap()
            )
        })
        .collect()
    }

    pub(crate) async fn secret(&self, name: &str, key: &str) -> String {
        let secret = self.world.api::<Secret>().get(name).await.unwrap();
        String::from_utf8(secret.data.unwrap()[key].0.clone()).unwrap()
    }

    pub(crate) async fn mark(&self) -> AuditMark {
        shared().await.audit_log().mark().await.unwrap()
    }

    /// Writes to objects of the namespace since, but for events and the bookkeeping of components.
    pub(crate) async fn writes(&self, since: AuditMark) -> Vec<AuditEntry> {
        let entries = shared().await.audit_log().entries_since(since).await;
        let mut entries = entries.unwrap();
        entries.retain(|entry| {
            entry.is_write()
                && !entry.is_by_control_plane()
                && entry.namespace == self.world.namespace
                && !["events", "components"].contains(&entry.resource.as_str())
        });
        entries
    }
}

pub(crate) fn adoption(component: &Component) -> Option<&AdoptionStatus> {
    component.status.as_ref()?.adoption.as_ref()
}

fn merge(base: &mut Value, over: Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                merge(base.entry(key).or_insert(Value::Null), value);
            }
        }
        (base, over) => *base = over,
    }
}
