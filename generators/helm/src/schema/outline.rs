//! A schema brought down to the keywords that most charts use, so that a verdict needs no validator.
//!
//! A validator compiles the whole schema and the standard that describes schemas before it looks at a value, which takes longer than
//! to render most charts. An outline takes one walk. It is made only of schemas of which every keyword is known and well-formed:
//! whatever is not so is left to the validator, and so is every text for the user.

use super::document::Node;
use regex::Regex;
use serde_json::Value as Json;
use std::{borrow::Cow, collections::HashMap};

/// Most values of an `enum`, and most required names, that are compared with each other.
const MAX_ENUM: usize = 256;
/// Most rules: what is referred to is read once for every way of writing the reference.
const MAX_RULES: usize = 200_000;

/// Formats that the validator knows: what they allow is left to it.
const FORMATS: [&str; 20] = [
    "regex",
    "ipv4",
    "ipv6",
    "hostname",
    "idn-hostname",
    "email",
    "idn-email",
    "date",
    "time",
    "date-time",
    "duration",
    "period",
    "json-pointer",
    "relative-json-pointer",
    "uuid",
    "uri",
    "iri",
    "uri-reference",
    "iri-reference",
    "uri-template",
];

/// Keywords that mean something in one of the drafts and that an outline does not know.
const UNKNOWN: [&str; 22] = [
    "id",
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveAnchor",
    "$recursiveRef",
    "$vocabulary",
    "additionalItems",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "maxContains",
    "minContains",
    "multipleOf",
    "prefixItems",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// The drafts that an outline is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Draft {
    /// 7: `$ref` stands alone, and formats are asserted.
    Seven,
    /// 2019-09 and 2020-12: `$ref` is one keyword of many, and formats are notes.
    Later,
}

/// Where a rule is.
pub(super) type RuleIndex = usize;

/// The rules of a schema. The first is that of the whole.
#[derive(Debug)]
pub(super) struct Outline {
    pub(super) rules: Vec<Rule>,
    pub(super) patterns: Vec<Regex>,
    pub(super) root: RuleIndex,
}

/// What a schema or one of its parts asks of a value. Everything has to hold.
#[derive(Debug, Default)]
pub(super) struct Rule {
    /// `false`: nothing will do.
    pub(super) never: bool,
    /// Types that the value may have; none for all.
    pub(super) types: TypeSet,
    pub(super) reference: Option<RuleIndex>,
    /// Sorted by name.
    pub(super) properties: Vec<(Box<str>, RuleIndex)>,
    pub(super) required: Vec<Box<str>>,
    /// For properties that have no rule.
    pub(super) additional: Option<RuleIndex>,
    pub(super) items: Option<RuleIndex>,
    pub(super) rare: Option<Box<Rare>>,
}

/// What few rules ask.
#[derive(Debug, Default)]
pub(super) struct Rare {
    pub(super) all_of: Vec<RuleIndex>,
    pub(super) any_of: Vec<RuleIndex>,
    pub(super) one_of: Vec<RuleIndex>,
    pub(super) not: Option<RuleIndex>,
    pub(super) condition: Option<RuleIndex>,
    pub(super) then: Option<RuleIndex>,
    pub(super) otherwise: Option<RuleIndex>,
    /// By the place of the pattern.
    pub(super) pattern_properties: Vec<(usize, RuleIndex)>,
    pub(super) values: Option<Vec<Json>>,
    pub(super) constant: Option<Json>,
    pub(super) pattern: Option<usize>,
    /// A format of texts that only the validator knows.
    pub(super) has_format: bool,
    pub(super) unique_items: bool,
    pub(super) length: Bounds,
    pub(super) item_count: Bounds,
    pub(super) property_count: Bounds,
    pub(super) minimum: Option<f64>,
    pub(super) maximum: Option<f64>,
    pub(super) above: Option<f64>,
    pub(super) below: Option<f64>,
}

/// A least and a greatest count.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Bounds {
    least: Option<u64>,
    most: Option<u64>,
}

impl Bounds {
    pub(super) fn allow(self, count: usize) -> bool {
        let count = count as u64;
        self.least.is_none_or(|least| count >= least) && self.most.is_none_or(|most| count <= most)
    }

    pub(super) fn is_open(self) -> bool {
        self.least.is_none() && self.most.is_none()
    }
}

/// Types of JSON as bits.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct TypeSet(u8);

