//! How the files of a tree are templates: options of a generator, and `.component-config.yaml`.

use crate::values::merge;
use serde::Deserialize;
use serde_json::{Map, Value as Json};
use whipstaff_generator::{Error, ErrorKind, FileTree, Location, yaml};

/// The file in a folder that says how its files are templates.
pub const CONFIG_FILE: &str = ".component-config.yaml";
/// Longest delimiter in bytes.
pub const MAX_DELIMITER_LENGTH: usize = 32;
/// Most files and folders that one folder includes.
pub const MAX_INCLUDES: usize = 100;

/// The keys that a configuration has, as they are written.
const KEYS: [&str; 7] = [
    "templateSuffix",
    "leftTemplateDelimiter",
    "rightTemplateDelimiter",
    "includedFiles",
    "includedKustomizations",
    "values",
    "tera",
];

/// How the files of a tree are templates.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TemplateOptions {
    /// Whether there are templates at all. When nothing is said, a kustomization's files are templates if there is a
    /// [`CONFIG_FILE`], and no others are.
    pub template: Option<bool>,
    /// What the names of templates end with; it is not a part of the names of what they render to. Empty for all files.
    pub template_suffix: Option<String>,
    /// What actions begin with: `{{` when it is left out or empty.
    pub left_template_delimiter: Option<String>,
    /// What actions end with: `}}` when it is left out or empty.
    pub right_template_delimiter: Option<String>,
    /// Files and folders outside of the folder that templates may read, relative to it.
    pub included_files: Vec<String>,
    /// Folders outside of the folder that are rendered too, relative to it, each as its own [`CONFIG_FILE`] says.
    pub included_kustomizations: Vec<String>,
    /// Values that parameters are merged over.
    pub values: Map<String, Json>,
    /// Whether there are Go templates. True when it is left out.
    pub go: bool,
    /// Whether files that end in `.tera` are Tera templates, whatever else they may be. False when it is left out.
    pub tera: bool,
}

impl Default for TemplateOptions {
    fn default() -> Self {
        Self {
            template: None,
            template_suffix: None,
            left_template_delimiter: None,
            right_template_delimiter: None,
            included_files: Vec::new(),
            included_kustomizations: Vec::new(),
            values: Map::new(),
            go: true,
            tera: false,
        }
    }
}

/// What may be written, in options and in configuration files.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Written {
    template: Option<bool>,
    template_suffix: Option<String>,
    left_template_delimiter: Option<String>,
    right_template_delimiter: Option<String>,
    included_files: Option<Vec<String>>,
    included_kustomizations: Option<Vec<String>>,
    values: Option<Map<String, Json>>,
    tera: Option<bool>,
}

impl TemplateOptions {
    /// Takes the options that are about templates out of a generator's: `template` and the keys of a [`CONFIG_FILE`]. What is left
    /// is the generator's own.
    ///
    /// # Errors
    /// [`ErrorKind::Parameters`] when an option has a value that it cannot have.
    pub fn take(options: &mut Map<String, Json>) -> Result<Self, Error> {
        let mut taken = Map::new();
        for key in KEYS.into_iter().chain(["template"]) {
            taken.extend(options.shift_remove_entry(key));
        }
        let mut read = Self::default();
        read.apply(taken)
            .map_err(|message| Error::new(ErrorKind::Parameters, message))?;
        Ok(read)
    }

    /// Whether the files of a kustomization are templates.
    pub(crate) fn is_on(&self, folder: &FileTree) -> bool {
        self.template
            .unwrap_or_else(|| folder.contains(CONFIG_FILE))
    }

    /// These options under those of a folder's configuration file, and what is wrong with the file although it can be used.
    ///
    /// # Errors
    /// [`ErrorKind::Source`] when the file is malformed.
    pub(crate) fn with_config_file(
        mut self,
        folder: &FileTree,
        path: &str,
    ) -> Result<(Self, Vec<String>), Error> {
        let Some(content) = folder.get(CONFIG_FILE) else {
            return Ok((self, Vec::new()));
        };
        let refused = |message: String| Error::new(ErrorKind::Source, message);
        let document = yaml::from_slice(content).map_err(|error| {
            let place = Location {
                line: error.line(),
                ..Location::file(path)
            };
            refused(format!("cannot read YAML: {}", error.problem())).at(place)
        })?;
        let entries = match document {
            Json::Null => Map::new(),
            Json::Object(entries) => entries,
            _ => return Err(refused("expected a map".to_owned()).at(Location::file(path))),
        };
        let mut known = Map::new();
        let mut warnings = Vec::new();
        for (key, value) in entries {
            match KEYS.into_iter().find(|k| k.eq_ignore_ascii_case(&key)) {
                Some(key) => {
                    known.insert(key.to_owned(), value);
                }
                None => warnings.push(format!("{path}: unknown key `{key}` is not used")),
            }
        }
        self.apply(known)
            .map_err(|message| refused(message).at(Location::file(path)))?;
        Ok((self, warnings))
    }

    /// Puts what is written over what is there.
    fn apply(&mut self, written: Map<String, Json>) -> Result<(), String> {
        let written = Written::deserialize(Json::Object(written))
            .map_err(|error| format!("invalid options of templates: {error}"))?;
        check_delimiter(
            "leftTemplateDelimiter",
            written.left_template_delimiter.as_ref(),
        )?;
        check_delimiter(
            "rightTemplateDelimiter",
            written.right_template_delimiter.as_ref(),
        )?;
        check_includes("includedFiles", written.included_files.as_ref())?;
        check_includes(
            "includedKustomizations",
            written.included_kustomizations.as_ref(),
        )?;
        replace(&mut self.template, written.template);
        replace(&mut self.template_suffix, written.template_suffix);
        replace(
            &mut self.left_template_delimiter,
            written.left_template_delimiter,
        );
        replace(
            &mut self.right_template_delimiter,
            written.right_template_delimiter,
        );
        if let Some(files) = written.included_files {
            self.included_files = files;
        }
        if let Some(folders) = written.included_kustomizations {
            self.included_kustomizations = folders;
        }
        self.tera = written.tera.unwrap_or(self.tera);
        merge(&mut self.values, &written.values.unwrap_or_default());
        Ok(())
    }
}

fn replace<T>(place: &mut Option<T>, value: Option<T>) {
    if value.is_some() {
        *place = value;
    }
}

fn check_delimiter(key: &str, delimiter: Option<&String>) -> Result<(), String> {
    let text = delimiter.map(String::as_str).unwrap_or_default();
    if text.len() > MAX_DELIMITER_LENGTH {
        return Err(format!(
            "`{key}` is longer than {MAX_DELIMITER_LENGTH} bytes"
        ));
    }
    if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(format!("`{key}` has white space in it"));
    }
    Ok(())
}

fn check_includes(key: &str, paths: Option<&Vec<String>>) -> Result<(), String> {
    let count = paths.map_or(0, Vec::len);
    if count > MAX_INCLUDES {
        return Err(format!("`{key}` has more than {MAX_INCLUDES} entries"));
    }
    Ok(())
}
