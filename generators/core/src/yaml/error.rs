//! The error every reading and writing function returns.

use std::borrow::Cow;

use super::scanner::Mark;

/// Says why a text could not be read as YAML, or a value not be written as it, in the words Go
/// programs use.
///
/// The displayed text is the one of `sigs.k8s.io/yaml` v1.6.0 over `go.yaml.in/yaml/v2` v2.4.3,
/// line numbers included: that library names no line for the first one, and the line before the
/// right one when the grammar (not the tokens) is at fault. [`Error::line`] and [`Error::column`]
/// are exact.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", if *.reading { "error converting YAML to JSON: " } else { "" })]
pub struct Error {
    message: String,
    problem: Cow<'static, str>,
    line: Option<usize>,
    column: Option<usize>,
    reading: bool,
    third: Option<u32>,
}

impl Error {
    /// The line the problem was found at, counted from 1, if it has one.
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// The column the problem was found at, counted in characters from 1, if it has one.
    pub fn column(&self) -> Option<usize> {
        self.column
    }

    /// What is wrong, without any position: `mapping values are not allowed in this context`.
    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// The text of the YAML library alone: `yaml: line 3: mapping values are not allowed in this
    /// context`.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The text of go-yaml v3 for the same problem: `yaml: line 3: …`, with the line where the
    /// construct at fault begins.
    ///
    /// **Source**: `fail` in `decode.go` of go.yaml.in/yaml v3.0.4.
    pub fn message_v3(&self) -> String {
        match self.third {
            Some(line) if line != 0 => format!("yaml: line {line}: {}", self.problem),
            Some(_) => format!("yaml: {}", self.problem),
            None => self.message.clone(),
        }
    }

    /// The same problem inside a construct of the grammar that begins at `context`.
    pub(super) fn inside(mut self, context: Mark, is_scanner: bool) -> Self {
        if context.line != 0 {
            self.third = Some(context.line + u32::from(is_scanner));
        }
        self
    }

    /// A problem with the whole text or with no place of its own.
    pub(super) fn plain(problem: impl Into<Cow<'static, str>>) -> Self {
        let problem = problem.into();
        Self::with_message(format!("yaml: {problem}"), problem)
    }

    /// A problem of the conversion that follows decoding: the text has no `yaml: ` in front.
    pub(super) fn conversion(problem: impl Into<Cow<'static, str>>) -> Self {
        let problem = problem.into();
        Self::with_message(problem.to_string(), problem)
    }

    /// A problem between characters: Go adds one to the line, unless it is the first.
    pub(super) fn scanner(problem: impl Into<Cow<'static, str>>, mark: Mark) -> Self {
        let shown = (mark.line != 0).then(|| mark.line + 1);
        Self::located(problem.into(), shown, mark)
    }

    /// A problem between tokens: Go forgets to add one to the line.
    pub(super) fn parser(problem: impl Into<Cow<'static, str>>, mark: Mark) -> Self {
        let shown = (mark.line != 0).then_some(mark.line);
        Self::located(problem.into(), shown, mark)
    }

    /// The same problem at a known place, which the text does not mention.
    pub(super) fn at_line(mut self, line: usize) -> Self {
        self.line = Some(line);
        self
    }

    /// The same problem met while writing, where Go puts nothing in front.
    pub(super) fn writing(mut self) -> Self {
        self.reading = false;
        self
    }

    fn located(problem: Cow<'static, str>, shown: Option<u32>, mark: Mark) -> Self {
        let message = match shown {
            Some(line) => format!("yaml: line {line}: {problem}"),
            None => format!("yaml: {problem}"),
        };
        Self {
            line: Some(mark.line as usize + 1),
            column: Some(mark.column as usize + 1),
            ..Self::with_message(message, problem)
        }
    }

    fn with_message(message: String, problem: Cow<'static, str>) -> Self {
        Self {
            message,
            problem,
            line: None,
            column: None,
            reading: true,
            third: None,
        }
    }
}
