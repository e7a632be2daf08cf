//! What the operator would apply, without applying it.

use super::context::NamedClient;
use super::error::ReconcileError;
use super::identity::Identities;
use super::lookups::ask;
use super::memory::Sources;
use super::reconcile::now;
use super::references::{References, read_references};
use super::render::Renderer;
use super::rendering::{Order, Outside, settle};
use super::resource::Component;
use super::secrets::{SecretEntries, SecretReader};
use super::seed::{self, SeedKey};
use super::source::Fetching;
use super::variables::{Variables, read_variables};
use super::wanted::Wanted;
use crate::api::v1alpha1::ComponentStatus;
use crate::cluster::{Discovery, FlowControl, Objects, Resources};
use crate::dependents::{
    Desired, DesiredHook, Names, OwnerId, OwnerScope, PrepareError, PrepareOptions,
    come_after_hooks, prepare, prepare_hooks,
};
use crate::source::{FetchOptions, Fetcher};
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::{Api, Client, Config, ResourceExt};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use whipstaff_generator::{
    Capabilities, FileTree, Generated, HookEvent, Limits, LookupQuestion, LookupSnapshot, Registry,
    Seed,
};

/// What random values are derived from where there is no seed.
const FIXED_SEED: [u8; 32] = *b"whipstaff render without a seed.";
/// What `now` answers where nothing was rendered before: the first second of 2025.
const FIXED_TIME: i64 = 1_735_689_600;
/// What stands for the UID of a cluster that nobody knows.
const NO_CLUSTER: &str = "00000000-0000-0000-0000-000000000000";
/// Nothing is looked at twice.
const INTERVAL: Duration = Duration::from_hours(1);

/// What is at hand for a preview.
#[derive(Debug)]
pub(crate) struct PreviewOptions {
    /// Generators.
    pub(crate) generators: Registry,
    /// The cluster, if one may be asked.
    pub(crate) cluster: Option<Config>,
    /// What the cluster offers when none may be asked.
    pub(crate) capabilities: Capabilities,
    /// Files in the place of those of sources: by the name of a generator, empty for the component's source.
    pub(crate) files: BTreeMap<String, Arc<FileTree>>,
    /// Secrets by name.
    pub(crate) secrets: BTreeMap<String, SecretEntries>,
    /// ConfigMaps by name.
    pub(crate) config_maps: BTreeMap<String, SecretEntries>,
    /// What one rendering may use up.
    pub(crate) limits: Limits,
}

/// What the operator would apply.
#[derive(Debug)]
pub(crate) struct Preview {
    /// The objects in the order in which they would be applied.
    pub(crate) desired: Desired,
    /// What a user should know although rendering succeeded.
    pub(crate) warnings: Vec<String>,
}

/// Renders a component as a reconciliation of it would, and stores nothing.
///
/// In a cluster that has the component already, its revision, its seed and the time of its last rendering are taken over. Without,
/// random values are derived from a fixed seed, and lookups find nothing.
pub(crate) async fn preview<C: Component>(
    component: &C,
    options: PreviewOptions,
) -> Result<Preview, ReconcileError> {
    let place = Place::new(component, &options).await?;
    let namespace = component.namespace().unwrap_or_default();
    let reader = SecretReader {
        given: Some(&options.secrets),
        given_maps: Some(&options.config_maps),
        objects: place.cluster.as_ref().map(|cluster| &cluster.objects),
    };
    let read = read_variables(component.variable_sources(), reader, &namespace).await?;
    let wanted = component.references();
    let referred = read_references(&wanted, wanted.len(), reader, &namespace, false).await?;
    let inputs = (&*read.variables, &*referred.references);
    let mut sources = Sources::default();
    let result = render(component, &options, inputs, place, &mut sources).await;
    result.map_err(|error| {
        let masks = sources.masks().chain([&read.mask, &referred.mask]);
        masks.fold(error, ReconcileError::masked)
    })
}

async fn render<C: Component>(
    component: &C,
    options: &PreviewOptions,
    (variables, references): (&Variables, &References),
    mut place: Place,
    sources: &mut Sources,
) -> Result<Preview, ReconcileError> {
    let namespace = component.namespace().unwrap_or_default();
    let fetcher = Fetcher::new(FetchOptions::default())?;
    let fetching = Fetching {
        fetcher: &fetcher,
        secrets: SecretReader {
            given: Some(&options.secrets),
            given_maps: None,
            objects: place.cluster.as_ref().map(|cluster| &cluster.objects),
        },
        namespace: &namespace,
        interval: INTERVAL,
        files: Some(&options.files),
        variables,
        references,
        names: place.owner.names(),
    };
    let renderer = Renderer::new(options.generators.clone(), options.limits);
    let wanted = Wanted::gather(component, &fetching, &renderer, sources).await?;
    let compiled = renderer.compile(&wanted).await?;
    let (order, _) = Order::new(component, wanted, &place.status, place.now.clone());
    let known = match &place.cluster {
        Some(cluster) => Some(cluster.discovery.resources().await?),
        None => None,
    };
    let capabilities = known
        .as_ref()
        .map_or(&options.capabilities, |known| &known.capabilities)
        .clone();
    let mut lookups = LookupSnapshot::new();
    let generated = settle(
        &renderer,
        &compiled,
        &order,
        &capabilities,
        &mut lookups,
        &mut place,
    )
    .await?;
    let resources = known.unwrap_or_else(|| assumed(capabilities, &generated));
    let desired = place.prepare(component, &order, &generated, &resources)?;
    let mut warnings = generated.warnings;
    let asked = generated.consulted.lookups.len();
    if place.cluster.is_none() && asked > 0 {
        warnings.push(format!(
            "templates look {asked} live objects up: without a cluster there are none"
        ));
    }
    if place.cluster.is_some() && component.kube_config().is_some() {
        warnings.push(
            "the objects belong on another cluster: they are rendered with what this one offers"
                .to_owned(),
        );
    }
    Ok(Preview { desired, warnings })
}

