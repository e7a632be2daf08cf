//! A certificate with its key, as templates see it.

use std::any::Any;
use whipstaff_gotemplate::{Host, Kind, Value};

pub(super) const CERTIFICATE: &str = "sprig.certificate";

/// Sprig's `certificate` struct: both parts are PEM.
#[derive(Debug, Clone)]
pub(super) struct Certificate {
    pub(super) certificate: Vec<u8>,
    pub(super) key: Vec<u8>,
}

impl Host for Certificate {
    fn type_name(&self) -> &str {
        CERTIFICATE
    }

    fn kind(&self) -> Kind {
        Kind::Struct
    }

    fn field(&self, name: &str) -> Option<Value> {
        match name {
            "Cert" => Some(Value::string(self.certificate.as_slice())),
            "Key" => Some(Value::string(self.key.as_slice())),
            _ => None,
        }
    }

    fn to_data(&self) -> Option<Value> {
        let fields = [("Cert", &self.certificate), ("Key", &self.key)];
        let text =
            |(name, bytes): (&'static str, &Vec<u8>)| (name, Value::string(bytes.as_slice()));
        Some(Value::map(fields.map(text)))
    }

    fn print(&self) -> Vec<u8> {
        [b"{", self.certificate.as_slice(), b" ", &self.key, b"}"].concat()
    }

    fn to_json(&self) -> Option<serde_json::Value> {
        let text = |bytes: &[u8]| serde_json::Value::from(String::from_utf8_lossy(bytes));
        let mut map = serde_json::Map::new();
        map.insert("Cert".to_owned(), text(&self.certificate));
        map.insert("Key".to_owned(), text(&self.key));
        Some(map.into())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
