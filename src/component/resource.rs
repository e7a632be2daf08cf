//! What a custom resource must tell for its objects to be kept in a cluster.

use super::adoption::pins_reference;
use super::references::{Reference, References};
use super::spec;
use super::variables::Variables;
use crate::api::v1alpha1::{
    self as api, Adopt, ComponentStatus, Decryption, DependsOn, DurationText, HealthCheck,
    KubeConfig, OnReturn, Policies, Randomness, ReleaseSource, Source, TypePattern, UrlSource,
    ValuesSource, VariableSource, VariableSourceKind,
};
use k8s_openapi::NamespaceResourceScope;
use kube::{Resource, ResourceExt as _};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use whipstaff_generator::{Error, FileTree, Pipeline};

/// A custom resource whose objects are rendered, applied, watched and removed.
///
/// [`api::v1alpha1::Component`](crate::api::v1alpha1::Component) is one. A kind of your own needs a status of type
/// [`ComponentStatus`] and says what its parameters are; everything else has a default.
///
/// ```
/// use kube::CustomResource;
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
/// use serde_json::{Map, Value};
/// use std::borrow::Cow;
/// use whipstaff::api::v1alpha1::ComponentStatus;
///
/// #[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
/// #[kube(group = "example.org", version = "v1", kind = "Cache", namespaced, status = "ComponentStatus")]
/// struct CacheSpec {
///     replicas: i32,
/// }
///
/// impl whipstaff::Component for Cache {
///     fn status(&self) -> Option<&ComponentStatus> {
///         self.status.as_ref()
///     }
///
///     fn parameters(&self) -> Cow<'_, Map<String, Value>> {
///         Cow::Owned(Map::from_iter([("replicas".to_owned(), self.spec.replicas.into())]))
///     }
///
///     fn generator(&self) -> Option<&str> {
///         Some("cache")
///     }
/// }
/// ```
pub trait Component:
    Resource<DynamicType = (), Scope = NamespaceResourceScope>
    + Clone
    + fmt::Debug
    + Serialize
    + DeserializeOwned
    + Send
    + Sync
    + 'static
{
    /// The status as it is stored.
    fn status(&self) -> Option<&ComponentStatus>;

    /// Parameters of the generator: the values of a Helm chart, for example.
    fn parameters(&self) -> Cow<'_, Map<String, Value>>;

    /// ConfigMaps and Secrets in the resource's namespace that are loaded for [`parameters_with`](Self::parameters_with) and for hooks.
    /// They are read as the resource's service account, and watched: a change of one is a change of the resource. One that is missing
    /// is waited for. Default: none.
    fn references(&self) -> Vec<Reference> {
        Vec::new()
    }

    /// Parameters of the generator, with what [`references`](Self::references) lead to. Default: [`parameters`](Self::parameters),
    /// without them.
    ///
    /// # Errors
    /// When what is referred to is not what is expected.
    fn parameters_with(
        &self,
        _references: &References,
    ) -> Result<Cow<'_, Map<String, Value>>, Error> {
        Ok(self.parameters())
    }

    /// The Secret with a kubeconfig for the cluster that objects are applied on. Default: the resource's own cluster.
    ///
    /// What would make the operator run a program, read a file, or trust anybody is refused.
    fn kube_config(&self) -> Option<Reference> {
        None
    }

    /// Resources that must be ready before anything is done for this one, and that are deleted after it. Default: none.
    fn depends_on(&self) -> Vec<DependsOn> {
        Vec::new()
    }

    /// When objects of kinds whose status does not speak for itself are ready. Default: as their conditions say.
    fn health(&self) -> &[HealthCheck] {
        &[]
    }

    /// Where the generator's files come from. Default: it needs none.
    fn origin(&self) -> Origin<'_> {
        Origin::Nothing
    }

    /// Folder inside the files. Default: their root.
    #[expect(
        clippy::unnecessary_literal_bound,
        reason = "implementations have one of their own"
    )]
    fn path(&self) -> &str {
        ""
    }

    /// Name of the generator; detected from the files when there is none, which is the default.
    fn generator(&self) -> Option<&str> {
        None
    }

    /// Options of the generator. Default: null, whichever it is.
    fn generator_options(&self) -> GeneratorOptions {
        GeneratorOptions::default()
    }

    /// Several generators whose objects are put together. When there are any, [`origin`](Self::origin), [`path`](Self::path),
    /// [`generator`](Self::generator) and [`generator_options`](Self::generator_options) are not asked, and each has its parameters
    /// over [`parameters`](Self::parameters). Default: none.
    fn parts(&self) -> Vec<Part<'_>> {
        Vec::new()
    }

    /// What is done to the objects before they are applied. Default: nothing.
    ///
    /// Transformers come from [`generator`](crate::generator), or are closures:
    ///
    /// ```
    /// use serde_json::json;
    /// use std::sync::Arc;
    /// use whipstaff::generator::{CheckNames, ObjectSet, Pipeline, TransformContext, transformer};
    ///
    /// let team = "sales"; // of the resource's spec, for example
    /// let label = transformer("team", move |objects: &mut ObjectSet, _: &TransformContext<'_>| {
    ///     objects.iter_mut().for_each(|item| item.object.set_label("team", team));
    ///     Ok(())
    /// });
    /// let pipeline = Pipeline::new()
    ///     .then(&json!({ "team": team }), Arc::new(label))
    ///     .then(&json!(null), Arc::new(CheckNames));
    /// assert!(!pipeline.is_empty());
    /// ```
    ///
    /// # Errors
    /// When the resource asks for something that cannot be done.
    fn pipeline(&self) -> Result<Pipeline, Error> {
        Ok(Pipeline::new())
    }

    /// ConfigMaps and Secrets in the resource's namespace whose entries [`pipeline_with`](Self::pipeline_with) gets. They are read as
    /// the resource's service account, and watched. Default: none.
    fn variable_sources(&self) -> &[VariableSource] {
        &[]
    }

    /// What is done to the objects, with variables out of [`variable_sources`](Self::variable_sources). What a transformer is made of
    /// must hold their [digest](Variables::digest). Default: [`pipeline`](Self::pipeline), without variables.
    ///
    /// # Errors
    /// As [`pipeline`](Self::pipeline).
    fn pipeline_with(&self, _variables: &Variables) -> Result<Pipeline, Error> {
        self.pipeline()
    }

    /// What the resource takes over that another tool deployed. Default: nothing.
    fn adopt(&self) -> Option<&Adopt> {
        None
    }

    /// Keys for encrypted files. Default: files are taken as they are.
    fn decryption(&self) -> Option<&Decryption> {
        None
    }

    /// Whether objects that a chart marks as hooks run. Default: true.
    fn runs_hooks(&self) -> bool {
        true
    }

    /// Which hooks run when the resource goes back to an input that was ready before. Default: those of an upgrade.
    fn on_return(&self) -> OnReturn {
        OnReturn::default()
    }

    /// What random values do. Default: they stay.
    fn randomness(&self) -> Randomness {
        Randomness::default()
    }

    /// Namespace that objects are rendered for. Default: the resource's own.
    fn target_namespace(&self) -> Option<&str> {
        None
    }

    /// Name that objects are rendered for. Default: the resource's own.
    fn target_name(&self) -> Option<&str> {
        None
    }

    /// Service account in the resource's namespace that everything is read and written as. Default: the operator itself.
    fn service_account_name(&self) -> Option<&str> {
        None
    }

    /// How often the files are looked at again. Default: `10m`.
    fn interval(&self) -> Option<&DurationText> {
        None
    }

    /// Longest time between retries. Default: `1m`.
    fn retry_interval(&self) -> Option<&DurationText> {
        None
    }

    /// How long objects may take to become ready. Default: `5m`.
    fn timeout(&self) -> Option<&DurationText> {
        None
    }

    /// Whether reconciliation pauses. Default: it does not.
    fn is_suspended(&self) -> bool {
        false
    }

    /// What may be done to objects, and how.
    fn policies(&self) -> Policies {
        Policies::default()
    }

    /// How often an object is applied again although nothing is known to have changed. Default: never.
    fn reapply_interval(&self) -> Option<&DurationText> {
        None
    }

    /// Kinds whose objects need this component's, beside those that its definitions and API services serve. Default: none.
    fn additional_managed_types(&self) -> &[TypePattern] {
        &[]
    }
}

