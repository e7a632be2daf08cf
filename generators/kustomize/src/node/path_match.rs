//! Finding all places that a path with patterns leads to.
//!
//! Mirrors `PathMatcher` in `yaml/match.go` of kyaml v0.21.1.

use super::access::{atoi, is_list_index, kind_before, split_match};
use super::{Arena, Create, Kind, Node, NodeId, emit};
use crate::error::{Result, fail};
use crate::expression::Expression;

/// All nodes that a path leads to; none where it ends early.
///
/// `[field=expression]` compares the printed field with an expression that may match anywhere in it; `*` is every item.
///
/// # Errors
/// When a part does not fit what is there, or an index is out of range.
pub(crate) fn match_path(
    arena: &mut Arena,
    id: NodeId,
    path: &[String],
    create: Create,
) -> Result<Option<Vec<NodeId>>> {
    let Some((part, rest)) = path.split_first() else {
        return Ok(Some(vec![id]));
    };
    if atoi(part).is_some_and(|index| index >= 0) {
        return match_index(arena, id, part, rest, create);
    }
    if is_list_index(part) {
        return match_items(arena, id, part, rest, create);
    }
    if part == "*" {
        return match_every(arena, id, rest, create);
    }
    match_field(arena, id, part, rest, create)
}

fn next_kind(rest: &[String], create: Kind) -> Kind {
    kind_before(rest.first().map(String::as_str), create)
}

fn match_field(
    arena: &mut Arena,
    id: NodeId,
    name: &str,
    rest: &[String],
    create: Create,
) -> Result<Option<Vec<NodeId>>> {
    let field = match (arena.get_field(id, name)?, create) {
        (Some(field), _) => field,
        (None, Create::Never) => return Ok(None),
        (None, Create::As(kind)) => {
            let field = arena.add(Node::of_kind(next_kind(rest, kind)));
            arena.set_field_keeping(id, name, field, super::Style::default())?;
            field
        }
    };
    let node = arena.get(field);
    if node.kind == Kind::Scalar && !rest.is_empty() {
        let text = node.text.clone();
        let root = super::parse_document(arena, &text)?;
        let root = root.unwrap_or_else(|| arena.add(Node::default()));
        return match_path(arena, root, rest, create);
    }
    match_path(arena, field, rest, create)
}

fn match_index(
    arena: &mut Arena,
    id: NodeId,
    part: &str,
    rest: &[String],
    create: Create,
) -> Result<Option<Vec<NodeId>>> {
    let index = atoi(part).and_then(|index| usize::try_from(index).ok());
    let index = index.unwrap_or(usize::MAX);
    arena.require(id, Kind::Sequence)?;
    let count = arena.get(id).children.len();
    if let Create::As(kind) = create
        && index == count
    {
        let item = arena.add(Node::of_kind(next_kind(rest, kind)));
        arena.get_mut(id).children.push(item);
    }
    let children = &arena.get(id).children;
    match children.get(index).copied() {
        Some(item) => match_path(arena, item, rest, create),
        None => Err(fail(format!(
            "index {index} specified but only {} elements found",
            children.len()
        ))),
    }
}

fn match_every(
    arena: &mut Arena,
    id: NodeId,
    rest: &[String],
    create: Create,
) -> Result<Option<Vec<NodeId>>> {
    arena.require(id, Kind::Sequence)?;
    let mut found = None;
    for item in arena.get(id).children.clone() {
        if let Some(nodes) = match_path(arena, item, rest, create)? {
            found.get_or_insert_with(Vec::new).extend(nodes);
        }
    }
    Ok(found)
}

fn match_items(
    arena: &mut Arena,
    id: NodeId,
    part: &str,
    rest: &[String],
    create: Create,
) -> Result<Option<Vec<NodeId>>> {
    let (field, pattern) = split_match(part)?;
    let found = search_items(arena, id, field, pattern, rest, create)?;
    if found.is_some() || create == Create::Never {
        return Ok(found);
    }
    arena.require(id, Kind::Sequence)?;
    let item = arena.new_item(field, pattern);
    arena.get_mut(id).children.push(item);
    search_items(arena, id, field, pattern, rest, create)?.map_or_else(
        || Err(fail(format!("failed to create element for {part:?}"))),
        |found| Ok(Some(found)),
    )
}

fn search_items(
    arena: &mut Arena,
    id: NodeId,
    field: &str,
    pattern: &str,
    rest: &[String],
    create: Create,
) -> Result<Option<Vec<NodeId>>> {
    arena.require(id, Kind::Sequence)?;
    let mut found: Option<Vec<NodeId>> = None;
    let mut known = None;
    for item in arena.get(id).children.clone() {
        let compared = if field.is_empty() {
            Some(item)
        } else {
            arena.field(item, field)
        };
        let Some(compared) = compared else { continue };
        let text = emit(arena, compared);
        let expression = match &known {
            Some(expression) => expression,
            None => known.insert(Expression::anywhere(pattern)?),
        };
        if !expression.is_match(text.trim()) {
            continue;
        }
        if field.is_empty() {
            found.get_or_insert_with(Vec::new).push(item);
        } else if let Some(nodes) = match_path(arena, item, rest, create)? {
            found.get_or_insert_with(Vec::new).extend(nodes);
        }
    }
    Ok(found.filter(|found| !found.is_empty()))
}
