//! `.Chart`: in Helm 3 a struct, in Helm 4 a map of its fields (Helm 3.22, `pkg/engine/engine.go`; Helm 4.3,
//! `pkg/chart/common.go`).

use crate::{
    metadata::{Dependency, Maintainer, Metadata},
    tree::{ChartTree, NodeId},
};
use serde_json::{Map as JsonMap, Value as Json};
use std::{any::Any, collections::BTreeMap};
use whipstaff_gotemplate::{
    Bytes, Dialect, Host, Kind, List, ListType, Map, MapType, Value, format,
};

/// The object that a chart's templates see as `.Chart`.
pub(crate) fn chart_object(tree: &ChartTree, chart: NodeId, dialect: Dialect) -> Value {
    let node = tree.node(chart);
    let mut metadata = node.chart.metadata.clone();
    node.name.clone_into(&mut metadata.name);
    let declared = node.declared.as_ref();
    metadata.dependencies = declared.map(|list| {
        list.iter()
            .map(|dependency| dependency.borrow().clone())
            .collect()
    });
    let is_root = node.parent.is_none();
    if !dialect.is_v4() {
        return Value::host(ChartHost { metadata, is_root });
    }
    let mut fields = metadata_fields(&metadata, Shape::Map);
    fields.push(("IsRoot", "IsRoot", Value::Bool(is_root)));
    Value::map(fields.into_iter().map(|(name, _, value)| (name, value)))
}

/// How structs inside structs appear.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Map,
    Struct,
}

/// Go's name of a field, its name in JSON, and its value.
type Field = (&'static str, &'static str, Value);

/// The fields in the order of the struct's declaration.
fn metadata_fields(metadata: &Metadata, shape: Shape) -> Vec<Field> {
    let text = |text: &str| Value::from(text);
    let texts = |texts: &[String]| match shape {
        Shape::Map => Value::list(
            texts
                .iter()
                .map(|text| Value::from(text.as_str()))
                .collect(),
        ),
        Shape::Struct => Value::strings(texts.iter().map(String::as_str)),
    };
    let maintainers = metadata
        .maintainers
        .iter()
        .map(|m| maintainer(m, shape))
        .collect();
    let dependencies = metadata
        .dependencies()
        .iter()
        .map(|d| dependency(d, shape))
        .collect();
    let structs = |name, items| match shape {
        Shape::Map => Value::list(items),
        Shape::Struct => Value::List(List::new(ListType::Named(name), items)),
    };
    vec![
        ("Name", "name", text(&metadata.name)),
        ("Home", "home", text(&metadata.home)),
        ("Sources", "sources", texts(&metadata.sources)),
        ("Version", "version", text(&metadata.version)),
        ("Description", "description", text(&metadata.description)),
        ("Keywords", "keywords", texts(&metadata.keywords)),
        (
            "Maintainers",
            "maintainers",
            structs("[]*chart.Maintainer", maintainers),
        ),
        ("Icon", "icon", text(&metadata.icon)),
        ("APIVersion", "apiVersion", text(&metadata.api_version)),
        ("Condition", "condition", text(&metadata.condition)),
        ("Tags", "tags", text(&metadata.tags)),
        ("AppVersion", "appVersion", text(&metadata.app_version)),
        ("Deprecated", "deprecated", Value::Bool(metadata.deprecated)),
        ("Annotations", "annotations", annotations(metadata)),
        ("KubeVersion", "kubeVersion", text(&metadata.kube_version)),
        (
            "Dependencies",
            "dependencies",
            structs("[]*chart.Dependency", dependencies),
        ),
        ("Type", "type", text(&metadata.kind)),
    ]
}

fn annotations(metadata: &Metadata) -> Value {
    let entries = metadata.annotations.iter().flatten();
    let entries: BTreeMap<Bytes, Value> = entries
        .map(|(key, value)| (Bytes::from(key.as_str()), Value::from(value.as_str())))
        .collect();
    Value::Map(Map::new(MapType::STRING, entries))
}

fn maintainer(maintainer: &Maintainer, shape: Shape) -> Value {
    let fields = vec![
        ("Name", "name", Value::from(maintainer.name.as_str())),
        ("Email", "email", Value::from(maintainer.email.as_str())),
        ("URL", "url", Value::from(maintainer.url.as_str())),
    ];
    structure("*chart.Maintainer", fields, &[], shape)
}

fn dependency(dependency: &Dependency, shape: Shape) -> Value {
    let tags = dependency.tags.iter().map(|tag| Value::from(tag.as_str()));
    let tags = match shape {
        Shape::Map => Value::list(tags.collect()),
        Shape::Struct => Value::strings(dependency.tags.iter().map(String::as_str)),
    };
    let imports = dependency.import_values.iter().map(import).collect();
    let fields = vec![
        ("Name", "name", Value::from(dependency.name.as_str())),
        (
            "Version",
            "version",
            Value::from(dependency.version.as_str()),
        ),
        (
            "Repository",
            "repository",
            Value::from(dependency.repository.as_str()),
        ),
        (
            "Condition",
            "condition",
            Value::from(dependency.condition.as_str()),
        ),
        ("Tags", "tags", tags),
        ("Enabled", "enabled", Value::Bool(dependency.enabled)),
        ("ImportValues", "import-values", Value::list(imports)),
        ("Alias", "alias", Value::from(dependency.alias.as_str())),
    ];
    structure("*chart.Dependency", fields, &["name", "repository"], shape)
}

