//! Renderings as `helm template` prints them (Helm 3.22, `cmd/helm/template.go`; Helm 4.3, `pkg/cmd/template.go`).

use crate::{
    manifest::HookManifest,
    path_pattern::path_matches,
    render::Rendered,
    split::{split_documents, trim_end},
};
use std::io::{self, Write};
use whipstaff_generator::HookEvent;
use whipstaff_gotemplate::Dialect;

/// Bytes that stand around a part's path and content.
const PART_FRAME: usize = "---\n# Source: \n\n".len();

/// What of a rendering is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextOptions {
    /// Whether the files of `crds/` come first.
    pub include_crds: bool,
    /// Whether hooks are left out.
    pub no_hooks: bool,
    /// Whether test hooks are left out.
    pub skip_tests: bool,
}

/// A part of the output and the file that it is written to with `--output-dir`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextPart<'a> {
    /// Path with the names of charts.
    pub path: &'a str,
    /// Contents.
    pub content: &'a [u8],
    /// Whether it is a file of `crds/`.
    pub is_crd: bool,
}

/// No manifest came from a template that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("could not find template {pattern} in chart")]
pub struct NoSuchTemplate {
    /// What was asked for.
    pub pattern: String,
}

/// The parts of a rendering in the order in which they are printed.
pub fn text_parts(rendered: &Rendered, options: TextOptions) -> Vec<TextPart<'_>> {
    let mut parts = manifest_parts(rendered, options);
    parts.extend(hook_parts(rendered, options));
    parts
}

/// The whole output.
pub fn render_text(rendered: &Rendered, options: TextOptions) -> Vec<u8> {
    let parts = text_parts(rendered, options);
    let bytes = parts
        .iter()
        .map(|part| part.path.len() + part.content.len() + PART_FRAME);
    let mut text = Vec::with_capacity(bytes.sum::<usize>() + 1);
    // Vectors take everything.
    let _ = write_text(&mut text, rendered, options);
    text
}

/// Writes the whole output, a part after the other.
///
/// # Errors
/// When it cannot be written.
pub fn write_text(
    out: &mut impl Write,
    rendered: &Rendered,
    options: TextOptions,
) -> io::Result<()> {
    let mut manifests = manifest_parts(rendered, options);
    let last = manifests.pop();
    for part in manifests {
        write_part(out, part)?;
    }
    if let Some(last) = last {
        // What is empty at the end of the last one is left out.
        let content = trim_end(last.content);
        write_heading(out, &last)?;
        if !content.is_empty() {
            out.write_all(b"\n")?;
            out.write_all(content)?;
        }
    }
    out.write_all(b"\n")?;
    for part in hook_parts(rendered, options) {
        write_part(out, part)?;
    }
    Ok(())
}

/// The documents of an output whose template's path, without the chart's name, matches one of the patterns, in the order of the
/// patterns.
///
/// # Errors
/// [`NoSuchTemplate`] for a pattern that matches nothing.
pub fn show_only(
    text: &[u8],
    patterns: &[String],
    dialect: Dialect,
) -> Result<Vec<u8>, NoSuchTemplate> {
    let documents = split_documents(text, dialect);
    let mut shown = Vec::new();
    for pattern in patterns {
        let mut found = false;
        for document in &documents {
            let Some(path) = source_path(document) else {
                continue;
            };
            if path_matches(pattern, &path).unwrap_or(false) {
                shown.extend_from_slice(b"---\n");
                shown.extend_from_slice(document);
                shown.push(b'\n');
                found = true;
            }
        }
        if !found {
            return Err(NoSuchTemplate {
                pattern: pattern.clone(),
            });
        }
    }
    Ok(shown)
}

/// Writes a part as it stands in a file of its own or in the whole output.
///
/// # Errors
/// When it cannot be written.
pub fn write_part(out: &mut impl Write, part: TextPart<'_>) -> io::Result<()> {
    write_heading(out, &part)?;
    out.write_all(b"\n")?;
    out.write_all(part.content)?;
    out.write_all(b"\n")
}

fn write_heading(out: &mut impl Write, part: &TextPart<'_>) -> io::Result<()> {
    out.write_all(b"---\n# Source: ")?;
    out.write_all(part.path.as_bytes())
}

fn manifest_parts(rendered: &Rendered, options: TextOptions) -> Vec<TextPart<'_>> {
    let crds = rendered.crds.iter().filter(|_| options.include_crds);
    let crds = crds.map(|crd| TextPart {
        path: &crd.path,
        content: &crd.content,
        is_crd: true,
    });
    let manifests = rendered.manifests.iter().map(|manifest| TextPart {
        path: &manifest.path,
        content: &manifest.content,
        is_crd: false,
    });
    crds.chain(manifests).collect()
}