/// Entries that hold parameters when none is named.
const VALUES_KEYS: [&str; 3] = ["values", "values.yaml", "values.yml"];

impl From<&ValuesSource> for Reference {
    fn from(source: &ValuesSource) -> Self {
        let reference = match source.kind {
            VariableSourceKind::ConfigMap => Self::config_map(&source.name),
            VariableSourceKind::Secret => Self::secret(&source.name),
        };
        let reference = match &source.key {
            Some(key) => reference.key(key),
            None => reference.fallback_keys(VALUES_KEYS),
        };
        // Nothing is rendered any more when it is deleted.
        let reference = reference.ignored_on_deletion();
        if source.optional {
            reference.optional()
        } else {
            reference
        }
    }
}

/// Entries of a Secret that hold a kubeconfig when none is named.
const KUBECONFIG_KEYS: [&str; 3] = ["value", "value.yaml", "value.yml"];

impl From<&KubeConfig> for Reference {
    fn from(config: &KubeConfig) -> Self {
        let reference = Self::secret(&config.secret_ref.name);
        match &config.secret_ref.key {
            Some(key) => reference.key(key),
            None => reference.fallback_keys(KUBECONFIG_KEYS),
        }
    }
}

/// Where a component's files come from.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Origin<'a> {
    /// The generator needs no files.
    Nothing,
    /// They are at hand: compiled into the operator, for example.
    Files(&'a Arc<FileTree>),
    /// An archive at an address.
    Url(&'a UrlSource),
    /// The chart that a release of Helm has stored.
    Release(&'a ReleaseSource),
}

impl<'a> Origin<'a> {
    pub(super) fn of(source: &'a Source) -> Self {
        match (&source.url, &source.release) {
            (Some(url), _) => Self::Url(url),
            (None, Some(release)) => Self::Release(release),
            (None, None) => Self::Nothing,
        }
    }
}

/// One of several generators of a component.
#[derive(Debug, Clone)]
pub struct Part<'a> {
    /// What it is called in messages; its random values are derived from it.
    pub name: &'a str,
    /// Where its files come from.
    pub origin: Origin<'a>,
    /// Folder inside the files.
    pub path: &'a str,
    /// Name of the generator; detected from the files when there is none.
    pub generator: Option<&'a str>,
    /// Options of the generator.
    pub options: GeneratorOptions,
    /// Parameters over those of the component.
    pub parameters: &'a Map<String, Value>,
}

/// Options by the generator that they are for: which one it is may only show from the files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GeneratorOptions {
    named: BTreeMap<&'static str, Value>,
    others: Value,
    exclusive: bool,
}

