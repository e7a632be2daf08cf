//! Flow collections on one line, of quoted scalars and simple words.

use serde_json::{Map, Value};

use super::{MAX_KEY_LENGTH, Reader};

impl Reader<'_> {
    /// Reads a collection and goes behind it.
    pub(super) fn flow(&mut self) -> Option<Value> {
        let is_sequence = self.byte(self.at) == b'[';
        self.at += 1;
        self.nested(|reader| {
            if is_sequence {
                reader.flow_sequence()
            } else {
                reader.flow_mapping()
            }
        })
    }

    fn flow_sequence(&mut self) -> Option<Value> {
        let mut items = Vec::new();
        loop {
            self.skip_spaces();
            if self.take(b']') {
                return Some(Value::Array(items));
            }
            let item = self.flow_value()?;
            if self.keeps {
                items.push(item);
            }
            self.skip_spaces();
            if !self.take(b',') && self.byte(self.at) != b']' {
                return None;
            }
        }
    }

    fn flow_mapping(&mut self) -> Option<Value> {
        let mut map = Map::new();
        loop {
            self.skip_spaces();
            if self.take(b'}') {
                return Some(Value::Object(map));
            }
            let key = self.flow_key()?;
            self.skip_spaces();
            let value = self.flow_value()?;
            if self.keeps {
                map.insert(key, value);
            }
            self.skip_spaces();
            if !self.take(b',') && self.byte(self.at) != b'}' {
                return None;
            }
        }
    }

    /// Reads a key and the colon and the blank behind it.
    fn flow_key(&mut self) -> Option<String> {
        let start = self.at;
        let key = match self.byte(start) {
            b'"' | b'\'' => {
                let (text, end) = self.quoted_on_line(start)?;
                self.at = end;
                Some(self.kept(text))
            }
            _ => {
                self.at = self.end_of_word(start)?;
                self.plain_key(start, self.at)
            }
        };
        let is_key = self.byte(self.at) == b':' && self.byte(self.at + 1) == b' ';
        if !is_key || self.at - start > MAX_KEY_LENGTH {
            return None;
        }
        self.at += 1;
        key
    }

    fn flow_value(&mut self) -> Option<Value> {
        let start = self.at;
        match self.byte(start) {
            b'[' | b'{' => self.flow(),
            b'"' | b'\'' => {
                let (text, end) = self.quoted_on_line(start)?;
                self.at = end;
                Some(Value::String(self.kept(text)))
            }
            _ => {
                self.at = self.end_of_word(start)?;
                self.plain_value(self.text.get(start..self.at)?)
            }
        }
    }

    /// Where a plain scalar of one simple word ends.
    fn end_of_word(&self, start: usize) -> Option<usize> {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"_./".contains(&byte);
        let inside = |at: usize| match self.byte(at) {
            b'-' | b'+' | b'=' | b'@' => true,
            b':' => is_word(self.byte(at + 1)),
            byte => is_word(byte),
        };
        let starts = is_word(self.byte(start))
            || (self.byte(start) == b'-' && self.byte(start + 1).is_ascii_alphanumeric());
        let mut end = start + 1;
        while inside(end) {
            end += 1;
        }
        (starts && matches!(self.byte(end), b' ' | b',' | b']' | b'}' | b':')).then_some(end)
    }

    fn skip_spaces(&mut self) {
        while self.byte(self.at) == b' ' {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.at < self.bytes.len() && self.byte(self.at) == byte;
        self.at += usize::from(found);
        found
    }
}
