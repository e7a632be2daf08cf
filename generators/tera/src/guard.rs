//! Guards in Tera sources: calls that count steps and bytes, which Tera itself does not.
//!
//! Tera has no budget: its loops, comprehensions, concatenations and captured texts end when memory does. So each source is compiled
//! with calls in it that look at what is about to happen:
//!
//! ```text
//! {% for x in list %}…    ──►  {% for x in (list)|__guard_iterate %}{{__guard_enter(…)}}…
//! {% set x = a ~ b %}     ──►  {% set x = (a ~ b)|__guard_bound %}
//! {{ value }}             ──►  {{ (value)|__guard_print }}
//! [x * 2 for x in list]   ──►  [(x * 2)|__guard_item for x in (list)|__guard_iterate]
//! a ~ b                   ──►  a|__guard_text ~ b|__guard_text
//! a | upper               ──►  a|__guard_item | upper
//! [...a, b[1:]]           ──►  [...(a)|__guard_item, b[1:]|__guard_item]
//! <card title={a} />      ──►  <card title={(a)|__guard_bound} />
//! ```
//!
//! Templates, blocks, components and bodies of loops begin with `__guard_enter`, which takes a step, the bytes of text below it, and
//! looks at the native stack. Places in errors are traced
//! back to the source as it was written.

use crate::{
    edit::{Edits, Origins},
    expression::{BOUND, FUNCTION_PREFIX, Walk},
    scan::{Kind, Markup, NotTera, Part, Token, scan},
};
use std::collections::{BTreeSet, HashSet};

/// Filter on what is printed.
pub(crate) const PRINT: &str = "__guard_print";

/// Function that bodies begin with.
pub(crate) const ENTER: &str = "__guard_enter";

const GUARD_PREFIX: &str = "__guard_";

/// What Tera shows all variables with, in an order that changes from run to run.
const DUMP: &str = "__tera_context";

/// A source with guards.
#[derive(Debug, Clone, Default)]
pub(crate) struct Guarded {
    pub(crate) source: String,
    pub(crate) origins: Origins,
    /// Blocks that it defines.
    pub(crate) blocks: BTreeSet<String>,
    /// Components that it defines.
    pub(crate) components: BTreeSet<String>,
    /// Every identifier that occurs.
    pub(crate) identifiers: HashSet<String>,
}

/// Why a source cannot be guarded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GuardError {
    /// Place in the source.
    pub(crate) at: usize,
    pub(crate) message: String,
}

/// What guarding has to know of the other sources.
pub(crate) struct Surroundings<'s> {
    /// Number of the template, for [`ENTER`].
    pub(crate) template: usize,
    /// Whether a filter of Tera and a function have this name.
    pub(crate) has_namesake: &'s dyn Fn(&str) -> bool,
    /// The whole name of a template that an `include` or `extends` names.
    pub(crate) resolve: &'s dyn Fn(&str) -> Option<String>,
}

/// Puts guards into a source.
pub(crate) fn guard(source: &str, surroundings: &Surroundings<'_>) -> Result<Guarded, GuardError> {
    let unreadable = |NotTera| GuardError {
        at: 0,
        message: "this is not a Tera template".to_owned(),
    };
    let parts = scan(source).map_err(unreadable)?;
    let mut guard = Guard {
        source,
        surroundings,
        edits: Edits::default(),
        open: Vec::new(),
        closed: Vec::new(),
        guarded: Guarded::default(),
    };
    guard.open.push(Body::new("", 0, false));
    let mut extends = false;
    for part in &parts {
        match part {
            Part::Text(length) => guard.count(*length),
            Part::Print(markup) => guard.print(markup)?,
            Part::Tag(markup) => {
                guard.tag(markup)?;
                extends |= guard.word(markup, 0) == "extends";
            }
        }
    }
    Ok(guard.finish(extends))
}

struct Guard<'g> {
    source: &'g str,
    surroundings: &'g Surroundings<'g>,
    edits: Edits,
    /// Bodies that surround the current place.
    open: Vec<Body>,
    closed: Vec<Body>,
    guarded: Guarded,
}

/// A part of a source that begins with [`ENTER`].
struct Body {
    /// The tag that ends it.
    end: &'static str,
    /// Where the guard is put.
    at: usize,
    /// Whether the text that follows is trimmed.
    trims: bool,
    /// Bytes of text in it that belong to no body inside of it.
    text: usize,
}

impl Body {
    fn new(end: &'static str, at: usize, trims: bool) -> Self {
        Self {
            end,
            at,
            trims,
            text: 0,
        }
    }
}

