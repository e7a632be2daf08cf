//! Guards inside expressions: comprehensions, attributes of components, and filters that have a namesake.

use crate::{
    edit::Edits,
    scan::{Kind, Token},
};

/// Filter on what a loop goes over.
pub(crate) const ITERATE: &str = "__guard_iterate";

/// Filter on the elements of a comprehension.
pub(crate) const ITEM: &str = "__guard_item";

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
    /// Goes on to a closing bracket, to the end, or to one of the words. `operand` says whether a value comes next, and not an
    /// operator.
    pub(crate) fn expression(&mut self, mut operand: bool, stops: &[&str]) {
        while let Some(token) = self.tokens.get(self.at) {
            operand = match (token.kind, self.text(token)) {
                (Kind::Mark, ")" | "]" | "}") => return,
                (Kind::Identifier, word) if !operand && stops.contains(&word) => return,
                (Kind::Mark, "[") if operand => self.array(),
                (Kind::Mark, "(" | "[" | "?[" | "{") => self.bracket(),
                (Kind::Mark, "<") if operand => self.component(),
                (Kind::Mark, "." | "?.") => {
                    self.at += 2;
                    false
                }
                (Kind::Mark, "|") => {
                    self.at += 1;
                    self.filter()
                }
                (Kind::Mark, _) => {
                    self.at += 1;
                    true
                }
                (Kind::Identifier, word) => {
                    // After a value, a word is an operator.
                    let takes_operand = !operand || word == "not";
                    self.at += 1;
                    takes_operand
                }
                (Kind::String | Kind::Number, _) => {
                    self.at += 1;
                    false
                }
            };
        }
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
