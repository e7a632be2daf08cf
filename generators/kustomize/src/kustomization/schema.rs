//! The shapes of the structs that are decoded.

/// The type of a field.
#[derive(Debug)]
pub(crate) enum Type {
    Text,
    Bool,
    Int,
    TextMap,
    AnyMap,
    List(&'static Self),
    Struct(&'static Struct),
}

impl Type {
    /// The name of the type in Go.
    pub(super) fn go_name(&self) -> String {
        match self {
            Self::Text => "string".to_owned(),
            Self::Bool => "bool".to_owned(),
            Self::Int => "int".to_owned(),
            Self::TextMap => "map[string]string".to_owned(),
            Self::AnyMap => "map[string]interface {}".to_owned(),
            Self::List(items) => format!("[]{}", items.go_name()),
            Self::Struct(shape) => format!("{}.{}", shape.package, shape.name),
        }
    }

    /// What stands in a list for null.
    pub(super) fn empty(&self) -> serde_json::Value {
        match self {
            Self::Text => "".into(),
            Self::Bool => false.into(),
            Self::Int => 0.into(),
            Self::List(_) => serde_json::Value::Array(Vec::new()),
            _ => serde_json::Value::Object(serde_json::Map::new()),
        }
    }
}

/// A field of a struct.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    /// The embedded structs that it is in.
    pub(super) through: &'static [&'static str],
    pub(super) kind: Type,
}

/// A struct.
#[derive(Debug)]
pub(crate) struct Struct {
    pub(crate) name: &'static str,
    pub(super) package: &'static str,
    pub(crate) fields: &'static [Field],
}

const fn field(name: &'static str, kind: Type) -> Field {
    Field {
        name,
        through: &[],
        kind,
    }
}

const fn inner(through: &'static [&'static str], name: &'static str, kind: Type) -> Field {
    Field {
        name,
        through,
        kind,
    }
}

const fn shape(name: &'static str, fields: &'static [Field]) -> Struct {
    Struct {
        name,
        package: "types",
        fields,
    }
}

const GVK: &[&str] = &["Gvk"];
const RES_ID: &[&str] = &["ResId"];
const RES_ID_GVK: &[&str] = &["ResId", "Gvk"];
const TEXTS: Type = Type::List(&Type::Text);

static OBJECT_META: Struct = shape(
    "ObjectMeta",
    &[
        field("name", Type::Text),
        field("namespace", Type::Text),
        field("labels", Type::TextMap),
        field("annotations", Type::TextMap),
    ],
);

static FIELD_SPEC: Struct = shape(
    "FieldSpec",
    &[
        inner(GVK, "group", Type::Text),
        inner(GVK, "version", Type::Text),
        inner(GVK, "kind", Type::Text),
        field("path", Type::Text),
        field("create", Type::Bool),
    ],
);
const FIELD_SPECS: Type = Type::List(&Type::Struct(&FIELD_SPEC));

static LABEL: Struct = shape(
    "Label",
    &[
        field("pairs", Type::TextMap),
        field("includeSelectors", Type::Bool),
        field("includeTemplates", Type::Bool),
        field("fields", FIELD_SPECS),
    ],
);

static SELECTOR: Struct = shape(
    "Selector",
    &[
        inner(RES_ID_GVK, "group", Type::Text),
        inner(RES_ID_GVK, "version", Type::Text),
        inner(RES_ID_GVK, "kind", Type::Text),
        inner(RES_ID, "name", Type::Text),
        inner(RES_ID, "namespace", Type::Text),
        field("annotationSelector", Type::Text),
        field("labelSelector", Type::Text),
    ],
);

static PATCH_ARGS: Struct = shape(
    "PatchArgs",
    &[
        field("allowNameChange", Type::Bool),
        field("allowKindChange", Type::Bool),
    ],
);

/// A patch, which is also what `PatchTransformer` takes.
pub(crate) static PATCH: Struct = shape(
    "Patch",
    &[
        field("path", Type::Text),
        field("patch", Type::Text),
        field("target", Type::Struct(&SELECTOR)),
        field("options", Type::Struct(&PATCH_ARGS)),
    ],
);

