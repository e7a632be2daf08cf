//! Which style a string can be written in.

use super::super::character::{byte, is_blank, is_blank_or_end, is_break, is_printable, width};
use super::Form;

/// A way to write a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
}

/// What stands in a string, as far as it rules styles out.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each finding stands for itself"
)]
struct Findings {
    indicators: bool,
    line_breaks: bool,
    tabs: bool,
    special_characters: bool,
    leading_space: bool,
    leading_break: bool,
    trailing_space: bool,
    trailing_break: bool,
    space_behind_break: bool,
    break_behind_space: bool,
}

/// Whether the string has line breaks.
pub(super) fn is_multiline(text: &str) -> bool {
    let bytes = text.as_bytes();
    (0..bytes.len()).any(|at| is_break(bytes, at))
}

/// The style of a string; an `ambiguous` one would be taken for something else if it was plain.
pub(super) fn choose_style(text: &str, ambiguous: bool, simple_key: bool, form: Form) -> Style {
    let findings = analyze(text, form);
    let special = findings.special_characters || findings.break_behind_space;
    let tabs_special = findings.tabs || special;
    let preferred = if text.contains('\n') {
        Style::Literal
    } else if ambiguous {
        Style::DoubleQuoted
    } else {
        Style::Plain
    };
    let block_allowed = !text.is_empty() && !findings.trailing_space && !special;
    if preferred == Style::DoubleQuoted || (simple_key && findings.line_breaks) {
        return Style::DoubleQuoted;
    }
    if preferred == Style::Literal {
        return if block_allowed && !simple_key {
            Style::Literal
        } else {
            Style::DoubleQuoted
        };
    }
    let edges = findings.leading_space
        || findings.leading_break
        || findings.trailing_space
        || findings.trailing_break;
    let single_quoted_allowed = !findings.space_behind_break && !tabs_special;
    let plain_allowed =
        single_quoted_allowed && !edges && !findings.line_breaks && !findings.indicators;
    if plain_allowed {
        Style::Plain
    } else if single_quoted_allowed {
        Style::SingleQuoted
    } else {
        Style::DoubleQuoted
    }
}

fn analyze(text: &str, form: Form) -> Findings {
    let bytes = text.as_bytes();
    let mut findings = Findings {
        indicators: text.starts_with("---") || text.starts_with("..."),
        ..Findings::default()
    };
    let mut previous_space = false;
    let mut previous_break = false;
    let mut behind_blank = true;
    let mut at = 0;
    while at < bytes.len() {
        let end = at + width(byte(bytes, at));
        let last = end >= bytes.len();
        findings.indicators |= is_indicator(bytes, at, end, behind_blank);
        if form == Form::V3 && byte(bytes, at) == b'\t' {
            findings.tabs = true;
        } else if !is_printable(bytes, at) {
            findings.special_characters = true;
        }
        let is_space = byte(bytes, at) == b' ';
        let is_break = is_break(bytes, at);
        if is_space {
            findings.leading_space |= at == 0;
            findings.trailing_space |= last;
            findings.space_behind_break |= previous_break;
        } else if is_break {
            findings.line_breaks = true;
            findings.leading_break |= at == 0;
            findings.trailing_break |= last;
            findings.break_behind_space |= previous_space;
        }
        previous_space = is_space;
        previous_break = is_break;
        behind_blank = is_blank_or_end(bytes, at);
        at = end;
    }
    findings
}

/// Whether the character would mean something in a plain scalar of a block collection.
fn is_indicator(bytes: &[u8], at: usize, end: usize, behind_blank: bool) -> bool {
    let before_blank = || end >= bytes.len() || is_blank(byte(bytes, end));
    match byte(bytes, at) {
        b'#' => behind_blank,
        b':' => before_blank(),
        b'?' | b'-' => at == 0 && before_blank(),
        b',' | b'[' | b']' | b'{' | b'}' | b'&' | b'*' | b'!' | b'|' | b'>' | b'\'' | b'"'
        | b'%' | b'@' | b'`' => at == 0,
        _ => false,
    }
}
