//! A template that is no chart: `cargo run -p whipstaff-gotemplate --example text`.

use std::error::Error;
use std::io::Write as _;
use std::sync::Arc;
use whipstaff_generator::LookupQuestion;
use whipstaff_gotemplate::{
    Environment, FunctionError, FunctionTable, Options, Renderer, TemplateSet, Value,
    core_functions,
};

const SOURCE: &str = r#"{{ define "item" }}- {{ .name | printf "%-8s" }}{{ .price | printf "%6.2f" }}
{{ end }}{{ range .items }}{{ include "item" . }}{{ else }}nothing{{ end }}"#;

/// What templates may reach outside: nothing.
#[derive(Debug)]
struct Nothing;

impl Environment for Nothing {
    fn lookup(&mut self, _: LookupQuestion) -> Result<serde_json::Value, FunctionError> {
        Err(FunctionError::new("there is no cluster"))
    }

    fn random(&mut self, _: &mut [u8]) -> Result<(), FunctionError> {
        Err(FunctionError::new("there is no randomness"))
    }

    fn now(&mut self) -> (i64, u32) {
        (0, 0)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    std::io::stdout().write_all(&list()?)?;
    Ok(())
}

fn list() -> Result<Vec<u8>, Box<dyn Error>> {
    let mut functions = FunctionTable::new();
    functions.extend(core_functions());
    let mut set = TemplateSet::new(Arc::new(functions));
    set.parse("list", SOURCE.as_bytes())?;
    let data = serde_json::json!({"items": [{"name": "tea", "price": 2.5}, {"name": "cake", "price": 3.25}]});
    let mut environment = Nothing;
    let mut renderer = Renderer::new(&set, &mut environment, Options::default());
    Ok(renderer.render("list", &Value::from_json(&data))?)
}

#[cfg(test)]
mod tests {
    #[test]
    fn template_is_rendered() {
        let text = String::from_utf8(super::list().unwrap()).unwrap();
        assert_eq!(text, "- tea       2.50\n- cake      3.25\n");
    }
}