static IMAGE: Struct = shape(
    "Image",
    &[
        field("name", Type::Text),
        field("newName", Type::Text),
        field("tagSuffix", Type::Text),
        field("newTag", Type::Text),
        field("digest", Type::Text),
    ],
);

static FIELD_OPTIONS: Struct = shape(
    "FieldOptions",
    &[
        field("delimiter", Type::Text),
        field("index", Type::Int),
        field("encoding", Type::Text),
        field("create", Type::Bool),
    ],
);

static SOURCE_SELECTOR: Struct = shape(
    "SourceSelector",
    &[
        inner(RES_ID_GVK, "group", Type::Text),
        inner(RES_ID_GVK, "version", Type::Text),
        inner(RES_ID_GVK, "kind", Type::Text),
        inner(RES_ID, "name", Type::Text),
        inner(RES_ID, "namespace", Type::Text),
        field("fieldPath", Type::Text),
        field("options", Type::Struct(&FIELD_OPTIONS)),
    ],
);

static TARGET_SELECTOR: Struct = shape(
    "TargetSelector",
    &[
        field("select", Type::Struct(&SELECTOR)),
        field("reject", Type::List(&Type::Struct(&SELECTOR))),
        field("fieldPaths", TEXTS),
        field("options", Type::Struct(&FIELD_OPTIONS)),
    ],
);

/// A replacement in a file of its own.
pub(crate) static REPLACEMENT: Struct = shape(
    "Replacement",
    &[
        field("source", Type::Struct(&SOURCE_SELECTOR)),
        field("targets", Type::List(&Type::Struct(&TARGET_SELECTOR))),
        field("sourceValue", Type::Text),
    ],
);

static REPLACEMENT_FIELD: Struct = shape(
    "ReplacementField",
    &[
        inner(&["Replacement"], "source", Type::Struct(&SOURCE_SELECTOR)),
        inner(
            &["Replacement"],
            "targets",
            Type::List(&Type::Struct(&TARGET_SELECTOR)),
        ),
        inner(&["Replacement"], "sourceValue", Type::Text),
        field("path", Type::Text),
    ],
);

static REPLICA: Struct = shape(
    "Replica",
    &[field("name", Type::Text), field("count", Type::Int)],
);

static VAR_TARGET: Struct = shape(
    "Target",
    &[
        field("apiVersion", Type::Text),
        inner(GVK, "group", Type::Text),
        inner(GVK, "version", Type::Text),
        inner(GVK, "kind", Type::Text),
        field("name", Type::Text),
        field("namespace", Type::Text),
    ],
);

static FIELD_SELECTOR: Struct = shape("FieldSelector", &[field("fieldPath", Type::Text)]);

static VAR: Struct = shape(
    "Var",
    &[
        field("name", Type::Text),
        field("objref", Type::Struct(&VAR_TARGET)),
        field("fieldref", Type::Struct(&FIELD_SELECTOR)),
    ],
);

static LEGACY_SORT_OPTIONS: Struct = shape(
    "LegacySortOptions",
    &[field("orderFirst", TEXTS), field("orderLast", TEXTS)],
);

static SORT_OPTIONS: Struct = shape(
    "SortOptions",
    &[
        field("order", Type::Text),
        field("legacySortOptions", Type::Struct(&LEGACY_SORT_OPTIONS)),
    ],
);

static GENERATOR_OPTIONS: Struct = shape(
    "GeneratorOptions",
    &[
        field("labels", Type::TextMap),
        field("annotations", Type::TextMap),
        field("disableNameSuffixHash", Type::Bool),
        field("immutable", Type::Bool),
    ],
);

const ARGS: &[&str] = &["GeneratorArgs"];
const ARGS_SOURCES: &[&str] = &["GeneratorArgs", "KvPairSources"];

static CONFIG_MAP_ARGS: Struct = shape(
    "ConfigMapArgs",
    &[
        inner(ARGS, "namespace", Type::Text),
        inner(ARGS, "name", Type::Text),
        inner(ARGS, "behavior", Type::Text),
        inner(ARGS_SOURCES, "literals", TEXTS),
        inner(ARGS_SOURCES, "files", TEXTS),
        inner(ARGS_SOURCES, "envs", TEXTS),
        inner(ARGS_SOURCES, "env", Type::Text),
        inner(ARGS, "options", Type::Struct(&GENERATOR_OPTIONS)),
    ],
);

