//! The generator.

use crate::manifests;
use serde_json::Value;
use whipstaff_generator::{
    Error, ErrorKind, FileTree, Generated, Generator, Input, ObjectSet, Prepared,
};

/// Takes the manifests of a file tree as they are.
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
        check_options(options)?;
        let objects = manifests::read(files)?;
        Ok(Box::new(Manifests { objects }))
    }
}

#[derive(Debug)]
struct Manifests {
    objects: ObjectSet,
}

impl Prepared for Manifests {
    fn generate(&self, input: &Input<'_>) -> Result<Generated, Error> {
        let mut generated = Generated::default();
        generated.objects.clone_from(&self.objects);
        if self.objects.is_empty() {
            generated
                .warnings
                .push("the manifests hold no object".to_owned());
        }
        if !input.parameters.is_empty() {
            generated
                .warnings
                .push("plain manifests have no parameters: the values are not used".to_owned());
        }
        Ok(generated)
    }
}

/// There are no options yet, and a misspelt one must not go unnoticed.
fn check_options(options: &Value) -> Result<(), Error> {
    let refused = match options {
        Value::Null => return Ok(()),
        Value::Object(options) => match options.keys().next() {
            None => return Ok(()),
            Some(option) => format!("unknown option `{option}`: a directory of manifests has none"),
        },
        _ => "the options of a directory of manifests must be a map".to_owned(),
    };
    Err(Error::new(ErrorKind::Parameters, refused))
}
