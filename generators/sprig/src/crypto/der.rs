//! The distinguished encoding rules of ASN.1, as far as keys and certificates need them.

use num_bigint::BigUint;

pub(super) const BOOLEAN: u8 = 0x01;
pub(super) const INTEGER: u8 = 0x02;
pub(super) const BIT_STRING: u8 = 0x03;
pub(super) const OCTET_STRING: u8 = 0x04;
pub(super) const NULL: u8 = 0x05;
pub(super) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(super) const UTF8_STRING: u8 = 0x0c;
pub(super) const PRINTABLE_STRING: u8 = 0x13;
pub(super) const UTC_TIME: u8 = 0x17;
pub(super) const GENERALIZED_TIME: u8 = 0x18;
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;

/// A tag of the context, which may hold further values.
pub(super) const fn context(number: u8, is_constructed: bool) -> u8 {
    0x80 | number | if is_constructed { 0x20 } else { 0 }
}

/// A value with its tag and length.
pub(super) fn element(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut output = vec![tag];
    let length = body.len().to_be_bytes();
    let significant: Vec<u8> = length
        .iter()
        .copied()
        .skip_while(|byte| *byte == 0)
        .collect();
    match significant.as_slice() {
        [] => output.push(0),
        [short] if *short < 0x80 => output.push(*short),
        long => {
            output.push(0x80 | long.len() as u8);
            output.extend_from_slice(long);
        }
    }
    output.extend_from_slice(body);
    output
}

/// Values one after another, under a tag.
pub(super) fn group(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    element(tag, &parts.concat())
}

/// A number that is not negative.
pub(super) fn integer(number: &BigUint) -> Vec<u8> {
    let mut bytes = number.to_bytes_be();
    if bytes.first().is_none_or(|byte| *byte >= 0x80) {
        bytes.insert(0, 0);
    }
    element(INTEGER, &bytes)
}

/// Whole bytes as a bit string.
pub(super) fn bits(bytes: &[u8]) -> Vec<u8> {
    group(BIT_STRING, &[&[0], bytes])
}

/// Reads values one after another. Whatever is malformed reads as nothing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

/// A value: its tag, what it holds, and all of its bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Element<'a> {
    pub(super) tag: u8,
    pub(super) body: &'a [u8],
    pub(super) whole: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next value, whatever it is.
    pub(super) fn next(&mut self) -> Option<Element<'a>> {
        let (tag, rest) = self.rest.split_first()?;
        let (first, rest) = rest.split_first()?;
        let (length, rest) = if *first < 0x80 {
            (usize::from(*first), rest)
        } else {
            let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            if digits.is_empty() || digits.len() > 4 {
                return None;
            }
            let length = digits
                .iter()
                .fold(0, |length, byte| length << 8 | usize::from(*byte));
            (length, rest)
        };
        let (body, rest) = rest.split_at_checked(length)?;
        let whole = self.rest.get(..self.rest.len() - rest.len())?;
        self.rest = rest;
        Some(Element {
            tag: *tag,
            body,
            whole,
        })
    }

    /// What the next value holds, if it has the tag.
    pub(super) fn read(&mut self, tag: u8) -> Option<&'a [u8]> {
        let mut ahead = *self;
        let element = ahead.next().filter(|element| element.tag == tag)?;
        *self = ahead;
        Some(element.body)
    }

    /// The next value, if it is a number that is not negative.
    pub(super) fn integer(&mut self) -> Option<BigUint> {
        let body = self.read(INTEGER)?;
        let first = body.first()?;
        (*first < 0x80).then(|| BigUint::from_bytes_be(body))
    }

    /// The bytes of the next value, if it is a bit string of whole bytes.
    pub(super) fn bits(&mut self) -> Option<&'a [u8]> {
        self.read(BIT_STRING)?.strip_prefix(&[0])
    }

    /// What a sequence holds.
    pub(super) fn sequence(&mut self) -> Option<Self> {
        self.read(SEQUENCE).map(Self::new)
    }
}
