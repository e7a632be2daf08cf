//! An operator of one's own with hooks: a kind `Database` whose password comes from a Secret, that waits for a licence, publishes an
//! endpoint in its status, and is not deleted before somebody said that there is a backup.
//!
//! `cargo run --example operator_with_hooks` runs it against the current kubeconfig; `cargo run --example operator_with_hooks -- crd`
//! prints the definition of its kind, for `kubectl apply -f -`.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, CustomResource, Resource as _, ResourceExt as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use whipstaff::api::fragments::{DependenciesSpec, ImpersonationSpec, SuspensionSpec};
use whipstaff::api::v1alpha1::{ComponentStatus, DependsOn, SecretKeyReference};
use whipstaff::generator::{
    Error, FileTree, Generated, Generator, Input, Object, Prepared, Registry,
};
use whipstaff::{
    Component, HookContext, HookError, Operator, OperatorOptions, Reconciler, Reference,
    References, Retriable, Terminal, crd_of,
};

/// ConfigMap that must be in the namespace of a database.
pub const LICENCE: &str = "licence";
/// Annotation of a database that may be deleted.
pub const BACKED_UP: &str = "example.org/backed-up";

/// What a user asks for.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(
    group = "example.org",
    version = "v1",
    kind = "Database",
    namespaced,
    status = "DatabaseStatus"
)]
#[serde(rename_all = "camelCase")]
pub struct DatabaseSpec {
    /// Port that it listens on.
    pub port: u16,
    /// Where its password is.
    pub password: SecretKeyReference,
    /// Who it is applied as.
    #[serde(flatten)]
    pub impersonation: ImpersonationSpec,
    /// Whether it is left alone.
    #[serde(flatten)]
    pub suspension: SuspensionSpec,
    /// What it waits for.
    #[serde(flatten)]
    pub dependencies: DependenciesSpec,
}

/// What is reported.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[serde(rename_all = "camelCase")]
pub struct DatabaseStatus {
    /// What all kinds report.
    #[serde(flatten)]
    pub common: ComponentStatus,
    /// Where it can be reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
}

impl Database {
    fn password(&self) -> Reference {
        let SecretKeyReference { name, key } = &self.spec.password;
        match key {
            Some(key) => Reference::secret(name).key(key),
            None => Reference::secret(name).fallback_keys(["password"]),
        }
        // Nothing is rendered any more when it is deleted.
        .ignored_on_deletion()
    }
}

impl Component for Database {
    fn status(&self) -> Option<&ComponentStatus> {
        self.status.as_ref().map(|status| &status.common)
    }

    fn parameters(&self) -> Cow<'_, Map<String, Value>> {
        Cow::Owned(Map::from_iter([("port".to_owned(), json!(self.spec.port))]))
    }

    fn references(&self) -> Vec<Reference> {
        vec![self.password()]
    }

    fn parameters_with(&self, found: &References) -> Result<Cow<'_, Map<String, Value>>, Error> {
        let mut parameters = self.parameters().into_owned();
        let password = found.text(&self.password());
        parameters.insert("password".to_owned(), json!(password));
        Ok(Cow::Owned(parameters))
    }

    fn generator(&self) -> Option<&str> {
        Some("database")
    }

    fn service_account_name(&self) -> Option<&str> {
        self.spec.impersonation.service_account_name.as_deref()
    }

    fn is_suspended(&self) -> bool {
        self.spec.suspension.suspend
    }

    fn depends_on(&self) -> Vec<DependsOn> {
        self.spec.dependencies.depends_on.clone()
    }
}

/// Makes a Service and a Secret of the parameters.
#[derive(Debug, Clone, Copy)]
struct DatabaseGenerator;

impl Generator for DatabaseGenerator {
    fn name(&self) -> &'static str {
        "database"
    }

    fn detects(&self, _: &FileTree) -> Option<String> {
        None
    }

    fn prepare(&self, _: &FileTree, _: &Value) -> Result<Box<dyn Prepared>, Error> {
        Ok(Box::new(*self))
    }
}

impl Prepared for DatabaseGenerator {
    fn generate(&self, input: &Input<'_>) -> Result<Generated, Error> {
        let service = json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": input.name},
            "spec": {"selector": {"app": input.name}, "ports": [{"port": input.parameters["port"]}]},
        });
        let secret = json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": format!("{}-login", input.name)},
            "stringData": {"password": input.parameters["password"]},
        });
        let mut generated = Generated::default();
        for object in [service, secret] {
            let object = Object::from_value(object)?;
            generated.objects.push(object, "database");
        }
        Ok(generated)
    }
}

/// Nothing happens without a licence. That it is missing is no failure: it is looked for again.
async fn licensed(context: HookContext<Database>) -> Result<(), HookError> {
    let namespace = context.component().namespace().unwrap_or_default();
    let maps: Api<ConfigMap> = Api::namespaced(context.local_client().clone(), &namespace);
    if maps.get_opt(LICENCE).await?.is_none() {
        context.set_condition("Licensed", false, "Missing", "there is no licence")?;
        return Err(Retriable::new("there is no licence")
            .after(Duration::from_millis(500))
            .into());
    }
    context.set_condition("Licensed", true, "Found", "")?;
    Ok(())
}

/// What was rendered can be looked at before it is applied. What is wrong with it stays wrong until somebody changes the database.
async fn checked(context: HookContext<Database>) -> Result<(), HookError> {
    let objects = context.generated().map(|generated| generated.objects.len());
    if context.component().spec.port < 1024 {
        let objects = objects.unwrap_or_default();
        let message = format!("ports below 1024 are not for {objects} objects of a database");
        return Err(Terminal::new(message).into());
    }
    Ok(())
}

async fn publish(context: HookContext<Database>) -> Result<(), HookError> {
    let port = context.component().spec.port;
    let (name, namespace) = (context.target_name(), context.target_namespace());
    let endpoint = format!("{name}.{namespace}.svc:{port}");
    context.set_status_field("endpoint", json!(endpoint))?;
    Ok(())
}

async fn backed_up(context: HookContext<Database>) -> Result<(), HookError> {
    if context.component().annotations().contains_key(BACKED_UP) {
        return Ok(());
    }
    Err(Retriable::new(format!("waiting for the annotation `{BACKED_UP}`")).into())
}

/// Runs the operator until it is told to stop.
pub async fn run(config: kube::Config, stop: CancellationToken) -> anyhow::Result<()> {
    let mut generators = Registry::new();
    generators.register(Arc::new(DatabaseGenerator));
    let databases = Reconciler::<Database>::new("databases.example.org")
        .generators(generators)
        .concurrency(4)
        .post_read(|context: HookContext<Database>| async move {
            if context.component().meta().deletion_timestamp.is_some() {
                return Ok(());
            }
            licensed(context).await
        })
        .pre_reconcile(checked)
        .post_reconcile(publish)
        .pre_delete(backed_up);
    let mut operator = Operator::new(config, OperatorOptions::default())?;
    operator.add(databases);
    Ok(operator.run(stop).await?)
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    if std::env::args().nth(1).as_deref() == Some("crd") {
        let definition = serde_json::to_string_pretty(&crd_of::<Database>())?;
        writeln!(std::io::stdout(), "{definition}")?;
        return Ok(());
    }
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    tokio::spawn(async move {
        // Without a signal to wait for there is nothing that would stop it.
        let _ = tokio::signal::ctrl_c().await;
        stopped.cancel();
    });
    run(kube::Config::infer().await?, stop).await
}
