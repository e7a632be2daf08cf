//! The generator.

use crate::{manifests, options};
use serde_json::Value;
use whipstaff_generator::{
    Error, ErrorKind, FileTree, Generated, Generator, Input, ObjectSet, Prepared,
};
use whipstaff_templates::{GO_SUFFIX, IgnoreRules, IgnoreScope, Layout, TERA_SUFFIX, Templates};

/// The files that say which files are left out, in the language of `.gitignore`: each one for its folder and those below.
pub const IGNORE_FILE: &str = ".whipstaffignore";

/// Takes the manifests of a file tree: as they are, or out of templates if that is asked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct DirectoryGenerator;

impl Generator for DirectoryGenerator {
    fn name(&self) -> &'static str {
        "directory"
    }

    fn detects(&self, files: &FileTree) -> Option<String> {
        let (path, _) = manifests::files(files).next()?;
        Some(format!("found `{path}`"))
    }

    fn prepare(&self, files: &FileTree, options: &Value) -> Result<Box<dyn Prepared>, Error> {
        let options = options::read(options)?;
        let rules = IgnoreRules::read(files, IGNORE_FILE, IgnoreScope::Everywhere)?;
        let files = if rules.is_empty() {
            files.clone()
        } else {
            rules.kept(files)
        };
        if options.template == Some(true) {
            let templates = Templates::compile(&files, "", Layout::Directory, &options)?;
            return Ok(Box::new(Templated { templates }));
        }
        Ok(Box::new(Manifests {
            objects: manifests::read(&files, ErrorKind::Source)?,
            warnings: passed_over(&files),
        }))
    }
}

/// Templates that nobody asked for: it is likely that they were forgotten.
fn passed_over(files: &FileTree) -> Vec<String> {
    let forgotten = [(GO_SUFFIX, "go"), (TERA_SUFFIX, "tera")].map(|(suffix, engine)| {
        let mut templates = files.iter().filter(|(path, _)| path.ends_with(suffix));
        let (path, _) = templates.next()?;
        Some(format!(
            "`{path}` is not rendered: the option `templates` does not name `{engine}`"
        ))
    });
    forgotten.into_iter().flatten().collect()
}

/// Manifests as they are.
#[derive(Debug)]
struct Manifests {
    objects: ObjectSet,
    warnings: Vec<String>,
}

impl Prepared for Manifests {
    fn generate(&self, input: &Input<'_>) -> Result<Generated, Error> {
        let mut generated = generated(self.objects.clone());
        generated.warnings.extend(self.warnings.iter().cloned());
        if !input.parameters.is_empty() {
            generated
                .warnings
                .push("plain manifests have no parameters: the values are not used".to_owned());
        }
        Ok(generated)
    }
}

/// Manifests out of templates.
#[derive(Debug)]
struct Templated {
    templates: Templates,
}

impl Prepared for Templated {
    fn generate(&self, input: &Input<'_>) -> Result<Generated, Error> {
        let expanded = self.templates.expand(input)?;
        let consulted = expanded.consulted;
        match manifests::read(&expanded.files, ErrorKind::Output) {
            Ok(objects) => {
                let mut generated = generated(objects);
                generated.consulted = consulted;
                generated.warnings.extend(expanded.warnings);
                Ok(generated)
            }
            Err(error) => Err(error.after_consulting(consulted)),
        }
    }
}

fn generated(objects: ObjectSet) -> Generated {
    let mut generated = Generated::default();
    if objects.is_empty() {
        generated
            .warnings
            .push("the manifests hold no object".to_owned());
    }
    generated.objects = objects;
    generated
}
