//! Shell patterns in references: `*` and `?`.

use crate::transform::SubstituteError;

/// Longest text in characters that patterns are tried on: trying takes time with the square of it.
const MAX_MATCHED: usize = 4_096;

/// Where a pattern may match, and how much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Match {
    ShortestPrefix,
    LongestPrefix,
    ShortestSuffix,
    LongestSuffix,
    First,
    All,
}

/// The text without what matches.
pub(super) fn trimmed(text: &str, pattern: &str, kind: Match) -> Result<String, SubstituteError> {
    replaced(text, pattern, "", kind)
}

/// The text with what matches replaced.
pub(super) fn replaced(
    text: &str,
    pattern: &str,
    by: &str,
    kind: Match,
) -> Result<String, SubstituteError> {
    let text: Vec<char> = text.chars().collect();
    let pattern: Vec<char> = pattern.chars().collect();
    if text.len() > MAX_MATCHED || pattern.len() > MAX_MATCHED {
        return Err(SubstituteError::Limit);
    }
    let whole = text.len();
    let found = match kind {
        Match::ShortestPrefix => find((0..=whole).map(|end| (0, end)), &text, &pattern),
        Match::LongestPrefix => find((0..=whole).rev().map(|end| (0, end)), &text, &pattern),
        Match::ShortestSuffix => find(
            (0..=whole).rev().map(|start| (start, whole)),
            &text,
            &pattern,
        ),
        Match::LongestSuffix => find((0..=whole).map(|start| (start, whole)), &text, &pattern),
        Match::First => from(0, &text, &pattern),
        Match::All => return Ok(all(&text, &pattern, by)),
    };
    Ok(match found {
        Some((start, end)) => spliced(&text, start, end, by),
        None => text.iter().collect(),
    })
}

fn find(
    mut ranges: impl Iterator<Item = (usize, usize)>,
    text: &[char],
    pattern: &[char],
) -> Option<(usize, usize)> {
    ranges.find(|(start, end)| matches(&text[*start..*end], pattern))
}

/// The leftmost, longest match at or after a position; never an empty one.
fn from(position: usize, text: &[char], pattern: &[char]) -> Option<(usize, usize)> {
    (position..text.len()).find_map(|start| {
        let ends = (start + 1..=text.len()).rev();
        find(ends.map(|end| (start, end)), text, pattern)
    })
}

fn all(text: &[char], pattern: &[char], by: &str) -> String {
    let mut result = String::new();
    let mut position = 0;
    while let Some((start, end)) = from(position, text, pattern) {
        result.extend(&text[position..start]);
        result.push_str(by);
        position = end;
    }
    result.extend(&text[position..]);
    result
}

fn spliced(text: &[char], start: usize, end: usize, by: &str) -> String {
    let mut result: String = text[..start].iter().collect();
    result.push_str(by);
    result.extend(&text[end..]);
    result
}

/// Whether the whole text matches; goes back to the last `*` only, so that it takes no more than the product of both lengths.
fn matches(text: &[char], pattern: &[char]) -> bool {
    let (mut at, mut of) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while at < text.len() {
        match pattern.get(of) {
            Some('*') => {
                star = Some((of, at));
                of += 1;
            }
            Some(letter) if *letter == '?' || *letter == text[at] => {
                at += 1;
                of += 1;
            }
            _ => {
                let Some((position, from)) = star else {
                    return false;
                };
                star = Some((position, from + 1));
                (of, at) = (position + 1, from + 1);
            }
        }
    }
    pattern[of..].iter().all(|letter| *letter == '*')
}