impl Guard<'_> {
    fn count(&mut self, length: usize) {
        if let Some(body) = self.open.last_mut() {
            body.text += length;
        }
    }

    fn text(&self, token: &Token) -> &str {
        self.source.get(token.range.clone()).unwrap_or_default()
    }

    fn word(&self, markup: &Markup, index: usize) -> &str {
        markup
            .tokens
            .get(index)
            .map_or("", |token| self.text(token))
    }

    fn examine(&mut self, markup: &Markup) -> Result<(), GuardError> {
        let identifiers = markup
            .tokens
            .iter()
            .filter(|token| token.kind == Kind::Identifier);
        for token in identifiers {
            let name = self.text(token);
            if name.starts_with(GUARD_PREFIX) || name.starts_with(FUNCTION_PREFIX) || name == DUMP {
                return Err(GuardError {
                    at: token.range.start,
                    message: format!("`{name}` is reserved"),
                });
            }
            let name = name.to_owned();
            self.guarded.identifiers.insert(name);
        }
        Ok(())
    }

    fn walk<'w>(&'w mut self, tokens: &'w [Token]) -> Walk<'w> {
        Walk {
            source: self.source,
            tokens,
            at: 0,
            edits: &mut self.edits,
            has_namesake: self.surroundings.has_namesake,
        }
    }

    fn wrap(&mut self, from: usize, to: usize, filter: &str) {
        self.edits.insert(from, "(");
        self.edits.insert(to, format!(")|{filter}"));
    }

    fn print(&mut self, markup: &Markup) -> Result<(), GuardError> {
        self.examine(markup)?;
        if markup.tokens.is_empty() {
            return Ok(());
        }
        self.walk(&markup.tokens).expression(true, &[]);
        self.wrap(markup.inside_start, markup.inside_end, PRINT);
        Ok(())
    }

    fn tag(&mut self, markup: &Markup) -> Result<(), GuardError> {
        self.examine(markup)?;
        let Some((first, rest)) = markup.tokens.split_first() else {
            return Ok(());
        };
        let name = self.text(first).to_owned();
        match name.as_str() {
            "for" => {
                self.walk(&markup.tokens).clause(&[]);
                self.enter("endfor", markup);
            }
            "if" | "elif" => self.walk(rest).expression(true, &[]),
            "set" | "set_global" => self.set(markup),
            "filter" => {
                let mut walk = self.walk(rest);
                walk.filter();
                walk.expression(false, &[]);
            }
            "include" | "extends" => self.reference(rest),
            "block" => {
                let block = self.word(markup, 1).to_owned();
                self.guarded.blocks.insert(block);
                self.enter("endblock", markup);
            }
            "component" => {
                let parts = rest.iter().take_while(|token| self.text(token) != "(");
                let component = parts.map(|token| self.text(token)).collect();
                self.guarded.components.insert(component);
                self.enter("endcomponent", markup);
            }
            "<" => {
                self.walk(&markup.tokens).component();
            }
            end => self.leave(end),
        }
        Ok(())
    }

    /// `set x = …`, or `set x | filter` with a text to come.
    fn set(&mut self, markup: &Markup) {
        let is_block = self.word(markup, 2) != "=";
        let (operand, from) = if is_block { (false, 2) } else { (true, 3) };
        let tokens = markup.tokens.get(from..).unwrap_or_default();
        self.walk(tokens).expression(operand, &[]);
        if is_block {
            self.edits.insert(markup.inside_end, format!("|{BOUND}"));
        } else if let Some(first) = tokens.first() {
            self.wrap(first.range.start, markup.inside_end, BOUND);
        }
    }

    /// The name of another template becomes a whole one.
    fn reference(&mut self, tokens: &[Token]) {
        let Some(token) = tokens.first() else { return };
        let text = self.text(token);
        let name = text
            .get(1..text.len().saturating_sub(1))
            .unwrap_or_default();
        let Some(whole) = (self.surroundings.resolve)(name) else {
            return;
        };
        if whole != name && !whole.contains(['"', '\\']) {
            let (at, length) = (token.range.start, token.range.len());
            self.edits.replace(at, length, format!("\"{whole}\""));
        }
    }

    fn enter(&mut self, end: &'static str, markup: &Markup) {
        self.open
            .push(Body::new(end, markup.range.end, markup.trims));
    }

    fn leave(&mut self, end: &str) {
        if self.open.len() > 1 && self.open.last().is_some_and(|body| body.end == end) {
            self.closed.extend(self.open.pop());
        }
    }

    fn finish(mut self, extends: bool) -> Guarded {
        let whole = self.open.drain(..);
        // A template that extends another has nothing outside of its blocks.
        let bodies: Vec<Body> = whole.skip(usize::from(extends)).collect();
        let template = self.surroundings.template;
        for Body {
            at, trims, text, ..
        } in bodies.into_iter().chain(std::mem::take(&mut self.closed))
        {
            let end = if trims { "-}}" } else { "}}" };
            let call = format!("{{{{{ENTER}(t={template},at={at},n={text}){end}");
            self.edits.insert(at, call);
        }
        let (source, origins) = self.edits.apply(self.source);
        Guarded {
            source,
            origins,
            ..self.guarded
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guarded(source: &str) -> Result<String, GuardError> {
        let surroundings = Surroundings {
            template: 7,
            has_namesake: &|name| name == "trim",
            resolve: &|name| (name == "_a").then(|| "dir/_a".to_owned()),
        };
        let enter = |text: String| {
            text.replace("__guard_enter", "enter")
                .replace("__guard_", "_")
        };
        guard(source, &surroundings).map(|guarded| enter(guarded.source))
    }

    #[test]
    fn guards_stand_where_tera_would_go_on_unbounded() {
        let cases = [
            ("ab", "{{enter(t=7,at=0,n=2)}}ab"),
            ("{{ a }}", "{{enter(t=7,at=0,n=0)}}{{( a )|_print}}"),
            ("{{- -1 -}}", "{{enter(t=7,at=0,n=0)}}{{-( -1 )|_print-}}"),
            (
                "{% for k, v in a.in | b %}xyz{% endfor %}",
                "{{enter(t=7,at=0,n=0)}}{% for k, v in( a.in|_item  | b)|_iterate  %}{{enter(t=7,at=26,n=3)}}xyz{% endfor %}",
            ),
            (
                "{% for x in y -%} {%- endfor %}",
                "{{enter(t=7,at=0,n=0)}}{% for x in( y)|_iterate  -%}{{enter(t=7,at=17,n=1)-}} {%- endfor %}",
            ),
            (
                "{% set a = b ~ c %}",
                "{{enter(t=7,at=0,n=0)}}{% set a = (b|_text  ~ c|_text  )|_bound%}",
            ),
            (
                "{% set_global a | trim -%}b{% endset %}",
                "{{enter(t=7,at=0,n=1)}}{% set_global a | trim |_bound-%}b{% endset %}",
            ),
            (
                "{{ [x ~ x for x in [y for y in z if y] if x] }}",
                "{{enter(t=7,at=0,n=0)}}{{( [(x|_text  ~ x|_text  )|_item for x in( [(y )|_item for y in( z )|_iterate if y] )|_iterate if x] )|_print}}",
            ),
            (
                "{{ ['a' ~ b.c[0] ** 2 ~ 3, d[1:], d[:][0], ...e if f else g, -h | i] }}",
                "{{enter(t=7,at=0,n=0)}}{{( ['a' ~ b.c[0]|_text  ** 2 ~ 3, d[1:]|_item , d[:][0], ...(e if f else g)|_item , -h|_item  | i] )|_print}}",
            ),
            (
                "{{ [a[for], b.for, c] }}",
                "{{enter(t=7,at=0,n=0)}}{{( [a[for], b.for, c] )|_print}}",
            ),
            (
                "{{ <a.b c={d ~ d} e='f' {...g} h/> }}{{ i < j }}",
                "{{enter(t=7,at=0,n=0)}}{{( <a.b c={(d|_text  ~ d|_text )|_bound } e='f' {...(g)|_bound } h/> )|_print}}{{( i < j )|_print}}",
            ),
            (
                "{% <a b={c}> %}d{% </a> %}",
                "{{enter(t=7,at=0,n=1)}}{% <a b={(c)|_bound }> %}d{% </a> %}",
            ),
            (
                "{% extends '_a' %}{% block b %}c{% endblock %}",
                "{% extends \"dir/_a\" %}{% block b %}{{enter(t=7,at=31,n=1)}}c{% endblock %}",
            ),
            (
                "{% component a.b(c=1) {'d': 2} %}e{% endcomponent a.b %}f",
                "{{enter(t=7,at=0,n=1)}}{% component a.b(c=1) {'d': 2} %}{{enter(t=7,at=33,n=1)}}e{% endcomponent a.b %}f",
            ),
            (
                "{{ a | trim | trim(args=[b]) | other(args=c) }}",
                "{{enter(t=7,at=0,n=0)}}{{( a|_item  | trim|_item  | __go_trim(args=[b])|_item  | other(args=c) )|_print}}",
            ),
            (
                "{% filter trim(args=[]) | x %}{% endfilter %}",
                "{{enter(t=7,at=0,n=0)}}{% filter __go_trim(args=[])|_item  | x %}{% endfilter %}",
            ),
        ];
        for (source, expected) in cases {
            assert_eq!(guarded(source).as_deref(), Ok(expected), "{source}");
        }
    }

    #[test]
    fn names_of_guards_are_reserved() {
        for source in [
            "{{ a | __guard_print }}",
            "{{ __go_trim() }}",
            "{{ __tera_context }}",
        ] {
            assert!(
                guarded(source)
                    .unwrap_err()
                    .message
                    .ends_with("is reserved"),
                "{source}"
            );
        }
    }
}
