//! Variables: `$(NAME)` in texts.
//!
//! Mirrors `filters/refvar` of kustomize api v0.21.1.

use super::field::visit_fields;
use crate::configuration::FieldSpecs;
use crate::error::{Result, fail};
use crate::node::{Kind, Node, NodeId, Style, Tag};
use crate::resource::{Resource, Store};
use std::collections::{BTreeMap, BTreeSet};

/// What a variable stands for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Variable {
    Text(String),
    Int(i64),
    Float(f64),
    Bool(bool),
    /// A map or a list, which cannot be used.
    Collection,
}

impl Variable {
    fn text(&self) -> Option<String> {
        Some(match self {
            Self::Text(text) => text.clone(),
            Self::Int(value) => value.to_string(),
            Self::Float(value) => value.to_string(),
            Self::Bool(value) => value.to_string(),
            Self::Collection => return None,
        })
    }

    fn tag(&self) -> Tag {
        match self {
            Self::Int(_) => Tag::Int,
            Self::Float(_) => Tag::Float,
            Self::Bool(_) => Tag::Bool,
            Self::Text(_) | Self::Collection => Tag::Str,
        }
    }
}

/// Replaces variables in the fields that the specifications lead to, and gives the names of those that were used.
///
/// # Errors
/// When there is something else than text where a variable may be.
pub(crate) fn replace_variables(
    store: &mut Store,
    resources: &[Resource],
    variables: &BTreeMap<String, Variable>,
    specs: &FieldSpecs,
) -> Result<BTreeSet<String>> {
    let mut replacer = Replacer {
        variables,
        used: BTreeSet::new(),
    };
    for resource in resources {
        visit_fields(store, resource, specs, &None, &mut |store, node| {
            replacer.set(store, node)
        })?;
    }
    Ok(replacer.used)
}

struct Replacer<'v> {
    variables: &'v BTreeMap<String, Variable>,
    used: BTreeSet<String>,
}

impl Replacer<'_> {
    fn set(&mut self, store: &mut Store, node: NodeId) -> Result<()> {
        let found = store.arena.get(node);
        if found.is_null() {
            return Ok(());
        }
        match found.kind {
            Kind::Scalar => {
                if found.is_string() {
                    self.replace(store, node);
                }
            }
            Kind::Mapping => {
                for pair in found.children.clone().chunks_exact(2) {
                    let [key, value] = *pair else { continue };
                    let key = store.arena.get(key);
                    if !key.is_string() {
                        return Err(fail(format!(
                            "invalid map key: value='{}', tag='{}'",
                            key.text,
                            key.tag.short()
                        )));
                    }
                    if store.arena.get(value).is_string() {
                        self.replace(store, value);
                    }
                }
            }
            Kind::Sequence => {
                for item in found.children.clone() {
                    if !store.arena.get(item).is_string() {
                        return Err(fail("invalid value type expect a string"));
                    }
                    self.replace(store, item);
                }
            }
            Kind::Zero => return Err(fail("invalid type encountered 0")),
        }
        Ok(())
    }

    fn replace(&mut self, store: &mut Store, node: NodeId) {
        let (text, tag) = self.expand(&store.arena.get(node).text);
        let node = store.arena.get_mut(node);
        *node = Node {
            style: Style::default(),
            children: std::mem::take(&mut node.children),
            ..Node::tagged(text, tag)
        };
    }

    /// The value of a reference, or the reference itself.
    fn value(&mut self, name: &str) -> (String, Tag) {
        let known = self.variables.get(name);
        match known.and_then(|variable| Some((variable.text()?, variable.tag()))) {
            Some(found) => {
                self.used.insert(name.to_owned());
                found
            }
            None => (format!("$({name})"), Tag::Str),
        }
    }

    fn expand(&mut self, input: &str) -> (String, Tag) {
        let mut output = String::with_capacity(input.len());
        let mut rest = input;
        while let Some(at) = rest.find('$') {
            output.push_str(rest.get(..at).unwrap_or_default());
            let tail = rest.get(at + 1..).unwrap_or_default();
            let Some(next) = tail.chars().next() else {
                output.push('$');
                return (output, Tag::Str);
            };
            rest = tail.get(next.len_utf8()..).unwrap_or_default();
            match (next, rest.find(')')) {
                ('$', _) => output.push('$'),
                ('(', Some(end)) => {
                    let name = rest.get(..end).unwrap_or_default();
                    let (text, tag) = self.value(name);
                    if input.len() == name.len() + "$()".len() {
                        return (text, tag);
                    }
                    output.push_str(&text);
                    rest = rest.get(end + 1..).unwrap_or_default();
                }
                (other, _) => {
                    output.push('$');
                    output.push(other);
                }
            }
        }
        output.push_str(rest);
        (output, Tag::Str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_replaced_and_doubled_signs_protect() {
        let variables = BTreeMap::from([
            ("A".to_owned(), Variable::Text("x".to_owned())),
            ("N".to_owned(), Variable::Int(3)),
        ]);
        let mut replacer = Replacer {
            variables: &variables,
            used: BTreeSet::new(),
        };
        let cases = [
            ("$(A)-$(N)", "x-3", Tag::Str),
            ("$(N)", "3", Tag::Int),
            ("$$(A)", "$(A)", Tag::Str),
            ("$(B) $(A", "$(B) $(A", Tag::Str),
            ("a$", "a$", Tag::Str),
            ("$x$(A)", "$xx", Tag::Str),
        ];
        for (input, want, tag) in cases {
            assert_eq!(replacer.expand(input), (want.to_owned(), tag), "{input}");
        }
        assert_eq!(replacer.used.len(), 2);
    }
}
