//! Scalars, documents and texts in YAML, JSON and TOML, read and written.

const SCALARS: &str = include_str!("scalars.txt");
const DOCUMENTS: &str = include_str!("documents.txt");
const STRINGS: &str = include_str!("strings.txt");

/// A literal of Go; JSON's escapes are a part of Go's.
fn literal(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A line of a list, where only escapes that a line cannot do without are meant as such.
fn unescaped(line: &str) -> String {
    serde_json::from_str(&format!("\"{}\"", line.replace('"', "\\\"")))
        .unwrap_or_else(|_| line.to_owned())
}

pub(crate) fn templates() -> Vec<String> {
    let mut templates = Vec::new();
    for scalar in SCALARS.lines() {
        read_scalar(scalar, &mut templates);
    }
    for document in DOCUMENTS.trim_end().split("%%%%\n") {
        read_document(document, &mut templates);
    }
    for line in STRINGS.lines() {
        write_text(&unescaped(line), &mut templates);
    }
    templates
}

fn read_scalar(scalar: &str, templates: &mut Vec<String>) {
    let documents = [
        format!("k: {scalar}"),
        format!("- {scalar}"),
        format!("{scalar}: v"),
        format!("k: [{scalar}]"),
    ];
    let [value, item, key, flow] = documents.map(|text| literal(&text));
    templates.extend([
        format!("{{{{ $v := (fromYaml {value}) }}}}{{{{ typeOf $v.k }}}} {{{{ toJson $v }}}} {{{{ $v.k }}}}"),
        format!("{{{{ fromYaml {value} | toYaml }}}}|{{{{ fromYaml {value} | toYamlPretty }}}}|{{{{ fromYaml {value} | toToml }}}}"),
        format!("{{{{ fromYamlArray {item} | toJson }}}}"),
        format!("{{{{ fromYaml {key} | toJson }}}}"),
        format!("{{{{ fromYaml {flow} | toJson }}}}"),
    ]);
    let json = literal(&format!("[{scalar}]"));
    templates.push(format!(
        "{{{{ $v := fromJsonArray {json} }}}}{{{{ toYaml $v }}}} {{{{ $v }}}}"
    ));
    let text = literal(scalar);
    templates.push(format!(
        "{{{{ int {text} }}}} {{{{ int64 {text} }}}} {{{{ float64 {text} }}}} {{{{ atoi {text} }}}} {{{{ toDecimal {text} }}}} {{{{ add {text} 1 }}}} {{{{ mulf {text} 2 }}}}"
    ));
}

fn read_document(document: &str, templates: &mut Vec<String>) {
    let text = literal(document);
    templates.extend([
        format!("{{{{ fromYaml {text} | toJson }}}}"),
        format!("{{{{ fromYamlArray {text} | toJson }}}}"),
        format!("{{{{ fromYaml {text} | toYaml }}}}"),
        format!("{{{{ fromYaml {text} | toYamlPretty }}}}"),
        format!("{{{{ fromYaml {text} | toToml }}}}"),
    ]);
    let windows = literal(&document.replace('\n', "\r\n"));
    templates.push(format!("{{{{ fromYaml {windows} | toJson }}}}"));
    let bare = literal(document.trim_end_matches('\n'));
    templates.push(format!("{{{{ fromYaml {bare} | toJson }}}}"));
}

fn write_text(text: &str, templates: &mut Vec<String>) {
    let text = literal(text);
    templates.extend([
        format!("{{{{ toYaml {text} }}}}"),
        format!("{{{{ dict \"k\" {text} | toYaml }}}}"),
        format!("{{{{ dict {text} 1 | toYaml }}}}"),
        format!("{{{{ dict \"k\" (list {text} (dict \"l\" {text})) | toYaml }}}}"),
        format!("{{{{ toYamlPretty {text} }}}}"),
        format!("{{{{ dict \"k\" (list {text} (dict \"l\" {text})) | toYamlPretty }}}}"),
        format!("{{{{ dict {text} (list 1) | toYamlPretty }}}}"),
        format!("{{{{ toJson {text} }}}} {{{{ toRawJson {text} }}}} {{{{ quote {text} }}}} {{{{ squote {text} }}}}"),
        format!("{{{{ dict {text} {text} | toToml }}}}"),
        format!("{{{{ $y := dict \"k\" {text} | toYaml }}}}{{{{ fromYaml $y | toJson }}}}"),
        format!("{{{{ html {text} }}}} {{{{ js {text} }}}} {{{{ urlquery {text} }}}} {{{{ regexQuoteMeta {text} }}}}"),
    ]);
}
