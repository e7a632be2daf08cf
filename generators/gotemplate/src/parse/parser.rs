//! Actions and control structures (`text/template/parse/parse.go`).

use super::{
    Delimiters, ParseError,
    lexer::{Keyword, Lexer, Token, TokenKind},
    names::Names,
    scope::Scope,
    tree::{Branch, Builtin, Call, Callee, Node, Span, Tree},
};
use crate::{FunctionTable, format::unquote};
use foldhash::{HashMap, HashMapExt as _};
use std::sync::Arc;

/// Largest text of a template in bytes: positions are 32 bits wide.
const MAX_SOURCE_BYTES: usize = 1 << 30;

/// Nesting of control structures and parentheses. Go allows more, at the price of its stack.
const MAX_NESTING: usize = 1_000;

pub(super) type Parsed<T> = Result<T, Box<ParseError>>;

/// Parses a text. The result has the template of the given name and all that the text defines.
///
/// # Errors
/// Go's text and line.
pub(crate) fn parse(
    name: &str,
    source: &Arc<[u8]>,
    functions: &FunctionTable,
    delimiters: &Delimiters,
    names: &mut Names,
) -> Result<HashMap<Arc<str>, Arc<Tree>>, ParseError> {
    if source.len() > MAX_SOURCE_BYTES {
        let message = format!("text is larger than {MAX_SOURCE_BYTES} bytes");
        return Err(ParseError {
            name: name.to_owned(),
            line: 1,
            message,
        });
    }
    let has = |name: &str| functions.get(name).is_some();
    let name: Arc<str> = name.into();
    let mut text = Text {
        name: name.clone(),
        source: Arc::clone(source),
        lexer: Lexer::new(source, delimiters, !has("break"), !has("continue")),
        functions,
        trees: HashMap::new(),
        names,
        nesting: 0,
    };
    Parser::new(&mut text)
        .template(name)
        .map_err(|error| *error)?;
    Ok(text.trees)
}

/// What the templates of one text share.
pub(super) struct Text<'a> {
    name: Arc<str>,
    source: Arc<[u8]>,
    pub(super) lexer: Lexer<'a>,
    functions: &'a FunctionTable,
    trees: HashMap<Arc<str>, Arc<Tree>>,
    names: &'a mut Names,
    nesting: usize,
}

impl Text<'_> {
    pub(super) fn intern(&mut self, bytes: &[u8]) -> Arc<str> {
        self.names.shared(bytes)
    }
}

/// Reads one template.
pub(super) struct Parser<'p, 'a> {
    pub(super) text: &'p mut Text<'a>,
    tokens: [Token; 3],
    peeked: usize,
    pub(super) scope: Scope,
    action_line: usize,
    range_depth: usize,
}

/// What a list of nodes ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListEnd {
    End,
    Else,
}

impl ListEnd {
    fn shown(self) -> &'static str {
        match self {
            Self::End => "{{end}}",
            Self::Else => "{{else}}",
        }
    }
}

enum Item {
    Node(Node),
    End(ListEnd),
}

impl<'p, 'a> Parser<'p, 'a> {
    fn new(text: &'p mut Text<'a>) -> Self {
        Self {
            text,
            tokens: [Token::NONE; 3],
            peeked: 0,
            scope: Scope::new(),
            action_line: 0,
            range_depth: 0,
        }
    }

    pub(super) fn next(&mut self) -> Token {
        if self.peeked > 0 {
            self.peeked -= 1;
        } else {
            self.tokens[0] = self.text.lexer.next_token();
        }
        self.tokens[self.peeked.min(2)]
    }

    pub(super) fn back_up(&mut self) {
        self.peeked += 1;
    }

    /// Backs up two tokens, of which the second is there already.
    pub(super) fn back_up_two(&mut self, first: Token) {
        self.tokens[1] = first;
        self.peeked = 2;
    }

    /// Backs up three tokens, of which the third is there already.
    pub(super) fn back_up_three(&mut self, first: Token, second: Token) {
        self.tokens[1] = second;
        self.tokens[2] = first;
        self.peeked = 3;
    }

    pub(super) fn peek(&mut self) -> Token {
        if self.peeked == 0 {
            self.peeked = 1;
            self.tokens[0] = self.text.lexer.next_token();
        }
        self.tokens[(self.peeked - 1).min(2)]
    }

    pub(super) fn next_non_space(&mut self) -> Token {
        loop {
            let token = self.next();
            if token.kind != TokenKind::Space {
                return token;
            }
        }
    }

    pub(super) fn peek_non_space(&mut self) -> Token {
        let token = self.next_non_space();
        self.back_up();
        token
    }

    pub(super) fn source(&self) -> &[u8] {
        &self.text.source
    }

    pub(super) fn value(&self, token: Token) -> &[u8] {
        self.text.lexer.value(token)
    }

    pub(super) fn name(&mut self, token: Token) -> Arc<str> {
        self.text.intern(self.text.lexer.source(token))
    }

    pub(super) fn function(&self, name: &str) -> Option<Callee> {
        let function = self.text.functions.shared(name);
        let function = function.map(|function| Callee::Function(Arc::clone(function)));
        function.or_else(|| Builtin::of_name(name).map(Callee::Builtin))
    }