impl GeneratorOptions {
    /// Options for any generator.
    pub fn any(options: Value) -> Self {
        Self {
            named: BTreeMap::new(),
            others: options,
            exclusive: false,
        }
    }

    /// Options for one generator; null for none.
    #[must_use]
    pub fn with(mut self, generator: &'static str, options: Value) -> Self {
        self.named.insert(generator, options);
        self
    }

    /// Options for a generator that is not the one that renders are an error, and not left unused.
    #[must_use]
    pub fn exclusive(mut self) -> Self {
        self.exclusive = true;
        self
    }

    /// What is there for nothing when a generator renders: the name of another one, or `options` for those of any.
    pub(super) fn unused(&self, generator: &str) -> Option<&'static str> {
        if !self.exclusive {
            return None;
        }
        let is_given =
            |options: &Value| !options.is_null() && *options != Value::Object(Map::new());
        let mut named = self.named.iter();
        let other = named.find(|(name, options)| **name != generator && is_given(options));
        let others = self.named.contains_key(generator) && is_given(&self.others);
        other.map(|(name, _)| *name).or(others.then_some("options"))
    }

    /// The options of a generator.
    pub fn of(&self, generator: &str) -> &Value {
        self.named.get(generator).unwrap_or(&self.others)
    }
}

impl Component for api::Component {
    fn status(&self) -> Option<&ComponentStatus> {
        self.status.as_ref()
    }

