//! Go's expression syntax, read into the automata's intermediate form.

use super::class::{Set, any_character, perl_group, posix_group};
use regex_syntax::hir::{Capture, Hir, Look, Repetition};

/// An expression in the form that automata are built from.
#[derive(Debug)]
pub(super) struct Expression {
    pub(super) hir: Hir,
    /// Names of the groups, the whole match first; a group without name has none.
    pub(super) names: Vec<Option<String>>,
}

/// An expression that Go refuses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("error parsing regexp: {code}: `{}`", String::from_utf8_lossy(.expression))]
pub struct SyntaxError {
    code: &'static str,
    expression: Vec<u8>,
}

/// The largest count in `{n,m}`, and the largest product of nested ones, that Go takes.
const MAX_REPEAT: u32 = 1000;
/// The deepest nesting that Go takes.
const MAX_HEIGHT: u32 = 1000;
/// The largest program, in instructions, that Go takes.
const MAX_SIZE: u64 = (128 << 20) / 40;
/// Digits of a count stop being added up here, as it is too large in any case.
const MAX_COUNT: u32 = 100_000_000;
const MAX_CODE_POINT: u32 = 0x0010_ffff;

const INVALID_CHAR_RANGE: &str = "invalid character class range";
const INVALID_ESCAPE: &str = "invalid escape sequence";
const INVALID_NAMED_CAPTURE: &str = "invalid named capture";
const INVALID_PERL_OP: &str = "invalid or unsupported Perl syntax";
const INVALID_REPEAT_OP: &str = "invalid nested repetition operator";
const INVALID_REPEAT_SIZE: &str = "invalid repeat count";
const INVALID_UTF8: &str = "invalid UTF-8";
const MISSING_BRACKET: &str = "missing closing ]";
const MISSING_PAREN: &str = "missing closing )";
const MISSING_REPEAT_ARGUMENT: &str = "missing argument to repetition operator";
const NESTING_DEPTH: &str = "expression nests too deeply";
const TOO_LARGE: &str = "expression too large";
const TRAILING_BACKSLASH: &str = "trailing backslash at end of expression";
const UNEXPECTED_PAREN: &str = "unexpected )";

/// Reads an expression.
///
/// # Errors
/// [`SyntaxError`] with Go's text.
pub(super) fn parse(source: &[u8]) -> Result<Expression, SyntaxError> {
    let mut parser = Parser {
        source,
        at: 0,
        flags: Flags::default(),
        frames: vec![Frame::default()],
        names: vec![None],
    };
    parser.run()?;
    let root = parser.frames.pop().unwrap_or_default();
    if !parser.frames.is_empty() {
        return Err(parser.whole(MISSING_PAREN));
    }
    Ok(Expression {
        hir: root.finish().hir,
        names: parser.names,
    })
}

#[derive(Debug, Clone, Copy, Default)]
#[allow(clippy::struct_excessive_bools)] // Each is one letter of the syntax.
struct Flags {
    folds_case: bool,
    is_multi_line: bool,
    dot_is_any: bool,
    is_lazy: bool,
}

/// A part of the expression with what Go's limits are measured by.
#[derive(Debug)]
struct Piece {
    hir: Hir,
    /// Product of the nested repeat counts.
    weight: u32,
    height: u32,
    /// Instructions.
    size: u64,
}

/// An open group.
#[derive(Debug, Default)]
struct Frame {
    alternatives: Vec<Piece>,
    sequence: Vec<Piece>,
    /// Number of the group, if it captures.
    capture: Option<u32>,
    /// What the flags go back to behind it.
    flags: Flags,
}

/// A repetition operator's counts; no maximum is "any number".
#[derive(Debug, Clone, Copy)]
struct Counts {
    min: u32,
    max: Option<u32>,
    /// Whether it was written in braces.
    is_counted: bool,
}

impl Piece {
    fn leaf(hir: Hir) -> Self {
        Self {
            hir,
            weight: 1,
            height: 1,
            size: 1,
        }
    }

