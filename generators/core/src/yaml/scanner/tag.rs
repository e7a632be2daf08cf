//! Anchors, aliases and tags.

use std::borrow::Cow;

use super::super::character::{is_word, width};
use super::super::error::Error;
use super::{Scanner, Token, TokenData, TokenKind};

impl<'a> Scanner<'a> {
    /// Scans `&name` or `*name`.
    pub(super) fn scan_anchor(&mut self, kind: TokenKind) -> Result<Token<'a>, Error> {
        let start = self.mark;
        self.skip();
        let name_start = self.position;
        while is_word(self.byte(0)) {
            self.skip();
        }
        let name = self.text_from(name_start);
        let ends_well = self.at_blank_or_end(0)
            || matches!(
                self.byte(0),
                b'?' | b':' | b',' | b']' | b'}' | b'%' | b'@' | b'`'
            );
        if name.is_empty() || !ends_well {
            return Err(self.error("did not find expected alphabetic or numeric character"));
        }
        Ok(Token {
            kind,
            start,
            end: self.mark,
            data: TokenData::Name(name),
        })
    }

    /// Scans `!suffix`, `!handle!suffix`, `!<uri>` or `!`.
    pub(super) fn scan_tag(&mut self) -> Result<Token<'a>, Error> {
        let start = self.mark;
        let (handle, rest) = if self.byte(1) == b'<' {
            self.skip();
            self.skip();
            let uri = self.scan_tag_uri("")?;
            if self.byte(0) != b'>' {
                return Err(self.error("did not find the expected '>'"));
            }
            self.skip();
            ("", uri)
        } else {
            self.scan_short_tag()?
        };
        if !self.at_blank_or_end(0) {
            return Err(self.error("did not find expected whitespace or line break"));
        }
        let data = TokenData::Tag {
            handle: Cow::Borrowed(handle),
            rest,
        };
        Ok(Token {
            kind: TokenKind::Tag,
            start,
            end: self.mark,
            data,
        })
    }

    fn scan_short_tag(&mut self) -> Result<(&'a str, String), Error> {
        let handle = self.scan_tag_handle(false)?;
        if handle.len() > 1 && handle.ends_with('!') {
            return Ok((handle, self.scan_tag_uri("")?));
        }
        // It was no handle but the start of the suffix.
        let suffix = self.scan_tag_uri(handle)?;
        if suffix.is_empty() {
            return Ok(("", "!".to_owned()));
        }
        Ok(("!", suffix))
    }

    /// Scans `!`, `!word` or `!word!`; a directive allows only the first and the last.
    pub(super) fn scan_tag_handle(&mut self, directive: bool) -> Result<&'a str, Error> {
        if self.byte(0) != b'!' {
            return Err(self.error("did not find expected '!'"));
        }
        let start = self.position;
        self.skip();
        while is_word(self.byte(0)) {
            self.skip();
        }
        if self.byte(0) == b'!' {
            self.skip();
        } else if directive && self.text_from(start) != "!" {
            return Err(self.error("did not find expected '!'"));
        }
        Ok(self.text_from(start))
    }

    /// Scans the characters of a URI behind `head`, whose first character is left out.
    pub(super) fn scan_tag_uri(&mut self, head: &str) -> Result<String, Error> {
        let mut found = !head.is_empty();
        let mut uri = head.get(1..).unwrap_or_default().as_bytes().to_vec();
        loop {
            match self.byte(0) {
                b'%' => self.scan_uri_escapes(&mut uri)?,
                byte if is_uri(byte) => {
                    uri.push(byte);
                    self.skip();
                }
                _ => break,
            }
            found = true;
        }
        if !found {
            return Err(self.error("did not find expected tag URI"));
        }
        Ok(String::from_utf8_lossy(&uri).into_owned())
    }

    /// Decodes the `%xx` of one character.
    fn scan_uri_escapes(&mut self, uri: &mut Vec<u8>) -> Result<(), Error> {
        let mut remaining = 0;
        loop {
            let digits = (hexadecimal(self.byte(1)), hexadecimal(self.byte(2)));
            let (b'%', (Some(high), Some(low))) = (self.byte(0), digits) else {
                return Err(self.error("did not find URI escaped octet"));
            };
            let octet = (high << 4 | low) as u8;
            if remaining == 0 {
                remaining = match octet {
                    0x80..=0xBF | 0xF8..=0xFF => {
                        return Err(self.error("found an incorrect leading UTF-8 octet"));
                    }
                    _ => width(octet),
                };
            } else if octet & 0xC0 != 0x80 {
                return Err(self.error("found an incorrect trailing UTF-8 octet"));
            }
            uri.push(octet);
            self.skip_to(self.position + 3);
            remaining -= 1;
            if remaining == 0 {
                return Ok(());
            }
        }
    }
}

/// The value of a hexadecimal digit.
pub(super) fn hexadecimal(byte: u8) -> Option<u32> {
    char::from(byte).to_digit(16)
}

fn is_uri(byte: u8) -> bool {
    is_word(byte) || b";/?:@&=+$,.!~*'()[]".contains(&byte)
}