fn assumed(capabilities: Capabilities, generated: &Generated) -> Arc<Resources> {
    let objects = generated.objects.iter().map(|item| &item.object);
    let hooks = generated.hooks.iter().map(|hook| &hook.object);
    Arc::new(Resources::assumed(capabilities, objects.chain(hooks)))
}

/// Where a component is rendered for.
struct Place {
    cluster: Option<Cluster>,
    owner: OwnerId,
    /// The status of the component that is there, or an empty one.
    status: ComponentStatus,
    /// What `now` answers if the input is new.
    now: Time,
    seed: Option<SeedKey>,
}

struct Cluster {
    discovery: Discovery,
    objects: Objects,
}

impl Place {
    async fn new<C: Component>(
        component: &C,
        options: &PreviewOptions,
    ) -> Result<Self, ReconcileError> {
        let namespace = component.namespace().unwrap_or_default();
        let name = component.name_any();
        let owner = |cluster: &str| {
            let scope = OwnerScope::new(Names::shared(), cluster, &C::kind(&()), &C::group(&()));
            OwnerId::new(&scope, &namespace, &name)
        };
        let start = jiff::Timestamp::from_second(FIXED_TIME).unwrap_or_default();
        let Some(config) = options.cluster.clone() else {
            return Ok(Self {
                cluster: None,
                owner: owner(NO_CLUSTER),
                status: ComponentStatus::default(),
                now: Time(start),
                seed: None,
            });
        };
        let failed = |verb| {
            move |cause| ReconcileError::Component {
                verb,
                cause: Box::new(cause),
            }
        };
        let client = Client::try_from(config.clone()).map_err(failed("connect to the cluster"))?;
        let namespaces: Api<Namespace> = Api::all(client.clone());
        let system = namespaces.get("kube-system").await;
        let system = system.map_err(failed(
            "read the namespace `kube-system`, whose UID identifies the cluster",
        ))?;
        let components: Api<C> = Api::namespaced(client.clone(), &namespace);
        let live = match components.get_opt(&name).await {
            Ok(live) => live,
            // The cluster does not know the kind yet.
            Err(kube::Error::Api(status)) if status.code == 404 => None,
            Err(cause) => return Err(failed("read the component")(cause)),
        };
        let status = live.as_ref().and_then(Component::status).cloned();
        let seed = match status
            .as_ref()
            .and_then(|status| status.seed_secret.as_ref())
        {
            Some(_) => seed::read(component, &NamedClient(client.clone())).await?,
            None => None,
        };
        let account = component.service_account_name();
        let objects = Identities::new(config, client.clone(), FlowControl::default())
            .objects(&namespace, account)?;
        Ok(Self {
            cluster: Some(Cluster {
                discovery: Discovery::new(client),
                objects,
            }),
            owner: owner(&system.uid().unwrap_or_default()),
            now: if status.is_some() { now() } else { Time(start) },
            status: status.unwrap_or_default(),
            seed,
        })
    }
}

impl Place {
    fn prepare<C: Component>(
        &self,
        component: &C,
        order: &Order,
        generated: &Generated,
        resources: &Resources,
    ) -> Result<Desired, PrepareError> {
        let policies = component.policies();
        let options = PrepareOptions {
            owner: &self.owner,
            namespace: &order.wanted.namespace,
            policies: &policies,
            component: &order.wanted.digest().hex(),
            reapply: None,
            additional_types: component.additional_managed_types(),
            adopted: false,
            resources,
        };
        let mut desired = prepare(generated, &options)?;
        if component.runs_hooks() {
            let (before, after) = if order.release.is_upgrade {
                (HookEvent::PreUpgrade, HookEvent::PostUpgrade)
            } else {
                (HookEvent::PreInstall, HookEvent::PostInstall)
            };
            let hooks = |event| prepare_hooks(event, generated, &desired, &options);
            let objects = |hooks: Vec<DesiredHook>| {
                let hooks = hooks.into_iter();
                hooks.map(|hook| hook.object().clone()).collect::<Vec<_>>()
            };
            let (before, after) = (objects(hooks(before)?), objects(hooks(after)?));
            let first = desired.objects.iter().position(come_after_hooks);
            let first = first.unwrap_or(desired.objects.len());
            desired.objects.splice(first..first, before);
            desired.objects.extend(after);
        }
        Ok(desired)
    }
}

impl Outside for Place {
    fn seed(&self, order: &Order) -> Seed {
        match self.seed {
            Some(key) => key.seed(order.randomness, order.release.revision, &order.since),
            None => Seed::Stable {
                key: FIXED_SEED,
                now: order.since.0.as_second(),
            },
        }
    }

    /// There always is one.
    async fn obtain_seed(&mut self) -> Result<(), ReconcileError> {
        Ok(())
    }

    async fn answer(&self, questions: &[LookupQuestion]) -> Result<LookupSnapshot, ReconcileError> {
        if let Some(cluster) = &self.cluster {
            return ask(questions, &cluster.discovery, &cluster.objects).await;
        }
        let mut nothing = LookupSnapshot::new();
        for question in questions {
            nothing.insert(question.clone(), Value::Null);
        }
        Ok(nothing)
    }
}
