//! `%YAML` and `%TAG` lines.

use std::borrow::Cow;

use super::super::character::is_word;
use super::super::error::Error;
use super::{MAX_VERSION_DIGITS, Scanner, Token, TokenData, TokenKind};

impl<'a> Scanner<'a> {
    /// Scans a directive and the rest of its line.
    pub(super) fn scan_directive(&mut self) -> Result<Token<'a>, Error> {
        let start = self.mark;
        self.skip();
        let (kind, data) = match self.scan_directive_name()? {
            "YAML" => (TokenKind::VersionDirective, self.scan_version()?),
            "TAG" => (TokenKind::TagDirective, self.scan_tag_directive_value()?),
            _ => return Err(self.error("found unknown directive name")),
        };
        let end = self.mark;
        self.skip_blanks();
        self.skip_comment();
        if !self.at_break_or_end() {
            return Err(self.error("did not find expected comment or line break"));
        }
        self.read_break();
        Ok(Token {
            kind,
            start,
            end,
            data,
        })
    }

    fn scan_directive_name(&mut self) -> Result<&'a str, Error> {
        let start = self.position;
        while is_word(self.byte(0)) {
            self.skip();
        }
        if self.position == start {
            return Err(self.error("could not find expected directive name"));
        }
        if !self.at_blank_or_end(0) {
            return Err(self.error("found unexpected non-alphabetical character"));
        }
        Ok(self.text_from(start))
    }

    fn scan_version(&mut self) -> Result<TokenData<'a>, Error> {
        self.skip_blanks();
        let major = self.scan_version_number()?;
        if self.byte(0) != b'.' {
            return Err(self.error("did not find expected digit or '.' character"));
        }
        self.skip();
        let minor = self.scan_version_number()?;
        Ok(TokenData::Version { major, minor })
    }

    fn scan_version_number(&mut self) -> Result<u8, Error> {
        let mut value = 0;
        let mut length = 0;
        while self.byte(0).is_ascii_digit() {
            length += 1;
            if length > MAX_VERSION_DIGITS {
                return Err(self.error("found extremely long version number"));
            }
            value = value * 10 + (self.byte(0) - b'0');
            self.skip();
        }
        if length == 0 {
            return Err(self.error("did not find expected version number"));
        }
        Ok(value)
    }

    fn scan_tag_directive_value(&mut self) -> Result<TokenData<'a>, Error> {
        self.skip_blanks();
        let handle = self.scan_tag_handle(true)?;
        if !self.at_blank() {
            return Err(self.error("did not find expected whitespace"));
        }
        self.skip_blanks();
        let rest = self.scan_tag_uri("")?;
        if !self.at_blank_or_end(0) {
            return Err(self.error("did not find expected whitespace or line break"));
        }
        Ok(TokenData::Tag {
            handle: Cow::Borrowed(handle),
            rest,
        })
    }
}