    pub(super) fn fail<T>(&self, message: impl Into<String>) -> Parsed<T> {
        Err(Box::new(ParseError {
            name: self.text.name.as_ref().to_owned(),
            line: self.tokens[0].line,
            message: message.into(),
        }))
    }

    pub(super) fn unexpected<T>(&self, token: Token, context: &str) -> Parsed<T> {
        let shown = self.text.lexer.describe(token);
        if token.kind != TokenKind::Error {
            return self.fail(format!("unexpected {shown} in {context}"));
        }
        if self.action_line == 0 || self.action_line == token.line {
            return self.fail(shown);
        }
        // The message itself may end with "action".
        let what = if shown.ends_with(" action") {
            ""
        } else {
            " in action"
        };
        self.fail(format!(
            "{shown}{what} started at {}:{}",
            self.text.name, self.action_line
        ))
    }

    fn expect(&mut self, kind: TokenKind, context: &str) -> Parsed<Token> {
        let token = self.next_non_space();
        if token.kind == kind {
            Ok(token)
        } else {
            self.unexpected(token, context)
        }
    }

    /// Runs a step one level deeper.
    pub(super) fn nested<T>(&mut self, step: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.text.nesting >= MAX_NESTING {
            return self.fail(format!("nested deeper than {MAX_NESTING} levels"));
        }
        self.text.nesting += 1;
        let result = crate::grow_stack(|| step(self));
        self.text.nesting -= 1;
        result
    }

    /// The outermost template of a text; only here are definitions allowed.
    fn template(mut self, name: Arc<str>) -> Parsed<()> {
        let mut nodes = Vec::new();
        while self.peek().kind != TokenKind::End {
            if self.peek().kind == TokenKind::LeftDelimiter {
                let delimiter = self.next();
                if self.next_non_space().kind == TokenKind::Keyword(Keyword::Define) {
                    Parser::new(self.text).definition()?;
                    continue;
                }
                self.back_up_two(delimiter);
            }
            match self.text_or_action()? {
                Item::Node(node) => nodes.push(node),
                Item::End(end) => return self.fail(format!("unexpected {}", end.shown())),
            }
        }
        self.add(name, nodes)
    }

    /// The keyword `define` has been read.
    fn definition(mut self) -> Parsed<()> {
        const CONTEXT: &str = "define clause";
        let token = self.next_non_space();
        let name = self.template_name(token, CONTEXT)?;
        self.expect(TokenKind::RightDelimiter, CONTEXT)?;
        self.named_body(name, CONTEXT)
    }

    fn named_body(mut self, name: Arc<str>, context: &str) -> Parsed<()> {
        let (nodes, end) = self.list()?;
        if end != ListEnd::End {
            return self.fail(format!("unexpected {} in {context}", end.shown()));
        }
        self.add(name, nodes)
    }

    fn add(self, name: Arc<str>, root: Vec<Node>) -> Parsed<()> {
        let is_empty = root.iter().all(|node| self.is_blank(node));
        if let Some(known) = self.text.trees.get(&name)
            && !known.is_empty
        {
            if is_empty {
                return Ok(());
            }
            let quoted = crate::format::quote(name.as_bytes());
            let quoted = String::from_utf8_lossy(&quoted);
            return self.fail(format!(
                "template: multiple definition of template {quoted}"
            ));
        }
        let tree = Tree {
            name: name.clone(),
            parse_name: self.text.name.clone(),
            text: self.text.source.clone(),
            root,
            slots: self.scope.slots(),
            is_empty,
        };
        self.text.trees.insert(name, Arc::new(tree));
        Ok(())
    }

    fn is_blank(&self, node: &Node) -> bool {
        let Node::Text(span) = node else {
            return false;
        };
        std::str::from_utf8(span.of(&self.text.source)).is_ok_and(|text| text.trim().is_empty())
    }

    /// Nodes up to an `end` or `else`.
    fn list(&mut self) -> Parsed<(Vec<Node>, ListEnd)> {
        let mut nodes = Vec::new();
        while self.peek_non_space().kind != TokenKind::End {
            match self.text_or_action()? {
                Item::Node(node) => nodes.push(node),
                Item::End(end) => {
                    nodes.shrink_to_fit();
                    return Ok((nodes, end));
                }
            }
        }
        self.fail("unexpected EOF")
    }

    fn text_or_action(&mut self) -> Parsed<Item> {
        let token = self.next_non_space();
        match token.kind {
            TokenKind::Text => Ok(Item::Node(Node::Text(span_of(token)))),
            TokenKind::LeftDelimiter => {
                self.action_line = token.line;
                let item = self.action();
                self.action_line = 0;
                item
            }
            _ => self.unexpected(token, "input"),
        }
    }

