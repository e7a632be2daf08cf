//! INI: sections of keys with values, some of them quoted. Comments are not kept.
//!
//! **Source**: `stores/ini/store.go` of SOPS 3.13.3, and gopkg.in/ini.v1 v1.67.3 with the options that it is given there.

use super::{Format, plain_text};
use crate::error::SopsError;
use crate::metadata::{METADATA_KEY, unflatten};
use crate::tree::{Documents, Extent, Node};

/// The section of keys that are in front of all sections.
const DEFAULT_SECTION: &str = "DEFAULT";

/// What separates keys from values.
const DELIMITERS: [char; 2] = ['=', ':'];

const TRIPLE_QUOTE: &str = "\"\"\"";

type Entries = Vec<(String, Node)>;

pub(super) fn read(text: &str) -> Result<(Documents, Option<Node>), SopsError> {
    let mut metadata = None;
    let mut sections = Vec::new();
    for (name, entries) in read_sections(text)? {
        if name != METADATA_KEY {
            sections.push((name, Node::Map(entries)));
            continue;
        }
        if metadata.is_some() {
            return Err(SopsError::Metadata {
                problem: "there are two of them".to_owned(),
            });
        }
        // Line breaks of metadata are escaped.
        let entries = entries.into_iter().map(|(key, value)| {
            let value = value.as_str().unwrap_or_default().replace("\\n", "\n");
            (key, Node::Text(value.into_bytes()))
        });
        metadata = Some(unflatten(entries.collect())?);
    }
    Ok((vec![Node::Map(sections)], metadata))
}

pub(super) fn write(document: &Node) -> Result<String, SopsError> {
    let mut text = String::new();
    let Node::Map(sections) = document else {
        return Ok(text);
    };
    let last = sections.len().saturating_sub(1);
    for (at, (name, section)) in sections.iter().enumerate() {
        let Node::Map(entries) = section else {
            return Err(Format::Ini.output("it holds values outside of sections"));
        };
        if at > 0 || !name.eq_ignore_ascii_case(DEFAULT_SECTION) {
            if name.contains(['\n', '\r']) {
                return Err(Format::Ini.output("a section's name has line breaks"));
            }
            text.push('[');
            text.push_str(name);
            text.push_str("]\n");
        } else if entries.is_empty() {
            continue;
        }
        write_entries(&mut text, entries)?;
        if at != last {
            text.push('\n');
        }
    }
    Ok(text)
}

fn read_sections(text: &str) -> Result<Vec<(String, Entries)>, SopsError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut extent = Extent::default();
    let mut lines = Lines {
        rest: text,
        line: 0,
    };
    let mut sections: Vec<(String, Entries)> = Vec::new();
    let mut current = (DEFAULT_SECTION.to_owned(), Entries::new());
    while let Some(line) = lines.next() {
        let trimmed = line.trim_start();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        extent.count()?;
        if let Some(rest) = trimmed.strip_prefix('[') {
            let (name, _) = rest.rsplit_once(']').ok_or_else(|| lines.problem())?;
            if name.is_empty() {
                return Err(lines.problem());
            }
            let section = (name.to_owned(), Entries::new());
            sections.push(std::mem::replace(&mut current, section));
            continue;
        }
        let (key, rest) = key(trimmed).ok_or_else(|| lines.problem())?;
        let value = Node::Text(lines.value(rest)?.into_bytes());
        current.1.push((key.to_owned(), value));
    }
    sections.push(current);
    for (_, entries) in &mut sections {
        last_of_equal_keys(entries);
    }
    Ok(sections)
}

/// A key that is there again takes the place of the first one and the value of the last.
fn last_of_equal_keys(entries: &mut Entries) {
    let mut places = std::collections::HashMap::new();
    let mut kept: Entries = Vec::with_capacity(entries.len());
    for (key, value) in entries.drain(..) {
        let place = *places.entry(key.clone()).or_insert(kept.len());
        match kept.get_mut(place) {
            Some(entry) => entry.1 = value,
            None => kept.push((key, value)),
        }
    }
    *entries = kept;
}

/// The key of a line, and what is behind the delimiter.
fn key(line: &str) -> Option<(&str, &str)> {
    let quote = ["\"\"\"", "\"", "`"]
        .into_iter()
        .find(|quote| line.starts_with(quote) && (*quote != TRIPLE_QUOTE || line.len() > 6));
    if let Some(quote) = quote {
        let (key, rest) = line.strip_prefix(quote)?.split_once(quote)?;
        let (_, value) = rest.split_once(DELIMITERS)?;
        return Some((key.trim(), value));
    }
    let (key, value) = line.split_once(DELIMITERS)?;
    (!key.is_empty()).then_some((key.trim(), value))
}

