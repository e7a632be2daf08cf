//! `whipstaff adopt`: the proof that a release can be taken over, and the Component that does.

use super::chart_files::read_chart;
use super::global::GlobalArguments;
use super::{TIME_LIMIT, block_on, write_error, write_out};
use crate::adopt::{
    Adoptable, ChartSource, Manifests, Proof, Verifier, chart_files, check_chart, dialects,
};
use crate::api::v1alpha1::UrlSource;
use crate::cluster::{ApplyOptions, Discovery, Objects, Resource};
use crate::dependents::{Names, OwnerId, OwnerScope};
use crate::release::{Driver, ReleaseName, Storage};
use crate::source::{FetchOptions, FetchRequest, Fetcher};
use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args;
use k8s_openapi::api::core::v1::Namespace;
use kube::{Api, Client, Config, ResourceExt as _};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use whipstaff_generator::{FileTree, Limits, yaml};

/// What stands for standard output.
const STANDARD_OUTPUT: &str = "-";
/// Name under which `--apply` applies.
const MANAGER: &str = "whipstaff-cli";

/// Prove that a release of Helm can become a Component without any change, and say what would change if not.
///
/// Nothing is written unless `--apply` is given; the API server is asked what it would do. The chart is the one that the release has
/// stored, unless it is given: Helm does not store subcharts. It is rendered with the stored values, as Helm 3 and Helm 4 do, until what
/// comes out is what the release has stored. Without `--write` and `--apply` the command fails unless nothing would change.
#[derive(Debug, Args)]
pub(super) struct AdoptArguments {
    /// Name of the release
    release: String,
    /// Namespace of the release; the kubeconfig's when left out
    #[arg(short, long)]
    namespace: Option<String>,
    /// Address of the chart's archive; it is held against the stored chart, and the Component will get it from there
    #[arg(long, value_name = "URL")]
    chart: Option<String>,
    /// The chart on disk, a folder or an archive, for the proof alone
    #[arg(long, value_name = "PATH", conflicts_with = "chart")]
    source: Option<PathBuf>,
    /// Name of the Component; that of the release when left out
    #[arg(long)]
    name: Option<String>,
    /// Pass over a last revision that is pending because Helm was interrupted
    #[arg(long)]
    pending: bool,
    /// Write the Component and its Secrets into a folder, or to standard output when none is named
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, default_missing_value = STANDARD_OUTPUT)]
    write: Option<PathBuf>,
    /// Apply the Component and its Secrets
    #[arg(long)]
    apply: bool,
    #[command(flatten)]
    global: GlobalArguments,
}

/// What the command works with.
struct Cluster {
    client: Client,
    discovery: Discovery,
    objects: Objects,
    namespace: String,
    id: String,
}

/// Proves, prints, and writes if that is wanted.
pub(super) fn run(arguments: &AdoptArguments) -> Result<()> {
    block_on(async {
        let config = arguments.global.config().await?;
        let cluster = Cluster::new(config, arguments.namespace.clone()).await?;
        let adoption = arguments.prove(&cluster).await?;
        let text = adoption.proof.text();
        let folder = arguments.write.as_ref();
        let folder = folder.filter(|folder| folder.as_os_str() != STANDARD_OUTPUT);
        let prints = arguments.write.is_some() && folder.is_none();
        if prints {
            // Manifests go to standard output.
            write_error(text.trim_end());
        } else {
            write_out(&text)?;
        }
        if arguments.write.is_none() && !arguments.apply {
            if adoption.proof.is_identical() {
                return Ok(());
            }
            bail!("taking the release over would change something, or could not be proved");
        }
        let manifests = adoption.manifests(arguments)?;
        match folder {
            Some(folder) => write_files(folder, &manifests)?,
            None if prints => write_out(&documents(&manifests))?,
            None => {}
        }
        if arguments.apply {
            adoption.apply(&cluster, &manifests).await?;
        }
        Ok(())
    })
}

impl Cluster {
    async fn new(config: Config, namespace: Option<String>) -> Result<Self> {
        let namespace = namespace.unwrap_or_else(|| config.default_namespace.clone());
        let client = Client::try_from(config)?;
        let namespaces: Api<Namespace> = Api::all(client.clone());
        let system = namespaces
            .get("kube-system")
            .await
            .context("cannot read the namespace `kube-system`, whose UID identifies the cluster")?;
        Ok(Self {
            discovery: Discovery::new(client.clone()),
            objects: Objects::new(client.clone()),
            client,
            namespace,
            id: system.uid().unwrap_or_default(),
        })
    }
}

struct Adoption {
    adoptable: Adoptable,
    proof: Proof,
    source: Option<ChartSource>,
}

