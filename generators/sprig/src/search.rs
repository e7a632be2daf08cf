//! Searching and cutting bytes as Go's `strings` does.

use crate::{lists::charge_items, runes};
use whipstaff_gotemplate::{
    Bytes, FunctionError, Runtime,
    format::{self, decode_last_rune, decode_rune},
};

/// Position of the first occurrence.
pub(crate) fn find(whole: &[u8], part: &[u8]) -> Option<usize> {
    memchr::memmem::find(whole, part)
}

/// Position of the last occurrence.
pub(crate) fn find_last(whole: &[u8], byte: u8) -> Option<usize> {
    whole.iter().rposition(|candidate| *candidate == byte)
}

/// How often a text occurs without overlapping: an empty one before each rune and at the end.
fn count(whole: &[u8], part: &[u8]) -> usize {
    if part.is_empty() {
        return format::rune_count(whole).saturating_add(1);
    }
    memchr::memmem::find_iter(whole, part).count()
}

/// `strings.SplitN`: all parts for a negative limit, none for zero. An empty separator splits into runes, and an invalid byte
/// stays as it is.
pub(crate) fn split(
    runtime: &mut dyn Runtime,
    whole: &[u8],
    separator: &[u8],
    limit: i64,
) -> Result<Vec<Bytes>, FunctionError> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut parts = Vec::new();
    if limit == 0 {
        return Ok(parts);
    }
    charge_items(
        runtime,
        count(whole, separator).saturating_add(1).min(limit),
    )?;
    runtime.charge(whole.len())?;
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
        return Ok(parts);
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
    Ok(parts)
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
    runtime.charge(
        count(whole, old)
            .saturating_mul(new.len())
            .saturating_add(whole.len()),
    )?;
    let mut out = Vec::with_capacity(whole.len());
    if old.is_empty() {
        for (offset, _, width) in format::runes(whole) {
            out.extend_from_slice(new);
            out.extend_from_slice(whole.get(offset..offset + width).unwrap_or_default());
        }
        out.extend_from_slice(new);
        return Ok(out);
    }
    let mut copied = 0;
    for position in memchr::memmem::find_iter(whole, old) {
        out.extend_from_slice(whole.get(copied..position).unwrap_or_default());
        out.extend_from_slice(new);
        copied = position + old.len();
    }
    out.extend_from_slice(whole.get(copied..).unwrap_or_default());
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
