//! `ConfigMap`s and `Secret`s.
//!
//! Mirrors `kv`, `internal/generators` and `MakeConfigMap` in `resource/factory.go` of kustomize api v0.21.1.

use crate::error::{BuildError, BuildErrorKind, Result, fail};
use crate::files::Loader;
use crate::go_text::go_quote;
use crate::kustomization::{GeneratorArgs, GeneratorOptions};
use crate::node::{Create, Kind, Node, NodeId, Style, Tag};
use crate::resource::{Resource, Store, annotation, encode_base64};
use std::collections::BTreeMap;

/// The longest line that is read of a file of variables; behind a longer one, nothing is.
const MAX_LINE: usize = 64 * 1024;

/// What is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DataKind {
    ConfigMap,
    Secret,
}

impl DataKind {
    fn name(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMap",
            Self::Secret => "Secret",
        }
    }
}

/// Makes an object with the data of files and literals.
///
/// # Errors
/// When it has no name, a source cannot be read, or a key is there twice.
pub(crate) fn make_data_object(
    store: &mut Store,
    loader: &Loader<'_>,
    kind: DataKind,
    args: &GeneratorArgs,
) -> Result<Resource> {
    if args.name.is_empty() {
        return Err(fail("a configmap must have a name"));
    }
    let root = base(store, kind, args);
    if kind == DataKind::Secret {
        let secret_type = if args.secret_type.is_empty() {
            "Opaque"
        } else {
            &args.secret_type
        };
        let value = store.arena.add(Node::string(secret_type));
        store
            .arena
            .append_pair(root, "type", Style::default(), value);
    }
    let entries = entries(loader, args)?;
    put_entries(store, root, kind, &entries)?;
    let resource = Resource::new(root);
    if let Some(options) = &args.options {
        put_options(store, &resource, root, options)?;
    }
    let keeps_name = args
        .options
        .as_ref()
        .is_some_and(|options| options.disable_name_suffix_hash);
    if !keeps_name {
        resource.switch_on(store, annotation::NEEDS_HASH)?;
    }
    let behavior = match args.behavior.as_str() {
        known @ ("create" | "merge" | "replace") => known,
        _ => "unspecified",
    };
    let mut annotations = resource.annotations(store);
    annotations.insert(annotation::BEHAVIOR.to_owned(), behavior.to_owned());
    resource.set_annotations(store, &annotations)?;
    Ok(resource)
}

fn base(store: &mut Store, kind: DataKind, args: &GeneratorArgs) -> NodeId {
    let arena = &mut store.arena;
    let root = arena.add(Node::of_kind(Kind::Mapping));
    for (field, text) in [("apiVersion", "v1"), ("kind", kind.name())] {
        let value = arena.add(Node::tagged(text, Tag::Str));
        arena.append_pair(root, field, Style::default(), value);
    }
    let metadata = arena.add(Node::of_kind(Kind::Mapping));
    arena.append_pair(root, "metadata", Style::default(), metadata);
    for (field, text) in [("name", &args.name), ("namespace", &args.namespace)] {
        if !text.is_empty() {
            let value = arena.add(Node::string(text.clone()));
            arena.append_pair(metadata, field, Style::default(), value);
        }
    }
    root
}

fn put_entries(
    store: &mut Store,
    root: NodeId,
    kind: DataKind,
    entries: &BTreeMap<String, Vec<u8>>,
) -> Result<()> {
    if kind == DataKind::Secret {
        store
            .arena
            .lookup(root, &["data"], Create::As(Kind::Mapping))?;
    }
    for (key, bytes) in entries {
        let (field, text) = match (kind, std::str::from_utf8(bytes)) {
            (DataKind::ConfigMap, Ok(text)) => ("data", text.to_owned()),
            (DataKind::ConfigMap, Err(_)) => ("binaryData", encode_base64(bytes)),
            (DataKind::Secret, _) => ("data", encode_base64(bytes)),
        };
        let map = store
            .arena
            .lookup(root, &[field], Create::As(Kind::Mapping))?;
        if let Some(map) = map {
            let value = store.arena.add(Node::string(text));
            store.arena.append_pair(map, key, Style::default(), value);
        }
    }
    Ok(())
}

fn put_options(
    store: &mut Store,
    resource: &Resource,
    root: NodeId,
    options: &GeneratorOptions,
) -> Result<()> {
    if !options.labels.is_empty() {
        resource.set_labels(store, &options.labels)?;
    }
    if !options.annotations.is_empty() {
        resource.set_annotations(store, &options.annotations)?;
    }
    if options.immutable {
        let value = store.arena.add(Node::tagged("true", Tag::Bool));
        store
            .arena
            .append_pair(root, "immutable", Style::default(), value);
    }
    Ok(())
}

/// The entries of all sources, each key once.
fn entries(loader: &Loader<'_>, args: &GeneratorArgs) -> Result<BTreeMap<String, Vec<u8>>> {
    let pairs = pairs(loader, args).map_err(|error| error.within("loading KV pairs"))?;
    let mut entries = BTreeMap::new();
    for (key, value) in pairs {
        if entries.insert(key.clone(), value).is_some() {
            return Err(fail(format!(
                "configmap {} illegally repeats the key `{key}`",
                args.name
            )));
        }
    }
    Ok(entries)
}

