//! Verdicts of schemas.

use crate::charts::Chart;

/// Schemas of the property `v` and values for it, in JSON, apart by ` | `.
const SCHEMAS: &str = include_str!("schemas.txt");

pub(crate) fn charts() -> Vec<Chart> {
    let mut charts = Vec::new();
    for (index, line) in SCHEMAS.lines().enumerate() {
        let mut parts = line.split(" | ");
        let schema = parts.next().unwrap_or_default();
        // A whole document begins with a keyword of its own.
        let document = match schema.strip_prefix("whole ") {
            Some(whole) => whole.to_owned(),
            None => format!("{{\"properties\": {{\"v\": {schema}}}}}"),
        };
        let files = [
            (
                "c/Chart.yaml",
                "apiVersion: v2\nname: c\nversion: 0.1.0\n".to_owned(),
            ),
            ("c/values.schema.json", document),
            (
                "c/templates/v.yaml",
                "v: {{ toJson .Values | quote }}\n".to_owned(),
            ),
        ];
        let run = |value: &str| {
            ["rel", "c", "--set-json", &format!("v={value}")]
                .map(str::to_owned)
                .to_vec()
        };
        charts.push(Chart {
            name: format!("schema-{index}"),
            files: files
                .into_iter()
                .map(|(path, text)| (path.to_owned(), text))
                .collect(),
            runs: parts.map(run).collect(),
        });
    }
    charts
}
