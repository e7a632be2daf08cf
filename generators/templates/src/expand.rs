//! Rendering a file tree's templates.

use crate::{
    folder::{Folder, Layout},
    functions::{
        API_RESOURCES, COMPONENT_DIGEST, COMPONENT_REVISION, FILES, KUBERNETES_VERSION, NAME,
        NAMESPACE, functions,
    },
    go_object::{GoObject, VersionInfo, api_resources},
    kustomization::{KUSTOMIZATION_FILES, missing_kustomization},
    options::{MAX_INCLUDES, TemplateOptions},
    paths,
    readable::Readable,
    values::data,
};
use serde_json::{Value as Json, json};
use std::sync::Arc;
use whipstaff_generator::{
    Consulted, Digest, Error, ErrorKind, FileTree, FileTreeError, Input, Limits, Location,
};
use whipstaff_gotemplate::{
    ExecuteError, FunctionErrorKind, Options, Renderer, Value, without_no_value,
};
use whipstaff_sprig::{COMPONENT_VALUE, CurrentTemplate, RenderEnvironment};

/// A file tree whose templates are compiled: render it as often as needed, on any thread.
#[derive(Debug)]
pub struct Templates {
    /// The folder and those that it includes; none when nothing is a template.
    folders: Vec<Folder>,
    /// All files outside of these folders.
    rest: FileTree,
    digest: Digest,
}

/// What rendering a file tree gives.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Expanded {
    /// The whole tree: what templates rendered to in the place of templates, and all other files.
    pub files: FileTree,
    /// What templates consulted beside files and parameters.
    pub consulted: Consulted,
    /// What a user should know although rendering succeeded.
    pub warnings: Vec<String>,
}

/// Compiles and renders once. Who renders more often keeps the [`Templates`].
///
/// # Errors
/// As [`Templates::compile`] and [`Templates::expand`].
pub fn expand(
    files: &FileTree,
    root: &str,
    layout: Layout,
    options: &TemplateOptions,
    input: &Input<'_>,
) -> Result<Expanded, Error> {
    Templates::compile(files, root, layout, options)?.expand(input)
}

impl Templates {
    /// Compiles the templates below `root`, a folder of the tree (empty for the tree itself). Without templates (see
    /// [`TemplateOptions::template`]) the tree stays as it is.
    ///
    /// # Errors
    /// [`ErrorKind::Source`] when a configuration is wrong, a template does not parse, something that is included does not exist, or
    /// two files have the same output; with file and line.
    pub fn compile(
        files: &FileTree,
        root: &str,
        layout: Layout,
        options: &TemplateOptions,
    ) -> Result<Self, Error> {
        let Some(root) = paths::resolve("", root) else {
            let message = format!("`{root}` leads out of the files");
            return Err(Error::new(ErrorKind::Source, message));
        };
        let digest = files.digest();
        let is_on = match layout {
            Layout::Kustomization => options.is_on(&files.subtree(&root)),
            Layout::Directory => options.template.unwrap_or_default(),
        };
        let mut templates = Self {
            folders: Vec::new(),
            rest: files.clone(),
            digest,
        };
        if !is_on {
            return Ok(templates);
        }
        templates.folders = compile_all(files, &root, layout, options)?;
        let is_outside = |path: &str| {
            let mut folders = templates.folders.iter();
            !folders.any(|folder| paths::contains(&folder.path, path))
        };
        let mut rest = FileTree::new();
        for (path, content) in files.iter().filter(|(path, _)| is_outside(path)) {
            rest.insert(path, Arc::clone(content))
                .map_err(|error| no_room(error, path))?;
        }
        templates.rest = rest;
        Ok(templates)
    }

    /// Whether anything is a template.
    pub fn is_on(&self) -> bool {
        !self.folders.is_empty()
    }