    /// Several pieces as one, by concatenation or alternation.
    fn join(pieces: Vec<Self>, join: fn(Vec<Hir>) -> Hir) -> Self {
        let weight = pieces.iter().map(|piece| piece.weight).max().unwrap_or(1);
        let height = pieces.iter().map(|piece| piece.height).max().unwrap_or(0);
        let level = u32::from(pieces.len() != 1);
        let size = pieces.iter().map(|piece| piece.size).sum::<u64>().max(1);
        let hir = join(pieces.into_iter().map(|piece| piece.hir).collect());
        Self {
            hir,
            weight,
            height: height + level,
            size,
        }
    }
}

impl Frame {
    fn end_alternative(&mut self) {
        let sequence = std::mem::take(&mut self.sequence);
        self.alternatives.push(Piece::join(sequence, Hir::concat));
    }

    fn finish(mut self) -> Piece {
        self.end_alternative();
        let piece = Piece::join(self.alternatives, Hir::alternation);
        let Some(index) = self.capture else {
            return piece;
        };
        Piece {
            hir: Hir::capture(Capture {
                index,
                name: None,
                sub: Box::new(piece.hir),
            }),
            height: piece.height + 1,
            size: piece.size + 2,
            weight: piece.weight,
        }
    }
}

struct Parser<'a> {
    source: &'a [u8],
    at: usize,
    flags: Flags,
    frames: Vec<Frame>,
    names: Vec<Option<String>>,
}

