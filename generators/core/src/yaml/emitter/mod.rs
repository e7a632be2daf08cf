//! Writes values as YAML.
//!
//! Mirrors `encode.go` and `emitterc.go` of go.yaml.in/yaml v2.4.3 and, for the pretty form, v3.0.4
//! with an indentation of 2.

mod analysis;
mod scalar;
mod writer;

use std::slice;

use serde_json::map;
use serde_json::{Map, Number, Value};

use self::writer::{BEST_WIDTH, Writer};
use super::go_number::{format_general, format_json};
use super::natural_order::{Sorter, sort};
use super::resolve::{looks_like_another_type, looks_like_another_type_v3};

/// The longest key that is written without `?`, in bytes.
const MAX_SIMPLE_KEY_LENGTH: usize = 128;

/// How many columns a level of indentation takes.
const INDENT: usize = 2;

/// Which library's form the text takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// go-yaml v2 behind JSON text, which is sigs.k8s.io/yaml.
    V2,
    /// go-yaml v3.
    V3,
}

/// The order of the keys of a mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyOrder {
    Natural,
    /// That of the map.
    Own,
}

/// Writes a document.
pub(super) fn emit(value: &Value, form: Form, order: KeyOrder) -> String {
    let writer = Writer::new(if form == Form::V2 {
        BEST_WIDTH
    } else {
        usize::MAX
    });
    let mut emitter = Emitter {
        writer,
        form,
        order,
        open: Vec::new(),
    };
    emitter.node(value, Place::Root);
    while let Some(collection) = emitter.open.pop() {
        emitter.next_item(collection);
    }
    emitter.writer.finish()
}

/// What a node is to the collection around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    Item,
    SimpleKey,
    /// A value, or a key behind `?`.
    Pair,
}

/// The pairs of a mapping in the order they are written.
enum Pairs<'v> {
    Own(map::Iter<'v>),
    Sorted(std::vec::IntoIter<(&'v str, &'v Value)>),
}

impl<'v> Iterator for Pairs<'v> {
    type Item = (&'v str, &'v Value);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Own(pairs) => pairs.next().map(|(key, value)| (key.as_str(), value)),
            Self::Sorted(pairs) => pairs.next(),
        }
    }
}

/// A collection that is being written.
struct Collection<'v> {
    /// The indentation around it.
    outer_indent: Option<usize>,
    rest: Rest<'v>,
}

enum Rest<'v> {
    Items(slice::Iter<'v, Value>),
    Pairs(Pairs<'v>),
}

struct Emitter<'v> {
    writer: Writer,
    form: Form,
    order: KeyOrder,
    open: Vec<Collection<'v>>,
}

impl<'v> Emitter<'v> {
    fn node(&mut self, value: &'v Value, place: Place) {
        match value {
            Value::Null => self.plain_word("null", place),
            Value::Bool(true) => self.plain_word("true", place),
            Value::Bool(false) => self.plain_word("false", place),
            Value::Number(number) => {
                let text = self.number(number);
                self.plain_word(&text, place);
            }
            Value::String(text) => self.string(text, place),
            Value::Array(items) => self.sequence(items, place),
            Value::Object(map) => self.mapping(map),
        }
    }

    fn number(&self, number: &Number) -> String {
        let Some(float) = number.as_f64().filter(|_| number.is_f64()) else {
            return number.to_string();
        };
        if self.form == Form::V3 {
            return format_general(float);
        }
        // JSON text shows integers only, and those in range stay as they are shown.
        let text = format_json(float);
        if text == "-0" {
            return "0".to_owned();
        }
        if text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok() {
            return text;
        }
        format_general(float)
    }

    fn sequence(&mut self, items: &'v [Value], place: Place) {
        if items.is_empty() {
            self.writer.indicator("[", true, true, false);
            self.writer.indicator("]", false, false, false);
            return;
        }
        let outer_indent = self.writer.indent;
        let stays = self.form == Form::V2 && place == Place::Pair && !self.writer.indention;
        self.writer.indent = Some(match outer_indent {
            None => 0,
            Some(indent) if stays => indent,
            Some(indent) => indent + INDENT,
        });
        self.open.push(Collection {
            outer_indent,
            rest: Rest::Items(items.iter()),
        });
    }

    fn mapping(&mut self, map: &'v Map<String, Value>) {
        if map.is_empty() {
            self.writer.indicator("{", true, true, false);
            self.writer.indicator("}", false, false, false);
            return;
        }
        let outer_indent = self.writer.indent;
        self.writer.indent = Some(outer_indent.map_or(0, |indent| indent + INDENT));
        let rest = Rest::Pairs(self.pairs(map));
        self.open.push(Collection { outer_indent, rest });
    }

    fn pairs(&self, map: &'v Map<String, Value>) -> Pairs<'v> {
        if self.order == KeyOrder::Own {
            return Pairs::Own(map.iter());
        }
        let mut pairs: Vec<_> = map
            .iter()
            .map(|(key, value)| (key.as_str(), value))
            .collect();
        let sorter = if self.form == Form::V2 {
            Sorter::V2
        } else {
            Sorter::V3
        };
        sort(&mut pairs, sorter);
        Pairs::Sorted(pairs.into_iter())
    }

    /// Writes the next item or pair of a collection, or leaves it.
    fn next_item(&mut self, mut collection: Collection<'v>) {
        match &mut collection.rest {
            Rest::Items(items) => {
                if let Some(item) = items.next() {
                    self.open.push(collection);
                    self.writer.write_indent();
                    self.writer.indicator("-", true, false, true);
                    self.node(item, Place::Item);
                    return;
                }
            }
            Rest::Pairs(pairs) => {
                if let Some((key, value)) = pairs.next() {
                    self.open.push(collection);
                    self.writer.write_indent();
                    self.key(key);
                    self.node(value, Place::Pair);
                    return;
                }
            }
        }
        self.writer.indent = collection.outer_indent;
    }

    /// Writes a key and the `:` behind it.
    fn key(&mut self, key: &str) {
        if key.len() <= MAX_SIMPLE_KEY_LENGTH && !analysis::is_multiline(key) {
            self.string(key, Place::SimpleKey);
            self.writer.indicator(":", false, false, false);
            return;
        }
        self.writer.indicator("?", true, false, true);
        self.string(key, Place::Pair);
        self.writer.write_indent();
        self.writer.indicator(":", true, false, true);
    }

    /// Writes text that needs no quotes and has no blanks.
    fn plain_word(&mut self, text: &str, place: Place) {
        self.writer.plain(text, place != Place::SimpleKey);
    }

    fn string(&mut self, text: &str, place: Place) {
        let ambiguous = match self.form {
            Form::V2 => looks_like_another_type(text),
            Form::V3 => looks_like_another_type_v3(text),
        };
        let outer_indent = self.writer.indent;
        self.writer.indent = Some(outer_indent.map_or(INDENT, |indent| indent + INDENT));
        let style = analysis::choose_style(text, ambiguous, place == Place::SimpleKey, self.form);
        self.writer.scalar(text, style, place != Place::SimpleKey);
        self.writer.indent = outer_indent;
    }
}