fn hook_parts(rendered: &Rendered, options: TextOptions) -> Vec<TextPart<'_>> {
    let is_test = |hook: &HookManifest| hook.events.contains(&HookEvent::Test);
    rendered
        .hooks
        .iter()
        .filter(|hook| !(options.no_hooks || options.skip_tests && is_test(hook)))
        .map(|hook| TextPart {
            path: &hook.manifest.path,
            content: &hook.manifest.content,
            is_crd: false,
        })
        .collect()
}

/// What follows the first `# Source: chart/` of a document, up to the end of the line.
fn source_path(document: &[u8]) -> Option<String> {
    const SOURCE: &str = "# Source: ";
    let text = String::from_utf8_lossy(document);
    text.match_indices(SOURCE).find_map(|(at, _)| {
        let rest = &text[at + SOURCE.len()..];
        let (chart, rest) = rest.split_once('/')?;
        let path = rest.lines().next().unwrap_or_default();
        (!chart.is_empty() && !path.is_empty()).then(|| path.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{manifest::Manifest, render::CrdFile};
    use bytes::Bytes;

    fn manifest(path: &str, content: &str) -> Manifest {
        Manifest {
            path: path.to_owned(),
            content: Bytes::copy_from_slice(content.as_bytes()),
            value: serde_json::Value::Null,
            kind: String::new(),
            api_version: String::new(),
        }
    }

    fn rendered() -> Rendered {
        let hook = |path, events| HookManifest {
            manifest: manifest(path, "h: 1"),
            name: String::new(),
            events,
            weight: 0,
            delete_policies: Vec::new(),
        };
        Rendered {
            crds: vec![CrdFile {
                path: "c/crds/a.yaml".to_owned(),
                content: b"crd: 1\n"[..].into(),
            }],
            manifests: vec![
                manifest("c/templates/a.yaml", "a: 1"),
                manifest("c/templates/b/c.yaml", "b: 1"),
            ],
            hooks: vec![
                hook("c/templates/h.yaml", vec![HookEvent::PreInstall]),
                hook("c/templates/tests/t.yaml", vec![HookEvent::Test]),
            ],
            ..Rendered::default()
        }
    }

    const ALL: TextOptions = TextOptions {
        include_crds: true,
        no_hooks: false,
        skip_tests: false,
    };
    const PLAIN: TextOptions = TextOptions {
        include_crds: false,
        no_hooks: true,
        skip_tests: false,
    };

    #[test]
    fn parts_are_printed_in_helms_order() {
        assert_eq!(
            String::from_utf8(render_text(&rendered(), ALL)).unwrap(),
            "---\n# Source: c/crds/a.yaml\ncrd: 1\n\n---\n# Source: c/templates/a.yaml\na: 1\n\
             ---\n# Source: c/templates/b/c.yaml\nb: 1\n---\n# Source: c/templates/h.yaml\nh: 1\n\
             ---\n# Source: c/templates/tests/t.yaml\nh: 1\n"
        );
        assert_eq!(
            String::from_utf8(render_text(&rendered(), PLAIN)).unwrap(),
            "---\n# Source: c/templates/a.yaml\na: 1\n---\n# Source: c/templates/b/c.yaml\nb: 1\n"
        );
        let no_tests = render_text(
            &rendered(),
            TextOptions {
                skip_tests: true,
                ..ALL
            },
        );
        assert!(
            !String::from_utf8(no_tests)
                .unwrap()
                .contains("tests/t.yaml")
        );
        assert_eq!(render_text(&Rendered::default(), ALL), b"\n");
    }

    #[test]
    fn only_the_templates_that_are_asked_for_are_shown_in_that_order() {
        let text = render_text(&rendered(), ALL);
        let show = |patterns: &[&str]| {
            let patterns: Vec<String> = patterns.iter().map(|&p| p.to_owned()).collect();
            show_only(&text, &patterns, Dialect::V3).map(|text| String::from_utf8(text).unwrap())
        };
        assert_eq!(
            show(&["templates/h.yaml", "templates/a.*"]).unwrap(),
            "---\n# Source: c/templates/h.yaml\nh: 1\n---\n# Source: c/templates/a.yaml\na: 1\n"
        );
        assert_eq!(
            show(&["templates/*", "nothing"]).unwrap_err().to_string(),
            "could not find template nothing in chart"
        );
        assert!(show(&["c.yaml"]).is_err());
    }
}
