//! Searching: by backtracking, which costs next to nothing to prepare, where little is to be searched; else by automata.
//!
//! Templates put most expressions to some short texts. An automaton for them is built for nothing, and the library's pool of caches
//! asks the system for the number of processors before the first search.

use regex_automata::{
    Input, Match,
    meta::{self, Regex},
    nfa::thompson::{
        self, NFA, WhichCaptures,
        backtrack::{self, BoundedBacktracker},
        pikevm::PikeVM,
    },
    util::captures::Captures,
};
use regex_syntax::hir::Hir;
use std::{
    cell::{OnceCell, RefCell},
    fmt,
};

/// Bytes of the map of places where backtracking has been; longer texts are left to automata.
const VISITED_LIMIT: usize = 32 << 10;
/// Bytes of the lazy automaton that searching may build.
const SEARCH_CACHE_LIMIT: usize = 2 << 20;

/// The program is larger than allowed.
#[derive(Debug)]
pub(crate) struct TooLarge;

/// A compiled expression. All ways of searching find the same: the leftmost match, of the first alternative that leads to one.
pub(crate) struct Engine {
    expression: Hir,
    size_limit: usize,
    automata_allowed: bool,
    backtracking: BoundedBacktracker,
    cache: RefCell<backtrack::Cache>,
    /// Takes any text, slowly, where automata are not allowed or would be too large.
    machine: PikeVM,
    automata: OnceCell<Option<Regex>>,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("expression", &self.expression)
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// Compiles an expression to at most so many bytes.
    pub(crate) fn new(expression: Hir, size_limit: usize) -> Result<Self, TooLarge> {
        Self::build(expression, size_limit, true)
    }

    /// One that never builds an automaton: building one needs stack for each level of the expression.
    pub(crate) fn without_automata(expression: Hir, size_limit: usize) -> Result<Self, TooLarge> {
        Self::build(expression, size_limit, false)
    }

    fn build(expression: Hir, size_limit: usize, automata_allowed: bool) -> Result<Self, TooLarge> {
        let config = thompson::Config::new()
            .nfa_size_limit(Some(size_limit))
            .which_captures(WhichCaptures::All);
        let compiled = NFA::compiler()
            .configure(config)
            .build_from_hir(&expression);
        let program = compiled.map_err(|_| TooLarge)?;
        let machine = PikeVM::new_from_nfa(program.clone()).map_err(|_| TooLarge)?;
        let backtracking = BoundedBacktracker::builder()
            .configure(BoundedBacktracker::config().visited_capacity(VISITED_LIMIT))
            .build_from_nfa(program)
            .map_err(|_| TooLarge)?;
        Ok(Self {
            cache: RefCell::new(backtracking.create_cache()),
            expression,
            size_limit,
            automata_allowed,
            backtracking,
            machine,
            automata: OnceCell::new(),
        })
    }

    /// Whether there is a match.
    pub(crate) fn is_match(&self, input: Input<'_>) -> bool {
        self.search(&input.earliest(true)).is_some()
    }

    /// The leftmost match.
    pub(crate) fn search(&self, input: &Input<'_>) -> Option<Match> {
        if !self.is_little(input)
            && let Some(regex) = self.automata()
        {
            return regex.search(input);
        }
        let mut captures = Captures::matches(self.machine.get_nfa().group_info().clone());
        self.search_step_by_step(input, &mut captures);
        captures.get_match()
    }

    /// The leftmost match with its groups.
    pub(crate) fn search_captures(&self, input: &Input<'_>) -> Captures {
        if !self.is_little(input)
            && let Some(regex) = self.automata()
        {
            let mut captures = regex.create_captures();
            regex.search_captures(input, &mut captures);
            return captures;
        }
        let mut captures = self.machine.create_captures();
        self.search_step_by_step(input, &mut captures);
        captures
    }

    fn search_step_by_step(&self, input: &Input<'_>, captures: &mut Captures) {
        let cache = &mut self.cache.borrow_mut();
        // It refuses texts that are not little.
        let searched = self.backtracking.try_search(cache, input, captures);
        if searched.is_err() {
            let cache = &mut self.machine.create_cache();
            self.machine.search(cache, input, captures);
        }
    }

    fn is_little(&self, input: &Input<'_>) -> bool {
        input.get_span().len() <= self.backtracking.max_haystack_len()
    }

    fn automata(&self) -> Option<&Regex> {
        let build = || {
            let config = meta::Config::new()
                .nfa_size_limit(Some(self.size_limit))
                // What is built on demand is enough.
                .dfa(false)
                .onepass(false)
                .hybrid_cache_capacity(SEARCH_CACHE_LIMIT);
            let built = meta::Builder::new()
                .configure(config)
                .build_from_hir(&self.expression);
            built.ok()
        };
        self.automata
            .get_or_init(|| self.automata_allowed.then(build).flatten())
            .as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regex::parser::parse;

    const EXPRESSIONS: &[&str] = &[
        "",
        "a*",
        "^[a-z]+$",
        "(a|ab)(c|bcd)(d*)",
        "(?i)straße|ÄPFEL",
        "(?m)^x(.*)$",
        "[^a]b??",
        r"\bfoo\b|\d{2,3}",
        "(x+x+)+y",
    ];
    const TEXTS: &[&str] = &[
        "",
        "abcd",
        "x\nxyz\n",
        "ÄPFEL und strasse, Straße",
        "foo 1234 foobar foo",
        "xxxxxxxxxxxxxxxxxxxxz",
    ];

    fn spans(captures: &Captures) -> Vec<Option<(usize, usize)>> {
        let spans = captures.iter();
        spans
            .map(|span| span.map(|span| (span.start, span.end)))
            .collect()
    }

    #[test]
    fn all_ways_of_searching_find_the_same() {
        for expression in EXPRESSIONS {
            let hir = || parse(expression.as_bytes()).unwrap().hir;
            let engine = Engine::new(hir(), 1 << 20).unwrap();
            let without = Engine::without_automata(hir(), 1 << 20).unwrap();
            assert!(without.automata().is_none());
            let automata = engine.automata().unwrap();
            for text in TEXTS {
                for start in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                    let input = Input::new(text).range(start..);
                    let mut by_automata = automata.create_captures();
                    automata.search_captures(&input, &mut by_automata);
                    let mut by_machine = engine.machine.create_captures();
                    let cache = &mut engine.machine.create_cache();
                    engine.machine.search(cache, &input, &mut by_machine);
                    let found = spans(&engine.search_captures(&input));
                    assert_eq!(found, spans(&by_automata), "{expression} in {text}");
                    assert_eq!(found, spans(&by_machine), "{expression} in {text}");
                    assert_eq!(
                        engine.search(&input),
                        automata.search(&input),
                        "{expression} in {text}"
                    );
                    assert_eq!(
                        engine.is_match(input.clone()),
                        automata.is_match(input),
                        "{expression} in {text}"
                    );
                }
            }
        }
    }

    #[test]
    fn long_texts_are_searched_with_and_without_automata() {
        let hir = || parse(b"ab+c$").unwrap().hir;
        let text = format!("{}abbc", "ab".repeat(VISITED_LIMIT * 8));
        let input = Input::new(&text);
        let expected = Some(text.len() - 4);
        for engine in [
            Engine::new(hir(), 1 << 20).unwrap(),
            Engine::without_automata(hir(), 1 << 20).unwrap(),
        ] {
            assert!(!engine.is_little(&input));
            assert_eq!(engine.search(&input).map(|found| found.start()), expected);
            let captures = engine.search_captures(&input);
            assert_eq!(captures.get_match().map(|found| found.start()), expected);
        }
    }
}