impl Parser<'_> {
    fn run(&mut self) -> Result<(), SyntaxError> {
        // Where the operator directly before this place started, if there was one.
        let mut last_repeat = None;
        while let Some(byte) = self.peek(0) {
            let start = self.at;
            let mut repeat = None;
            match byte {
                b'(' => self.open()?,
                b'|' => {
                    self.at += 1;
                    if let Some(frame) = self.frames.last_mut() {
                        frame.end_alternative();
                    }
                }
                b')' => self.close()?,
                b'^' => self.look(1, Look::Start, Look::StartLF),
                b'$' => self.look(1, Look::End, Look::EndLF),
                b'.' => {
                    self.at += 1;
                    self.push(any_character(self.flags.dot_is_any));
                }
                b'[' => self.class()?,
                b'*' | b'+' | b'?' | b'{' => match self.counts(byte, start)? {
                    None => {
                        self.at = start + 1;
                        self.literal(u32::from(b'{'));
                    }
                    Some(counts) => {
                        self.repeat(counts, start, last_repeat)?;
                        repeat = Some(start);
                    }
                },
                b'\\' => self.backslash()?,
                _ => {
                    let code_point = self.next_code_point()?;
                    self.literal(code_point);
                }
            }
            last_repeat = repeat;
        }
        Ok(())
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.source.get(self.at + ahead).copied()
    }

    fn rest(&self) -> &[u8] {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn error(&self, code: &'static str, start: usize) -> SyntaxError {
        let expression = self.source.get(start..self.at).unwrap_or_default().to_vec();
        SyntaxError { code, expression }
    }

    fn whole(&self, code: &'static str) -> SyntaxError {
        SyntaxError {
            code,
            expression: self.source.to_vec(),
        }
    }

    /// The next character. At the end it is U+FFFD, as Go has it.
    fn next_code_point(&mut self) -> Result<u32, SyntaxError> {
        let rest = self.rest();
        if rest.is_empty() {
            return Ok(u32::from(char::REPLACEMENT_CHARACTER));
        }
        let chunk = rest.utf8_chunks().next();
        let Some(character) = chunk.and_then(|chunk| chunk.valid().chars().next()) else {
            return Err(SyntaxError {
                code: INVALID_UTF8,
                expression: rest.to_vec(),
            });
        };
        self.at += character.len_utf8();
        Ok(u32::from(character))
    }

    fn check_utf8(text: &[u8]) -> Result<&str, SyntaxError> {
        std::str::from_utf8(text).map_err(|error| SyntaxError {
            code: INVALID_UTF8,
            expression: text.get(error.valid_up_to()..).unwrap_or_default().to_vec(),
        })
    }

    fn push(&mut self, hir: Hir) {
        if let Some(frame) = self.frames.last_mut() {
            frame.sequence.push(Piece::leaf(hir));
        }
    }

    fn look(&mut self, length: usize, whole: Look, line: Look) {
        self.at += length;
        self.push(Hir::look(if self.flags.is_multi_line {
            line
        } else {
            whole
        }));
    }

    fn literal(&mut self, code_point: u32) {
        let character = char::from_u32(code_point).filter(|_| !self.flags.folds_case);
        if let Some(character) = character {
            let mut buffer = [0; 4];
            let bytes = character.encode_utf8(&mut buffer).as_bytes();
            self.push(Hir::literal(bytes.to_vec()));
            return;
        }
        let set = Set::range(code_point, code_point);
        let set = if self.flags.folds_case {
            set.folded()
        } else {
            set
        };
        self.push(set.hir());
    }

    fn open(&mut self) -> Result<(), SyntaxError> {
        if self.peek(1) == Some(b'?') {
            return self.perl_group();
        }
        self.at += 1;
        self.open_capture(None);
        Ok(())
    }

    fn open_capture(&mut self, name: Option<String>) {
        let capture = Some(self.names.len() as u32);
        self.names.push(name);
        self.frames.push(Frame {
            capture,
            flags: self.flags,
            ..Frame::default()
        });
    }

    fn close(&mut self) -> Result<(), SyntaxError> {
        let Some(frame) = self.frames.pop().filter(|_| !self.frames.is_empty()) else {
            return Err(self.whole(UNEXPECTED_PAREN));
        };
        self.at += 1;
        self.flags = frame.flags;
        let piece = frame.finish();
        self.check_limits(&piece)?;
        if let Some(outer) = self.frames.last_mut() {
            outer.sequence.push(piece);
        }
        Ok(())
    }

    fn check_limits(&self, piece: &Piece) -> Result<(), SyntaxError> {
        if piece.size > MAX_SIZE {
            return Err(self.whole(TOO_LARGE));
        }
        if piece.height > MAX_HEIGHT {
            return Err(self.whole(NESTING_DEPTH));
        }
        Ok(())
    }

    /// Reads `(?P<name>`, `(?<name>`, `(?flags)` or `(?flags:`.
    fn perl_group(&mut self) -> Result<(), SyntaxError> {
        let rest = self.rest();
        let name_start = match rest {
            [_, _, b'P', b'<', _, ..] => Some(4),
            [_, _, b'<', _, ..] => Some(3),
            _ => None,
        };
        let Some(name_start) = name_start else {
            return self.perl_flags();
        };
        let Some(end) = rest.iter().position(|byte| *byte == b'>') else {
            Self::check_utf8(rest)?;
            return Err(SyntaxError {
                code: INVALID_NAMED_CAPTURE,
                expression: rest.to_vec(),
            });
        };
        let name = Self::check_utf8(rest.get(name_start..end).unwrap_or_default())?.to_owned();
        let start = self.at;
        self.at += end + 1;
        if name.is_empty() || !name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric()) {
            return Err(self.error(INVALID_NAMED_CAPTURE, start));
        }
        self.open_capture(Some(name));
        Ok(())
    }

    fn perl_flags(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        self.at += 2;
        let mut flags = self.flags;
        let mut is_set = true;
        let mut has_flag = false;
        while self.at < self.source.len() {
            let code_point = self.next_code_point()?;
            match u8::try_from(code_point).unwrap_or_default() {
                b'i' => flags.folds_case = is_set,
                b'm' => flags.is_multi_line = is_set,
                b's' => flags.dot_is_any = is_set,
                b'U' => flags.is_lazy = is_set,
                b'-' if is_set => {
                    is_set = false;
                    has_flag = false;
                    continue;
                }
                end @ (b':' | b')') if is_set || has_flag => {
                    if end == b':' {
                        self.frames.push(Frame {
                            flags: self.flags,
                            ..Frame::default()
                        });
                    }
                    self.flags = flags;
                    return Ok(());
                }
                _ => break,
            }
            has_flag = true;
        }
        Err(self.error(INVALID_PERL_OP, start))
    }

    /// Reads a repetition operator; a brace that starts none gives nothing.
    fn counts(&mut self, byte: u8, start: usize) -> Result<Option<Counts>, SyntaxError> {
        self.at += 1;
        let (min, max) = match byte {
            b'*' => (0, None),
            b'+' => (1, None),
            b'?' => (0, Some(1)),
            _ => {
                let Some((min, max)) = self.braces() else {
                    return Ok(None);
                };
                let is_valid = min <= MAX_REPEAT && max.is_none_or(|max| max <= MAX_REPEAT);
                if !is_valid || max.is_some_and(|max| min > max) {
                    return Err(self.error(INVALID_REPEAT_SIZE, start));
                }
                (min, max)
            }
        };
        Ok(Some(Counts {
            min,
            max,
            is_counted: byte == b'{',
        }))
    }

    /// Reads `n}`, `n,}` or `n,m}`.
    fn braces(&mut self) -> Option<(u32, Option<u32>)> {
        let min = self.count()?;
        let mut max = Some(min);
        if self.peek(0) == Some(b',') {
            self.at += 1;
            max = if self.peek(0) == Some(b'}') {
                None
            } else {
                Some(self.count()?)
            };
        }
        (self.peek(0) == Some(b'}')).then(|| self.at += 1)?;
        Some((min, max))
    }

    fn count(&mut self) -> Option<u32> {
        let length = self
            .rest()
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let digits = self.rest().get(..length)?;
        if length == 0 || (length > 1 && digits.first() == Some(&b'0')) {
            return None;
        }
        let count = digits.iter().fold(0_u32, |count, digit| {
            if count >= MAX_COUNT {
                count
            } else {
                count * 10 + u32::from(digit - b'0')
            }
        });
        self.at += length;
        Some(count)
    }

    fn repeat(
        &mut self,
        counts: Counts,
        start: usize,
        last_repeat: Option<usize>,
    ) -> Result<(), SyntaxError> {
        let mut is_lazy = self.flags.is_lazy;
        if self.peek(0) == Some(b'?') {
            self.at += 1;
            is_lazy = !is_lazy;
        }
        if let Some(last) = last_repeat {
            return Err(self.error(INVALID_REPEAT_OP, last));
        }
        let Some(piece) = self
            .frames
            .last_mut()
            .and_then(|frame| frame.sequence.pop())
        else {
            let expression = self.source.get(start..self.at).unwrap_or_default().to_vec();
            return Err(SyntaxError {
                code: MISSING_REPEAT_ARGUMENT,
                expression,
            });
        };
        let piece = repeated(piece, counts, is_lazy);
        self.check_limits(&piece)?;
        let is_multiple = counts.min >= 2 || counts.max.is_some_and(|max| max >= 2);
        if counts.is_counted && is_multiple && piece.weight > MAX_REPEAT {
            return Err(self.error(INVALID_REPEAT_SIZE, start));
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.sequence.push(piece);
        }
        Ok(())
    }

    fn backslash(&mut self) -> Result<(), SyntaxError> {
        match self.peek(1) {
            Some(b'A') => self.look(2, Look::Start, Look::Start),
            Some(b'z') => self.look(2, Look::End, Look::End),
            Some(b'b') => self.look(2, Look::WordAscii, Look::WordAscii),
            Some(b'B') => self.look(2, Look::WordAsciiNegate, Look::WordAsciiNegate),
            Some(b'C') => {
                let start = self.at;
                self.at += 2;
                return Err(self.error(INVALID_ESCAPE, start));
            }
            Some(b'Q') => {
                self.at += 2;
                self.quoted()?;
            }
            _ => {
                if let Some(set) = self.escaped_set()? {
                    self.push(set.hir());
                } else {
                    let code_point = self.escape()?;
                    self.literal(code_point);
                }
            }
        }
        Ok(())
    }

    /// Reads what stands between `\Q` and `\E` or the end.
    fn quoted(&mut self) -> Result<(), SyntaxError> {
        while self.at < self.source.len() {
            if self.rest().starts_with(b"\\E") {
                self.at += 2;
                return Ok(());
            }
            let code_point = self.next_code_point()?;
            self.literal(code_point);
        }
        Ok(())
    }

    /// Reads `\d`, `\pL`, `\p{Greek}` and their like, if one stands here.
    fn escaped_set(&mut self) -> Result<Option<Set>, SyntaxError> {
        if self.peek(0) != Some(b'\\') {
            return Ok(None);
        }
        let Some(letter) = self.peek(1) else {
            return Ok(None);
        };
        if matches!(letter, b'p' | b'P') {
            return self.unicode_set(letter == b'P').map(Some);
        }
        Ok(perl_group(letter).map(|group| {
            self.at += 2;
            Set::group(group, self.flags.folds_case)
        }))
    }

    fn unicode_set(&mut self, is_negated: bool) -> Result<Set, SyntaxError> {
        let start = self.at;
        self.at += 2;
        let mut name = (self.at, self.at);
        if self.next_code_point()? == u32::from(b'{') {
            let rest = self.source.get(start..).unwrap_or_default();
            let Some(end) = rest.iter().position(|byte| *byte == b'}') else {
                Self::check_utf8(rest)?;
                return Err(SyntaxError {
                    code: INVALID_CHAR_RANGE,
                    expression: rest.to_vec(),
                });
            };
            name = (start + 3, start + end);
            self.at = start + end + 1;
        } else {
            name.1 = self.at;
        }
        let mut name = Self::check_utf8(self.source.get(name.0..name.1).unwrap_or_default())?;
        let mut is_negated = is_negated;
        if let Some(inner) = name.strip_prefix('^') {
            is_negated = !is_negated;
            name = inner;
        }
        let mut set = Set::unicode(name).ok_or_else(|| self.error(INVALID_CHAR_RANGE, start))?;
        if self.flags.folds_case {
            set = set.folded();
        }
        Ok(if is_negated { set.negated() } else { set })
    }

    /// Reads an escape that stands for one character.
    fn escape(&mut self) -> Result<u32, SyntaxError> {
        let start = self.at;
        self.at += 1;
        if self.at >= self.source.len() {
            return Err(SyntaxError {
                code: TRAILING_BACKSLASH,
                expression: Vec::new(),
            });
        }
        let code_point = self.next_code_point()?;
        let letter = u8::try_from(code_point).ok().filter(u8::is_ascii);
        let found = match letter {
            Some(letter) if !letter.is_ascii_alphanumeric() => Some(code_point),
            Some(b'1'..=b'7') if !self.peek(0).is_some_and(is_octal) => None,
            Some(b'0'..=b'7') => Some(self.octal(code_point)),
            Some(b'x') => self.hexadecimal()?,
            Some(b'a') => Some(7),
            Some(b'f') => Some(0x0c),
            Some(b'n') => Some(0x0a),
            Some(b'r') => Some(0x0d),
            Some(b't') => Some(0x09),
            Some(b'v') => Some(0x0b),
            _ => None,
        };
        found.ok_or_else(|| self.error(INVALID_ESCAPE, start))
    }

    fn octal(&mut self, first: u32) -> u32 {
        let mut value = first - u32::from(b'0');
        for _ in 0..2 {
            let Some(digit) = self.peek(0).filter(|digit| is_octal(*digit)) else {
                break;
            };
            value = value * 8 + u32::from(digit - b'0');
            self.at += 1;
        }
        value
    }

    /// Reads what follows `\x`; nothing if it is malformed.
    fn hexadecimal(&mut self) -> Result<Option<u32>, SyntaxError> {
        if self.at >= self.source.len() {
            return Ok(None);
        }
        let first = self.next_code_point()?;
        if first != u32::from(b'{') {
            let second = self.next_code_point()?;
            return Ok(hexadecimal_digit(first)
                .zip(hexadecimal_digit(second))
                .map(|(a, b)| a * 16 + b));
        }
        let mut value = None;
        while self.at < self.source.len() {
            let code_point = self.next_code_point()?;
            if code_point == u32::from(b'}') {
                return Ok(value);
            }
            let Some(digit) = hexadecimal_digit(code_point) else {
                return Ok(None);
            };
            let next = value.unwrap_or(0) * 16 + digit;
            if next > MAX_CODE_POINT {
                return Ok(None);
            }
            value = Some(next);
        }
        Ok(None)
    }

    fn class(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        self.at += 1;
        let is_negated = self.peek(0) == Some(b'^');
        if is_negated {
            self.at += 1;
        }
        let mut set = Set::default();
        let mut is_first = true;
        while is_first || self.peek(0) != Some(b']') {
            is_first = false;
            if let Some(named) = self.named_class()? {
                set.extend(&named);
            } else if let Some(escaped) = self.escaped_set()? {
                set.extend(&escaped);
            } else {
                let range = self.class_range(start)?;
                set.extend(&if self.flags.folds_case {
                    range.folded()
                } else {
                    range
                });
            }
        }
        self.at += 1;
        self.push(if is_negated {
            set.negated().hir()
        } else {
            set.hir()
        });
        Ok(())
    }

    /// Reads `[:name:]`, if it stands here.
    fn named_class(&mut self) -> Result<Option<Set>, SyntaxError> {
        let rest = self.rest();
        if rest.len() <= 2 || !rest.starts_with(b"[:") {
            return Ok(None);
        }
        let inner = rest.get(2..).unwrap_or_default();
        let Some(length) = inner.windows(2).position(|pair| pair == b":]") else {
            return Ok(None);
        };
        let group = posix_group(inner.get(..length).unwrap_or_default());
        let start = self.at;
        self.at += length + 4;
        let group = group.ok_or_else(|| self.error(INVALID_CHAR_RANGE, start))?;
        Ok(Some(Set::group(group, self.flags.folds_case)))
    }

    fn class_range(&mut self, class_start: usize) -> Result<Set, SyntaxError> {
        let start = self.at;
        let low = self.class_character(class_start)?;
        if self.peek(0) != Some(b'-') || matches!(self.peek(1), None | Some(b']')) {
            return Ok(Set::range(low, low));
        }
        self.at += 1;
        let high = self.class_character(class_start)?;
        if high < low {
            return Err(self.error(INVALID_CHAR_RANGE, start));
        }
        Ok(Set::range(low, high))
    }

    fn class_character(&mut self, class_start: usize) -> Result<u32, SyntaxError> {
        match self.peek(0) {
            None => Err(self.error(MISSING_BRACKET, class_start)),
            Some(b'\\') => self.escape(),
            Some(_) => self.next_code_point(),
        }
    }
}

fn repeated(piece: Piece, counts: Counts, is_lazy: bool) -> Piece {
    let Counts {
        min,
        max,
        is_counted,
    } = counts;
    let size = match max {
        Some(max) if is_counted => u64::from(max) * piece.size + u64::from(max.saturating_sub(min)),
        None if is_counted && min > 0 => 1 + u64::from(min) * piece.size,
        _ => 2 + piece.size,
    };
    let factor = if is_counted {
        max.unwrap_or(min.max(1))
    } else {
        1
    };
    let repetition = Repetition {
        min,
        max,
        greedy: !is_lazy,
        sub: Box::new(piece.hir),
    };
    Piece {
        hir: Hir::repetition(repetition),
        weight: piece.weight.saturating_mul(factor),
        height: piece.height + 1,
        size: size.max(1),
    }
}

fn is_octal(byte: u8) -> bool {
    matches!(byte, b'0'..=b'7')
}

fn hexadecimal_digit(code_point: u32) -> Option<u32> {
    char::from_u32(code_point).and_then(|character| character.to_digit(16))
}
