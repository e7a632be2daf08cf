//! Keys without `?`: a token may turn into one until the line ends or the key gets too long.

use super::super::error::Error;
use super::{MAX_FLOW_LEVEL, MAX_SIMPLE_KEY_LENGTH, Mark, Scanner};

/// A token that may start a key.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SimpleKey {
    pub(super) possible: bool,
    /// Nothing but a key can be here: the token stands at the indentation of a block mapping.
    required: bool,
    pub(super) token_number: usize,
    pub(super) mark: Mark,
}

impl Scanner<'_> {
    /// Whether the key in `slot` can still be one.
    pub(super) fn simple_key_is_valid(&mut self, slot: usize) -> Result<bool, Error> {
        let mark = self.mark;
        let Some(key) = self.simple_keys.get_mut(slot) else {
            return Ok(false);
        };
        if !key.possible {
            return Ok(false);
        }
        if key.mark.line == mark.line && key.mark.index + MAX_SIMPLE_KEY_LENGTH >= mark.index {
            return Ok(true);
        }
        if key.required {
            let start = key.mark;
            return Err(self
                .error("could not find expected ':'")
                .inside(start, true));
        }
        key.possible = false;
        Ok(false)
    }

    /// Notes that the next token may start a key.
    pub(super) fn save_simple_key(&mut self) -> Result<(), Error> {
        if !self.simple_key_allowed {
            return Ok(());
        }
        let required = self.flow_level == 0 && self.indent == i64::from(self.mark.column);
        let token_number = self.tokens_taken + self.tokens.len();
        self.remove_simple_key()?;
        let slot = self.simple_keys.len() - 1;
        let key = SimpleKey {
            possible: true,
            required,
            token_number,
            mark: self.mark,
        };
        if let Some(last) = self.simple_keys.last_mut() {
            *last = key;
        }
        self.simple_key_of_token.insert(token_number, slot);
        Ok(())
    }

    /// Gives up the possible key of the current flow level.
    pub(super) fn remove_simple_key(&mut self) -> Result<(), Error> {
        let mark = self.mark;
        let Some(key) = self.simple_keys.last_mut().filter(|key| key.possible) else {
            return Ok(());
        };
        if key.required {
            return Err(Error::scanner("could not find expected ':'", mark).inside(key.mark, true));
        }
        key.possible = false;
        self.simple_key_of_token.remove(&key.token_number);
        Ok(())
    }

    /// Enters a flow collection.
    pub(super) fn increase_flow_level(&mut self) -> Result<(), Error> {
        let token_number = self.tokens_taken + self.tokens.len();
        self.simple_keys.push(SimpleKey {
            token_number,
            mark: self.mark,
            ..SimpleKey::default()
        });
        self.flow_level += 1;
        if self.flow_level > MAX_FLOW_LEVEL {
            let problem = format!("exceeded max depth of {MAX_FLOW_LEVEL}");
            return Err(Error::scanner(problem, self.mark));
        }
        Ok(())
    }

    /// Leaves a flow collection.
    ///
    /// An empty collection shares its token number with the slot left here, so it stops being a
    /// possible key: as in Go.
    pub(super) fn decrease_flow_level(&mut self) {
        if self.flow_level == 0 {
            return;
        }
        self.flow_level -= 1;
        if let Some(key) = self.simple_keys.pop() {
            self.simple_key_of_token.remove(&key.token_number);
        }
    }
}
