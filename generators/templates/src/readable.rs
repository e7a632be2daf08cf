//! The files that templates may read.

use std::{any::Any, collections::BTreeMap, rc::Rc, sync::Arc};
use whipstaff_gotemplate::{FunctionError, Host, Kind, Value};
use whipstaff_sprig::glob::Glob;

/// Files by the names that templates know them by.
pub(crate) type Files = BTreeMap<String, Arc<[u8]>>;

/// Files, lent to the functions that read them.
#[derive(Debug, Clone)]
pub(crate) struct Readable(Arc<Files>);

impl Readable {
    pub(crate) fn value(files: &Arc<Files>) -> Value {
        Value::host(Self(Arc::clone(files)))
    }

    /// The files that were lent.
    pub(crate) fn of(lent: Option<Value>) -> Self {
        let host: Option<Rc<dyn Host>> = match lent {
            Some(Value::Host(host)) => Some(host),
            _ => None,
        };
        let files = host.and_then(|host| host.as_any().downcast_ref::<Self>().cloned());
        files.unwrap_or_else(|| Self(Arc::default()))
    }

    pub(crate) fn get(&self, path: &str) -> Option<&Arc<[u8]>> {
        self.0.get(path)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The names that match a pattern, sorted.
    pub(crate) fn matching(&self, pattern: &str) -> Result<Vec<&str>, FunctionError> {
        let glob = Glob::new(pattern, &['/']).map_err(|e| FunctionError::new(e.to_string()))?;
        let names = self.0.keys().map(String::as_str);
        Ok(names.filter(|name| glob.is_match(name)).collect())
    }
}

impl Host for Readable {
    fn type_name(&self) -> &'static str {
        "map[string][]uint8"
    }

    fn kind(&self) -> Kind {
        Kind::Map
    }

    fn print(&self) -> Vec<u8> {
        b"files".to_vec()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
