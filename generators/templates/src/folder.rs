//! One folder of a file tree: which of its files are templates, compiled.

use crate::{
    ignore_rules::{IgnoreRules, IgnoreScope},
    options::{CONFIG_FILE, TemplateOptions},
    paths,
    readable::Files,
};
use serde_json::{Map, Value as Json};
use std::{collections::BTreeMap, sync::Arc};
use whipstaff_generator::{Error, ErrorKind, FileTree, Location, MAX_FILES};
use whipstaff_gotemplate::{Delimiters, FunctionTable, ParseError, TemplateSet};

/// The file at a kustomization's root that says which of its files are left out.
pub const COMPONENT_IGNORE_FILE: &str = ".component-ignore";
/// What the names of Go templates of a directory end with unless something else is asked for.
pub const GO_SUFFIX: &str = ".gotmpl";
/// What the names of a directory's files end with that only define templates.
pub const PARTIAL_SUFFIX: &str = ".tpl";

/// Which files of a folder are templates, and what else happens to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// As component-operator has kustomizations: each file is a template unless there is a suffix, [`CONFIG_FILE`] and
    /// [`COMPONENT_IGNORE_FILE`] are heeded and are not a part of the output, and a kustomization is added where there is none.
    Kustomization,
    /// A directory of manifests: files that end in [`GO_SUFFIX`] are templates, and those that end in [`PARTIAL_SUFFIX`] define some
    /// and are not a part of the output. With an empty suffix every manifest is a template.
    Directory,
}

/// What becomes of a file.
enum Role<'p> {
    Template { output: &'p str },
    Partial,
    Copy,
    LeftOut,
}

/// A compiled folder.
#[derive(Debug)]
pub(crate) struct Folder {
    /// Path in the whole tree, clean; empty for the root.
    pub(crate) path: String,
    pub(crate) layout: Layout,
    pub(crate) set: TemplateSet,
    /// Names of templates by the names of what they render to.
    pub(crate) templates: BTreeMap<String, String>,
    /// Files that are taken as they are.
    pub(crate) copies: Files,
    /// What templates may read.
    pub(crate) readable: Arc<Files>,
    /// Values that parameters are merged over.
    pub(crate) defaults: Map<String, Json>,
    /// Folders that are rendered too, as their paths in the whole tree.
    pub(crate) included: Vec<String>,
    pub(crate) warnings: Vec<String>,
}

impl Folder {
    /// Compiles a folder of a tree.
    ///
    /// # Errors
    /// When its configuration is wrong, a template does not parse, or two files have the same output.
    pub(crate) fn compile(
        tree: &FileTree,
        path: &str,
        layout: Layout,
        options: TemplateOptions,
        functions: &Arc<FunctionTable>,
    ) -> Result<Self, Error> {
        let files = tree.subtree(path);
        let config_path = paths::join(path, CONFIG_FILE);
        let (options, warnings) = match layout {
            Layout::Kustomization => options.with_config_file(&files, &config_path)?,
            Layout::Directory => (options, Vec::new()),
        };
        let ignored = match layout {
            Layout::Kustomization => read_ignore_file(&files, path)?,
            Layout::Directory => IgnoreRules::default(),
        };
        let delimiters = Delimiters::new(
            options.left_template_delimiter.as_deref().unwrap_or_default(),
            options.right_template_delimiter.as_deref().unwrap_or_default(),
        );
        let set = TemplateSet::new(Arc::clone(functions)).with_delimiters(delimiters);
        let mut folder = Self {
            path: path.to_owned(),
            layout,
            set,
            templates: BTreeMap::new(),
            copies: Files::new(),
            readable: Arc::default(),
            defaults: Map::new(),
            included: Vec::new(),
            warnings,
        };
        let suffix = options.template_suffix.as_deref();
        for (name, content) in files.iter() {
            let role = match ignored.ignores(name) {
                true => Role::LeftOut,
                false => role(name, layout, suffix),
            };
            folder.add(name, content, role)?;
        }
        let outside = Outside {
            tree,
            folder: path,
            config_path: &config_path,
        };
        let mut readable: Files = files
            .iter()
            .map(|(name, content)| (name.to_owned(), Arc::clone(content)))
            .collect();
        for included in &options.included_files {
            outside.read(included, &mut readable)?;
        }
        for included in &options.included_kustomizations {
            folder.included.push(outside.folder(included)?);
        }
        folder.readable = Arc::new(readable);
        folder.defaults = options.values;
        Ok(folder)
    }

