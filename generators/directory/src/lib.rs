//! Plain manifests: a folder of YAML and JSON files, as `kubectl apply --recursive` takes them.
//!
//! Files whose names end in `.yaml`, `.yml` or `.json` are read in the order of their paths, in all folders; files and folders
//! whose names begin with a dot are passed over, and so is what a [`IGNORE_FILE`] names. A file holds any number of documents, and a
//! list counts as its items.
//!
//! Nothing is templated unless it is asked for, so that braces in plain manifests stay. With the option `templates: [go]`, files that
//! end in `.gotmpl` are rendered (`web.yaml.gotmpl` gives `web.yaml`), `.tpl` files define templates for them, and the values are what
//! they are rendered with: `{{ .replicas }}`. With `tera` in the list, files that end in `.tera` are Tera templates. `templateSuffix` asks for another suffix, an empty one makes all manifests templates;
//! `leftTemplateDelimiter`, `rightTemplateDelimiter` and `values` (defaults) are the other options. The functions are those of
//! `whipstaff-templates`.

mod generator;
mod manifests;
mod options;
#[cfg(test)]
mod tests;

pub use generator::{DirectoryGenerator, IGNORE_FILE};
pub use manifests::MAX_OBJECTS;