/// What a `Secret` is made of.
pub(crate) static SECRET_ARGS: Struct = shape(
    "SecretArgs",
    &[
        inner(ARGS, "namespace", Type::Text),
        inner(ARGS, "name", Type::Text),
        inner(ARGS, "behavior", Type::Text),
        inner(ARGS_SOURCES, "literals", TEXTS),
        inner(ARGS_SOURCES, "files", TEXTS),
        inner(ARGS_SOURCES, "envs", TEXTS),
        inner(ARGS_SOURCES, "env", Type::Text),
        inner(ARGS, "options", Type::Struct(&GENERATOR_OPTIONS)),
        field("type", Type::Text),
    ],
);

static HELM_GLOBALS: Struct = shape(
    "HelmGlobals",
    &[
        field("chartHome", Type::Text),
        field("configHome", Type::Text),
    ],
);

static HELM_CHART: Struct = shape("HelmChart", HELM_CHART_FIELDS);

const HELM_CHART_FIELDS: &[Field] = &[
    field("name", Type::Text),
    field("version", Type::Text),
    field("repo", Type::Text),
    field("releaseName", Type::Text),
    field("namespace", Type::Text),
    field("additionalValuesFiles", TEXTS),
    field("valuesFile", Type::Text),
    field("valuesInline", Type::AnyMap),
    field("valuesMerge", Type::Text),
    field("includeCRDs", Type::Bool),
    field("skipHooks", Type::Bool),
    field("apiVersions", TEXTS),
    field("kubeVersion", Type::Text),
    field("nameTemplate", Type::Text),
    field("skipTests", Type::Bool),
    field("debug", Type::Bool),
    field("devel", Type::Bool),
];

/// A chart as a plugin.
pub(crate) static HELM_PLUGIN: Struct =
    shape("HelmChartInflationGeneratorPlugin", HELM_CHART_FIELDS);

/// Where charts are, for a plugin.
pub(crate) static HELM_PLUGIN_GLOBALS: Struct = shape(
    "HelmGlobals",
    &[
        field("chartHome", Type::Text),
        field("configHome", Type::Text),
    ],
);

static HELM_CHART_ARGS: Struct = shape(
    "HelmChartArgs",
    &[
        field("chartName", Type::Text),
        field("chartVersion", Type::Text),
        field("chartRepoUrl", Type::Text),
        field("chartHome", Type::Text),
        field("chartRepoName", Type::Text),
        field("helmBin", Type::Text),
        field("helmHome", Type::Text),
        field("values", Type::Text),
        field("valuesLocal", Type::AnyMap),
        field("valuesMerge", Type::Text),
        field("releaseName", Type::Text),
        field("releaseNamespace", Type::Text),
        field("extraArgs", TEXTS),
    ],
);

const TYPE_META: &[&str] = &["TypeMeta"];

