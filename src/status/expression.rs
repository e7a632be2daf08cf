//! Expressions in the Common Expression Language (CEL) about a live object.

use cel::common::ast::operators::{ADD, CONDITIONAL};
use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr};
use cel::objects::Key;
use cel::{Context, IdedExpr, Program};
use serde_json::Value;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Longest expression in bytes.
pub(crate) const MAX_EXPRESSION_LENGTH: usize = 1024;
/// Most macros (`all`, `exists`, `filter`, `map` and so on) inside each other: each multiplies the work by a list's length.
const MAX_NESTED_MACROS: usize = 2;
/// Most entries of a list or map in an object that expressions are asked about.
const MAX_ENTRIES: usize = 1000;

/// An expression that is true or false of an object.
pub(crate) struct Expression {
    source: String,
    program: Program,
}

impl std::fmt::Debug for Expression {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Expression").field(&self.source).finish()
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for Expression {}

/// A text that is not a usable expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ExpressionError {
    /// It is too long.
    #[error("the expression is longer than {MAX_EXPRESSION_LENGTH} bytes")]
    TooLong,
    /// It is not written in CEL.
    #[error("`{source_text}` is not a CEL expression: {problem}")]
    Syntax {
        /// The text.
        source_text: String,
        /// What is wrong with it.
        problem: String,
    },
    /// It could run for very long.
    #[error("`{source_text}` has more than {MAX_NESTED_MACROS} macros inside each other")]
    Nested {
        /// The text.
        source_text: String,
    },
    /// It could become very large.
    #[error("`{source_text}` has a `+` inside a macro, which is not supported")]
    Addition {
        /// The text.
        source_text: String,
    },
}

impl Expression {
    /// Reads an expression.
    pub(crate) fn compile(source: &str) -> Result<Self, ExpressionError> {
        if source.len() > MAX_EXPRESSION_LENGTH {
            return Err(ExpressionError::TooLong);
        }
        let source_text = source.to_owned();
        // The parser is generated, and not known never to panic.
        let compiled = catch_unwind(|| Program::compile(source));
        let program = match compiled {
            Ok(Ok(program)) => program,
            Ok(Err(errors)) => {
                let problem = problem(&errors);
                return Err(ExpressionError::Syntax {
                    source_text,
                    problem,
                });
            }
            Err(_) => {
                let problem = "it cannot be read".to_owned();
                return Err(ExpressionError::Syntax {
                    source_text,
                    problem,
                });
            }
        };
        match check(program.expression(), 0) {
            Ok(()) => Ok(Self {
                source: source_text,
                program,
            }),
            Err(Excess::Nesting) => Err(ExpressionError::Nested { source_text }),
            Err(Excess::Addition) => Err(ExpressionError::Addition { source_text }),
        }
    }

    /// The expression for a message.
    pub(crate) fn describe(&self) -> String {
        format!("`{}`", self.source)
    }

    /// Whether the expression is true of an object, which it sees as `object`, and the object's fields by their names.
    ///
    /// # Errors
    /// When that cannot be said, in words for a person: a field is missing, for example.
    pub(crate) fn holds(&self, object: &Value) -> Result<bool, String> {
        let context = context(object)?;
        let running = AssertUnwindSafe(|| self.program.execute(&context));
        match catch_unwind(running) {
            Ok(Ok(cel::Value::Bool(holds))) => Ok(holds),
            Ok(Ok(other)) => Err(format!(
                "`{}` is neither true nor false but a {}",
                self.source,
                other.type_of()
            )),
            Ok(Err(error)) => Err(format!("`{}` cannot be told: {error}", self.source)),
            Err(_) => Err(format!("`{}` cannot be evaluated", self.source)),
        }
    }
}

/// What is wrong, and where, without the drawing that comes with it.
fn problem(errors: &cel::ParseErrors) -> String {
    let text = errors.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.trim_start_matches("ERROR: <input>:").to_owned()
}

