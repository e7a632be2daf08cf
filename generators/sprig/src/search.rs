//! Searching and cutting bytes as Go's `strings` does.

use crate::{declare::fail, runes};
use whipstaff_gotemplate::{
    Bytes, FunctionError, Runtime,
    format::{decode_last_rune, decode_rune},
};

/// Position of the first occurrence.
pub(crate) fn find(whole: &[u8], part: &[u8]) -> Option<usize> {
    memchr::memmem::find(whole, part)
}

/// Position of the last occurrence.
pub(crate) fn find_last(whole: &[u8], byte: u8) -> Option<usize> {
    whole.iter().rposition(|candidate| *candidate == byte)
}

/// `strings.SplitN`: all parts for a negative limit, none for zero. An empty separator splits into runes, and an invalid byte
/// stays as it is.
pub(crate) fn split(whole: &[u8], separator: &[u8], limit: i64) -> Vec<Bytes> {
    let limit = if limit < 0 {
        usize::MAX
    } else {
        usize::try_from(limit).unwrap_or(usize::MAX)
    };
    let mut parts = Vec::new();
    if limit == 0 {
        return parts;
    }
    let mut rest = whole;
    if separator.is_empty() {
        while !rest.is_empty() && parts.len() + 1 < limit {
            let (head, tail) = rest.split_at(decode_rune(rest).1);
            parts.push(head.into());
            rest = tail;
        }
        if !rest.is_empty() {
            parts.push(rest.into());
        }
        return parts;
    }
    while parts.len() + 1 < limit {
        let Some(position) = find(rest, separator) else {
            break;
        };
        let (head, tail) = rest.split_at(position);
        parts.push(head.into());
        rest = tail.get(separator.len()..).unwrap_or_default();
    }
    parts.push(rest.into());
    parts
}

/// `strings.ReplaceAll`. An empty text to replace matches before each rune and at the end.
pub(crate) fn replace(
    runtime: &mut dyn Runtime,
    whole: &[u8],
    old: &[u8],
    new: &[u8],
) -> Result<Vec<u8>, FunctionError> {
    if old == new {
        return Ok(whole.to_vec());
    }
    let pieces = split(whole, old, -1);
    let count = if old.is_empty() {
        pieces.len().saturating_add(1)
    } else {
        pieces.len()
    };
    let Some(size) = count
        .checked_mul(new.len())
        .and_then(|size| size.checked_add(whole.len()))
    else {
        return fail("strings: Repeat output length overflow");
    };
    runtime.charge(size)?;
    let mut out = pieces.join(new);
    if old.is_empty() {
        out.splice(0..0, new.iter().copied());
        if !whole.is_empty() {
            out.extend_from_slice(new);
        }
    }
    Ok(out)
}

/// `strings.TrimSpace`.
pub(crate) fn trim_space(whole: &[u8]) -> &[u8] {
    trim(whole, runes::is_space)
}

/// `strings.TrimFunc`.
pub(crate) fn trim(whole: &[u8], is_cut: impl Fn(char) -> bool) -> &[u8] {
    let mut rest = whole;
    loop {
        let (rune, width) = decode_rune(rest);
        if width == 0 || !is_cut(rune) {
            break;
        }
        rest = rest.get(width..).unwrap_or_default();
    }
    loop {
        let (rune, width) = decode_last_rune(rest);
        if width == 0 || !is_cut(rune) {
            return rest;
        }
        rest = rest.get(..rest.len() - width).unwrap_or_default();
    }
}
