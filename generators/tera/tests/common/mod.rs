//! Renders Tera templates beside Go templates.

// Not every test needs everything.
#![allow(dead_code, clippy::unwrap_used)]

use std::{sync::Arc, time::Duration};
use whipstaff_generator::{Limits, LookupQuestion};
use whipstaff_gotemplate::{
    Environment, ExecuteError, FunctionError, Options, Renderer, TemplateSet, Value,
};
use whipstaff_tera::{SUFFIX, TeraCompileError, TeraSource, TeraTemplates};

/// An environment in which time stands still.
#[derive(Debug)]
struct Still;

impl Environment for Still {
    fn lookup(&mut self, question: LookupQuestion) -> Result<serde_json::Value, FunctionError> {
        Ok(serde_json::json!({"asked": format!("{}/{}", question.kind, question.name)}))
    }

    fn random(&mut self, buffer: &mut [u8]) -> Result<(), FunctionError> {
        buffer.fill(7);
        Ok(())
    }

    fn now(&mut self) -> (i64, u32) {
        (86_400, 0)
    }
}

/// Compiles the Tera templates among some.
pub(crate) fn compile(templates: &[(&str, &str)]) -> Result<TeraTemplates, TeraCompileError> {
    let functions = whipstaff_sprig::functions(whipstaff_gotemplate::Dialect::V4_3);
    let sources: Vec<TeraSource<'_>> = templates
        .iter()
        .filter(|(name, _)| name.ends_with(SUFFIX))
        .map(|(name, text)| TeraSource {
            name,
            scope: name.split('/').next().unwrap_or_default(),
            text: text.as_bytes(),
        })
        .collect();
    TeraTemplates::compile(&sources, &functions)
}

/// Renders the first template; those whose names end in `.tera` are Tera's, and the others Go's.
pub(crate) fn render_within(
    templates: &[(&str, &str)],
    data: &Value,
    limits: Limits,
) -> Result<String, ExecuteError> {
    let functions = whipstaff_sprig::functions(whipstaff_gotemplate::Dialect::V4_3);
    let mut set = TemplateSet::new(Arc::new(functions));
    for (name, text) in templates.iter().filter(|(name, _)| !name.ends_with(SUFFIX)) {
        set.parse(name, text.as_bytes()).unwrap();
    }
    set.set_foreign(Arc::new(compile(templates).unwrap()));
    let options = Options {
        limits,
        ..Options::default()
    };
    let mut environment = Still;
    let mut renderer = Renderer::new(&set, &mut environment, options);
    let out = renderer.render(templates[0].0, data)?;
    Ok(String::from_utf8(out).unwrap())
}

/// [`render_within`] limits that nothing reaches.
pub(crate) fn render(templates: &[(&str, &str)], data: &Value) -> Result<String, ExecuteError> {
    render_within(templates, data, Limits::default())
}

/// Limits that are reached soon.
pub(crate) fn narrow() -> Limits {
    let mut limits = Limits::default();
    limits.steps = 200_000;
    limits.output_bytes = 2_000_000;
    limits.depth = 50;
    limits.time = Duration::from_mins(5);
    limits
}