    /// Renders the templates.
    ///
    /// # Errors
    /// When a template fails, values are nested too deeply, or a limit is reached; with file, line and column where they are known,
    /// and with what was consulted before.
    pub fn expand(&self, input: &Input<'_>) -> Result<Expanded, Error> {
        let mut expansion = Expansion {
            input,
            lent: Lent::new(self.digest, input),
            limits: input.limits,
            expanded: Expanded {
                files: self.rest.clone(),
                ..Expanded::default()
            },
        };
        for folder in &self.folders {
            if let Err(error) = expansion.folder(folder) {
                let mut consulted = std::mem::take(&mut expansion.expanded.consulted);
                merge(&mut consulted, error.consulted().clone());
                return Err(error.after_consulting(consulted));
            }
        }
        Ok(expansion.expanded)
    }
}

/// The folder and what it includes, each once, an including one before those that it includes.
fn compile_all(
    files: &FileTree,
    root: &str,
    layout: Layout,
    options: &TemplateOptions,
) -> Result<Vec<Folder>, Error> {
    let functions = Arc::new(functions());
    let first = Folder::compile(files, root, layout, options.clone(), &functions)?;
    let mut folders = vec![first];
    let mut next = 0;
    while let Some(folder) = folders.get(next) {
        let (parent, included) = (folder.path.clone(), folder.included.clone());
        for path in included {
            if folders.iter().any(|known| known.path == path) {
                continue;
            }
            let overlaps = |known: &&Folder| {
                paths::contains(&known.path, &path) || paths::contains(&path, &known.path)
            };
            let place = || Location::file(paths::join(&parent, crate::CONFIG_FILE));
            if let Some(known) = folders.iter().find(overlaps) {
                let message = format!(
                    "included folder `{path}` and folder `{}` are in each other",
                    known.path
                );
                return Err(Error::new(ErrorKind::Source, message).at(place()));
            }
            if folders.len() > MAX_INCLUDES {
                let message = format!("more than {MAX_INCLUDES} folders are included");
                return Err(Error::new(ErrorKind::Limit, message).at(place()));
            }
            let options = TemplateOptions::default();
            folders.push(Folder::compile(files, &path, layout, options, &functions)?);
        }
        next += 1;
    }
    Ok(folders)
}

/// What functions get of a rendering, the same for all its folders.
struct Lent {
    component: Value,
    digest: Value,
    revision: Value,
    namespace: Value,
    name: Value,
    version: Value,
    resources: Value,
}

impl Lent {
    fn new(files: Digest, input: &Input<'_>) -> Self {
        let unnamed = json!({"metadata": {"namespace": input.namespace, "name": input.name}});
        let parameters = Json::Object(input.parameters.clone()).to_string();
        let digest = Digest::of_parts([
            files.as_bytes().as_slice(),
            input.namespace.as_bytes(),
            input.name.as_bytes(),
            parameters.as_bytes(),
        ]);
        Self {
            component: GoObject::component(input.component.unwrap_or(&unnamed)),
            digest: digest.hex().into(),
            revision: Value::int64(input.release.revision),
            namespace: input.namespace.into(),
            name: input.name.into(),
            version: VersionInfo::value(&input.capabilities.kube_version),
            resources: api_resources(input.capabilities),
        }
    }

    fn environment<'a>(
        &self,
        folder: &Folder,
        input: &Input<'a>,
        current: &CurrentTemplate,
    ) -> RenderEnvironment<'a> {
        RenderEnvironment::new(input.lookups, input.seed, current.clone())
            .with_value(COMPONENT_VALUE, self.component.clone())
            .with_value(COMPONENT_DIGEST, self.digest.clone())
            .with_value(COMPONENT_REVISION, self.revision.clone())
            .with_value(NAMESPACE, self.namespace.clone())
            .with_value(NAME, self.name.clone())
            .with_value(KUBERNETES_VERSION, self.version.clone())
            .with_value(API_RESOURCES, self.resources.clone())
            .with_value(FILES, Readable::value(&folder.readable))
    }
}

/// One rendering of a file tree.
struct Expansion<'a> {
    input: &'a Input<'a>,
    lent: Lent,
    /// What is left of the limits for the folders to come.
    limits: Limits,
    expanded: Expanded,
}