    fn action(&mut self) -> Parsed<Item> {
        let token = self.next_non_space();
        let TokenKind::Keyword(keyword) = token.kind else {
            self.back_up();
            return Ok(Item::Node(Node::Action(
                self.pipeline("command", TokenKind::RightDelimiter)?,
            )));
        };
        let node = match keyword {
            Keyword::Block => self.block()?,
            Keyword::Break => self.jump(Node::Break, "{{break}}")?,
            Keyword::Continue => self.jump(Node::Continue, "{{continue}}")?,
            Keyword::Else => return self.otherwise(),
            Keyword::End => {
                self.expect(TokenKind::RightDelimiter, "end")?;
                return Ok(Item::End(ListEnd::End));
            }
            Keyword::If => Node::If(Box::new(self.branch(Keyword::If)?)),
            Keyword::Range => Node::Range(Box::new(self.branch(Keyword::Range)?)),
            Keyword::With => Node::With(Box::new(self.branch(Keyword::With)?)),
            Keyword::Template => self.call()?,
            Keyword::Define => {
                self.back_up();
                Node::Action(self.pipeline("command", TokenKind::RightDelimiter)?)
            }
        };
        Ok(Item::Node(node))
    }

    fn jump(&mut self, node: Node, shown: &str) -> Parsed<Node> {
        let token = self.next_non_space();
        if token.kind != TokenKind::RightDelimiter {
            return self.unexpected(token, shown);
        }
        if self.range_depth == 0 {
            return self.fail(format!("{shown} outside {{{{range}}}}"));
        }
        Ok(node)
    }

    /// `else`, of which a following `if` or `with` is left to be read.
    fn otherwise(&mut self) -> Parsed<Item> {
        let token = self.peek_non_space();
        if !matches!(token.kind, TokenKind::Keyword(Keyword::If | Keyword::With)) {
            self.expect(TokenKind::RightDelimiter, "else")?;
        }
        Ok(Item::End(ListEnd::Else))
    }

    fn branch(&mut self, keyword: Keyword) -> Parsed<Branch> {
        let outer = self.scope.mark();
        let branch = self.nested(|parser| parser.branch_in_scope(keyword));
        self.scope.restore(outer);
        branch
    }

    fn branch_in_scope(&mut self, keyword: Keyword) -> Parsed<Branch> {
        let context = match keyword {
            Keyword::Range => "range",
            Keyword::With => "with",
            _ => "if",
        };
        let pipe = self.pipeline(context, TokenKind::RightDelimiter)?;
        let inner = self.scope.mark();
        let depth = usize::from(keyword == Keyword::Range);
        self.range_depth += depth;
        let (body, end) = self.list()?;
        self.range_depth -= depth;
        if end == ListEnd::End {
            return Ok(Branch {
                pipe,
                body,
                otherwise: None,
            });
        }
        self.scope.forget(inner);
        let chained = self.peek().kind == TokenKind::Keyword(keyword);
        let otherwise = match keyword {
            Keyword::If | Keyword::With if chained => {
                self.next();
                let branch = Box::new(self.branch(keyword)?);
                vec![if keyword == Keyword::If {
                    Node::If(branch)
                } else {
                    Node::With(branch)
                }]
            }
            _ => {
                let (nodes, end) = self.list()?;
                if end != ListEnd::End {
                    return self.fail(format!("expected end; found {}", end.shown()));
                }
                nodes
            }
        };
        Ok(Branch {
            pipe,
            body,
            otherwise: Some(otherwise),
        })
    }

    /// The keyword `block` has been read: a definition and its call in one.
    fn block(&mut self) -> Parsed<Node> {
        const CONTEXT: &str = "block clause";
        let token = self.next_non_space();
        let name = self.template_name(token, CONTEXT)?;
        let pipe = self.pipeline(CONTEXT, TokenKind::RightDelimiter)?;
        let defined = name.clone();
        self.nested(|parser| {
            let mut block = Parser::new(parser.text);
            let (nodes, end) = block.list()?;
            if end == ListEnd::End {
                return block.add(defined, nodes);
            }
            parser.fail(format!("unexpected {} in {CONTEXT}", end.shown()))
        })?;
        Ok(Node::Template(Box::new(Call {
            position: token.start as u32,
            name,
            pipe: Some(pipe),
        })))
    }

    /// The keyword `template` has been read.
    fn call(&mut self) -> Parsed<Node> {
        const CONTEXT: &str = "template clause";
        let token = self.next_non_space();
        let name = self.template_name(token, CONTEXT)?;
        let mut pipe = None;
        if self.next_non_space().kind != TokenKind::RightDelimiter {
            self.back_up();
            pipe = Some(self.pipeline(CONTEXT, TokenKind::RightDelimiter)?);
        }
        Ok(Node::Template(Box::new(Call {
            position: token.start as u32,
            name,
            pipe,
        })))
    }

    fn template_name(&mut self, token: Token, context: &str) -> Parsed<Arc<str>> {
        if !matches!(token.kind, TokenKind::String | TokenKind::RawString) {
            return self.unexpected(token, context);
        }
        match unquote(self.value(token)) {
            Ok(name) => Ok(self.text.intern(&name)),
            Err(error) => self.fail(error.to_string()),
        }
    }
}

/// Where a token stands in the text.
pub(super) fn span_of(token: Token) -> Span {
    Span {
        start: token.start as u32,
        length: (token.end - token.start) as u32,
    }
}