type Pair = (String, Vec<u8>);

fn pairs(loader: &Loader<'_>, args: &GeneratorArgs) -> Result<Vec<Pair>> {
    let list = |texts: &[String]| format!("[{}]", texts.join(" "));
    let mut pairs = env_pairs(loader, &args.envs)
        .map_err(|error| error.within(format!("env source files: {}", list(&args.envs))))?;
    for literal in &args.literals {
        pairs.push(
            literal_pair(literal).map_err(|error| {
                error.within(format!("literal sources {}", list(&args.literals)))
            })?,
        );
    }
    for source in &args.files {
        pairs.push(
            file_pair(loader, source)
                .map_err(|error| error.within(format!("file sources: {}", list(&args.files))))?,
        );
    }
    Ok(pairs)
}

fn env_pairs(loader: &Loader<'_>, paths: &[String]) -> Result<Vec<Pair>> {
    let mut pairs = Vec::new();
    for path in paths {
        let content = loader.load(path)?;
        let mut is_first = true;
        for line in content.split_inclusive(|byte| *byte == b'\n') {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            if line.len() >= MAX_LINE {
                break;
            }
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            pairs.extend(env_pair(line, is_first)?);
            is_first = false;
        }
    }
    Ok(pairs)
}

fn env_pair(line: &[u8], is_first: bool) -> Result<Option<Pair>> {
    let text = std::str::from_utf8(line).map_err(|_| {
        let bytes: Vec<_> = line.iter().map(u8::to_string).collect();
        BuildError::new(
            BuildErrorKind::Malformed,
            format!(
                "line [{}] has invalid utf8 bytes : {}",
                bytes.join(" "),
                String::from_utf8_lossy(line)
            ),
        )
    })?;
    let text = if is_first {
        text.strip_prefix('\u{FEFF}').unwrap_or(text)
    } else {
        text
    };
    let text = text.trim_start();
    if text.is_empty() || text.starts_with('#') {
        return Ok(None);
    }
    let (key, value) = text.split_once('=').unwrap_or((text, ""));
    Ok((!key.is_empty()).then(|| (key.to_owned(), value.as_bytes().to_vec())))
}

fn literal_pair(literal: &str) -> Result<Pair> {
    match literal.split_once('=') {
        Some((key, value)) if !key.is_empty() => {
            Ok((key.to_owned(), unquoted(value).as_bytes().to_vec()))
        }
        _ => Err(fail(format!(
            "invalid literal source {literal}, expected key=value"
        ))),
    }
}

/// Takes one pair of equal quotes away.
fn unquoted(text: &str) -> &str {
    let without = |quote| {
        text.strip_prefix(quote)
            .and_then(|rest: &str| rest.strip_suffix(quote))
    };
    without('"').or_else(|| without('\'')).unwrap_or(text)
}

fn file_pair(loader: &Loader<'_>, source: &str) -> Result<Pair> {
    let (key, path) = match source.split_once('=') {
        None => (base_name(source), source),
        Some((_, rest)) if rest.contains('=') => {
            return Err(fail(format!(
                "source {} key name or file path contains '='",
                go_quote(source)
            )));
        }
        Some(("", path)) => {
            return Err(fail(format!(
                "missing key name for file path {} in source {}",
                go_quote(path),
                go_quote(source)
            )));
        }
        Some((key, "")) => {
            return Err(fail(format!(
                "missing file path for key name {} in source {}",
                go_quote(key),
                go_quote(source)
            )));
        }
        Some((key, path)) => (key, path),
    };
    let content = loader.load(path)?;
    Ok((key.to_owned(), content.to_vec()))
}

/// The last part of a path.
fn base_name(path: &str) -> &str {
    if path.is_empty() {
        return ".";
    }
    let trimmed = path.trim_end_matches('/');
    let name = trimmed.rsplit('/').next().unwrap_or(trimmed);
    if name.is_empty() { "/" } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_lose_one_pair_of_quotes() {
        let cases = [
            ("a=b", Some(("a", "b"))),
            ("a=\"b=c\"", Some(("a", "b=c"))),
            ("a='", Some(("a", "'"))),
            ("=b", None),
            ("abc", None),
        ];
        for (literal, want) in cases {
            let want = want.map(|(key, value)| (key.to_owned(), value.as_bytes().to_vec()));
            assert_eq!(literal_pair(literal).ok(), want, "{literal}");
        }
    }

    #[test]
    fn lines_of_variables_are_not_unquoted() {
        let pair = |line: &str| env_pair(line.as_bytes(), true).unwrap();
        assert_eq!(
            pair("\u{FEFF}  a=\"b\" "),
            Some(("a".to_owned(), b"\"b\" ".to_vec()))
        );
        assert_eq!(pair("# a=b"), None);
        assert_eq!(pair("=x"), None);
        assert_eq!(pair("a"), Some(("a".to_owned(), Vec::new())));
    }
}
