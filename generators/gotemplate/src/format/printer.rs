//! Printing of values by verb (`fmt/print.go`).

use super::{
    MAX_PRINTED_DEPTH,
    names::{duration, month, weekday},
    unicode::rune_count,
};
use crate::{Host, IntKind, Kind, List, ListType, Map, Value};

/// A printed text that is larger than what was allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "printed text is larger than {limit} bytes or nested deeper than {MAX_PRINTED_DEPTH} levels"
)]
pub struct TooLarge {
    /// Bytes that were allowed.
    pub limit: usize,
}

/// What stands between `%` and the verb.
#[derive(Debug, Clone, Copy, Default)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "one for each flag character of a verb"
)]
pub(super) struct Flags {
    pub(super) width: Option<usize>,
    pub(super) precision: Option<usize>,
    pub(super) minus: bool,
    pub(super) plus: bool,
    pub(super) sharp: bool,
    pub(super) space: bool,
    pub(super) zero: bool,
    /// `%#v`, for which `sharp` is cleared.
    pub(super) go_syntax: bool,
}

/// A text that is being printed.
#[derive(Debug)]
pub(super) struct Printer {
    out: Vec<u8>,
    pub(super) flags: Flags,
    limit: usize,
    depth: usize,
    stopped: bool,
    /// Inside `%!d(…)`, where no method is called any more.
    erroring: bool,
}

impl Printer {
    pub(super) fn new(limit: usize) -> Self {
        let flags = Flags::default();
        Self {
            out: Vec::new(),
            flags,
            limit,
            depth: 0,
            stopped: false,
            erroring: false,
        }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.out
    }

    pub(super) fn finish(self) -> Result<Vec<u8>, TooLarge> {
        if self.stopped {
            Err(TooLarge { limit: self.limit })
        } else {
            Ok(self.out)
        }
    }

    pub(super) fn print(&mut self, values: &[Value]) {
        let mut after_string = true;
        for (index, value) in values.iter().enumerate() {
            let is_string = value.kind() == Kind::String;
            if index > 0 && !is_string && !after_string {
                self.write(b" ");
            }
            self.argument(value, 'v');
            after_string = is_string;
        }
    }

    pub(super) fn println(&mut self, values: &[Value]) {
        for (index, value) in values.iter().enumerate() {
            if index > 0 {
                self.write(b" ");
            }
            self.argument(value, 'v');
        }
        self.write(b"\n");
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        if self.stopped {
            return;
        }
        if bytes.len() > self.limit.saturating_sub(self.out.len()) {
            self.stopped = true;
            return;
        }
        self.out.extend_from_slice(bytes);
    }

    pub(super) fn write_padding(&mut self, count: usize) {
        let byte = if self.flags.zero && !self.flags.minus {
            b'0'
        } else {
            b' '
        };
        if count > self.limit.saturating_sub(self.out.len()) {
            self.stopped = true;
        }
        if !self.stopped {
            self.out.resize(self.out.len() + count, byte);
        }
    }

    /// Writes a text in the width that was asked for.
    pub(super) fn pad(&mut self, text: &[u8]) {
        let width = self.flags.width.unwrap_or(0);
        if width == 0 {
            return self.write(text);
        }
        let missing = width.saturating_sub(rune_count(text));
        if self.flags.minus {
            self.write(text);
            self.write_padding(missing);
        } else {
            self.write_padding(missing);
            self.write(text);
        }
    }

    /// Writes a number, whose leading zeros are part of it already.
    pub(super) fn pad_with_spaces(&mut self, text: &[u8]) {
        let zero = std::mem::take(&mut self.flags.zero);
        self.pad(text);
        self.flags.zero = zero;
    }

    /// An operand of its own, as opposed to a part of one.
    pub(super) fn argument(&mut self, value: &Value, verb: char) {
        match (value, verb) {
            (Value::Nil, 'T' | 'v') => self.pad(b"<nil>"),
            (Value::Nil, _) => self.bad_verb(value, verb),
            (_, 'T') => self.string(value.type_name().as_bytes(), 's'),
            (_, 'p') => self.pointer(value, verb),
            // Only `Errorf` knows this verb; values with parts refuse it as a whole.
            (Value::List(list), 'w') if list.list_type() == ListType::Byte => {
                self.value(value, verb);
            }
            (_, 'w') => self.bad_verb(value, verb),
            _ => self.value(value, verb),
        }
    }

    pub(super) fn bad_verb(&mut self, value: &Value, verb: char) {
        self.erroring = true;
        self.write(b"%!");
        self.write_char(verb);
        self.write(b"(");
        if let Value::Nil = value {
            self.write(b"<nil>");
        } else {
            self.write(value.type_name().as_bytes());
            self.write(b"=");
            self.value(value, 'v');
        }
        self.write(b")");
        self.erroring = false;
    }

    pub(super) fn write_char(&mut self, character: char) {
        self.write(character.encode_utf8(&mut [0; 4]).as_bytes());
    }

