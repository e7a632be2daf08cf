//! Reading manifests.

use serde_json::Value;
use std::{collections::BTreeMap, sync::Arc};
use whipstaff_generator::{
    Error, ErrorKind, FileTree, Location, ObjectId, ObjectSet, ObjectSetError, yaml,
};

/// Most objects in one file tree.
pub const MAX_OBJECTS: usize = 50_000;

/// A document of a file and the line that it begins in.
struct Document {
    value: Value,
    line: usize,
}

/// The files that hold manifests, in the order of their paths.
pub(crate) fn files(files: &FileTree) -> impl Iterator<Item = (&str, &Arc<[u8]>)> {
    files
        .iter()
        .filter(|(path, _)| !is_hidden(path) && Format::of(path).is_some())
}

fn is_hidden(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('.'))
}

/// What a manifest is written in.
enum Format {
    Yaml,
    Json,
}

impl Format {
    /// The format of a file, by its name.
    fn of(path: &str) -> Option<Self> {
        match path.rsplit_once('.')?.1 {
            "yaml" | "yml" => Some(Self::Yaml),
            "json" => Some(Self::Json),
            _ => None,
        }
    }
}

/// Reads all manifests of a file tree. What is wrong with them is of a kind: the source's fault, or that of templates.
///
/// # Errors
/// When there is no manifest, one is malformed or no object, an object is there twice, or there are more than [`MAX_OBJECTS`].
pub(crate) fn read(tree: &FileTree, kind: ErrorKind) -> Result<ObjectSet, Error> {
    let mut objects = ObjectSet::new();
    let mut places = BTreeMap::new();
    let mut found = false;
    for (path, content) in files(tree) {
        found = true;
        for document in documents(path, content, kind)? {
            let place = Location::line(path, document.line);
            let before = objects.len();
            objects
                .push_document(document.value, path)
                .map_err(|error| invalid(error, &place, kind))?;
            check_new(&objects, before, &place, &mut places, kind)?;
        }
    }
    if found {
        return Ok(objects);
    }
    // A wrong path must not pass for an empty folder, which would take everything away.
    Err(Error::new(
        kind,
        "found no file that ends in `.yaml`, `.yml` or `.json`",
    ))
}

/// Checks the objects that were added last: their number, that they have names, and that they are not there twice.
fn check_new(
    objects: &ObjectSet,
    before: usize,
    place: &Location,
    places: &mut BTreeMap<ObjectId, Location>,
    kind: ErrorKind,
) -> Result<(), Error> {
    if objects.len() > MAX_OBJECTS {
        let message = format!("more than {MAX_OBJECTS} objects");
        return Err(Error::new(ErrorKind::Limit, message).at(place.clone()));
    }
    for item in objects.iter().skip(before) {
        let object = &item.object;
        if object.name().is_empty() {
            let message = format!("`metadata.name` is missing in {}", object.kind());
            return Err(Error::new(kind, message).at(place.clone()));
        }
        if let Some(first) = places.insert(object.id(), place.clone()) {
            let message = format!(
                "{} is defined twice: in `{first}` and in `{place}`",
                object.id()
            );
            return Err(Error::new(kind, message).at(place.clone()));
        }
    }
    Ok(())
}

fn invalid(error: ObjectSetError, place: &Location, kind: ErrorKind) -> Error {
    let refused = Error::new(kind, "invalid object").at(place.clone());
    match error {
        ObjectSetError::Object { cause, .. } => refused.caused_by(cause),
        other => refused.caused_by(other),
    }
}

fn documents(path: &str, content: &[u8], kind: ErrorKind) -> Result<Vec<Document>, Error> {
    let text = std::str::from_utf8(content).map_err(|error| {
        let before = content.get(..error.valid_up_to()).unwrap_or_default();
        let line = before.split(|byte| *byte == b'\n').count();
        Error::new(kind, "not valid UTF-8")
            .at(Location::line(path, line))
            .caused_by(error)
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match Format::of(path) {
        Some(Format::Json) => json_documents(path, text, kind),
        Some(Format::Yaml) | None => yaml_documents(path, text, kind),
    }
}

fn yaml_documents(path: &str, text: &str, kind: ErrorKind) -> Result<Vec<Document>, Error> {
    let documents = yaml::documents(text).map_err(|error| {
        let place = Location {
            line: error.line(),
            ..Location::file(path)
        };
        // Not the error itself: its text counts lines as Go's reader does, which is one off at times.
        let message = format!("cannot read YAML: {}", error.problem());
        Error::new(kind, message).at(place)
    })?;
    Ok(documents
        .into_iter()
        .map(|d| Document {
            value: d.value,
            line: d.line,
        })
        .collect())
}

/// JSON has its own reader, because YAML's does not take all of it: tabs, and escaped slashes.
fn json_documents(path: &str, text: &str, kind: ErrorKind) -> Result<Vec<Document>, Error> {
    let mut documents = Vec::new();
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let mut line = LineCounter {
        text,
        offset: 0,
        line: 1,
    };
    loop {
        let start = line.advance_to_text(values.byte_offset());
        match values.next() {
            None => return Ok(documents),
            Some(Ok(value)) => documents.push(Document { value, line: start }),
            Some(Err(error)) => {
                let place = Location::column(path, error.line(), error.column());
                return Err(Error::new(kind, "cannot read JSON")
                    .at(place)
                    .caused_by(error));
            }
        }
    }
}

/// Counts lines from one document to the next, so that a file is gone through once.
struct LineCounter<'a> {
    text: &'a str,
    offset: usize,
    line: usize,
}

impl LineCounter<'_> {
    /// The line of the first character at or after an offset that is no white space.
    fn advance_to_text(&mut self, offset: usize) -> usize {
        let rest = self.text.get(offset..).unwrap_or_default();
        let target = offset + (rest.len() - rest.trim_start().len());
        let passed = self.text.get(self.offset..target).unwrap_or_default();
        self.line += passed.bytes().filter(|byte| *byte == b'\n').count();
        self.offset = target;
        self.line
    }
}