enum Excess {
    Nesting,
    Addition,
}

/// Refuses what could take very long or become very large: an object is small, and each macro inside another multiplies the work.
fn check(node: &IdedExpr, depth: usize) -> Result<(), Excess> {
    match &node.expr {
        Expr::Comprehension(comprehension) => check_comprehension(comprehension, depth),
        Expr::Call(call) if call.func_name == ADD && depth > 0 => Err(Excess::Addition),
        Expr::Call(call) => check_call(call, depth),
        Expr::List(list) => check_all(list.elements.iter(), depth),
        Expr::Select(select) => check(&select.operand, depth),
        Expr::Map(map) => check_entries(map.entries.iter().map(|entry| &entry.expr), depth),
        Expr::Struct(value) => check_entries(value.entries.iter().map(|e| &e.expr), depth),
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) => Ok(()),
    }
}

fn check_all<'a>(
    nodes: impl IntoIterator<Item = &'a IdedExpr>,
    depth: usize,
) -> Result<(), Excess> {
    nodes.into_iter().try_for_each(|node| check(node, depth))
}

fn check_entries<'a>(
    entries: impl IntoIterator<Item = &'a EntryExpr>,
    depth: usize,
) -> Result<(), Excess> {
    entries.into_iter().try_for_each(|entry| match entry {
        EntryExpr::StructField(field) => check(&field.value, depth),
        EntryExpr::MapEntry(entry) => {
            check(&entry.key, depth)?;
            check(&entry.value, depth)
        }
    })
}

fn check_call(call: &CallExpr, depth: usize) -> Result<(), Excess> {
    check_all(call.target.as_deref(), depth)?;
    check_all(&call.args, depth)
}

fn check_comprehension(comprehension: &ComprehensionExpr, depth: usize) -> Result<(), Excess> {
    check(&comprehension.iter_range, depth)?;
    check(&comprehension.accu_init, depth)?;
    if depth >= MAX_NESTED_MACROS {
        return Err(Excess::Nesting);
    }
    check(&comprehension.loop_cond, depth + 1)?;
    check(&comprehension.result, depth + 1)?;
    check_step(&comprehension.loop_step, &comprehension.accu_var, depth + 1)
}

/// What a macro does with each element. `map` and `filter` are made of an addition themselves: the result so far and one more.
fn check_step(step: &IdedExpr, result: &str, depth: usize) -> Result<(), Excess> {
    let Expr::Call(call) = &step.expr else {
        return check(step, depth);
    };
    let adds_to_result = call.func_name == ADD
        && matches!(call.args.first(), Some(first) if matches!(&first.expr, Expr::Ident(name) if name == result));
    if adds_to_result {
        return check_all(call.args.iter().skip(1), depth);
    }
    if call.func_name == CONDITIONAL {
        return call
            .args
            .iter()
            .try_for_each(|argument| check_step(argument, result, depth));
    }
    check_call(call, depth)
}

fn context(object: &Value) -> Result<Context<'static, 'static>, String> {
    let mut context = Context::default();
    let whole = convert(object, 0)?;
    if let cel::Value::Map(fields) = &whole {
        for (name, value) in &*fields.map {
            if let Key::String(name) = name {
                context.add_variable_from_value(name.as_str(), value.clone());
            }
        }
    }
    context.add_variable_from_value("object", whole);
    Ok(context)
}