fn import(import: &Json) -> Value {
    match Value::from_json(import) {
        Value::Map(map) => Value::Map(map.with_type(MapType::STRING)),
        other => other,
    }
}

fn structure(
    type_name: &'static str,
    fields: Vec<Field>,
    always: &'static [&'static str],
    shape: Shape,
) -> Value {
    match shape {
        Shape::Map => Value::map(fields.into_iter().map(|(name, _, value)| (name, value))),
        Shape::Struct => Value::host(StructHost {
            type_name,
            fields,
            always,
        }),
    }
}

/// A pointer to a struct of plain fields.
#[derive(Debug)]
struct StructHost {
    type_name: &'static str,
    fields: Vec<Field>,
    /// Names in JSON of the fields that are written even when they are empty.
    always: &'static [&'static str],
}

impl Host for StructHost {
    fn type_name(&self) -> &str {
        self.type_name
    }

    fn kind(&self) -> Kind {
        Kind::Ptr
    }

    fn field(&self, name: &str) -> Option<Value> {
        field(&self.fields, name)
    }

    fn to_data(&self) -> Option<Value> {
        Some(data_of(&self.fields))
    }

    fn print(&self) -> Vec<u8> {
        let mut text = b"&".to_vec();
        text.extend(print_fields(&self.fields));
        text
    }

    fn to_json(&self) -> Option<Json> {
        Some(Json::Object(json_fields(&self.fields, self.always)))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The struct that Helm 3 gives: the metadata's fields and `IsRoot`.
#[derive(Debug)]
struct ChartHost {
    metadata: Metadata,
    is_root: bool,
}

impl Host for ChartHost {
    fn type_name(&self) -> &'static str {
        "struct { chart.Metadata; IsRoot bool }"
    }

    fn kind(&self) -> Kind {
        Kind::Struct
    }

    fn field(&self, name: &str) -> Option<Value> {
        match name {
            "IsRoot" => Some(Value::Bool(self.is_root)),
            "Metadata" => Some(Value::host(MetadataHost {
                metadata: self.metadata.clone(),
            })),
            // The two that templates ask for again and again.
            "Name" => Some(Value::from(self.metadata.name.as_str())),
            "Version" => Some(Value::from(self.metadata.version.as_str())),
            name => field(&metadata_fields(&self.metadata, Shape::Struct), name),
        }
    }

    fn to_data(&self) -> Option<Value> {
        let mut fields = metadata_fields(&self.metadata, Shape::Struct);
        fields.push(("IsRoot", "IsRoot", Value::Bool(self.is_root)));
        Some(data_of(&fields))
    }

    fn print(&self) -> Vec<u8> {
        let mut text = b"{".to_vec();
        text.extend(print_fields(&metadata_fields(
            &self.metadata,
            Shape::Struct,
        )));
        text.extend(format!(" {}}}", self.is_root).bytes());
        text
    }

    fn to_json(&self) -> Option<Json> {
        let mut json = json_fields(&metadata_fields(&self.metadata, Shape::Struct), &[]);
        json.insert("IsRoot".to_owned(), Json::Bool(self.is_root));
        Some(Json::Object(json))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The metadata by itself, as `.Chart.Metadata` gives it in Helm 3.
#[derive(Debug)]
struct MetadataHost {
    metadata: Metadata,
}

impl Host for MetadataHost {
    fn type_name(&self) -> &'static str {
        "chart.Metadata"
    }

    fn kind(&self) -> Kind {
        Kind::Struct
    }

    fn field(&self, name: &str) -> Option<Value> {
        field(&metadata_fields(&self.metadata, Shape::Struct), name)
    }

    fn to_data(&self) -> Option<Value> {
        Some(data_of(&metadata_fields(&self.metadata, Shape::Struct)))
    }

    fn print(&self) -> Vec<u8> {
        print_fields(&metadata_fields(&self.metadata, Shape::Struct))
    }

    fn to_json(&self) -> Option<Json> {
        Some(Json::Object(json_fields(
            &metadata_fields(&self.metadata, Shape::Struct),
            &[],
        )))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn data_of(fields: &[Field]) -> Value {
    let named = |(name, _, value): &Field| (*name, value.clone());
    Value::map(fields.iter().map(named))
}

fn field(fields: &[Field], name: &str) -> Option<Value> {
    fields
        .iter()
        .find(|(field, ..)| *field == name)
        .map(|(_, _, value)| value.clone())
}

fn print_fields(fields: &[Field]) -> Vec<u8> {
    let mut text = b"{".to_vec();
    for (at, (_, _, value)) in fields.iter().enumerate() {
        if at > 0 {
            text.push(b' ');
        }
        text.extend(format::sprint(std::slice::from_ref(value)));
    }
    text.push(b'}');
    text
}

/// The fields under their names in JSON, without the empty ones.
fn json_fields(fields: &[Field], always: &[&str]) -> JsonMap<String, Json> {
    fields
        .iter()
        .filter(|(_, name, value)| value.truth() || always.contains(name))
        .map(|(_, name, value)| ((*name).to_owned(), crate::values::to_json(value)))
        .collect()
}