impl Expansion<'_> {
    fn folder(&mut self, folder: &Folder) -> Result<(), Error> {
        let data = data(&folder.defaults, self.input.parameters)?;
        let current = CurrentTemplate::default();
        let mut environment = self.lent.environment(folder, self.input, &current);
        let options = Options {
            limits: self.limits,
            ..Options::default()
        };
        let mut renderer = Renderer::new(&folder.set, &mut environment, options);
        let outputs = render_all(folder, &data, &current, &mut renderer);
        self.limits = renderer.remaining();
        drop(renderer);
        merge(&mut self.expanded.consulted, environment.into_consulted());
        self.expanded
            .warnings
            .extend(folder.warnings.iter().cloned());
        let mut files = FileTree::new();
        for (name, content) in &folder.copies {
            files
                .insert(name, Arc::clone(content))
                .map_err(|error| no_room(error, name))?;
        }
        for (name, content) in outputs? {
            files
                .insert(name, content)
                .map_err(|error| no_room(error, name))?;
        }
        self.finish(folder, files)
    }

    /// Puts a rendered folder into the tree.
    fn finish(&mut self, folder: &Folder, mut files: FileTree) -> Result<(), Error> {
        if folder.layout == Layout::Kustomization
            && let Some(kustomization) = missing_kustomization(&files)
        {
            let name = KUSTOMIZATION_FILES[0];
            files
                .insert(name, kustomization.into_bytes())
                .map_err(|error| no_room(error, name))?;
        }
        for (name, content) in files.iter() {
            let path = paths::join(&folder.path, name);
            self.expanded
                .files
                .insert(path, Arc::clone(content))
                .map_err(|error| no_room(error, name))?;
        }
        Ok(())
    }
}

/// Renders each template of a folder with values of its own: what one does to them, no other one sees.
fn render_all<'f>(
    folder: &'f Folder,
    data: &Json,
    current: &CurrentTemplate,
    renderer: &mut Renderer<'_>,
) -> Result<Vec<(&'f str, Vec<u8>)>, Error> {
    let mut outputs = Vec::with_capacity(folder.templates.len());
    for (output, template) in &folder.templates {
        // Values are made anew for each template, which costs time that no template spends.
        if renderer.remaining().time.is_zero() {
            return Err(Error::new(ErrorKind::Limit, "rendering takes too long"));
        }
        current.set(&paths::join(&folder.path, template));
        let text = renderer
            .render(template, &Value::from_json(data))
            .map_err(|error| failed(&folder.path, error))?;
        outputs.push((output.as_str(), without_no_value(text)));
    }
    Ok(outputs)
}

/// A template that failed while it ran. The place is told apart from the message.
fn failed(folder: &str, error: ExecuteError) -> Error {
    let ExecuteError {
        text,
        kind,
        raised,
        name,
        line,
        column,
    } = error;
    let kind = match (kind, &raised) {
        (FunctionErrorKind::Limit, _) => ErrorKind::Limit,
        // `required` and `fail` are how templates say that values are missing or wrong.
        (_, Some(_)) => ErrorKind::Parameters,
        _ => ErrorKind::Render,
    };
    let place = format!("template: {name}:{line}:{column}: ");
    let message = raised.unwrap_or_else(|| {
        let rest = text.strip_prefix(&place).unwrap_or(&text);
        let executing = format!("executing {name:?} ");
        rest.strip_prefix(&executing).unwrap_or(rest).to_owned()
    });
    placed(
        kind,
        message,
        Location::column(paths::join(folder, &name), line, column + 1),
    )
}

/// An error at a place, which it shows even if its message names the file for another reason.
pub(crate) fn placed(kind: ErrorKind, message: String, place: Location) -> Error {
    let message = if message.contains(&place.file) {
        format!("{place}: {message}")
    } else {
        message
    };
    Error::new(kind, message).at(place)
}

fn no_room(error: FileTreeError, path: &str) -> Error {
    let kind = match error {
        FileTreeError::Path { .. } => ErrorKind::Source,
        _ => ErrorKind::Limit,
    };
    Error::new(kind, "cannot write what was rendered")
        .at(Location::file(path))
        .caused_by(error)
}

/// Adds what was consulted by another part of the same work.
pub(crate) fn merge(all: &mut Consulted, more: Consulted) {
    all.random |= more.random;
    all.clock |= more.clock;
    all.component |= more.component;
    all.lookups.extend(more.lookups);
    all.lookups.sort_unstable();
    all.lookups.dedup();
}
