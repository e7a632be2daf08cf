//! Plain manifests: a folder of YAML and JSON files, as `kubectl apply --recursive` takes them.
//!
//! Files whose names end in `.yaml`, `.yml` or `.json` are read in the order of their paths, in all folders; files and folders
//! whose names begin with a dot are passed over. A file holds any number of documents, and a list counts as its items. Nothing
//! is templated, so there are no parameters and no options.

mod generator;
mod manifests;
#[cfg(test)]
mod tests;

pub use generator::DirectoryGenerator;
pub use manifests::MAX_OBJECTS;
