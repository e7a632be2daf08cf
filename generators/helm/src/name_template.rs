//! Release names out of a template: `helm template --name-template`.

use crate::template_error::TemplateError;
use std::sync::Arc;
use whipstaff_generator::{LookupSnapshot, Seed};
use whipstaff_gotemplate::{Dialect, Options, ParseError, Renderer, TemplateSet, Value};
use whipstaff_sprig::{CurrentTemplate, RenderEnvironment};

const NAME: &str = "name-template";

/// A name's template that does not parse or fails.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameTemplateError {
    /// It does not parse.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// It fails.
    #[error(transparent)]
    Execute(#[from] TemplateError),
}

/// Renders a release name.
///
/// # Errors
/// [`NameTemplateError`] when the template does not parse or fails.
pub fn render_release_name(template: &str, dialect: Dialect) -> Result<String, NameTemplateError> {
    let mut set = TemplateSet::new(Arc::new(whipstaff_sprig::functions(dialect)));
    set.parse(NAME, template.as_bytes())?;
    let lookups = LookupSnapshot::new();
    let mut environment =
        RenderEnvironment::new(&lookups, Seed::Random, CurrentTemplate::default());
    let options = Options {
        dialect,
        ..Options::default()
    };
    let name = Renderer::new(&set, &mut environment, options)
        .render(NAME, &Value::Nil)
        .map_err(|error| TemplateError::new(error, dialect))?;
    Ok(String::from_utf8_lossy(&name).into_owned())
}
