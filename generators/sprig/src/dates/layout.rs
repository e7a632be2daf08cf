//! Go's layouts, which describe a form by how it shows Monday the second of January 2006, 15:04:05.

/// What a part of a layout stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    LongMonth,
    Month,
    NumberMonth,
    ZeroMonth,
    LongWeekday,
    Weekday,
    Day,
    UnderDay,
    ZeroDay,
    UnderYearDay,
    ZeroYearDay,
    Hour,
    Hour12,
    ZeroHour12,
    Minute,
    ZeroMinute,
    Second,
    ZeroSecond,
    LongYear,
    Year,
    UpperHalf,
    LowerHalf,
    ZoneName,
    Offset(OffsetForm),
    /// So many digits of a second, zeros included, behind a separator.
    FractionZeros(usize, u8),
    /// Up to so many digits of a second, without final zeros, behind a separator.
    FractionNines(usize, u8),
}

/// How an offset is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // Each is one choice that layouts make.
pub(super) struct OffsetForm {
    /// Whether zero is written `Z`.
    pub(super) is_iso: bool,
    pub(super) has_colon: bool,
    pub(super) has_minutes: bool,
    pub(super) has_seconds: bool,
}

/// Elements that start with a letter or digit, longer ones before their own beginnings. A shortened name counts only if no small
/// letter follows it.
const FIXED: [(&[u8], Element, bool); 29] = [
    (b"January", Element::LongMonth, false),
    (b"Jan", Element::Month, true),
    (b"Monday", Element::LongWeekday, false),
    (b"Mon", Element::Weekday, true),
    (b"MST", Element::ZoneName, false),
    (b"002", Element::ZeroYearDay, false),
    (b"01", Element::ZeroMonth, false),
    (b"02", Element::ZeroDay, false),
    (b"03", Element::ZeroHour12, false),
    (b"04", Element::ZeroMinute, false),
    (b"05", Element::ZeroSecond, false),
    (b"06", Element::Year, false),
    (b"15", Element::Hour, false),
    (b"1", Element::NumberMonth, false),
    (b"2006", Element::LongYear, false),
    (b"2", Element::Day, false),
    (b"__2", Element::UnderYearDay, false),
    (b"_2", Element::UnderDay, false),
    (b"3", Element::Hour12, false),
    (b"4", Element::Minute, false),
    (b"5", Element::Second, false),
    (b"PM", Element::UpperHalf, false),
    (b"pm", Element::LowerHalf, false),
    (b"Z", Element::Offset(ISO), false),
    (b"-", Element::Offset(PLAIN), false),
    (b".0", Element::FractionZeros(0, b'.'), false),
    (b",0", Element::FractionZeros(0, b','), false),
    (b".9", Element::FractionNines(0, b'.'), false),
    (b",9", Element::FractionNines(0, b','), false),
];

const PLAIN: OffsetForm = OffsetForm {
    is_iso: false,
    has_colon: false,
    has_minutes: false,
    has_seconds: false,
};
const ISO: OffsetForm = OffsetForm {
    is_iso: true,
    ..PLAIN
};
/// What follows the sign or `Z` of an offset, in the order of Go's comparisons.
const OFFSETS: [(&[u8], OffsetForm); 5] = [
    (
        b"070000",
        OffsetForm {
            has_minutes: true,
            has_seconds: true,
            ..PLAIN
        },
    ),
    (
        b"07:00:00",
        OffsetForm {
            has_colon: true,
            has_minutes: true,
            has_seconds: true,
            ..PLAIN
        },
    ),
    (
        b"0700",
        OffsetForm {
            has_minutes: true,
            ..PLAIN
        },
    ),
    (
        b"07:00",
        OffsetForm {
            has_colon: true,
            has_minutes: true,
            ..PLAIN
        },
    ),
    (b"07", PLAIN),
];

/// A literal part of a layout, and the element behind it, if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chunk<'a> {
    pub(super) prefix: &'a [u8],
    pub(super) element: Option<(Element, &'a [u8])>,
    pub(super) rest: &'a [u8],
}

/// Splits the first element off a layout.
pub(super) fn next_chunk(layout: &[u8]) -> Chunk<'_> {
    for start in 0..layout.len() {
        let (prefix, rest) = layout.split_at(start);
        let Some((element, skipped, length)) = element_at(rest) else {
            continue;
        };
        let prefix = layout.get(..start + skipped).unwrap_or(prefix);
        let text = rest.get(skipped..skipped + length).unwrap_or_default();
        let rest = rest.get(skipped + length..).unwrap_or_default();
        return Chunk {
            prefix,
            element: Some((element, text)),
            rest,
        };
    }
    Chunk {
        prefix: layout,
        element: None,
        rest: b"",
    }
}

/// The element at the start of a text: how many bytes before it are literal, and how many it has.
fn element_at(text: &[u8]) -> Option<(Element, usize, usize)> {
    // The underscore is literal here, and the year follows it.
    if text.starts_with(b"_2006") {
        return Some((Element::LongYear, 1, 4));
    }
    let (pattern, element) = FIXED.iter().find_map(|(pattern, element, is_short)| {
        let rest = text.strip_prefix(*pattern)?;
        let is_word = *is_short && rest.first().is_some_and(u8::is_ascii_lowercase);
        (!is_word).then_some((*pattern, *element))
    })?;
    match element {
        Element::Offset(form) => offset_at(text, form.is_iso),
        Element::FractionZeros(_, separator) => {
            let count = fraction_at(text, b'0')?;
            Some((Element::FractionZeros(count, separator), 0, count + 1))
        }
        Element::FractionNines(_, separator) => {
            let count = fraction_at(text, b'9')?;
            Some((Element::FractionNines(count, separator), 0, count + 1))
        }
        element => Some((element, 0, pattern.len())),
    }
}

fn offset_at(text: &[u8], is_iso: bool) -> Option<(Element, usize, usize)> {
    let rest = text.get(1..)?;
    let (pattern, form) = OFFSETS
        .iter()
        .find(|(pattern, _)| rest.starts_with(pattern))?;
    Some((
        Element::Offset(OffsetForm { is_iso, ..*form }),
        0,
        pattern.len() + 1,
    ))
}

/// The digits behind a separator, which no other digit may follow.
fn fraction_at(text: &[u8], digit: u8) -> Option<usize> {
    let rest = text.get(1..)?;
    let count = rest.iter().take_while(|byte| **byte == digit).count();
    let is_ended = !rest.get(count).is_some_and(u8::is_ascii_digit);
    is_ended.then_some(count)
}
