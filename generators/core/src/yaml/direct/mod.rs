//! Reads the YAML that manifests and values files are made of straight into values: block collections, scalars and flow
//! collections on one line.
//!
//! Most of the time of a rendering would otherwise go into tokens, events and nodes that nobody looks at. Whatever is not in this
//! part of the language (anchors, tags, directives, several documents, tabs between tokens, odd line breaks, complex keys) and
//! whatever is wrong makes the reader give up: the complete reader then reads the text from its start, and is the only one that
//! reports errors. What both read must be the same.

mod flow;
mod lines;
mod scalar;

use serde_json::{Map, Value};

use super::input::Input;
use super::scanner::Scanner;

/// How deep collections may be nested for this reader.
const MAX_DEPTH: usize = 100;

/// How long a key may be in bytes: as many characters are always allowed.
const MAX_KEY_LENGTH: usize = 1_000;

/// Which fields of a document are wanted.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wanted<'w> {
    /// All of them.
    All,
    /// Those of the root that have these names, in any case. What is in the others is looked at, but not kept.
    Named(&'w [&'w str]),
}

/// Reads a text that is one document; nothing if it takes the complete reader.
pub(super) fn read(input: &Input<'_>, wanted: Wanted<'_>) -> Option<Value> {
    if !input.is_simple() {
        return None;
    }
    let mut reader = Reader {
        text: input.text(),
        bytes: input.text().as_bytes(),
        has_tabs: memchr::memchr(b'\t', input.text().as_bytes()).is_some(),
        input,
        scanner: None,
        at: 0,
        line: 0,
        indent: OUTSIDE,
        depth: 0,
        wanted,
        keeps: true,
    };
    reader.document()
}

/// The indentation of the end of the text, and of what is around the root.
const OUTSIDE: i64 = -1;

/// The state of reading one text.
struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    /// Whether there is a tab anywhere, which is rare and has to be looked out for.
    has_tabs: bool,
    input: &'a Input<'a>,
    /// Scans scalars that go on over several lines, once there is one.
    scanner: Option<Scanner<'a>>,
    at: usize,
    /// Where the current line starts.
    line: usize,
    /// The column of the token that [`Reader::next_token`] went to.
    indent: i64,
    depth: usize,
    wanted: Wanted<'a>,
    /// Whether what is read is kept. Otherwise values are of no meaning.
    keeps: bool,
}

