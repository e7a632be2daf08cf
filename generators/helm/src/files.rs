//! `.Files`: the files of a chart that are not templates (Helm 4.3, `pkg/engine/files.go`).

use crate::chart::ChartFile;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Map as JsonMap, Value as Json};
use std::{any::Any, collections::BTreeMap, sync::Arc};
use whipstaff_generator::yaml;
use whipstaff_gotemplate::{
    Dialect, FunctionError, Host, Kind, List, Method, Signature, Type, Value,
};
use whipstaff_sprig::glob::Glob;

/// Files by their paths.
#[derive(Debug, Clone)]
pub(crate) struct Files {
    files: BTreeMap<String, Arc<[u8]>>,
    dialect: Dialect,
}

impl Files {
    /// The files of a chart.
    pub(crate) fn new(files: &[ChartFile], dialect: Dialect) -> Self {
        let files = files
            .iter()
            .map(|file| (file.name.clone(), Arc::clone(&file.data)))
            .collect();
        Self { files, dialect }
    }

    fn get(&self, path: &str) -> &[u8] {
        self.files.get(path).map_or(&[], |data| data)
    }

    /// A file's bytes; absent keys give the zero of the element type.
    fn bytes(&self, path: &str) -> Value {
        let data = self.files.get(path);
        Value::List(List::of_bytes(data.map(Arc::clone).unwrap_or_default()))
    }

    /// A pattern that cannot be read matches everything.
    fn glob(&self, pattern: &str) -> Self {
        let Ok(glob) = Glob::new(pattern, &['/']) else {
            return self.clone();
        };
        let matching = self.files.iter().filter(|(path, _)| glob.is_match(path));
        let files = matching
            .map(|(path, data)| (path.clone(), Arc::clone(data)))
            .collect();
        Self {
            files,
            dialect: self.dialect,
        }
    }

    /// The files as YAML, by the last part of their paths.
    fn as_yaml(&self, text: impl Fn(&[u8]) -> String) -> String {
        let named = |(path, data): (&String, &Arc<[u8]>)| {
            let name = path.rsplit('/').next().unwrap_or_default().to_owned();
            (name, Json::String(text(data)))
        };
        let entries: JsonMap<String, Json> = self.files.iter().map(named).collect();
        let mut yaml = yaml::marshal(&Json::Object(entries)).unwrap_or_default();
        if yaml.ends_with('\n') {
            yaml.pop();
        }
        yaml
    }

    fn lines(&self, path: &str) -> Result<Value, FunctionError> {
        let data = self.get(path);
        if data.is_empty() {
            // Helm 4.1 and 4.2 look at the last byte of a file that is there, even of one without any.
            let panics = matches!(self.dialect, Dialect::V4_1 | Dialect::V4_2);
            return if panics && self.files.contains_key(path) {
                let message = "runtime error: index out of range [-1]";
                Err(FunctionError::new(message))
            } else {
                Ok(Value::strings::<&[u8]>([]))
            };
        }
        let data = data.strip_suffix(b"\n").unwrap_or(data);
        Ok(Value::strings(data.split(|byte| *byte == b'\n')))
    }
}

fn plain(data: &[u8]) -> String {
    String::from_utf8_lossy(data).into_owned()
}

fn files(host: &dyn Host) -> Result<&Files, FunctionError> {
    let files = host.as_any().downcast_ref::<Files>();
    files.ok_or_else(|| FunctionError::new("method of files called on something else"))
}

fn on_path(
    host: &dyn Host,
    arguments: &[Value],
    call: impl FnOnce(&Files, &str) -> Result<Value, FunctionError>,
) -> Result<Value, FunctionError> {
    let path = arguments
        .first()
        .and_then(Value::as_bytes)
        .cloned()
        .unwrap_or_default();
    call(files(host)?, &path.to_text())
}

fn bytes(data: &Arc<[u8]>) -> Value {
    Value::List(List::of_bytes(Arc::clone(data)))
}

impl Host for Files {
    fn type_name(&self) -> &'static str {
        "engine.files"
    }

    fn kind(&self) -> Kind {
        Kind::Map
    }

    fn truth(&self) -> bool {
        !self.files.is_empty()
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
                        Ok(Value::string(files.get(path)))
                    })
                },
            },
            "GetBytes" => Method {
                signature: TEXT,
                call: |host, _, arguments| {
                    on_path(host, arguments, |files, path| Ok(files.bytes(path)))
                },
            },
            "Glob" => Method {
                signature: TEXT,
                call: |host, _, arguments| {
                    on_path(host, arguments, |files, path| {
                        Ok(Value::host(files.glob(path)))
                    })
                },
            },
            "Lines" => Method {
                signature: TEXT,
                call: |host, _, arguments| on_path(host, arguments, Self::lines),
            },
            "AsConfig" => Method {
                signature: NOTHING,
                call: |host, _, _| Ok(files(host)?.as_yaml(plain).into()),
            },
            "AsSecrets" => Method {
                signature: NOTHING,
                call: |host, _, _| Ok(files(host)?.as_yaml(|data| STANDARD.encode(data)).into()),
            },
            _ => return None,
        })
    }

    fn field(&self, name: &str) -> Option<Value> {
        Some(self.bytes(name))
    }

    fn entries(&self) -> Option<Vec<(Value, Value)>> {
        let entry = |(path, data): (&String, &Arc<[u8]>)| (Value::from(path.as_str()), bytes(data));
        Some(self.files.iter().map(entry).collect())
    }

    fn len(&self) -> Option<usize> {
        Some(self.files.len())
    }

    /// The texts of the files.
    fn to_data(&self) -> Option<Value> {
        let entry = |(path, data): (&String, &Arc<[u8]>)| (path.clone(), Value::string(&data[..]));
        Some(Value::map(self.files.iter().map(entry)))
    }

    fn print(&self) -> Vec<u8> {
        let entries = self
            .files
            .iter()
            .map(|(path, data)| (path.as_str(), bytes(data)));
        let map = Value::map(entries);
        whipstaff_gotemplate::format::sprint(&[map])
    }

    fn to_json(&self) -> Option<Json> {
        let entry =
            |(path, data): (&String, &Arc<[u8]>)| (path.clone(), Json::from(STANDARD.encode(data)));
        Some(Json::Object(self.files.iter().map(entry).collect()))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