/// A kustomization file.
pub(crate) static KUSTOMIZATION: Struct = shape(
    "Kustomization",
    &[
        inner(TYPE_META, "kind", Type::Text),
        inner(TYPE_META, "apiVersion", Type::Text),
        field("metadata", Type::Struct(&OBJECT_META)),
        field("openapi", Type::TextMap),
        field("namePrefix", Type::Text),
        field("nameSuffix", Type::Text),
        field("namespace", Type::Text),
        field("commonLabels", Type::TextMap),
        field("labels", Type::List(&Type::Struct(&LABEL))),
        field("commonAnnotations", Type::TextMap),
        field("patchesStrategicMerge", TEXTS),
        field("patchesJson6902", Type::List(&Type::Struct(&PATCH))),
        field("patches", Type::List(&Type::Struct(&PATCH))),
        field("images", Type::List(&Type::Struct(&IMAGE))),
        field("imageTags", Type::List(&Type::Struct(&IMAGE))),
        field(
            "replacements",
            Type::List(&Type::Struct(&REPLACEMENT_FIELD)),
        ),
        field("replicas", Type::List(&Type::Struct(&REPLICA))),
        field("vars", Type::List(&Type::Struct(&VAR))),
        field("sortOptions", Type::Struct(&SORT_OPTIONS)),
        field("resources", TEXTS),
        field("components", TEXTS),
        field("crds", TEXTS),
        field("bases", TEXTS),
        field(
            "configMapGenerator",
            Type::List(&Type::Struct(&CONFIG_MAP_ARGS)),
        ),
        field("secretGenerator", Type::List(&Type::Struct(&SECRET_ARGS))),
        field("helmGlobals", Type::Struct(&HELM_GLOBALS)),
        field("helmCharts", Type::List(&Type::Struct(&HELM_CHART))),
        field(
            "helmChartInflationGenerator",
            Type::List(&Type::Struct(&HELM_CHART_ARGS)),
        ),
        field("generatorOptions", Type::Struct(&GENERATOR_OPTIONS)),
        field("configurations", TEXTS),
        field("generators", TEXTS),
        field("transformers", TEXTS),
        field("validators", TEXTS),
        field("buildMetadata", TEXTS),
    ],
);

static NAME_REFERENCE: Struct = Struct {
    name: "NameBackReferences",
    package: "builtinconfig",
    fields: &[
        inner(GVK, "group", Type::Text),
        inner(GVK, "version", Type::Text),
        inner(GVK, "kind", Type::Text),
        field("fieldSpecs", FIELD_SPECS),
    ],
};

/// A file of field specifications.
pub(crate) static CONFIGURATION: Struct = Struct {
    name: "TransformerConfig",
    package: "builtinconfig",
    fields: &[
        field("namePrefix", FIELD_SPECS),
        field("nameSuffix", FIELD_SPECS),
        field("namespace", FIELD_SPECS),
        field("commonLabels", FIELD_SPECS),
        field("labels", FIELD_SPECS),
        field("templateLabels", FIELD_SPECS),
        field("commonAnnotations", FIELD_SPECS),
        field("nameReference", Type::List(&Type::Struct(&NAME_REFERENCE))),
        field("varReference", FIELD_SPECS),
        field("images", FIELD_SPECS),
        field("replicas", FIELD_SPECS),
    ],
};

/// What the other built-in plugins take, all in one: no two of them use a name for different things.
pub(crate) static PLUGIN: Struct = shape(
    "Plugin",
    &[
        field("metadata", Type::Struct(&OBJECT_META)),
        field("labels", Type::TextMap),
        field("annotations", Type::TextMap),
        field("fieldSpecs", FIELD_SPECS),
        field("imageTag", Type::Struct(&IMAGE)),
        field("replica", Type::Struct(&REPLICA)),
        field("prefix", Type::Text),
        field("suffix", Type::Text),
        field("unsetOnly", Type::Bool),
        field("setRoleBindingSubjects", Type::Text),
        field("target", Type::Struct(&SELECTOR)),
        field("path", Type::Text),
        field("jsonOp", Type::Text),
        field("paths", TEXTS),
        field("patches", Type::Text),
        field(
            "replacements",
            Type::List(&Type::Struct(&REPLACEMENT_FIELD)),
        ),
        field("value", Type::Text),
        field("targets", Type::List(&Type::Struct(&VALUE_TARGET))),
        field("targetFilePath", Type::Text),
        field("cloud", Type::Text),
        field("kubernetesService", Type::Struct(&KUBERNETES_SERVICE)),
        field("serviceAccount", Type::Struct(&SERVICE_ACCOUNT)),
    ],
);

static VALUE_TARGET: Struct = Struct {
    name: "Target",
    package: "builtins",
    fields: &[
        field("selector", Type::Struct(&SELECTOR)),
        field("fieldPath", Type::Text),
        field("filePathPosition", Type::Int),
    ],
};

static KUBERNETES_SERVICE: Struct = shape(
    "KubernetesService",
    &[field("name", Type::Text), field("namespace", Type::Text)],
);

static SERVICE_ACCOUNT: Struct = shape(
    "ServiceAccount",
    &[field("name", Type::Text), field("projectId", Type::Text)],
);
