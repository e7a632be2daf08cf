//! `.Files`: the files of a chart that are not templates (Helm 4.3, `pkg/engine/files.go`).

use crate::chart::ChartFile;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Map as JsonMap, Value as Json};
use std::{any::Any, collections::BTreeMap, sync::Arc};
use whipstaff_generator::yaml;
use whipstaff_gotemplate::{
    FunctionError, Host, Kind, List, ListType, Method, Signature, Type, UintKind, Value,
};
use whipstaff_sprig::glob::Glob;

/// Files by their paths.
#[derive(Debug, Clone)]
pub(crate) struct Files(BTreeMap<String, Arc<[u8]>>);

impl Files {
    /// The files of a chart.
    pub(crate) fn new(files: &[ChartFile]) -> Self {
        Self(
            files
                .iter()
                .map(|file| (file.name.clone(), Arc::clone(&file.data)))
                .collect(),
        )
    }

    fn get(&self, path: &str) -> &[u8] {
        self.0.get(path).map_or(&[], |data| data)
    }

    /// A pattern that cannot be read matches everything.
    fn glob(&self, pattern: &str) -> Self {
        let Ok(glob) = Glob::new(pattern, &['/']) else {
            return self.clone();
        };
        let matching = self.0.iter().filter(|(path, _)| glob.is_match(path));
        Self(
            matching
                .map(|(path, data)| (path.clone(), Arc::clone(data)))
                .collect(),
        )
    }

    /// The files as YAML, by the last part of their paths.
    fn as_yaml(&self, text: impl Fn(&[u8]) -> String) -> String {
        let named = |(path, data): (&String, &Arc<[u8]>)| {
            let name = path.rsplit('/').next().unwrap_or_default().to_owned();
            (name, Json::String(text(data)))
        };
        let entries: JsonMap<String, Json> = self.0.iter().map(named).collect();
        let mut yaml = yaml::marshal(&Json::Object(entries)).unwrap_or_default();
        if yaml.ends_with('\n') {
            yaml.pop();
        }
        yaml
    }

    fn lines(&self, path: &str) -> Value {
        let data = self.get(path);
        if data.is_empty() {
            return Value::strings::<&[u8]>([]);
        }
        let data = data.strip_suffix(b"\n").unwrap_or(data);
        Value::strings(data.split(|byte| *byte == b'\n'))
    }
}

fn plain(data: &[u8]) -> String {
    String::from_utf8_lossy(data).into_owned()
}

fn on_files<T: Into<Value>>(
    host: &dyn Host,
    call: impl FnOnce(&Files) -> T,
) -> Result<Value, FunctionError> {
    let files = host.as_any().downcast_ref::<Files>();
    let files =
        files.ok_or_else(|| FunctionError::new("method of files called on something else"))?;
    Ok(call(files).into())
}

fn on_path(
    host: &dyn Host,
    arguments: &[Value],
    call: impl FnOnce(&Files, &str) -> Value,
) -> Result<Value, FunctionError> {
    let path = arguments
        .first()
        .and_then(Value::as_bytes)
        .cloned()
        .unwrap_or_default();
    on_files(host, |files| call(files, &path.to_text()))
}

fn bytes(data: &[u8]) -> Value {
    let items = data
        .iter()
        .map(|byte| Value::Uint(UintKind::Uint8, u64::from(*byte)))
        .collect();
    Value::List(List::new(ListType::Byte, items))
}

impl Host for Files {
    fn type_name(&self) -> &'static str {
        "engine.files"
    }

    fn kind(&self) -> Kind {
        Kind::Map
    }

    fn truth(&self) -> bool {
        !self.0.is_empty()
    }

    fn method(&self, name: &str) -> Option<Method> {
        const TEXT: Signature = Signature {
            parameters: &[Type::String],
            variadic: None,
        };
        const NOTHING: Signature = Signature {
            parameters: &[],
            variadic: None,
        };
        Some(match name {
            "Get" => Method {
                signature: TEXT,
                call: |host, _, arguments| {
                    on_path(host, arguments, |files, path| {
                        Value::string(files.get(path))
                    })
                },
            },
            "GetBytes" => Method {
                signature: TEXT,
                call: |host, _, arguments| {
                    on_path(host, arguments, |files, path| bytes(files.get(path)))
                },
            },
            "Glob" => Method {
                signature: TEXT,
                call: |host, _, arguments| {
                    on_path(host, arguments, |files, path| Value::host(files.glob(path)))
                },
            },
            "Lines" => Method {
                signature: TEXT,
                call: |host, _, arguments| on_path(host, arguments, Self::lines),
            },
            "AsConfig" => Method {
                signature: NOTHING,
                call: |host, _, _| on_files(host, |files| files.as_yaml(plain)),
            },
            "AsSecrets" => Method {
                signature: NOTHING,
                call: |host, _, _| {
                    on_files(host, |files| files.as_yaml(|data| STANDARD.encode(data)))
                },
            },
            _ => return None,
        })
    }

    fn field(&self, name: &str) -> Option<Value> {
        // Absent keys give the zero of the element type.
        Some(bytes(self.get(name)))
    }

    fn entries(&self) -> Option<Vec<(Value, Value)>> {
        let entry = |(path, data): (&String, &Arc<[u8]>)| (Value::from(path.as_str()), bytes(data));
        Some(self.0.iter().map(entry).collect())
    }

    fn len(&self) -> Option<usize> {
        Some(self.0.len())
    }

    /// The texts of the files.
    fn to_data(&self) -> Option<Value> {
        let entry = |(path, data): (&String, &Arc<[u8]>)| (path.clone(), Value::string(&data[..]));
        Some(Value::map(self.0.iter().map(entry)))
    }

    fn print(&self) -> Vec<u8> {
        let entries = self
            .0
            .iter()
            .map(|(path, data)| (path.as_str(), bytes(data)));
        let map = Value::map(entries);
        whipstaff_gotemplate::format::sprint(&[map])
    }

    fn to_json(&self) -> Option<Json> {
        let entry =
            |(path, data): (&String, &Arc<[u8]>)| (path.clone(), Json::from(STANDARD.encode(data)));
        Some(Json::Object(self.0.iter().map(entry).collect()))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
