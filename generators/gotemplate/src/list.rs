//! Go slices.

use crate::{UintKind, Value, grow_stack};
use std::{borrow::Cow, cell::OnceCell, ops::Deref, rc::Rc, sync::Arc};

/// A Go slice. Nothing that a template can do changes an element in place, so the elements are shared and immutable.
#[derive(Clone, Debug)]
pub struct List(Items);

#[derive(Clone, Debug)]
enum Items {
    Values {
        /// None only while it is dropped.
        values: Option<Rc<[Value]>>,
        list_type: ListType,
    },
    Bytes(Rc<Bytes>),
}

/// Bytes that become values when somebody looks at one: most templates that are given a file's bytes never do.
#[derive(Debug)]
struct Bytes {
    content: Arc<[u8]>,
    values: OnceCell<Box<[Value]>>,
}

/// The type of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListType {
    /// `[]interface {}`.
    Any,
    /// `[]string`.
    String,
    /// `[]int`.
    Int,
    /// `[]uint8`, that is, bytes.
    Byte,
    /// Another type, by its Go name: `[]*chart.Dependency`.
    Named(&'static str),
}

impl ListType {
    /// The Go name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Any => "[]interface {}",
            Self::String => "[]string",
            Self::Int => "[]int",
            Self::Byte => "[]uint8",
            Self::Named(name) => name,
        }
    }
}

impl List {
    /// A slice of a type.
    pub fn new(list_type: ListType, items: Vec<Value>) -> Self {
        Self(Items::Values {
            values: Some(items.into()),
            list_type,
        })
    }

    /// A `[]byte` that shares its bytes.
    pub fn of_bytes(content: Arc<[u8]>) -> Self {
        let values = OnceCell::new();
        Self(Items::Bytes(Rc::new(Bytes { content, values })))
    }

    /// The type.
    pub fn list_type(&self) -> ListType {
        match &self.0 {
            Items::Values { list_type, .. } => *list_type,
            Items::Bytes(_) => ListType::Byte,
        }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        match &self.0 {
            Items::Values { values, .. } => values.as_ref().map_or(0, |values| values.len()),
            Items::Bytes(bytes) => bytes.content.len(),
        }
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of a `[]byte`; nothing for slices of other types.
    pub fn to_bytes(&self) -> Option<Cow<'_, [u8]>> {
        let byte = |item: &Value| match item {
            Value::Uint(_, byte) => *byte as u8,
            _ => 0,
        };
        match &self.0 {
            Items::Bytes(bytes) => Some(Cow::Borrowed(&bytes.content)),
            Items::Values {
                list_type: ListType::Byte,
                ..
            } => Some(Cow::Owned(self.iter().map(byte).collect())),
            Items::Values { .. } => None,
        }
    }
}

impl Deref for List {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        match &self.0 {
            Items::Values { values, .. } => values.as_deref().unwrap_or_default(),
            Items::Bytes(bytes) => bytes.values(),
        }
    }
}

impl Drop for List {
    fn drop(&mut self) {
        // Lists may be nested deeper than the native stack is.
        if let Items::Values { values, .. } = &mut self.0
            && let Some(values) = values.take()
            && Rc::strong_count(&values) == 1
        {
            grow_stack(|| drop(values));
        }
    }
}

impl Bytes {
    fn values(&self) -> &[Value] {
        let value = |byte: &u8| Value::Uint(UintKind::Uint8, u64::from(*byte));
        self.values
            .get_or_init(|| self.content.iter().map(value).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_small() {
        assert_eq!(size_of::<Value>(), 40);
    }

    #[test]
    fn bytes_are_elements_as_well() {
        let list = List::of_bytes(Arc::from(b"ab".as_slice()));
        assert_eq!((list.len(), list.is_empty()), (2, false));
        assert_eq!(list.to_bytes().as_deref(), Some(b"ab".as_slice()));
        assert!(matches!(list[1], Value::Uint(UintKind::Uint8, 98)));
        let copied = List::new(ListType::Byte, list.to_vec());
        assert_eq!(copied.to_bytes().as_deref(), Some(b"ab".as_slice()));
        assert_eq!(List::new(ListType::Any, list.to_vec()).to_bytes(), None);
    }
}