    fn value(&mut self, value: &Value, verb: char) {
        match value {
            Value::Nil => self.nil_element(),
            Value::Bool(truth) => match verb {
                't' | 'v' => self.pad(if *truth { b"true" } else { b"false" }),
                _ => self.bad_verb(value, verb),
            },
            Value::Int(kind, number) => match self.named_integer(*kind, *number, verb) {
                Some(text) => self.string(text.as_bytes(), verb),
                None => self.integer(value, *number as u64, true, verb),
            },
            Value::Uint(_, number) => self.integer(value, *number, false, verb),
            Value::Float(number) => self.float(value, *number, verb),
            Value::String(text) => match verb {
                'v' if self.flags.go_syntax => self.quoted(text),
                'v' | 's' | 'x' | 'X' | 'q' => self.string(text, verb),
                _ => self.bad_verb(value, verb),
            },
            Value::List(list) => self.nested(|printer| printer.list(list, verb)),
            Value::Map(map) => self.nested(|printer| printer.map(map, verb)),
            Value::Host(host) => self.host(value, &**host, verb),
        }
    }

    /// Nil in a list or map prints the same for all verbs.
    fn nil_element(&mut self) {
        self.write(if self.flags.go_syntax {
            b"interface {}(nil)"
        } else {
            b"<nil>"
        });
    }

    /// What a named integer's `String` method gives, for the verbs that ask for it.
    fn named_integer(&self, kind: IntKind, number: i64, verb: char) -> Option<String> {
        if self.erroring || self.flags.go_syntax || !matches!(verb, 'v' | 's' | 'x' | 'X' | 'q') {
            return None;
        }
        match kind {
            IntKind::Int | IntKind::Int32 | IntKind::Int64 => None,
            IntKind::Duration => Some(duration(number)),
            IntKind::Month => Some(month(number)),
            IntKind::Weekday => Some(weekday(number)),
        }
    }

    fn nested(&mut self, print: impl FnOnce(&mut Self)) {
        if self.stopped {
            return;
        }
        if self.depth >= MAX_PRINTED_DEPTH {
            self.stopped = true;
            return;
        }
        self.depth += 1;
        crate::grow_stack(|| print(self));
        self.depth -= 1;
    }

    fn list(&mut self, list: &List, verb: char) {
        let as_bytes =
            self.depth == 1 && matches!(verb, 'v' | 'd') || matches!(verb, 's' | 'q' | 'x' | 'X');
        if as_bytes && let Some(bytes) = list.to_bytes() {
            return self.bytes(&bytes, verb);
        }
        let (open, separator, close) = self.brackets(list.list_type().name());
        self.write(open.as_bytes());
        for (index, item) in list.iter().enumerate() {
            if index > 0 {
                self.write(separator);
            }
            self.value(item, verb);
            if self.stopped {
                return;
            }
        }
        self.write(close);
    }

    fn brackets(&self, type_name: &str) -> (String, &'static [u8], &'static [u8]) {
        if self.flags.go_syntax {
            (format!("{type_name}{{"), b", ", b"}")
        } else {
            ("[".to_owned(), b" ", b"]")
        }
    }

    fn bytes(&mut self, bytes: &[u8], verb: char) {
        if !matches!(verb, 'v' | 'd') {
            return self.string(bytes, verb);
        }
        let (open, separator, close) = self.brackets("[]byte");
        self.write(open.as_bytes());
        for (index, &byte) in bytes.iter().enumerate() {
            if index > 0 {
                self.write(separator);
            }
            self.byte(byte);
        }
        self.write(close);
    }

    fn map(&mut self, map: &Map, verb: char) {
        let entries = map.entries().into_iter();
        let entries = entries.map(|(key, value)| (Value::String(key), value));
        self.entries(map.map_type().name, entries, verb);
    }

    fn entries(
        &mut self,
        type_name: &str,
        entries: impl IntoIterator<Item = (Value, Value)>,
        verb: char,
    ) {
        let (open, separator, close) = self.brackets(type_name);
        self.write(if self.flags.go_syntax { b"" } else { b"map" });
        self.write(open.as_bytes());
        for (index, (key, value)) in entries.into_iter().enumerate() {
            if index > 0 {
                self.write(separator);
            }
            self.value(&key, verb);
            self.write(b":");
            self.value(&value, verb);
            if self.stopped {
                return;
            }
        }
        self.write(close);
    }

    fn host(&mut self, value: &Value, host: &dyn Host, verb: char) {
        if host.kind() == Kind::Map
            && let Some(entries) = host.entries()
        {
            return self.nested(|printer| printer.entries(host.type_name(), entries, verb));
        }
        match verb {
            'v' | 's' | 'x' | 'X' | 'q' => self.string(&host.print(), verb),
            _ if self.erroring => self.write(&host.print()),
            _ => self.bad_verb(value, verb),
        }
    }

    /// Addresses are not reproducible: every pointer is the same.
    fn pointer(&mut self, value: &Value, verb: char) {
        match value.kind() {
            Kind::Map | Kind::Slice | Kind::Ptr | Kind::Func => self.pad(b"0xc000000000"),
            _ => self.bad_verb(value, verb),
        }
    }
}