impl TypeSet {
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(2);
    pub(super) const INTEGER: Self = Self(4);
    pub(super) const NUMBER: Self = Self(8);
    pub(super) const STRING: Self = Self(16);
    pub(super) const ARRAY: Self = Self(32);
    pub(super) const OBJECT: Self = Self(64);

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "number" => Self::NUMBER,
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            _ => return None,
        })
    }

    /// A name or a list of different names.
    fn read(node: &Node<'_>) -> Option<Self> {
        if let Node::String(name) = node {
            return Self::of_name(name);
        }
        let mut types = Self::default();
        for name in node.items()? {
            let one = Self::of_name(name.text()?)?;
            if types.has(one) {
                return None;
            }
            types.0 |= one.0;
        }
        (!types.is_empty()).then_some(types)
    }
}

impl Outline {
    /// The outline of a schema; none if there is anything in it that has to be left to the validator.
    pub(super) fn of(schema: &[u8]) -> Option<Self> {
        let document: Node<'_> = serde_json::from_slice(schema).ok()?;
        let mut outliner = Outliner {
            root: &document,
            draft: draft(&document)?,
            rules: Vec::new(),
            patterns: Vec::new(),
            known_patterns: HashMap::new(),
            references: HashMap::new(),
            open: Vec::new(),
        };
        let root = outliner.schema(&document)?;
        while let Some((rule, text)) = outliner.open.pop() {
            let target = outliner.resolve(text)?;
            outliner.rules.get_mut(rule)?.reference = Some(target);
        }
        Some(Self {
            rules: outliner.rules,
            patterns: outliner.patterns,
            root,
        })
    }
}

fn draft(document: &Node<'_>) -> Option<Draft> {
    let Some(name) = document.get("$schema") else {
        return Some(Draft::Later);
    };
    let name = name.text()?;
    let name = name.strip_suffix('#').unwrap_or(name);
    let name = name
        .strip_prefix("https://")
        .or_else(|| name.strip_prefix("http://"))?;
    match name {
        "json-schema.org/draft-07/schema" => Some(Draft::Seven),
        "json-schema.org/schema"
        | "json-schema.org/draft/2019-09/schema"
        | "json-schema.org/draft/2020-12/schema" => Some(Draft::Later),
        _ => None,
    }
}

/// Makes an outline. None of its functions' answers means that the schema is left to the validator.
struct Outliner<'n> {
    root: &'n Node<'n>,
    draft: Draft,
    rules: Vec<Rule>,
    patterns: Vec<Regex>,
    known_patterns: HashMap<&'n str, usize>,
    /// Rules by the references that lead to them.
    references: HashMap<&'n str, RuleIndex>,
    /// References that still have to be followed.
    open: Vec<(RuleIndex, &'n str)>,
}

impl<'n> Outliner<'n> {
    fn schema(&mut self, node: &'n Node<'n>) -> Option<RuleIndex> {
        let index = self.rules.len();
        if index >= MAX_RULES {
            return None;
        }
        self.rules.push(Rule::default());
        let rule = match node {
            Node::Bool(allowed) => Rule {
                never: !allowed,
                ..Rule::default()
            },
            Node::Map(entries) => self.rule(node, entries, index)?,
            _ => return None,
        };
        *self.rules.get_mut(index)? = rule;
        Some(index)
    }

    fn rule(
        &mut self,
        node: &'n Node<'n>,
        entries: &'n [(Cow<'n, str>, Node<'n>)],
        index: RuleIndex,
    ) -> Option<Rule> {
        let mut rule = Rule::default();
        let mut rare = Rare::default();
        let mut has_rare = false;
        for (keyword, node) in entries {
            has_rare |= !self.usual(keyword, node, &mut rule, index)?
                && self.unusual(keyword, node, &mut rare)?;
        }
        if has_rare {
            rule.rare = Some(Box::new(rare));
        }
        if self.draft == Draft::Seven && node.get("$ref").is_some() {
            // The others are read, for they have to be well-formed, and mean nothing.
            rule = Rule::default();
        }
        Some(rule)
    }

