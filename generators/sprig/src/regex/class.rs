//! Sets of characters.

use regex_syntax::{
    hir::{Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind},
    utf8::Utf8Sequences,
};

/// Sets of characters that take at most as many sequences of ranges of bytes are compiled as those.
const FEW_SEQUENCES: usize = 16;

/// Ranges of code points, both ends included. Surrogates may occur; they match nothing.
#[derive(Debug, Default, Clone)]
pub(super) struct Set {
    ranges: Vec<(u32, u32)>,
}

/// A set that has a name, and whether it is its complement that is meant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    ranges: &'static [(u8, u8)],
    is_negated: bool,
}

const DIGIT: &[(u8, u8)] = &[(b'0', b'9')];
const WORD: &[(u8, u8)] = &[(b'0', b'9'), (b'A', b'Z'), (b'_', b'_'), (b'a', b'z')];
/// `\s`, which has no vertical tab.
const BLANK: &[(u8, u8)] = &[(b'\t', b'\n'), (0x0c, b'\r'), (b' ', b' ')];

/// The expression of `.`.
pub(super) fn any_character(with_line_feed: bool) -> Hir {
    let mut excepted = ClassUnicode::empty();
    if !with_line_feed {
        excepted.push(ClassUnicodeRange::new('\n', '\n'));
    }
    excepted.negate();
    compiled(excepted)
}

/// A class that is cheap to compile. The compiler keeps a table of 10,000 entries for sets of characters beyond ASCII, which costs more
/// than the rest of a short expression; the most frequent ones (`.`, `[^/]`) are few ranges of bytes.
pub(crate) fn compiled(class: ClassUnicode) -> Hir {
    if class.is_ascii() {
        return Hir::class(Class::Unicode(class));
    }
    let sequences = class
        .iter()
        .flat_map(|range| Utf8Sequences::new(range.start(), range.end()));
    let few: Vec<_> = sequences.take(FEW_SEQUENCES + 1).collect();
    if few.is_empty() || few.len() > FEW_SEQUENCES {
        return Hir::class(Class::Unicode(class));
    }
    let bytes = |sequence: &regex_syntax::utf8::Utf8Sequence| {
        let ranges = sequence.as_slice().iter();
        Hir::concat(
            ranges
                .map(|range| ClassBytesRange::new(range.start, range.end))
                .map(|range| Hir::class(Class::Bytes(ClassBytes::new([range]))))
                .collect(),
        )
    };
    Hir::alternation(few.iter().map(bytes).collect())
}

/// The class of `\d`, `\D`, `\s`, `\S`, `\w` and `\W`.
pub(super) fn perl_group(letter: u8) -> Option<Group> {
    let ranges = match letter.to_ascii_lowercase() {
        b'd' => DIGIT,
        b's' => BLANK,
        b'w' => WORD,
        _ => return None,
    };
    Some(Group {
        ranges,
        is_negated: letter.is_ascii_uppercase(),
    })
}

/// The class of `[:name:]` or `[:^name:]`, by what stands between the colons.
pub(super) fn posix_group(name: &[u8]) -> Option<Group> {
    let (name, is_negated) = match name.strip_prefix(b"^") {
        Some(name) => (name, true),
        None => (name, false),
    };
    let ranges: &'static [(u8, u8)] = match name {
        b"alnum" => &[(b'0', b'9'), (b'A', b'Z'), (b'a', b'z')],
        b"alpha" => &[(b'A', b'Z'), (b'a', b'z')],
        b"ascii" => &[(0, 0x7f)],
        b"blank" => &[(b'\t', b'\t'), (b' ', b' ')],
        b"cntrl" => &[(0, 0x1f), (0x7f, 0x7f)],
        b"digit" => DIGIT,
        b"graph" => &[(b'!', b'~')],
        b"lower" => &[(b'a', b'z')],
        b"print" => &[(b' ', b'~')],
        b"punct" => &[(b'!', b'/'), (b':', b'@'), (b'[', b'`'), (b'{', b'~')],
        b"space" => &[(b'\t', b'\r'), (b' ', b' ')],
        b"upper" => &[(b'A', b'Z')],
        b"word" => WORD,
        b"xdigit" => &[(b'0', b'9'), (b'A', b'F'), (b'a', b'f')],
        _ => return None,
    };
    Some(Group { ranges, is_negated })
}

impl Set {
    /// The set of one range.
    pub(super) fn range(low: u32, high: u32) -> Self {
        Self {
            ranges: vec![(low, high)],
        }
    }

    /// A general category or script by its name.
    pub(super) fn unicode(name: &str) -> Option<Self> {
        let is_name = name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_- ".contains(c));
        if !is_name || name.is_empty() {
            return None;
        }
        let hir = ["gc", "sc"]
            .iter()
            .find_map(|property| regex_syntax::parse(&format!("\\p{{{property}={name}}}")).ok())?;
        Some(match hir.kind() {
            HirKind::Class(Class::Unicode(class)) => Self {
                ranges: class
                    .iter()
                    .map(|r| (u32::from(r.start()), u32::from(r.end())))
                    .collect(),
            },
            HirKind::Class(Class::Bytes(class)) => Self {
                ranges: class
                    .iter()
                    .map(|r| (u32::from(r.start()), u32::from(r.end())))
                    .collect(),
            },
            HirKind::Literal(literal) => {
                let text = std::str::from_utf8(&literal.0).unwrap_or_default();
                Self {
                    ranges: text.chars().map(|c| (u32::from(c), u32::from(c))).collect(),
                }
            }
            _ => Self::default(),
        })
    }

    /// A named group, folded if letters match in either case.
    pub(super) fn group(group: Group, is_folded: bool) -> Self {
        let ranges = group
            .ranges
            .iter()
            .map(|(low, high)| (u32::from(*low), u32::from(*high)));
        let mut set = Self {
            ranges: ranges.collect(),
        };
        if is_folded {
            set = set.folded();
        }
        if group.is_negated { set.negated() } else { set }
    }

    /// Adds all of another set.
    pub(super) fn extend(&mut self, other: &Self) {
        self.ranges.extend_from_slice(&other.ranges);
    }

    /// With the other cases of every letter.
    pub(super) fn folded(self) -> Self {
        let mut class = self.class();
        if class.try_case_fold_simple().is_err() {
            return self;
        }
        Self::of(&class)
    }

    /// What is not in it.
    pub(super) fn negated(&self) -> Self {
        let mut class = self.class();
        class.negate();
        Self::of(&class)
    }

    /// The expression that matches one character of it.
    pub(super) fn hir(&self) -> Hir {
        compiled(self.class())
    }

    fn of(class: &ClassUnicode) -> Self {
        Self {
            ranges: class
                .iter()
                .map(|r| (u32::from(r.start()), u32::from(r.end())))
                .collect(),
        }
    }

    fn class(&self) -> ClassUnicode {
        ClassUnicode::new(self.ranges.iter().flat_map(|(low, high)| {
            // Surrogates are no characters: a range that spans them is two.
            let parts = [(*low, (*high).min(0xd7ff)), ((*low).max(0xe000), *high)];
            parts
                .into_iter()
                .filter(|(low, high)| low <= high)
                .filter_map(|(low, high)| {
                    Some(ClassUnicodeRange::new(
                        char::from_u32(low)?,
                        char::from_u32(high)?,
                    ))
                })
        }))
    }
}