    fn parameters(&self) -> Cow<'_, Map<String, Value>> {
        Cow::Borrowed(&self.spec.values)
    }

    fn origin(&self) -> Origin<'_> {
        Origin::of(&self.spec.source)
    }

    fn path(&self) -> &str {
        self.spec.path.as_deref().unwrap_or_default()
    }

    fn generator(&self) -> Option<&str> {
        self.spec.generator.as_deref()
    }

    fn generator_options(&self) -> GeneratorOptions {
        spec::options(&self.spec)
    }

    fn parts(&self) -> Vec<Part<'_>> {
        spec::parts(&self.spec)
    }

    fn pipeline(&self) -> Result<Pipeline, Error> {
        self.pipeline_with(&Variables::default())
    }

    fn variable_sources(&self) -> &[VariableSource] {
        let substitute = self.spec.substitute.as_ref();
        substitute.map_or(&[], |substitute| &substitute.from)
    }

    fn pipeline_with(&self, variables: &Variables) -> Result<Pipeline, Error> {
        spec::pipeline(&self.spec, variables)
    }

    fn decryption(&self) -> Option<&Decryption> {
        self.spec.decryption.as_ref()
    }

    fn adopt(&self) -> Option<&Adopt> {
        self.spec.adopt.as_ref()
    }

    fn runs_hooks(&self) -> bool {
        let helm = self.spec.helm.as_ref();
        helm.and_then(|helm| helm.hooks).unwrap_or(true)
    }

    fn on_return(&self) -> OnReturn {
        let helm = self.spec.helm.as_ref();
        helm.and_then(|helm| helm.on_return).unwrap_or_default()
    }

    fn randomness(&self) -> Randomness {
        let helm = self.spec.helm.as_ref();
        helm.and_then(|helm| helm.randomness).unwrap_or_default()
    }

    fn target_namespace(&self) -> Option<&str> {
        self.spec.target_namespace.as_deref()
    }

    fn target_name(&self) -> Option<&str> {
        self.spec.target_name.as_deref()
    }

    fn service_account_name(&self) -> Option<&str> {
        self.spec.service_account_name.as_deref()
    }

    fn interval(&self) -> Option<&DurationText> {
        self.spec.interval.as_ref()
    }

    fn retry_interval(&self) -> Option<&DurationText> {
        self.spec.retry_interval.as_ref()
    }

    fn timeout(&self) -> Option<&DurationText> {
        self.spec.timeout.as_ref()
    }

    fn is_suspended(&self) -> bool {
        self.spec.suspend
    }

    fn references(&self) -> Vec<Reference> {
        let values = self.spec.values_from.iter().map(Reference::from);
        let adopt = self.spec.adopt.as_ref();
        let pins = adopt.and_then(|adopt| pins_reference(adopt, &self.name_any()));
        values.chain(pins).collect()
    }

    fn parameters_with(
        &self,
        references: &References,
    ) -> Result<Cow<'_, Map<String, Value>>, Error> {
        spec::parameters(&self.spec, references)
    }

    fn kube_config(&self) -> Option<Reference> {
        self.spec.kube_config.as_ref().map(Reference::from)
    }

    fn health(&self) -> &[HealthCheck] {
        &self.spec.health
    }

    fn depends_on(&self) -> Vec<DependsOn> {
        self.spec.depends_on.clone()
    }

    fn policies(&self) -> Policies {
        self.spec.policies.clone().unwrap_or_default()
    }

    fn reapply_interval(&self) -> Option<&DurationText> {
        self.spec.reapply_interval.as_ref()
    }

    fn additional_managed_types(&self) -> &[TypePattern] {
        &self.spec.additional_managed_types
    }
}