    /// Whether the keyword is one that most schemas use.
    fn usual(
        &mut self,
        keyword: &str,
        node: &'n Node<'n>,
        rule: &mut Rule,
        index: RuleIndex,
    ) -> Option<bool> {
        match keyword {
            "type" => rule.types = TypeSet::read(node)?,
            "properties" => {
                // The entries of a map are sorted already.
                for (name, schema) in node.entries()? {
                    rule.properties
                        .push((name.as_ref().into(), self.schema(schema)?));
                }
            }
            "required" => rule.required = names(node)?,
            "additionalProperties" => rule.additional = Some(self.schema(node)?),
            // A list of schemas is none.
            "items" => rule.items = Some(self.schema(node)?),
            "$ref" => self.open.push((index, local_reference(node)?)),
            "title" | "description" | "$comment" => {
                node.text()?;
            }
            "default" => {}
            _ => return Some(false),
        }
        Some(true)
    }

    /// Whether the keyword asks for anything.
    fn unusual(&mut self, keyword: &str, node: &'n Node<'n>, rare: &mut Rare) -> Option<bool> {
        match keyword {
            "allOf" => rare.all_of = self.schemas(node)?,
            "anyOf" => rare.any_of = self.schemas(node)?,
            "oneOf" => rare.one_of = self.schemas(node)?,
            "not" => rare.not = Some(self.schema(node)?),
            "if" => rare.condition = Some(self.schema(node)?),
            "then" => rare.then = Some(self.schema(node)?),
            "else" => rare.otherwise = Some(self.schema(node)?),
            "patternProperties" => {
                for (pattern, schema) in node.entries()? {
                    let pattern = self.pattern(pattern)?;
                    rare.pattern_properties
                        .push((pattern, self.schema(schema)?));
                }
            }
            "enum" => rare.values = Some(different_values(node)?),
            "const" => rare.constant = Some(node.to_json()),
            "pattern" => rare.pattern = Some(self.pattern(node.text()?)?),
            "format" => {
                let name = node.text()?;
                rare.has_format = self.draft == Draft::Seven && FORMATS.contains(&name);
            }
            "uniqueItems" => rare.unique_items = node.truth()?,
            "minLength" => rare.length.least = Some(node.count()?),
            "maxLength" => rare.length.most = Some(node.count()?),
            "minItems" => rare.item_count.least = Some(node.count()?),
            "maxItems" => rare.item_count.most = Some(node.count()?),
            "minProperties" => rare.property_count.least = Some(node.count()?),
            "maxProperties" => rare.property_count.most = Some(node.count()?),
            "minimum" => rare.minimum = Some(node.number()?),
            "maximum" => rare.maximum = Some(node.number()?),
            "exclusiveMinimum" => rare.above = Some(node.number()?),
            "exclusiveMaximum" => rare.below = Some(node.number()?),
            other => return self.note(other, node).map(|()| false),
        }
        Some(true)
    }

    /// Keywords that ask nothing of a value.
    fn note(&mut self, keyword: &str, node: &'n Node<'n>) -> Option<()> {
        match keyword {
            "definitions" | "$defs" => {
                for (_, schema) in node.entries()? {
                    self.schema(schema)?;
                }
            }
            "examples" => {
                node.items()?;
            }
            "deprecated" | "readOnly" | "writeOnly" => {
                node.truth()?;
            }
            // Anywhere else they begin a document of its own.
            "$schema" | "$id" if !std::ptr::eq(self.owner(keyword)?, node) => return None,
            "$schema" => {}
            "$id" => plain_address(node.text()?)?,
            other if UNKNOWN.contains(&other) => return None,
            _ => {}
        }
        Some(())
    }

    /// What the whole schema has under a keyword.
    fn owner(&self, keyword: &str) -> Option<&'n Node<'n>> {
        self.root.get(keyword)
    }

    fn schemas(&mut self, node: &'n Node<'n>) -> Option<Vec<RuleIndex>> {
        let schemas = node.items().filter(|items| !items.is_empty())?;
        schemas.iter().map(|schema| self.schema(schema)).collect()
    }

    fn pattern(&mut self, text: &'n str) -> Option<usize> {
        if let Some(known) = self.known_patterns.get(text) {
            return Some(*known);
        }
        let regex = Regex::new(&translated(text)?).ok()?;
        self.patterns.push(regex);
        let index = self.patterns.len() - 1;
        self.known_patterns.insert(text, index);
        Some(index)
    }