impl AdoptArguments {
    fn component(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.release)
    }

    async fn prove(&self, cluster: &Cluster) -> Result<Adoption> {
        let storage = Storage::new(cluster.client.clone());
        let release = ReleaseName::new(cluster.namespace.clone(), self.release.clone());
        let adoptable = Adoptable::read(&storage, &release, self.pending).await?;
        let (chart, source) = self.chart(&adoptable).await?;
        let names = Names::shared();
        let scope = OwnerScope::new(names, &cluster.id, "Component", "whipstaff.dev");
        let owner = OwnerId::new(&scope, &cluster.namespace, self.component());
        let verifier = Verifier {
            discovery: &cluster.discovery,
            objects: &cluster.objects,
            owner: &owner,
            // The Component will leave what others changed as it is.
            corrects: false,
        };
        let mut limits = Limits::default();
        limits.time = TIME_LIMIT;
        let proof = verifier.search(&adoptable, &chart, limits).await?;
        Ok(Adoption {
            adoptable,
            proof,
            source,
        })
    }

    /// The chart, and where the Component can get it from.
    async fn chart(&self, adoptable: &Adoptable) -> Result<(FileTree, Option<ChartSource>)> {
        let release = &adoptable.record.release;
        let stored = adoptable.present.head.driver == Driver::Secrets;
        let by_record = Some(ChartSource::Stored).filter(|_| stored);
        let (files, source) = if let Some(url) = &self.chart {
            let fetcher = Fetcher::new(FetchOptions::default())?;
            let request = FetchRequest {
                url: url.clone(),
                digest: None,
                credentials: None,
            };
            let artifact = fetcher.fetch(&request).await?;
            let source = UrlSource {
                url: url.clone(),
                digest: Some(artifact.digest.to_string()),
                credentials: None,
            };
            (artifact.files.clone(), Some(ChartSource::Url(source)))
        } else if let Some(path) = &self.source {
            let whole = chart_files(release).is_ok();
            (read_chart(path)?, by_record.filter(|_| whole))
        } else {
            return Ok((chart_files(release)?, by_record));
        };
        check_chart(&release.chart, &files, dialects(release)[0])?;
        Ok((files, source))
    }
}

impl Adoption {
    fn manifests(&self, arguments: &AdoptArguments) -> Result<Manifests> {
        let source = self.source.as_ref().ok_or_else(|| {
            anyhow!("say with `--chart` where the Component shall get the chart from")
        })?;
        let name = arguments.component();
        Ok(Manifests::new(name, &self.adoptable, &self.proof, source))
    }

    async fn apply(&self, cluster: &Cluster, manifests: &Manifests) -> Result<()> {
        if !self.proof.is_identical() {
            bail!(
                "nothing was applied: something would change; write the Component with `--write`, and approve with its annotation `whipstaff.dev/approve-adoption`"
            );
        }
        let resources = cluster.discovery.resources().await?;
        for manifest in in_order(manifests) {
            let text = |pointer: &str| manifest.pointer(pointer).and_then(Value::as_str);
            let (kind, name) = (text("/kind"), text("/metadata/name"));
            let (kind, name) = (kind.unwrap_or_default(), name.unwrap_or_default());
            let api_version = text("/apiVersion").unwrap_or_default();
            let resource: &Resource = resources.get(api_version, kind).ok_or_else(|| {
                anyhow!("the cluster does not know the kind {kind}: install Whipstaff first")
            })?;
            let options = ApplyOptions::forced(MANAGER);
            let namespace = text("/metadata/namespace").unwrap_or_default();
            let applied = cluster
                .objects
                .apply(resource, namespace, name, manifest, options);
            let applied = applied.await;
            applied.with_context(|| format!("cannot apply {kind} `{name}`"))?;
            write_error(&format!("applied {kind} {namespace}/{name}"));
        }
        Ok(())
    }
}

/// What a Component refers to comes before it.
fn in_order(manifests: &Manifests) -> impl Iterator<Item = &Value> {
    let secrets = manifests.pinned.iter().chain(&manifests.values);
    secrets.chain([&manifests.component])
}

fn documents(manifests: &Manifests) -> String {
    let documents =
        in_order(manifests).map(|manifest| format!("---\n{}", yaml::to_string(manifest)));
    documents.collect()
}

fn write_files(folder: &PathBuf, manifests: &Manifests) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let files = [
        ("component.yaml", Some(&manifests.component)),
        ("pinned.yaml", manifests.pinned.as_ref()),
        ("values-secret.yaml", manifests.values.as_ref()),
    ];
    for (name, manifest) in files {
        let Some(manifest) = manifest else {
            continue;
        };
        let path = folder.join(name);
        fs::write(&path, yaml::to_string(manifest))
            .with_context(|| format!("cannot write {}", path.display()))?;
        write_error(&format!("wrote {}", path.display()));
    }
    Ok(())
}
