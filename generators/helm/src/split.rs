//! Parting rendered text into documents (Helm 3.22, `pkg/releaseutil/manifest.go`; Helm 4.3, `pkg/release/v1/util/manifest.go`).

use whipstaff_gotemplate::Dialect;

/// The documents of a text, empty ones left out.
pub(crate) fn split_documents(text: &[u8], dialect: Dialect) -> Vec<&[u8]> {
    if dialect >= Dialect::V4_2 {
        split_at_line_starts(text)
    } else {
        split_with_blanks(text)
    }
}

/// Up to Helm 4.1: a separator takes all white space around it with it, and documents are trimmed at both ends.
fn split_with_blanks(text: &[u8]) -> Vec<&[u8]> {
    let text = trim_end(trim_start(text));
    let mut documents = Vec::new();
    let (mut start, mut from) = (0, 0);
    while let Some((begin, end)) = find_separator(text, from) {
        documents.push(&text[start..begin]);
        start = end;
        from = end;
    }
    documents.push(&text[start..]);
    documents.retain(|document| !document.is_empty());
    documents
        .into_iter()
        .map(|document| trim_end(trim_start(document)))
        .collect()
}

/// The next `---` at the beginning of the text or after a line break, with the blanks around it.
fn find_separator(text: &[u8], from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    loop {
        let dashes = at + find(&text[at..], b"---")?;
        let before = &text[from..dashes];
        let blanks = before
            .iter()
            .rev()
            .take_while(|byte| is_regex_space(**byte))
            .count();
        let starts = dashes - blanks;
        let at_beginning = dashes == 0;
        if at_beginning || before.ends_with(b"\n") {
            let rest = &text[dashes + 3..];
            let after = rest
                .iter()
                .take_while(|byte| is_regex_space(**byte))
                .count();
            return Some((starts, dashes + 3 + after));
        }
        at = dashes + 1;
    }
}

/// From Helm 4.2 on: a separator is three dashes at the start of a line with the blanks after them, and documents are trimmed at
/// their beginning only.
fn split_at_line_starts(text: &[u8]) -> Vec<&[u8]> {
    let text = trim_start(text);
    let mut documents = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < text.len() {
        if text[at..].starts_with(b"---") {
            documents.push(&text[start..at]);
            let rest = &text[at + 3..];
            let blanks = rest
                .iter()
                .take_while(|byte| matches!(byte, b' ' | b'\t'))
                .count();
            start = at + 3 + blanks;
        }
        at = match memchr::memchr(b'\n', &text[at..]) {
            Some(end) => at + end + 1,
            None => text.len(),
        };
    }
    documents.push(&text[start.min(text.len())..]);
    documents
        .into_iter()
        .map(trim_start)
        .filter(|document| !document.is_empty())
        .collect()
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, wanted)
}

/// What `\s` matches in a Go expression.
fn is_regex_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | 0x0c | b'\r' | b' ')
}

/// Without the white space at the beginning, as Go's `strings.TrimSpace` sees white space.
pub(crate) fn trim_start(text: &[u8]) -> &[u8] {
    let mut rest = text;
    loop {
        let Some(first) = rest.first() else {
            return rest;
        };
        let length = if first.is_ascii() {
            1
        } else {
            unicode_length(*first)
        };
        let space = rest.get(..length).is_some_and(is_space);
        if !space {
            return rest;
        }
        rest = &rest[length..];
    }
}

/// Without the white space at the end.
pub(crate) fn trim_end(text: &[u8]) -> &[u8] {
    let mut rest = text;
    loop {
        let longest = rest.len().min(3);
        let space = (1..=longest).find(|length| is_space(&rest[rest.len() - length..]));
        let Some(length) = space else { return rest };
        rest = &rest[..rest.len() - length];
    }
}

/// Whether bytes are one character that is white space.
fn is_space(bytes: &[u8]) -> bool {
    let mut characters = match std::str::from_utf8(bytes) {
        Ok(text) => text.chars(),
        Err(_) => return false,
    };
    characters.next().is_some_and(char::is_whitespace) && characters.next().is_none()
}

fn unicode_length(first: u8) -> usize {
    match first {
        0xf0.. => 4,
        0xe0.. => 3,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str, dialect: Dialect) -> Vec<String> {
        let documents = split_documents(text.as_bytes(), dialect);
        documents
            .into_iter()
            .map(|d| String::from_utf8(d.to_vec()).unwrap())
            .collect()
    }

    #[test]
    fn documents_are_split_by_dialect() {
        // text, documents up to Helm 4.1, documents from Helm 4.2 on
        let cases: &[(&str, &[&str], &[&str])] = &[
            ("", &[], &[]),
            (" \n\t\n", &[], &[]),
            ("---", &[], &[]),
            // Up to Helm 4.1 a separator's blanks include the line break that the next one would need.
            ("---\n---\n---\n", &["---"], &[]),
            ("a: 1", &["a: 1"], &["a: 1"]),
            ("\n\na: 1\n\n", &["a: 1"], &["a: 1\n\n"]),
            ("---\na: 1\n", &["a: 1"], &["a: 1\n"]),
            (
                "a: 1\n---\nb: 2\n",
                &["a: 1", "b: 2"],
                &["a: 1\n", "b: 2\n"],
            ),
            (
                "a: 1\n\n\n---\n\n\nb: 2",
                &["a: 1", "b: 2"],
                &["a: 1\n\n\n", "b: 2"],
            ),
            (
                "a: 1\n  ---\nb: 2",
                &["a: 1\n  ---\nb: 2"],
                &["a: 1\n  ---\nb: 2"],
            ),
            ("a: 1 ---\nb: 2", &["a: 1 ---\nb: 2"], &["a: 1 ---\nb: 2"]),
            ("a: 1\n---b: 2", &["a: 1", "b: 2"], &["a: 1\n", "b: 2"]),
            (
                "a: 1\n---    \nb: 2",
                &["a: 1", "b: 2"],
                &["a: 1\n", "b: 2"],
            ),
            (
                "a: 1\n--- # c\nb: 2",
                &["a: 1", "# c\nb: 2"],
                &["a: 1\n", "# c\nb: 2"],
            ),
            (
                "a: 1\n-----\nb: 2",
                &["a: 1", "--\nb: 2"],
                &["a: 1\n", "--\nb: 2"],
            ),
            ("# c\n---\n# d\n", &["# c", "# d"], &["# c\n", "# d\n"]),
            (
                "a: |+\n  x\n\n---\nb: 1",
                &["a: |+\n  x", "b: 1"],
                &["a: |+\n  x\n\n", "b: 1"],
            ),
            ("a\r\n---\r\nb", &["a", "b"], &["a\r\n", "b"]),
            ("a\n---\n---\nb", &["a", "---\nb"], &["a\n", "b"]),
            ("a\n---\n \n---\nb", &["a", "---\nb"], &["a\n", "b"]),
            ("\u{a0}a\u{2003}", &["a"], &["a\u{2003}"]),
        ];
        for (text, old, new) in cases {
            assert_eq!(split(text, Dialect::V3), *old, "{text:?}");
            assert_eq!(split(text, Dialect::V4_1), *old, "{text:?}");
            assert_eq!(split(text, Dialect::V4_2), *new, "{text:?}");
            assert_eq!(split(text, Dialect::V4_3), *new, "{text:?}");
        }
    }

    #[test]
    fn bytes_that_are_not_text_are_split_too() {
        let documents = split_documents(b"\xff\n---\n\xe2\x80", Dialect::V3);
        assert_eq!(documents, [&b"\xff"[..], &b"\xe2\x80"[..]]);
    }
}