    fn resolve(&mut self, reference: &'n str) -> Option<RuleIndex> {
        if let Some(known) = self.references.get(reference) {
            return Some(*known);
        }
        let mut target = self.root;
        for part in reference.split('/').skip(1) {
            target = target.get(part)?;
        }
        // Known before it is read: it may refer to itself.
        self.references.insert(reference, self.rules.len());
        self.schema(target)
    }
}

/// A reference within the document that needs no decoding.
fn local_reference<'n>(node: &'n Node<'n>) -> Option<&'n str> {
    let text = node.text()?;
    let path = text.strip_prefix('#')?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"$_-./".contains(&byte);
    let is_pointer = path.is_empty() || path.starts_with('/');
    (is_pointer && path.bytes().all(is_plain)).then_some(text)
}

/// An absolute address that is certainly well-formed and names no standard.
fn plain_address(text: &str) -> Option<()> {
    let rest = text.strip_prefix("https://")?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-./_".contains(&byte);
    let starts_well = rest.bytes().next()?.is_ascii_lowercase();
    let is_standard = rest.contains("json-schema");
    (starts_well && !is_standard && rest.bytes().all(is_plain)).then_some(())
}

/// Texts that differ.
fn names(node: &Node<'_>) -> Option<Vec<Box<str>>> {
    let mut names: Vec<Box<str>> = Vec::new();
    for item in node.items()? {
        let name = item.text()?;
        if names.len() >= MAX_ENUM || names.iter().any(|known| **known == *name) {
            return None;
        }
        names.push(name.into());
    }
    Some(names)
}

fn different_values(node: &Node<'_>) -> Option<Vec<Json>> {
    let items = node.items()?;
    if items.is_empty() || items.len() > MAX_ENUM {
        return None;
    }
    let mut values: Vec<Json> = Vec::new();
    for item in items {
        let value = item.to_json();
        // Numbers are equal in more than one way of writing them, and so may be what holds them.
        let is_simple =
            matches!(value, Json::Null | Json::Bool(_) | Json::String(_)) || value.is_i64();
        if !is_simple || values.contains(&value) {
            return None;
        }
        values.push(value);
    }
    Some(values)
}

/// A pattern in Rust's syntax, if it means the same in both: ECMA's classes are ASCII.
fn translated(pattern: &str) -> Option<String> {
    const SPACE: &str = "[ \t\n\r\u{b}\u{c}\u{a0}\u{feff}\u{2003}\u{2029}]";
    let mut text = String::with_capacity(pattern.len());
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        match characters.next()? {
            'd' => text.push_str("[0-9]"),
            'w' => text.push_str("[A-Za-z0-9_]"),
            's' => text.push_str(SPACE),
            escaped if ".-+*?()[]{}|^$/\\".contains(escaped) => text.extend(['\\', escaped]),
            _ => return None,
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn has_outline(schema: &Json) -> bool {
        Outline::of(schema.to_string().as_bytes()).is_some()
    }

    #[test]
    fn schemas_that_are_not_plain_are_left_to_the_validator() {
        let left = [
            json!(1),
            json!({"type": "text"}),
            json!({"type": []}),
            json!({"required": ["a", "a"]}),
            json!({"properties": {"a": 1}}),
            json!({"items": [{}]}),
            json!({"anyOf": []}),
            json!({"minLength": -1}),
            json!({"minLength": 1.5}),
            json!({"pattern": "("}),
            json!({"pattern": "\\bword"}),
            json!({"$ref": "other.json"}),
            json!({"$ref": "#/$defs/none"}),
            json!({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {}}}),
            json!({"properties": {"a": {"$id": "https://example.org/a"}}}),
            json!({"dependencies": {"a": ["b"]}}),
            json!({"title": 1}),
            json!({"enum": ["a", "a"]}),
            json!({"enum": [1.0, 1]}),
            json!({"unevaluatedProperties": false}),
            json!({"$schema": "http://json-schema.org/draft-04/schema#"}),
            json!({"$schema": "https://example.org/schema"}),
        ];
        for schema in left {
            assert!(!has_outline(&schema), "{schema}");
        }
        assert!(Outline::of(br#"{"type": "object", "type": "array"}"#).is_none());
        assert!(Outline::of(b"{").is_none());
        assert!(Outline::of(b"{} {}").is_none());
    }

    #[test]
    fn references_may_lead_in_circles() {
        let schema = json!({"properties": {"child": {"$ref": "#"}, "other": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$ref": "#/$defs/a"}}});
        assert!(has_outline(&schema));
    }
}