    fn add(&mut self, name: &str, content: &Arc<[u8]>, role: Role<'_>) -> Result<(), Error> {
        let output = match role {
            Role::LeftOut => return Ok(()),
            Role::Partial => return self.parse(name, content),
            Role::Copy => {
                self.copies.insert(name.to_owned(), Arc::clone(content));
                name
            }
            Role::Template { output } => {
                self.parse(name, content)?;
                self.templates.insert(output.to_owned(), name.to_owned());
                output
            }
        };
        let template = self.templates.get(output);
        match template {
            Some(template) if self.copies.contains_key(output) => {
                let message = format!("`{template}` renders to `{output}`, which is there already");
                Err(Error::new(ErrorKind::Source, message)
                    .at(Location::file(paths::join(&self.path, template))))
            }
            _ => Ok(()),
        }
    }

    fn parse(&mut self, name: &str, content: &[u8]) -> Result<(), Error> {
        self.set
            .parse(name, content)
            .map_err(|error| parse_error(&self.path, error))
    }
}

fn parse_error(folder: &str, error: ParseError) -> Error {
    let place = Location::line(paths::join(folder, &error.name), error.line);
    let message = format!("malformed template: {}", error.message);
    Error::new(ErrorKind::Source, message).at(place)
}

fn role<'p>(name: &'p str, layout: Layout, suffix: Option<&str>) -> Role<'p> {
    let base = name.rsplit('/').next().unwrap_or(name);
    match layout {
        Layout::Kustomization if matches!(base, CONFIG_FILE | COMPONENT_IGNORE_FILE) => {
            Role::LeftOut
        }
        Layout::Kustomization => stripped(name, suffix.unwrap_or_default()),
        Layout::Directory if name.ends_with(PARTIAL_SUFFIX) => Role::Partial,
        Layout::Directory => match suffix.unwrap_or(GO_SUFFIX) {
            "" if !is_manifest(name) => Role::Copy,
            suffix => stripped(name, suffix),
        },
    }
}

/// A file that ends in the suffix is a template, and more than that: without it a name must be left.
fn stripped<'p>(name: &'p str, suffix: &str) -> Role<'p> {
    match name.strip_suffix(suffix) {
        Some(output) if !output.is_empty() && !output.ends_with('/') => Role::Template { output },
        _ => Role::Copy,
    }
}

/// Whether a name is one of a manifest.
fn is_manifest(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    matches!(extension, Some("yaml" | "yml" | "json"))
}

fn read_ignore_file(files: &FileTree, folder: &str) -> Result<IgnoreRules, Error> {
    IgnoreRules::read(files, COMPONENT_IGNORE_FILE, IgnoreScope::Root).map_err(|error| {
        match error.location().cloned() {
            Some(place) => {
                let file = paths::join(folder, &place.file);
                error.at(Location { file, ..place })
            }
            None => error,
        }
    })
}

/// What lies outside of a folder, for those who include it.
struct Outside<'a> {
    tree: &'a FileTree,
    folder: &'a str,
    config_path: &'a str,
}

impl Outside<'_> {
    fn refused(&self, message: String) -> Error {
        Error::new(ErrorKind::Source, message).at(Location::file(self.config_path))
    }

    /// The path in the whole tree that an include means.
    fn resolve(&self, included: &str) -> Result<String, Error> {
        if included.starts_with('/') {
            return Err(self.refused(format!("included path `{included}` is not relative")));
        }
        let Some(path) = paths::resolve(self.folder, included) else {
            let message = format!("included path `{included}` leads out of the files");
            return Err(self.refused(message));
        };
        if paths::contains(self.folder, &path) {
            let message = format!("included path `{included}` is not outside of the folder");
            return Err(self.refused(message));
        }
        Ok(path)
    }

    /// Adds a file, or all files of a folder, under the path as it is written.
    fn read(&self, included: &str, readable: &mut Files) -> Result<(), Error> {
        let path = self.resolve(included)?;
        if let Some(content) = self.tree.get(&path) {
            readable.insert(included.to_owned(), Arc::clone(content));
            return Ok(());
        }
        let files = self.tree.subtree(&path);
        if files.is_empty() {
            return Err(self.refused(format!("included path `{included}` does not exist")));
        }
        let prefix = included.trim_end_matches('/');
        for (name, content) in files.iter() {
            readable.insert(format!("{prefix}/{name}"), Arc::clone(content));
        }
        if readable.len() > MAX_FILES {
            let message = format!("more than {MAX_FILES} files are readable for templates");
            let place = Location::file(self.config_path);
            return Err(Error::new(ErrorKind::Limit, message).at(place));
        }
        Ok(())
    }

    fn folder(&self, included: &str) -> Result<String, Error> {
        let path = self.resolve(included)?;
        if paths::contains(&path, self.folder) {
            let message = format!("included folder `{included}` has the folder itself in it");
            return Err(self.refused(message));
        }
        if self.tree.subtree(&path).is_empty() {
            let message = format!("included folder `{included}` does not exist");
            return Err(self.refused(message));
        }
        Ok(path)
    }
}
