//! Words and lines: what Sprig takes from `github.com/Masterminds/goutils` 1.1, and Go's `strings.Title`.

use crate::{declare::fail, runes, search::find_last};
use whipstaff_gotemplate::{FunctionError, Runtime};

/// `goutils.WrapCustom`: breaks at spaces so that lines have at most `width` bytes, if words allow it.
pub(crate) fn wrap(
    runtime: &mut dyn Runtime,
    whole: &[u8],
    width: i64,
    separator: &[u8],
    breaks_words: bool,
) -> Result<Vec<u8>, FunctionError> {
    let width = usize::try_from(width.max(1)).unwrap_or(usize::MAX);
    let lines = (whole.len() / width).saturating_add(1);
    runtime.charge(
        lines
            .saturating_mul(separator.len())
            .saturating_add(whole.len()),
    )?;
    let mut out = Vec::with_capacity(whole.len());
    let mut rest = whole;
    while rest.len() > width {
        if let Some(after) = rest.strip_prefix(b" ") {
            rest = after;
            continue;
        }
        let (head, tail) = rest.split_at(width);
        // A space right behind the line's last column is a place to break, too.
        let line = rest.get(..=width).unwrap_or(rest);
        if let Some(space) = find_last(line, b' ') {
            break_at(&mut out, &mut rest, space, separator);
        } else if breaks_words {
            out.extend_from_slice(head);
            out.extend_from_slice(separator);
            rest = tail;
        } else if let Some(space) = tail.iter().position(|byte| *byte == b' ') {
            break_at(&mut out, &mut rest, width + space, separator);
        } else {
            break;
        }
    }
    out.extend_from_slice(rest);
    Ok(out)
}

fn break_at(out: &mut Vec<u8>, rest: &mut &[u8], space: usize, separator: &[u8]) {
    let (line, tail) = rest.split_at(space);
    out.extend_from_slice(line);
    out.extend_from_slice(separator);
    *rest = tail.get(1..).unwrap_or_default();
}

/// `goutils.AbbreviateFull`: cuts to `width` bytes with an ellipsis, from about `offset` on. What it has no answer for is empty.
pub(crate) fn abbreviate(whole: &[u8], offset: i64, width: i64) -> Result<Vec<u8>, FunctionError> {
    const MARK: &[u8] = b"...";
    let length = whole.len() as i64;
    if length <= width {
        return Ok(whole.to_vec());
    }
    let kept = width - MARK.len() as i64;
    let offset = offset.min(length).min(length - kept);
    if offset <= 4 {
        return Ok([part(whole, 0, kept)?, MARK].concat());
    }
    if width < 7 {
        return Ok(Vec::new());
    }
    if offset + kept >= length {
        return Ok([MARK, part(whole, length - kept, length)?].concat());
    }
    let middle = part(whole, offset, length)?;
    Ok([MARK, &abbreviate(middle, 0, kept)?].concat())
}

fn part(whole: &[u8], start: i64, end: i64) -> Result<&[u8], FunctionError> {
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    match range.and_then(|(start, end)| whole.get(start..end)) {
        Some(part) => Ok(part),
        None => fail(format!(
            "runtime error: slice bounds out of range [{start}:{end}]"
        )),
    }
}

/// `strings.Title`: the first letter of each word in title case, the others as they are.
pub(crate) fn title(whole: &[u8]) -> String {
    let mut previous = ' ';
    runes::map_runes(whole, |rune| {
        let starts_word = separates_words(previous);
        previous = rune;
        if starts_word {
            runes::to_title(rune)
        } else {
            rune
        }
    })
}

fn separates_words(rune: char) -> bool {
    if rune.is_ascii() {
        return !(rune.is_ascii_alphanumeric() || rune == '_');
    }
    !runes::is_letter(rune) && !runes::is_digit(rune) && runes::is_space(rune)
}

/// `goutils.Uncapitalize`: the first rune of each word in lower case.
pub(crate) fn uncapitalize(whole: &[u8]) -> String {
    let mut starts_word = true;
    runes::map_runes(whole, |rune| {
        if runes::is_space(rune) {
            starts_word = true;
            return rune;
        }
        if std::mem::take(&mut starts_word) {
            runes::to_lower(rune)
        } else {
            rune
        }
    })
}

/// `goutils.SwapCase`: capitals become small, small letters become capitals, or title case where a word starts.
pub(crate) fn swap_case(whole: &[u8]) -> String {
    let mut after_space = true;
    runes::map_runes(whole, |rune| {
        if runes::is_upper(rune) || runes::is_title(rune) {
            after_space = false;
            return runes::to_lower(rune);
        }
        if !runes::is_lower(rune) {
            after_space = runes::is_space(rune);
            return rune;
        }
        if std::mem::take(&mut after_space) {
            runes::to_title(rune)
        } else {
            runes::to_upper(rune)
        }
    })
}

/// `goutils.Initials`: the first *byte* of each word, taken for a Latin-1 character.
pub(crate) fn initials(whole: &[u8]) -> String {
    let mut after_gap = true;
    let mut out = String::new();
    for character in whole.iter().copied().map(char::from) {
        if runes::is_space(character) {
            after_gap = true;
        } else if std::mem::take(&mut after_gap) {
            out.push(character);
        }
    }
    out
}

/// `goutils.DeleteWhiteSpace`. A text with white space is taken for Latin-1, as the original does; one without stays as it is.
pub(crate) fn delete_white_space(whole: &[u8]) -> Vec<u8> {
    let is_space = |byte: &u8| runes::is_space(char::from(*byte));
    if !whole.iter().any(is_space) {
        return whole.to_vec();
    }
    let kept = whole.iter().filter(|byte| !is_space(byte));
    kept.map(|byte| char::from(*byte))
        .collect::<String>()
        .into_bytes()
}
