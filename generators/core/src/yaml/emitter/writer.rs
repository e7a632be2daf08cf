//! The text written so far, and where the next character goes.

/// Lines are folded at the first space behind this column. (go-yaml v3 does not fold.)
pub(super) const BEST_WIDTH: usize = 80;

/// Collects the text of a document.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) text: String,
    /// The column lines are folded behind.
    pub(super) best_width: usize,
    /// In characters.
    pub(super) column: usize,
    /// The indentation of the innermost collection, none outside of any.
    pub(super) indent: Option<usize>,
    /// Whether the last character was a blank.
    pub(super) whitespace: bool,
    /// Whether the line holds nothing but indentation and indicators yet.
    pub(super) indention: bool,
}

impl Writer {
    pub(super) fn new(best_width: usize) -> Self {
        Self {
            text: String::new(),
            best_width,
            column: 0,
            indent: None,
            whitespace: true,
            indention: true,
        }
    }

    /// Ends the last line, and gives the text.
    pub(super) fn finish(mut self) -> String {
        self.indent = None;
        self.write_indent();
        self.text
    }

    pub(super) fn put(&mut self, character: char) {
        self.text.push(character);
        self.column += 1;
    }

    /// Writes text that holds no line breaks.
    pub(super) fn put_str(&mut self, text: &str) {
        self.text.push_str(text);
        self.column += text.bytes().filter(|byte| byte & 0xC0 != 0x80).count();
    }

    pub(super) fn put_break(&mut self, character: char) {
        self.text.push(character);
        self.column = 0;
        self.indention = true;
    }

    /// Goes to the indentation, on a new line unless this one is still empty up to there.
    pub(super) fn write_indent(&mut self) {
        let indent = self.indent.unwrap_or(0);
        let beyond = self.column > indent || (self.column == indent && !self.whitespace);
        if !self.indention || beyond {
            self.put_break('\n');
        }
        while self.column < indent {
            self.put(' ');
        }
        self.whitespace = true;
        self.indention = true;
    }

    pub(super) fn indicator(
        &mut self,
        indicator: &str,
        needs_whitespace: bool,
        is_whitespace: bool,
        is_indention: bool,
    ) {
        if needs_whitespace && !self.whitespace {
            self.put(' ');
        }
        self.put_str(indicator);
        self.whitespace = is_whitespace;
        self.indention &= is_indention;
    }
}
