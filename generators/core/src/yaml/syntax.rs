//! Documents as they are written, before texts become numbers, booleans or nulls.

use super::compose::{NodeKind, Tree};
use super::error::Error;
use super::input::Input;
use super::parser::Parser;

/// The place of a node in its [`SyntaxTree`].
pub type SyntaxId = usize;

/// A node as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SyntaxNode {
    /// A text that is no collection.
    Scalar {
        /// The text, without quotes and with its escapes replaced.
        text: String,
        /// The full tag, `tag:yaml.org,2002:int` for `!!int`; empty without one.
        tag: String,
        /// Whether it stands there without quotes, so that it may be something else than a string.
        plain: bool,
    },
    /// Items in their order.
    Sequence(Vec<SyntaxId>),
    /// Keys with their values, in their order.
    Mapping(Vec<(SyntaxId, SyntaxId)>),
    /// Another mention of an anchored node. It may be one that the alias itself is in.
    Alias(SyntaxId),
}

/// A document as it is written: comments, styles and anchors' names are gone, everything else is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxTree {
    nodes: Vec<(SyntaxNode, usize)>,
}

impl SyntaxTree {
    /// The node that holds all others.
    pub const ROOT: SyntaxId = 0;

    /// A node; none is at an id of another tree, and no root is in an empty document.
    pub fn node(&self, id: SyntaxId) -> Option<&SyntaxNode> {
        self.nodes.get(id).map(|(node, _)| node)
    }

    /// The line a node starts at, counted from 1.
    pub fn line(&self, id: SyntaxId) -> Option<usize> {
        self.nodes.get(id).map(|(_, line)| *line)
    }
}

/// Reads all documents of a text as they are written, for readers with rules of their own for what a text stands for.
///
/// Collections are nested 1,000 deep at most. Aliases are not followed: whoever follows them has to limit how often and how deep.
///
/// # Errors
/// When the text is not YAML.
pub fn syntax(text: &str) -> Result<Vec<SyntaxTree>, Error> {
    let input = Input::from_str(text)?;
    let mut parser = Parser::new(&input);
    let mut trees = Vec::new();
    while let Some(tree) = super::compose(&mut parser)? {
        trees.push(written(tree));
    }
    Ok(trees)
}

fn written(tree: Tree<'_>) -> SyntaxTree {
    let nodes = tree.nodes.into_iter().map(|node| {
        let line = node.start.line as usize + 1;
        let kind = match node.kind {
            NodeKind::Scalar { value, implicit } => SyntaxNode::Scalar {
                text: value.into_owned(),
                tag: node.tag,
                plain: implicit,
            },
            NodeKind::Alias { target, .. } => SyntaxNode::Alias(target),
            NodeKind::Sequence(items) => SyntaxNode::Sequence(items),
            NodeKind::Mapping(children) => SyntaxNode::Mapping(
                children
                    .chunks_exact(2)
                    .filter_map(|pair| match pair {
                        [key, value] => Some((*key, *value)),
                        _ => None,
                    })
                    .collect(),
            ),
        };
        (kind, line)
    });
    SyntaxTree {
        nodes: nodes.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scalar(tree: &SyntaxTree, id: SyntaxId) -> (&str, bool) {
        match tree.node(id) {
            Some(SyntaxNode::Scalar { text, plain, .. }) => (text, *plain),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn texts_keep_their_letters_and_whether_they_are_quoted() {
        let trees = syntax("a: 0644\n\"b\": 'yes'\n---\n- &x 1\n- *x\n").unwrap();
        let Some(SyntaxNode::Mapping(pairs)) = trees[0].node(SyntaxTree::ROOT) else {
            panic!("{trees:?}");
        };
        let texts: Vec<_> = pairs
            .iter()
            .flat_map(|(key, value)| [scalar(&trees[0], *key), scalar(&trees[0], *value)])
            .collect();
        assert_eq!(
            texts,
            [("a", true), ("0644", true), ("b", false), ("yes", false)]
        );
        let Some(SyntaxNode::Sequence(items)) = trees[1].node(SyntaxTree::ROOT) else {
            panic!("{trees:?}");
        };
        assert_eq!(trees[1].node(items[1]), Some(&SyntaxNode::Alias(items[0])));
        assert_eq!(trees[1].line(items[1]), Some(5));
    }

    #[test]
    fn tags_are_given_in_full() {
        let trees = syntax("!!int 3\n").unwrap();
        assert!(matches!(
            trees[0].node(SyntaxTree::ROOT),
            Some(SyntaxNode::Scalar { tag, .. }) if tag == "tag:yaml.org,2002:int"
        ));
    }
}