/// The lines of a file that are not read yet.
struct Lines<'t> {
    rest: &'t str,
    line: usize,
}

impl<'t> Lines<'t> {
    /// The next line with its end.
    fn next(&mut self) -> Option<&'t str> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.find('\n').map_or(self.rest.len(), |at| at + 1);
        let (line, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        self.line += 1;
        Some(line)
    }

    fn problem(&self) -> SopsError {
        Format::Ini.syntax(Some(self.line))
    }

    /// The value that starts behind a delimiter, and may go on over several lines.
    fn value(&mut self, start: &str) -> Result<String, SopsError> {
        let start = start.trim_start();
        let quote = if start.len() > 3 && start.starts_with(TRIPLE_QUOTE) {
            Some(TRIPLE_QUOTE)
        } else if start.starts_with('`') {
            Some("`")
        } else {
            None
        };
        if let Some(quote) = quote {
            let rest = start.strip_prefix(quote).unwrap_or_default();
            return match rest.rsplit_once(quote) {
                Some((value, _)) => Ok(value.to_owned()),
                None => self.quoted(rest, quote),
            };
        }
        let line = start.trim();
        if let Some(line) = line.strip_suffix('\\') {
            return Ok(self.continued(line));
        }
        let line = match line.find(['#', ';']) {
            Some(at) => line.get(..at).unwrap_or_default().trim(),
            None => line,
        };
        Ok(unquoted(line).to_owned())
    }

    /// A value up to the line that ends its quotes.
    fn quoted(&mut self, start: &str, quote: &str) -> Result<String, SopsError> {
        let mut value = start.to_owned();
        while let Some(line) = self.next() {
            match line.rsplit_once(quote) {
                Some((_, rest)) if rest.trim().ends_with('\\') => value.push_str(line),
                Some((end, _)) => {
                    value.push_str(end);
                    return Ok(value);
                }
                None => value.push_str(line),
            }
        }
        Err(self.problem())
    }

    /// A value whose lines end in a backslash, but for the last.
    fn continued(&mut self, start: &str) -> String {
        let mut value = start.to_owned();
        while let Some(line) = self.next() {
            let line = line.trim();
            value.push_str(line);
            if line.is_empty() || !value.ends_with('\\') {
                break;
            }
            value.pop();
        }
        value
    }
}

/// A value without the quotes around it, if there are none inside.
fn unquoted(value: &str) -> &str {
    for quote in ['\'', '"'] {
        if let Some(inner) = value
            .strip_prefix(quote)
            .and_then(|rest| rest.strip_suffix(quote))
            && !inner.contains(quote)
        {
            return inner;
        }
    }
    value
}

fn write_entries(text: &mut String, entries: &Entries) -> Result<(), SopsError> {
    let entries: Vec<_> = entries
        .iter()
        .filter(|(_, value)| !matches!(value, Node::Comment(_)))
        .map(|(key, value)| (quoted_key(key), key, value))
        .collect();
    let width = entries.iter().map(|(quoted, ..)| quoted.len()).max();
    for (quoted, key, value) in entries {
        if key.contains(['\n', '\r']) {
            return Err(Format::Ini.output("a key has line breaks"));
        }
        text.push_str(&quoted);
        for _ in quoted.len()..width.unwrap_or_default() {
            text.push(' ');
        }
        text.push_str(" = ");
        let value = plain_text(Format::Ini, key, value)?;
        if value.contains(TRIPLE_QUOTE) && value.contains(['\n', '`']) {
            return Err(Format::Ini.output("a value needs quotes and holds all of them"));
        }
        text.push_str(&quoted_value(&value));
        text.push('\n');
    }
    Ok(())
}

fn quoted_key(key: &str) -> String {
    if key.contains('"') || key.contains(DELIMITERS) {
        format!("`{key}`")
    } else if key.contains('`') {
        format!("{TRIPLE_QUOTE}{key}{TRIPLE_QUOTE}")
    } else {
        key.to_owned()
    }
}

fn quoted_value(value: &str) -> String {
    if value.contains(['\n', '`']) {
        format!("{TRIPLE_QUOTE}{value}{TRIPLE_QUOTE}")
    } else if value.contains(['#', ';']) {
        format!("`{value}`")
    } else if value.trim().len() != value.len() {
        format!("\"{value}\"")
    } else {
        value.to_owned()
    }
}
