//! Format strings (`fmt/print.go`, `doPrintf`).

use super::{
    printer::{Flags, Printer},
    unicode::decode_rune,
};
use crate::Value;

/// A width, precision or argument number beyond this is refused, as in Go.
const MAX_NUMBER: i64 = 1_000_000;

/// Where a format string is being read.
struct Cursor<'a> {
    format: &'a [u8],
    position: usize,
    arguments: &'a [Value],
    next: usize,
    /// The last thing read was an argument number such as `[3]`.
    after_index: bool,
    reordered: bool,
    is_good: bool,
}

impl Printer {
    pub(super) fn printf(&mut self, format: &[u8], arguments: &[Value]) {
        let mut cursor = Cursor {
            format,
            position: 0,
            arguments,
            next: 0,
            after_index: false,
            reordered: false,
            is_good: true,
        };
        while cursor.position < format.len() && !self.is_stopped() {
            let rest = &format[cursor.position..];
            let text = rest
                .iter()
                .position(|&byte| byte == b'%')
                .unwrap_or(rest.len());
            self.write(&rest[..text]);
            cursor.position += text;
            if cursor.position < format.len() {
                cursor.position += 1;
                self.verb(&mut cursor);
            }
        }
        if !cursor.reordered && cursor.next < arguments.len() {
            self.extra(&arguments[cursor.next..]);
        }
    }

    fn extra(&mut self, arguments: &[Value]) {
        self.flags = Flags::default();
        self.write(b"%!(EXTRA ");
        for (index, argument) in arguments.iter().enumerate() {
            if index > 0 {
                self.write(b", ");
            }
            if !matches!(argument, Value::Nil) {
                self.write(argument.type_name().as_bytes());
                self.write(b"=");
            }
            self.argument(argument, 'v');
        }
        self.write(b")");
    }

    fn verb(&mut self, cursor: &mut Cursor<'_>) {
        cursor.is_good = true;
        self.flags = cursor.flags();
        // A simple verb directly after the flags does not look at brackets, but forgets none either.
        cursor.argument_number();
        self.width(cursor);
        self.precision(cursor);
        if !cursor.after_index {
            cursor.argument_number();
        }
        let Some(rest) = cursor
            .format
            .get(cursor.position..)
            .filter(|rest| !rest.is_empty())
        else {
            return self.write(b"%!(NOVERB)");
        };
        let (verb, size) = decode_rune(rest);
        cursor.position += size;
        match cursor.arguments.get(cursor.next) {
            _ if verb == '%' => self.write(b"%"),
            _ if !cursor.is_good => self.complain(verb, b"(BADINDEX)"),
            None => self.complain(verb, b"(MISSING)"),
            Some(argument) => {
                if matches!(verb, 'v' | 'w') {
                    self.flags.go_syntax = std::mem::take(&mut self.flags.sharp);
                    self.flags.plus = false;
                }
                self.argument(argument, verb);
                cursor.next += 1;
            }
        }
    }

    fn complain(&mut self, verb: char, text: &[u8]) {
        self.write(b"%!");
        self.write_char(verb);
        self.write(text);
    }

    fn width(&mut self, cursor: &mut Cursor<'_>) {
        if !cursor.accept(b'*') {
            let width = cursor.number(cursor.format.len());
            self.flags.width = width.map(|width| width as usize);
            if cursor.after_index && width.is_some() {
                cursor.is_good = false;
            }
            return;
        }
        cursor.after_index = false;
        match cursor.integer_argument() {
            Some(width) => {
                self.flags.width = Some(width.unsigned_abs() as usize);
                if width < 0 {
                    self.flags.minus = true;
                    self.flags.zero = false;
                }
            }
            None => self.write(b"%!(BADWIDTH)"),
        }
    }

    fn precision(&mut self, cursor: &mut Cursor<'_>) {
        // A point that ends the format is a verb.
        if cursor.position + 1 >= cursor.format.len() || !cursor.accept(b'.') {
            return;
        }
        if cursor.after_index {
            cursor.is_good = false;
        }
        cursor.argument_number();
        if !cursor.accept(b'*') {
            let precision = cursor.number(cursor.format.len());
            self.flags.precision = Some(precision.unwrap_or(0) as usize);
            return;
        }
        cursor.after_index = false;
        let precision = cursor
            .integer_argument()
            .and_then(|number| usize::try_from(number).ok());
        self.flags.precision = precision;
        if precision.is_none() {
            self.write(b"%!(BADPREC)");
        }
    }
}

impl Cursor<'_> {
    fn flags(&mut self) -> Flags {
        let mut flags = Flags::default();
        while let Some(&byte) = self.format.get(self.position) {
            match byte {
                b'#' => flags.sharp = true,
                b'0' => flags.zero = true,
                b'+' => flags.plus = true,
                b'-' => flags.minus = true,
                b' ' => flags.space = true,
                _ => break,
            }
            self.position += 1;
        }
        flags
    }

    fn accept(&mut self, byte: u8) -> bool {
        let accepted = self.format.get(self.position) == Some(&byte);
        self.position += usize::from(accepted);
        accepted
    }

    /// A decimal number before `end`; a number that is too large swallows everything up to there.
    fn number(&mut self, end: usize) -> Option<i64> {
        let mut number = None;
        while self.position < end {
            let digit = self.format[self.position].wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            let so_far = number.unwrap_or(0);
            if so_far > MAX_NUMBER {
                self.position = end;
                return None;
            }
            number = Some(so_far * 10 + i64::from(digit));
            self.position += 1;
        }
        number
    }

    /// `[3]` chooses the argument to go on with.
    fn argument_number(&mut self) {
        self.after_index = false;
        if self.format.get(self.position) != Some(&b'[') {
            return;
        }
        self.reordered = true;
        let start = self.position;
        let rest = &self.format[start..];
        let close = rest
            .iter()
            .position(|&byte| byte == b']')
            .filter(|_| rest.len() >= 3);
        let Some(close) = close else {
            self.position += 1;
            self.is_good = false;
            return;
        };
        self.position = start + 1;
        let number = self
            .number(start + close)
            .filter(|_| self.position == start + close);
        self.position = start + close + 1;
        self.after_index = number.is_some();
        let index = number.and_then(|number| usize::try_from(number - 1).ok());
        match index.filter(|&index| index < self.arguments.len()) {
            Some(index) => self.next = index,
            None => self.is_good = false,
        }
    }

    /// The next argument as a width or precision. It is used up whether it fits or not.
    fn integer_argument(&mut self) -> Option<i64> {
        let argument = self.arguments.get(self.next)?;
        self.next += 1;
        let number = match argument {
            Value::Int(_, number) => *number,
            Value::Uint(_, number) => i64::try_from(*number).ok()?,
            _ => return None,
        };
        (-MAX_NUMBER..=MAX_NUMBER)
            .contains(&number)
            .then_some(number)
    }
}
