//! Guards inside expressions: comprehensions, attributes of components, and filters that have a namesake.

use crate::{
    edit::Edits,
    scan::{Kind, Token},
};

/// Filter on what a loop goes over.
pub(crate) const ITERATE: &str = "__guard_iterate";

/// Filter on what becomes a part of a list or map, or goes into a filter.
pub(crate) const ITEM: &str = "__guard_item";

/// Filter on what is concatenated.
pub(crate) const TEXT: &str = "__guard_text";

/// Filter on what becomes a variable.
pub(crate) const BOUND: &str = "__guard_bound";

/// Put before the name of a function whose name a filter of Tera has.
pub(crate) const FUNCTION_PREFIX: &str = "__go_";

/// Goes over the tokens of one expression and notes where guards are put.
pub(crate) struct Walk<'w> {
    pub(crate) source: &'w str,
    pub(crate) tokens: &'w [Token],
    pub(crate) at: usize,
    pub(crate) edits: &'w mut Edits,
    /// Whether a filter of Tera and a function have this name.
    pub(crate) has_namesake: &'w dyn Fn(&str) -> bool,
}

impl Walk<'_> {
    /// Goes on to a closing bracket, to the end, or to one of the words or marks. `operand` says whether a value comes next, and not
    /// an operator.
    pub(crate) fn expression(&mut self, mut operand: bool, stops: &[&str]) {
        // Whether the value that was begun last is a part of a concatenation, and has no guard yet.
        let mut is_part = false;
        while let Some(token) = self.tokens.get(self.at) {
            let text = self.text(token).to_owned();
            if is_part && !operand && !matches!(text.as_str(), "." | "?." | "[" | "?[" | "(") {
                self.guard_previous(TEXT);
                is_part = false;
            }
            operand = match (token.kind, text.as_str()) {
                (Kind::Mark, ")" | "]" | "}") => return,
                (_, stop) if !operand && stops.contains(&stop) => return,
                (Kind::Mark, "[") if operand => self.array(),
                (Kind::Mark, "[" | "?[") => self.subscript(),
                (Kind::Mark, "(" | "{") => self.bracket(),
                (Kind::Mark, "<") if operand => self.component(),
                (Kind::Mark, "...") => self.spread(),
                (Kind::Mark, "." | "?.") => {
                    self.at += 2;
                    false
                }
                (Kind::Mark, "|") => {
                    self.guard_previous(ITEM);
                    self.at += 1;
                    self.filter()
                }
                (Kind::Mark, "~") => {
                    self.guard_previous(TEXT);
                    is_part = true;
                    self.at += 1;
                    true
                }
                (Kind::Mark, _) => {
                    self.at += 1;
                    true
                }
                (Kind::Identifier, word) => {
                    self.at += 1;
                    // After a value, a word is an operator.
                    !operand || word == "not"
                }
                (Kind::String | Kind::Number, _) => {
                    self.at += 1;
                    false
                }
            };
        }
        if is_part && !operand {
            self.guard_previous(TEXT);
        }
    }

    /// Guards the value that was gone over last: a filter binds tighter than what follows.
    fn guard_previous(&mut self, filter: &str) {
        let previous = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        let Some(previous) = previous else { return };
        // Literals are as small as the source.
        if matches!(previous.kind, Kind::String | Kind::Number) {
            return;
        }
        let guard = format!("|{filter} ");
        if !self.edits.ends_with(previous.range.end, &guard) {
            self.edits.insert(previous.range.end, guard);
        }
    }

    /// `...value` in a list or map.
    fn spread(&mut self) -> bool {
        self.at += 1;
        let from = self.previous_end();
        self.expression(true, &[","]);
        self.wrap(from, self.start(), ITEM);
        false
    }

    /// `[index]` or `[from:to]` after a value.
    fn subscript(&mut self) -> bool {
        self.at += 1;
        let mut is_slice = false;
        loop {
            self.expression(true, &[":"]);
            if self.word() != ":" {
                break;
            }
            is_slice = true;
            self.at += 1;
        }
        self.at += 1;
        if is_slice && !matches!(self.word(), "." | "?." | "[" | "?[") {
            self.guard_previous(ITEM);
        }
        false
    }

    fn text(&self, token: &Token) -> &str {
        self.source.get(token.range.clone()).unwrap_or_default()
    }

    fn word(&self) -> &str {
        self.tokens
            .get(self.at)
            .map_or("", |token| self.text(token))
    }

    fn kind(&self) -> Option<Kind> {
        self.tokens.get(self.at).map(|token| token.kind)
    }

    fn start(&self) -> usize {
        self.tokens
            .get(self.at)
            .map_or(self.source.len(), |token| token.range.start)
    }

    fn previous_end(&self) -> usize {
        let previous = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        previous.map_or(0, |token| token.range.end)
    }

    /// The insides of brackets. What follows is an operator.
    fn bracket(&mut self) -> bool {
        self.at += 1;
        self.expression(true, &[]);
        self.at += 1;
        false
    }

    fn wrap(&mut self, from: usize, to: usize, filter: &str) {
        self.edits.insert(from, "(");
        self.edits.insert(to, format!(")|{filter} "));
    }

    fn array(&mut self) -> bool {
        self.at += 1;
        let element = self.previous_end();
        self.expression(true, &["for"]);
        if self.word() == "for" && self.kind() == Some(Kind::Identifier) {
            self.wrap(element, self.start(), ITEM);
            self.clause(&["if"]);
            if self.word() == "if" {
                self.at += 1;
                self.expression(true, &[]);
            }
        }
        self.at += 1;
        false
    }

    /// `for a, b in c`, from the `for` on.
    pub(crate) fn clause(&mut self, stops: &[&str]) {
        while self.at < self.tokens.len() && self.word() != "in" {
            self.at += 1;
        }
        self.at += 1;
        let from = self.previous_end();
        self.expression(true, stops);
        let to = self
            .tokens
            .get(self.at)
            .map_or_else(|| self.previous_end(), |token| token.range.start);
        self.wrap(from, to, ITERATE);
    }

    /// `name(…)` after a pipe.
    pub(crate) fn filter(&mut self) -> bool {
        let Some(token) = self.tokens.get(self.at) else {
            return false;
        };
        let name = self.text(token).to_owned();
        let following: Vec<&str> = self
            .tokens
            .iter()
            .skip(self.at + 1)
            .take(3)
            .map(|token| self.text(token))
            .collect();
        if following == ["(", "args", "="] && (self.has_namesake)(&name) {
            self.edits.insert(token.range.start, FUNCTION_PREFIX);
        }
        self.at += 1;
        false
    }

    /// `<name attribute={…} {...rest} />`. What follows is an operator.
    pub(crate) fn component(&mut self) -> bool {
        self.at += 1;
        while let Some(kind) = self.kind() {
            match (kind, self.word()) {
                (Kind::Mark, ">") => {
                    self.at += 1;
                    break;
                }
                (Kind::Mark, "{") => {
                    self.at += 1;
                    if self.word() == "..." {
                        self.at += 1;
                    }
                    let from = self.previous_end();
                    self.expression(true, &[]);
                    self.wrap(from, self.start(), BOUND);
                    self.at += 1;
                }
                _ => self.at += 1,
            }
        }
        false
    }
}
