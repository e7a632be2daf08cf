//! Compiled expressions: searching, replacing and splitting as Go's `regexp` does.

use super::{
    engine::{Engine, TooLarge},
    haystack::Haystack,
    parser::{SyntaxError, parse},
};
use regex_automata::{Input, util::captures::Captures};
use regex_syntax::hir::Hir;
use std::{cell::RefCell, collections::HashMap, rc::Rc};
use whipstaff_gotemplate::with_stack;

/// Bytes that one compiled expression may take.
const PROGRAM_SIZE_LIMIT: usize = 16 << 20;
/// Groups whose nesting any stack has room for.
const FEW_GROUPS: usize = 50;
/// Stack for compiling as many nested groups as Go allows (1,000); the compiler recurses on them.
const COMPILE_STACK: usize = 64 << 20;
/// Expressions that are kept compiled; beyond that, all are forgotten.
const CACHED_PROGRAMS: usize = 256;

/// An expression that is no program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// Go refuses it, too.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// It is larger than this engine allows.
    #[error("regular expression `{0}` needs more than {PROGRAM_SIZE_LIMIT} bytes")]
    Limit(String),
}

/// A compiled expression.
#[derive(Debug)]
pub struct Program {
    engine: Engine,
    names: Vec<Option<String>>,
    is_empty: bool,
}

/// Offsets of a match and of its groups in the original text.
type Groups = Vec<Option<(usize, usize)>>;

/// What became of the expressions that were seen last.
type Programs = HashMap<Vec<u8>, Result<Rc<Program>, ProgramError>>;

thread_local! {
    static PROGRAMS: RefCell<Programs> = RefCell::default();
}

impl Program {
    /// Compiles an expression, or finds it compiled.
    ///
    /// # Errors
    /// [`ProgramError`] with Go's text, or for a program that is too large.
    pub fn new(expression: &[u8]) -> Result<Rc<Self>, ProgramError> {
        PROGRAMS.with_borrow_mut(|programs| {
            if let Some(known) = programs.get(expression) {
                return known.clone();
            }
            if programs.len() >= CACHED_PROGRAMS {
                programs.clear();
            }
            let groups = memchr::memchr_iter(b'(', expression).count();
            let program = if groups > FEW_GROUPS {
                with_stack(COMPILE_STACK, || {
                    Self::compile(expression, Engine::without_automata)
                })
            } else {
                Self::compile(expression, Engine::new)
            };
            let program = program.map(Rc::new);
            programs.insert(expression.to_vec(), program.clone());
            program
        })
    }

    fn compile(
        expression: &[u8],
        build: impl FnOnce(Hir, usize) -> Result<Engine, TooLarge>,
    ) -> Result<Self, ProgramError> {
        let parsed = parse(expression)?;
        let engine = build(parsed.hir, PROGRAM_SIZE_LIMIT).map_err(|TooLarge| {
            ProgramError::Limit(String::from_utf8_lossy(expression).into_owned())
        })?;
        Ok(Self {
            engine,
            names: parsed.names,
            is_empty: expression.is_empty(),
        })
    }

    /// `MatchString`.
    pub fn is_match(&self, text: &[u8]) -> bool {
        let haystack = Haystack::new(text);
        self.engine.is_match(Input::new(haystack.text.as_bytes()))
    }

    /// `FindString`; offsets of the leftmost match.
    pub(crate) fn find(&self, text: &[u8]) -> Option<(usize, usize)> {
        let haystack = Haystack::new(text);
        let input = Input::new(haystack.text.as_bytes());
        let found = self.engine.search(&input)?;
        Some((
            haystack.original(found.start()),
            haystack.original(found.end()),
        ))
    }

    /// `FindAllStringIndex`: at most `limit` matches that do not overlap. An empty match directly behind another is none.
    pub(crate) fn find_all(&self, text: &[u8], limit: usize) -> Vec<(usize, usize)> {
        let haystack = Haystack::new(text);
        let searched = haystack.text.as_bytes();
        let mut found = Vec::new();
        let mut at = 0;
        let mut previous_end = None;
        while found.len() < limit && at <= searched.len() {
            let input = Input::new(searched).range(at..);
            let Some(next) = self.engine.search(&input) else {
                break;
            };
            let is_empty_here = next.end() == at;
            if !is_empty_here || previous_end != Some(next.start()) {
                found.push((
                    haystack.original(next.start()),
                    haystack.original(next.end()),
                ));
            }
            at = if is_empty_here {
                at + haystack.width(at).max(1)
            } else {
                next.end()
            };
            previous_end = Some(next.end());
        }
        found
    }

