//! Options of a directory.

use serde::Deserialize;
use serde_json::{Map, Value as Json};
use whipstaff_generator::{Error, ErrorKind};
use whipstaff_templates::TemplateOptions;

const KEY: &str = "templates";

/// What templates are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Engine {
    Go,
    Tera,
}

/// Reads the options; null stands for the defaults.
///
/// # Errors
/// [`ErrorKind::Parameters`] when an option is unknown or has a value that it cannot have.
pub(crate) fn read(options: &Json) -> Result<TemplateOptions, Error> {
    let mut options = match options {
        Json::Null => Map::new(),
        Json::Object(options) => options.clone(),
        _ => {
            return Err(refused(
                "the options of a directory of manifests must be a map",
            ));
        }
    };
    let engines = match options.shift_remove(KEY) {
        None => Vec::new(),
        Some(engines) => Vec::<Engine>::deserialize(engines)
            .map_err(|error| refused(format!("invalid option `{KEY}`")).caused_by(error))?,
    };
    let unknown = |option: &str| {
        refused(format!(
            "unknown option `{option}`: a directory of manifests has `{KEY}`, and `templateSuffix`, \
             `leftTemplateDelimiter`, `rightTemplateDelimiter` and `values` for templates"
        ))
    };
    // A directory is all that there is to include, and says in another way whether it has templates.
    for option in [
        "template",
        "tera",
        "includedFiles",
        "includedKustomizations",
    ] {
        if options.contains_key(option) {
            return Err(unknown(option));
        }
    }
    let given: Vec<_> = options.keys().cloned().collect();
    let mut templates = TemplateOptions::take(&mut options)?;
    if let Some(option) = options.keys().next() {
        return Err(unknown(option));
    }
    if let (true, Some(option)) = (engines.is_empty(), given.first()) {
        let message = format!("option `{option}` means nothing without `{KEY}`");
        return Err(refused(message));
    }
    templates.template = Some(!engines.is_empty());
    templates.go = engines.contains(&Engine::Go);
    templates.tera = engines.contains(&Engine::Tera);
    Ok(templates)
}

fn refused(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Parameters, message)
}