/// Whole numbers become `int`, as in expressions of Kubernetes. What the API server alone writes about fields is left out.
fn convert(value: &Value, depth: usize) -> Result<cel::Value, String> {
    let check = |length: usize| {
        if length > MAX_ENTRIES {
            return Err(format!(
                "a list or map of the object has {length} entries, which is more than the {MAX_ENTRIES} that expressions are asked about"
            ));
        }
        Ok(())
    };
    Ok(match value {
        Value::Null => cel::Value::Null,
        Value::Bool(value) => cel::Value::Bool(*value),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => cel::Value::Int(whole),
            (None, Some(float)) => cel::Value::Float(float),
            (None, None) => cel::Value::Null,
        },
        Value::String(text) => cel::Value::String(Arc::new(text.clone())),
        Value::Array(items) => {
            check(items.len())?;
            let items = items.iter().map(|item| convert(item, depth + 1));
            cel::Value::List(Arc::new(items.collect::<Result<_, _>>()?))
        }
        Value::Object(fields) => {
            check(fields.len())?;
            let mut map = HashMap::with_capacity(fields.len());
            let shown = fields
                .iter()
                .filter(|(name, _)| depth != 1 || *name != "managedFields");
            for (name, value) in shown {
                let name = Key::String(Arc::new(name.clone()));
                map.insert(name, convert(value, depth + 1)?);
            }
            cel::Value::Map(cel::objects::Map { map: Arc::new(map) })
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn holds(source: &str, object: &Value) -> Result<bool, String> {
        Expression::compile(source).unwrap().holds(object)
    }

    #[test]
    fn expressions_see_the_object_and_its_fields() {
        let object = json!({"spec": {"replicas": 3}, "status": {"ready": 3, "phase": "Up",
            "conditions": [{"type": "Ready", "status": "True"}]}});
        for source in [
            "object.status.ready == object.spec.replicas",
            "status.ready == spec.replicas && status.phase == 'Up'",
            "status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')",
            "status.conditions.filter(c, c.status == 'True').map(c, c.type) == ['Ready']",
            "has(status.phase) && !has(status.failure)",
            "status.ready + 1 > spec.replicas",
            "status.phase.matches('^U')",
        ] {
            assert_eq!(holds(source, &object), Ok(true), "{source}");
        }
    }

    #[test]
    fn what_is_missing_or_not_a_truth_is_said() {
        let object = json!({"status": {"phase": "Up"}});
        let missing = holds("status.ready == 3", &object).unwrap_err();
        assert!(missing.contains("ready"), "{missing}");
        let text = holds("status.phase", &object).unwrap_err();
        assert!(text.contains("neither true nor false"), "{text}");
    }

    #[test]
    fn what_could_run_for_ever_or_fill_the_memory_is_refused() {
        let nested = "a.all(x, a.all(y, a.all(z, x == z)))";
        let error = Expression::compile(nested).unwrap_err();
        assert!(matches!(error, ExpressionError::Nested { .. }), "{error}");
        let doubling = "['a'].map(x, x + x).map(x, x + x) == []";
        let error = Expression::compile(doubling).unwrap_err();
        assert!(matches!(error, ExpressionError::Addition { .. }), "{error}");
        let hidden = "['a'].map(x, [x, x].map(y, [y, y]).size() > 1 ? x + x : x) == []";
        let error = Expression::compile(hidden).unwrap_err();
        assert!(matches!(error, ExpressionError::Addition { .. }), "{error}");
        let long = "a".repeat(MAX_EXPRESSION_LENGTH + 1);
        assert_eq!(
            Expression::compile(&long).unwrap_err(),
            ExpressionError::TooLong
        );
        let many = json!({ "list": vec![0; MAX_ENTRIES + 1] });
        assert!(holds("object.list.all(x, x == 0)", &many).is_err());
    }

    #[test]
    fn texts_that_are_no_expressions_are_refused_with_what_is_wrong() {
        for source in ["", "status.", "a b", "(", "'", "\u{0}"] {
            let error = Expression::compile(source).unwrap_err();
            assert!(matches!(error, ExpressionError::Syntax { .. }), "{error}");
        }
        let error = Expression::compile("status.").unwrap_err().to_string();
        let place = "`status.` is not a CEL expression: 1:8: ";
        assert!(error.starts_with(place) && !error.contains('\n'), "{error}");
    }
}
