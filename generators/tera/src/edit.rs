//! A text with insertions, and the way back from places in it to those in the original.

use std::borrow::Cow;

/// Insertions, in any order.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    edits: Vec<Edit>,
}

#[derive(Debug)]
struct Edit {
    at: usize,
    /// Bytes of the original that the text takes the place of.
    replaced: usize,
    text: Cow<'static, str>,
}

impl Edits {
    /// Puts a text before a place; of several at one place, the first that was put there comes first.
    pub(crate) fn insert(&mut self, at: usize, text: impl Into<Cow<'static, str>>) {
        self.replace(at, 0, text);
    }

    /// Whether the last text that was put before a place is this one.
    pub(crate) fn ends_with(&self, at: usize, text: &str) -> bool {
        let last = self.edits.iter().rev().find(|edit| edit.at == at);
        last.is_some_and(|edit| edit.text == text)
    }

    /// Puts a text in the place of another.
    pub(crate) fn replace(
        &mut self,
        at: usize,
        replaced: usize,
        text: impl Into<Cow<'static, str>>,
    ) {
        let text = text.into();
        self.edits.push(Edit { at, replaced, text });
    }

    /// The edited text.
    pub(crate) fn apply(mut self, source: &str) -> (String, Origins) {
        self.edits.sort_by_key(|edit| edit.at);
        let mut text = String::with_capacity(source.len() * 2);
        let mut copied = Vec::new();
        let mut from = 0;
        for edit in &self.edits {
            copied.push((text.len(), from));
            text.push_str(source.get(from..edit.at).unwrap_or_default());
            copied.push((text.len(), edit.at));
            text.push_str(&edit.text);
            from = edit.at + edit.replaced;
        }
        copied.push((text.len(), from));
        text.push_str(source.get(from..).unwrap_or_default());
        let origins = Origins {
            pieces: copied,
            length: source.len(),
        };
        (text, origins)
    }
}

/// Where the parts of an edited text come from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origins {
    /// Places in the edited text and in the original at which pieces begin, copied and inserted ones in turn.
    pieces: Vec<(usize, usize)>,
    length: usize,
}

impl Origins {
    /// The place in the original of a place in the edited text: for what was inserted, the place that it was inserted at.
    pub(crate) fn original(&self, place: usize) -> usize {
        let index = self.pieces.partition_point(|(edited, _)| *edited <= place);
        let Some(index) = index.checked_sub(1) else {
            return 0;
        };
        let Some((edited, original)) = self.pieces.get(index) else {
            return 0;
        };
        // Copied pieces have even numbers.
        if index % 2 == 0 {
            (original + (place - edited)).min(self.length)
        } else {
            *original
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_traced_back_through_insertions() {
        let mut edits = Edits::default();
        edits.insert(4, "D");
        edits.insert(2, "B");
        edits.insert(2, "C");
        edits.replace(5, 1, "xyz");
        let (text, origins) = edits.apply("0123456");
        assert_eq!(text, "01BC23D4xyz6");
        let places: Vec<usize> = (0..=text.len()).map(|at| origins.original(at)).collect();
        assert_eq!(places, [0, 1, 2, 2, 2, 3, 4, 4, 5, 5, 5, 6, 7]);
    }
}