    /// `Split`: the pieces between matches, of which the last holds the rest; the limit is not zero.
    pub(crate) fn split<'t>(&self, text: &'t [u8], limit: Option<usize>) -> Vec<&'t [u8]> {
        if !self.is_empty && text.is_empty() {
            return vec![b""];
        }
        let mut pieces = Vec::new();
        let mut begin = 0;
        let mut end = 0;
        for (start, stop) in self.find_all(text, limit.unwrap_or(usize::MAX)) {
            if limit.is_some_and(|limit| pieces.len() + 1 >= limit) {
                break;
            }
            end = start;
            if stop != 0 {
                pieces.push(text.get(begin..end).unwrap_or_default());
            }
            begin = stop;
        }
        if end != text.len() {
            pieces.push(text.get(begin..).unwrap_or_default());
        }
        pieces
    }

    /// `ReplaceAll…`: appends, for each match, what a function makes of its groups.
    ///
    /// # Errors
    /// The function's own.
    pub(crate) fn replace_all<E>(
        &self,
        text: &[u8],
        mut replace: impl FnMut(&mut Vec<u8>, &Groups) -> Result<(), E>,
    ) -> Result<Vec<u8>, E> {
        let haystack = Haystack::new(text);
        let searched = haystack.text.as_bytes();
        let mut output = Vec::new();
        let mut last_end = 0;
        let mut at = 0;
        while at <= searched.len() {
            let input = Input::new(searched).range(at..);
            let captures = self.engine.search_captures(&input);
            let Some(found) = captures.get_match() else {
                break;
            };
            let (start, end) = (found.start(), found.end());
            output.extend_from_slice(between(text, &haystack, last_end, start));
            if end > last_end || start == 0 {
                replace(&mut output, &groups(&captures, &haystack))?;
            }
            last_end = end;
            let width = haystack.width(at);
            at = if at + width > end {
                at + width
            } else if at + 1 > end {
                at + 1
            } else {
                end
            };
        }
        output.extend_from_slice(between(text, &haystack, last_end, searched.len()));
        Ok(output)
    }

    /// Appends a replacement whose `$1`, `$name` and `${name}` stand for groups.
    pub(crate) fn expand(
        &self,
        template: &[u8],
        text: &[u8],
        groups: &Groups,
        output: &mut Vec<u8>,
    ) {
        let mut rest = template;
        while let Some(dollar) = rest.iter().position(|byte| *byte == b'$') {
            let (before, after) = rest.split_at(dollar);
            output.extend_from_slice(before);
            rest = after.get(1..).unwrap_or_default();
            if let Some(escaped) = rest.strip_prefix(b"$") {
                output.push(b'$');
                rest = escaped;
                continue;
            }
            let Some((name, behind)) = group_name(rest) else {
                output.push(b'$');
                continue;
            };
            rest = behind;
            if let Some((start, end)) = self.group(name, groups) {
                output.extend_from_slice(text.get(start..end).unwrap_or_default());
            }
        }
        output.extend_from_slice(rest);
    }

    /// The group of a number or a name; of several with one name, the first that takes part.
    fn group(&self, name: &str, groups: &Groups) -> Option<(usize, usize)> {
        let is_number = name.bytes().all(|byte| byte.is_ascii_digit())
            && (name.len() == 1 || !name.starts_with('0'));
        if is_number && let Ok(number) = name.parse::<usize>() {
            return groups.get(number).copied().flatten();
        }
        self.names.iter().zip(groups).find_map(|(own, group)| {
            let is_named = own.as_deref() == Some(name);
            group.filter(|_| is_named)
        })
    }
}

fn groups(captures: &Captures, haystack: &Haystack<'_>) -> Groups {
    let spans = captures.iter();
    spans
        .map(|span| span.map(|span| (haystack.original(span.start), haystack.original(span.end))))
        .collect()
}

/// The original bytes between two offsets of the searched text.
fn between<'t>(text: &'t [u8], haystack: &Haystack<'_>, start: usize, end: usize) -> &'t [u8] {
    text.get(haystack.original(start)..haystack.original(end))
        .unwrap_or_default()
}

/// The name behind a `$`, with or without braces, and what follows it.
fn group_name(template: &[u8]) -> Option<(&str, &[u8])> {
    let (body, is_braced) = match template.strip_prefix(b"{") {
        Some(body) => (body, true),
        None => (template, false),
    };
    let valid = body.utf8_chunks().next()?.valid();
    let length = valid
        .find(|c: char| !is_name_character(c))
        .unwrap_or(valid.len());
    let name = valid.get(..length).filter(|name| !name.is_empty())?;
    let rest = body.get(length..)?;
    if !is_braced {
        return Some((name, rest));
    }
    rest.strip_prefix(b"}").map(|rest| (name, rest))
}

fn is_name_character(character: char) -> bool {
    character == '_' || character.is_alphabetic() || character.is_numeric()
}
