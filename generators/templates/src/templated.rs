//! A generator whose files may be templates.

use crate::{
    expand::{Templates, merge},
    folder::Layout,
    options::{CONFIG_FILE, TemplateOptions},
};
use serde_json::{Map, Value as Json};
use whipstaff_generator::{Error, ErrorKind, FileTree, Generated, Generator, Input, Prepared};

/// The option that names a folder, as kustomize generators have it.
const PATH: &str = "path";

/// Another generator, before which the templates of its files are rendered: `TemplatedGenerator::new(kustomize)` is a kustomize
/// generator with templated kustomizations ([`Layout::Kustomization`]).
///
/// It has the options of [`TemplateOptions::take`] besides those of the other generator, whose option `path` names the folder that the
/// templates are in; the whole tree without it. Without templates it does nothing; with
/// them, the other generator prepares what they rendered to each time, for its files depend on the input.
#[derive(Debug, Clone)]
pub struct TemplatedGenerator<G> {
    generator: G,
}

impl<G: Generator + Clone + 'static> TemplatedGenerator<G> {
    /// A generator with templates before it.
    pub fn new(generator: G) -> Self {
        Self { generator }
    }
}

impl<G: Generator + Clone + 'static> Generator for TemplatedGenerator<G> {
    fn name(&self) -> &str {
        self.generator.name()
    }

    fn detects(&self, files: &FileTree) -> Option<String> {
        self.generator.detects(files).or_else(|| {
            files
                .contains(CONFIG_FILE)
                .then(|| format!("found `{CONFIG_FILE}`"))
        })
    }

    /// The folder becomes the option `path`, so that what is outside of it can be included.
    fn prepare_folder(
        &self,
        files: &FileTree,
        folder: &str,
        options: &Json,
    ) -> Result<Box<dyn Prepared>, Error> {
        if folder.is_empty() {
            return self.prepare(files, options);
        }
        let mut options = options.clone();
        if options.is_null() {
            options = Json::Object(Map::new());
        }
        if let Json::Object(options) = &mut options {
            let inner = options.get(PATH).and_then(Json::as_str).unwrap_or_default();
            let path = format!("{folder}/{inner}");
            options.insert(PATH.to_owned(), path.trim_end_matches('/').into());
        }
        self.prepare(files, &options)
    }

    fn prepare(&self, files: &FileTree, options: &Json) -> Result<Box<dyn Prepared>, Error> {
        let mut rest = match options {
            Json::Null => Map::new(),
            Json::Object(options) => options.clone(),
            _ => {
                let message = format!("the options of `{}` must be a map", self.name());
                return Err(Error::new(ErrorKind::Parameters, message));
            }
        };
        let written = TemplateOptions::take(&mut rest)?;
        let root = rest.get(PATH).and_then(Json::as_str).unwrap_or_default();
        let templates = Templates::compile(files, root, Layout::Kustomization, &written)?;
        let options = if rest.is_empty() {
            Json::Null
        } else {
            Json::Object(rest)
        };
        if !templates.is_on() {
            return self.generator.prepare(files, &options);
        }
        Ok(Box::new(PreparedTemplates {
            generator: self.generator.clone(),
            options,
            templates,
        }))
    }
}

#[derive(Debug)]
struct PreparedTemplates<G> {
    generator: G,
    options: Json,
    templates: Templates,
}

impl<G: Generator> Prepared for PreparedTemplates<G> {
    fn generate(&self, input: &Input<'_>) -> Result<Generated, Error> {
        let expanded = self.templates.expand(input)?;
        let prepared = self.generator.prepare(&expanded.files, &self.options);
        match prepared.and_then(|prepared| prepared.generate(input)) {
            Ok(mut generated) => {
                merge(&mut generated.consulted, expanded.consulted);
                let mut warnings = expanded.warnings;
                warnings.append(&mut generated.warnings);
                generated.warnings = warnings;
                Ok(generated)
            }
            Err(error) => {
                let mut consulted = error.consulted().clone();
                merge(&mut consulted, expanded.consulted);
                Err(error.after_consulting(consulted))
            }
        }
    }
}