impl Reader<'_> {
    fn document(&mut self) -> Option<Value> {
        self.skip_document_start()?;
        self.next_token()?;
        if self.indent == OUTSIDE {
            return None;
        }
        let value = self.node(OUTSIDE)?;
        (self.indent == OUTSIDE).then_some(value)
    }

    /// Goes over comments and a `---` before the document.
    fn skip_document_start(&mut self) -> Option<()> {
        self.skip_to_content()?;
        if self.column() == 0 && self.bytes[self.at..].starts_with(b"---") {
            self.at += 3;
            self.end_line()?;
        }
        Some(())
    }

    /// Reads what starts at the current token, inside of a collection at a column, and goes to the token behind it.
    fn node(&mut self, around: i64) -> Option<Value> {
        let column = self.column() as i64;
        if self.at_entry() {
            return self.nested(|reader| reader.sequence(column, false));
        }
        if let Some(key) = self.key()? {
            return self.nested(|reader| reader.mapping(column, key));
        }
        self.scalar(around)
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Option<Value>) -> Option<Value> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let value = read(self);
        self.depth -= 1;
        value
    }

    /// Reads a mapping whose first key has been read, up to its colon.
    fn mapping(&mut self, column: i64, first: String) -> Option<Value> {
        let mut map = Map::new();
        let mut key = first;
        loop {
            let is_wanted = self.is_wanted(&key);
            if is_wanted {
                let value = self.value_of_key(column)?;
                if self.keeps {
                    map.insert(key, value);
                }
            } else {
                self.keeps = false;
                self.value_of_key(column)?;
                self.keeps = true;
            }
            if self.indent < column {
                return Some(Value::Object(map));
            }
            if self.indent > column || self.at_entry() {
                return None;
            }
            key = self.key()??;
        }
    }

    fn is_wanted(&self, key: &str) -> bool {
        match self.wanted {
            Wanted::Named(names) if self.depth == 1 => {
                names.iter().any(|name| name.eq_ignore_ascii_case(key))
            }
            _ => true,
        }
    }

    fn value_of_key(&mut self, column: i64) -> Option<Value> {
        if self.skip_blanks()? {
            return self.scalar(column);
        }
        self.next_token()?;
        if self.indent > column {
            self.node(column)
        } else if self.indent == column && self.at_entry() {
            self.nested(|reader| reader.sequence(column, true))
        } else {
            Some(Value::Null)
        }
    }

    /// Reads a sequence; an `indentless` one is at the column of the mapping around it.
    fn sequence(&mut self, column: i64, indentless: bool) -> Option<Value> {
        let mut items = Vec::new();
        loop {
            self.at += 1;
            let item = self.item(column)?;
            if self.keeps {
                items.push(item);
            }
            if self.indent < column {
                return Some(Value::Array(items));
            }
            if self.indent > column {
                return None;
            }
            if !self.at_entry() {
                return indentless.then_some(Value::Array(items));
            }
        }
    }

    fn item(&mut self, column: i64) -> Option<Value> {
        if self.skip_blanks()? {
            return self.node(column);
        }
        self.next_token()?;
        if self.indent > column {
            self.node(column)
        } else {
            Some(Value::Null)
        }
    }

    /// Reads a key and the colon behind it. Nothing is read if no key is here.
    #[expect(
        clippy::option_option,
        reason = "giving up is something else than not finding a key"
    )]
    fn key(&mut self) -> Option<Option<String>> {
        let start = self.at;
        let (end, key) = match self.byte(start) {
            b'"' | b'\'' => match self.quoted_on_line(start) {
                Some((text, end)) => (end, Some(self.kept(text))),
                None => return Some(None),
            },
            _ if self.starts_plain(start) => {
                let end = self.end_of_plain(start)?;
                (end, self.plain_key(start, end))
            }
            _ => return Some(None),
        };
        if !self.is_colon(end) {
            return Some(None);
        }
        if end - start > MAX_KEY_LENGTH {
            return None;
        }
        self.at = end + 1;
        key.map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::super::read_completely;
    use super::*;

    fn direct(text: &str) -> Option<Value> {
        read(&Input::from_str(text).unwrap(), Wanted::All)
    }

    fn named(value: &Value, names: &[&str]) -> Value {
        let mut value = value.clone();
        if let Value::Object(map) = &mut value {
            map.retain(|key, _| names.contains(&key.to_ascii_lowercase().as_str()));
        }
        value
    }

    /// What is read directly must be what is read completely.
    fn check(text: &str) -> bool {
        let Some(found) = direct(text) else {
            return false;
        };
        let expected = read_completely(&Input::from_str(text).unwrap(), false);
        // The texts show the order of keys too.
        let shown = |value: &Value| value.to_string();
        let names = ["a", "key"];
        let some = read(&Input::from_str(text).unwrap(), Wanted::Named(&names));
        // Others may be there too.
        let some = some.map(|some| named(&some, &names));
        assert_eq!(some, Some(named(&found, &names)), "{text:?}");
        assert_eq!(Ok(shown(&found)), expected.map(|it| shown(&it)), "{text:?}");
        true
    }

    #[test]
    fn what_manifests_are_made_of_is_read_directly() {
        let texts = [
            "a: 1\n",
            "# comment\n---\n# another\na:\n  b: c # d\n\n  e: 'it'\nf: \"x\"\n",
            "a:\n- b\n- c: 1\n  d: [x, \"y\", {e: f}]\n-\n  - g\n- - h\n  - i\n-\nj: {}\n",
            "a: |\n  one\n\n   two\n\nb: |-\n  three\n\nc: |+\n  four\n\nd: >-\n  five\n  six\n",
            "a: one two\n  three\n\n  four\nb: \"x\n  y\"\nc: \"\\n\"\nd: 'it''s'\n",
            "a: http://b:80/c#d\nb-c: -5\ntrue: no\n5: 0644\nd: ~\ne:\nf: .5e3\n",
            "- a: 1\n  b:\n  - c\n  d: 2\n- e\n",
            "a: |\n    x\n  # not content\nb: |\n\n\n  y",
            "just text",
            "ä: ö\n\"ü\": ß # é\n",
        ];
        for text in texts {
            assert!(check(text), "{text:?}");
        }
    }

    #[test]
    fn everything_else_is_left_to_the_complete_reader() {
        let texts = [
            "",
            "# nothing\n",
            "a: &b 1\nc: *b\n",
            "a: !!str 1\n",
            "<<: {a: 1}\n",
            "? a\n: b\n",
            "a: 1\n---\nb: 2\n",
            "a: 1\n...\n",
            "%YAML 1.1\n---\na: 1\n",
            "a:\tb\n",
            "a: b\r\n",
            "a: b: c\n",
            "a: 1\n b: 2\n",
            "a: [b,\n  c]\n",
            "a: .inf\n",
            "a: - b\n",
            "a: \"b\" c\n",
            "a\u{85}b: 1\n",
            "a: 1\nb\n",
            "  a: 1\n b: 2\n",
            "- a\nb: 1\n",
        ];
        for text in texts {
            assert_eq!(direct(text), None, "{text:?}");
        }
    }

    #[test]
    fn both_readers_agree_on_texts_without_sense() {
        const PIECES: &[&str] = &[
            "\n",
            "\n",
            "\n",
            "\n  ",
            "\n  ",
            "\n    ",
            "\n ",
            " ",
            "  ",
            "a",
            "bc",
            "key",
            ": ",
            ": ",
            ":",
            ":\n",
            "- ",
            "- ",
            "-",
            "\n- ",
            "\n  - ",
            "#",
            " # c",
            "'",
            "\"",
            "''",
            "\\n",
            "\\",
            "|",
            "|-\n",
            ": |\n  ",
            ": |+\n    ",
            ": >\n  ",
            "[",
            "]",
            "{",
            "}",
            "[]",
            "{}",
            ", ",
            ",",
            "?",
            "? ",
            "&x ",
            "*x",
            "!t ",
            "~",
            "null",
            "yes",
            "12",
            "-1.5",
            "0x1F",
            "1_000",
            "<<",
            "<<: ",
            "---",
            "\n---\n",
            "...",
            "\t",
            "%",
            "@",
            "`",
            "é",
            ".",
            "/",
            "=",
            "x: y",
            "x: \"y\"",
            "\nk: v",
            "\n  k: v",
            "\n- k: v\n  l: w",
            "{k: v}",
            "[p, 'q']",
        ];
        let mut state = 1_u64;
        let mut next = |bound: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as usize % bound
        };
        let mut taken = 0;
        for _ in 0..50_000 {
            let mut text = String::new();
            for _ in 0..=next(14) {
                text.push_str(PIECES[next(PIECES.len())]);
            }
            taken += usize::from(check(&text));
        }
        assert!(taken > 5_000, "{taken}");
    }
}
