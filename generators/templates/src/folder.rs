//! One folder of a file tree: which of its files are templates, compiled.

use crate::{
    expand::placed,
    ignore_rules::{IgnoreRules, IgnoreScope},
    options::{CONFIG_FILE, TemplateOptions},
    paths,
    readable::Files,
};
use serde_json::{Map, Value as Json};
use std::{collections::BTreeMap, sync::Arc};
use whipstaff_generator::{Error, ErrorKind, FileTree, Location, MAX_FILES};
use whipstaff_gotemplate::{Delimiters, FunctionTable, ParseError, TemplateSet};
use whipstaff_tera::{SUFFIX as TERA_SUFFIX, TeraCompileError, TeraSource, TeraTemplates};

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

/// What becomes of a file. Of a template without an output only its definitions count.
#[derive(Debug, Clone, Copy)]
enum Role<'p> {
    Go { output: Option<&'p str> },
    Tera { output: Option<&'p str> },
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
            options
                .left_template_delimiter
                .as_deref()
                .unwrap_or_default(),
            options
                .right_template_delimiter
                .as_deref()
                .unwrap_or_default(),
        );
        let mut folder = Self {
            path: path.to_owned(),
            layout,
            set: TemplateSet::new(Arc::clone(functions)).with_delimiters(delimiters),
            templates: BTreeMap::new(),
            copies: Files::new(),
            readable: Arc::default(),
            defaults: Map::new(),
            included: Vec::new(),
            warnings,
        };
        let kept = files.iter().filter(|(name, _)| !ignored.ignores(name));
        folder.add_all(kept, &options, functions)?;
        let outside = Outside {
            tree,
            folder: path,
            config_path: &config_path,
        };
        let own = files.iter();
        let mut readable = own
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

    fn add_all<'f>(
        &mut self,
        files: impl Iterator<Item = (&'f str, &'f Arc<[u8]>)>,
        options: &TemplateOptions,
        functions: &FunctionTable,
    ) -> Result<(), Error> {
        let roles = Roles {
            layout: self.layout,
            go: options.go,
            go_suffix: options.template_suffix.as_deref(),
            tera: options.tera,
        };
        let mut tera = Vec::new();
        let scope = self.path.clone();
        for (name, content) in files {
            let role = roles.of(name);
            if matches!(role, Role::Tera { .. }) {
                tera.push(TeraSource {
                    name,
                    scope: &scope,
                    text: content,
                });
            }
            self.add(name, content, role)?;
        }
        if !tera.is_empty() {
            let tera = TeraTemplates::compile(&tera, functions)
                .map_err(|error| tera_error(&scope, error))?;
            self.set.set_foreign(Arc::new(tera));
        }
        Ok(())
    }

    fn add(&mut self, name: &str, content: &Arc<[u8]>, role: Role<'_>) -> Result<(), Error> {
        if matches!(role, Role::Go { .. }) {
            self.parse(name, content)?;
        }
        let (output, template) = match role {
            Role::LeftOut => return Ok(()),
            Role::Copy => (name, None),
            Role::Go { output } | Role::Tera { output } => match output {
                Some(output) => (output, Some(name.to_owned())),
                None => return Ok(()),
            },
        };
        let known = self.templates.get(output).map(String::as_str);
        if let Some(known) = known.or(self.copies.get(output).map(|_| output)) {
            let message = format!("`{known}` and `{name}` both give `{output}`");
            let place = Location::file(paths::join(&self.path, name));
            return Err(Error::new(ErrorKind::Source, message).at(place));
        }
        match template {
            Some(template) => {
                self.templates.insert(output.to_owned(), template);
            }
            None => {
                self.copies.insert(name.to_owned(), Arc::clone(content));
            }
        }
        Ok(())
    }

    fn parse(&mut self, name: &str, content: &Arc<[u8]>) -> Result<(), Error> {
        self.set
            .parse(name, Arc::clone(content))
            .map_err(|error| parse_error(&self.path, &error))
    }
}

fn parse_error(folder: &str, error: &ParseError) -> Error {
    let place = Location::line(paths::join(folder, &error.name), error.line);
    let message = format!("malformed template: {}", error.message);
    placed(ErrorKind::Source, message, place)
}

fn tera_error(folder: &str, error: TeraCompileError) -> Error {
    let TeraCompileError {
        name,
        line,
        column,
        message,
    } = error;
    let place = Location::column(paths::join(folder, &name), line, column);
    let message = format!("malformed template: {message}");
    placed(ErrorKind::Source, message, place)
}

/// What decides on the role of a file.
struct Roles<'o> {
    layout: Layout,
    go: bool,
    go_suffix: Option<&'o str>,
    tera: bool,
}

impl Roles<'_> {
    fn of<'p>(&self, name: &'p str) -> Role<'p> {
        let base = name.rsplit('/').next().unwrap_or(name);
        let is_directory = self.layout == Layout::Directory;
        if !is_directory && matches!(base, CONFIG_FILE | COMPONENT_IGNORE_FILE) {
            return Role::LeftOut;
        }
        // In a directory, what does not give a manifest is there for its definitions.
        let given = |output: &'p str| (!is_directory || is_manifest(output)).then_some(output);
        if let Some(output) = stripped(name, TERA_SUFFIX).filter(|_| self.tera) {
            return Role::Tera {
                output: given(output),
            };
        }
        if !self.go {
            return Role::Copy;
        }
        if is_directory && name.ends_with(PARTIAL_SUFFIX) {
            return Role::Go { output: None };
        }
        let usual = if is_directory { GO_SUFFIX } else { "" };
        let suffix = self.go_suffix.unwrap_or(usual);
        if is_directory && suffix.is_empty() && !is_manifest(name) {
            return Role::Copy;
        }
        stripped(name, suffix).map_or(Role::Copy, |output| Role::Go {
            output: given(output),
        })
    }
}

/// A file that ends in the suffix is a template, and more than that: without it a name must be left.
fn stripped<'p>(name: &'p str, suffix: &str) -> Option<&'p str> {
    let output = name.strip_suffix(suffix)?;
    (!output.is_empty() && !output.ends_with('/')).then_some(output)
}

/// Whether a name is one of a manifest.
fn is_manifest(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    matches!(extension, Some("yaml" | "yml" | "json"))
}

fn read_ignore_file(files: &FileTree, folder: &str) -> Result<IgnoreRules, Error> {
    IgnoreRules::read(files, COMPONENT_IGNORE_FILE, IgnoreScope::Root).map_err(|error| match error
        .location()
        .cloned()
    {
        Some(place) => {
            let file = paths::join(folder, &place.file);
            error.at(Location { file, ..place })
        }
        None => error,
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
