//! A chart out of memory, a function of one's own, and live objects from wherever they are: `cargo run -p whipstaff-helm --example embed`.

use serde_json::{Value as Json, json};
use std::error::Error;
use std::io::Write as _;
use whipstaff_generator::{FileTree, Limits, LookupQuestion, LookupSnapshot, Seed};
use whipstaff_helm::gotemplate::{Function, Signature, Type, Value};
use whipstaff_helm::{
    CompiledChart, Dialect, ReleaseObject, RenderCapabilities, RenderInput, TextOptions, functions,
    load, render_text, values_from_json,
};

const CHART: &str = "apiVersion: v2\nname: greeter\nversion: 1.0.0\n";
const TEMPLATE: &str = r#"{{- $team := lookup "v1" "ConfigMap" .Release.Namespace "team" -}}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
data:
  greeting: {{ shout .Values.greeting }}
  team: {{ ($team.data).name | default "nobody" }}
"#;

/// `shout "text"`: the engine has made sure that the argument is one text.
const SHOUT: Function = Function {
    name: "shout",
    signature: Signature {
        parameters: &[Type::String],
        variadic: None,
    },
    call: |_, arguments| {
        let text = match arguments {
            [Value::String(text), ..] => text.to_text().to_uppercase(),
            _ => String::new(),
        };
        Ok(Value::from(format!("{text}!")))
    },
};

/// What a host would ask a cluster, a file or a database.
fn answer(question: &LookupQuestion) -> Json {
    match question.name.as_str() {
        "team" => json!({"data": {"name": "blue"}}),
        _ => Json::Null,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    std::io::stdout().write_all(greeter()?.as_bytes())?;
    Ok(())
}

/// Renders the chart: again for as long as it asks for objects that are not known yet.
fn greeter() -> Result<String, Box<dyn Error>> {
    let mut files = FileTree::new();
    files.insert("Chart.yaml", CHART.as_bytes().to_vec())?;
    files.insert("templates/greeting.yaml", TEMPLATE.as_bytes().to_vec())?;
    let dialect = Dialect::default();
    let mut table = functions(dialect);
    table.extend([SHOUT]);
    let chart = CompiledChart::with_functions(load(&files, dialect)?, dialect, table);

    let values = json!({"greeting": "hello"});
    let values = values_from_json(values.as_object().unwrap_or(&serde_json::Map::new()));
    let mut lookups = LookupSnapshot::new();
    loop {
        let rendered = chart.render(&RenderInput {
            values: &values,
            release: ReleaseObject {
                name: "greeter".to_owned(),
                namespace: "default".to_owned(),
                revision: 1,
                is_upgrade: false,
            },
            capabilities: RenderCapabilities::offline(dialect),
            lookups: &lookups,
            seed: Seed::Random,
            limits: Limits::default(),
            skip_schema_validation: false,
            subchart_notes: false,
        })?;
        let asked = rendered.consulted.lookups.iter();
        let new: Vec<_> = asked.filter(|it| !lookups.contains(it)).cloned().collect();
        if new.is_empty() {
            let options = TextOptions {
                include_crds: false,
                no_hooks: false,
                skip_tests: false,
            };
            return Ok(String::from_utf8(render_text(&rendered, options))?);
        }
        for question in new {
            let answer = answer(&question);
            lookups.insert(question, answer);
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn chart_calls_the_function_and_sees_the_live_object() {
        let text = super::greeter().unwrap();
        assert!(text.contains("greeting: HELLO!"), "{text}");
        assert!(text.contains("team: blue"), "{text}");
    }
}
