use super::*;
use crate::Object;
use serde_json::json;

fn substitution(undefined: Undefined) -> Substitution {
    let variables = [
        ("name", json!("world")),
        ("empty", json!("")),
        ("count", json!(3)),
        ("on", json!(true)),
        ("file", json!("a.b.tar.gz")),
        ("path", json!("x/y/x/z")),
        ("list", json!([1])),
        ("mixed", json!("éCLAIR")),
    ];
    let variables = variables.map(|(key, value)| (key.to_owned(), value));
    Substitution::new(BTreeMap::from(variables), undefined)
}

fn text(source: &str) -> Result<String, SubstituteError> {
    substitution(Undefined::Refuse).text(source)
}

#[test]
fn every_form_gives_what_a_shell_gives() {
    let cases = [
        ("hello ${name}!", "hello world!"),
        ("$name $ {name} $", "$name $ {name} $"),
        ("$${name} and $${", "${name} and ${"),
        ("${count}${on}", "3true"),
        ("${missing:-d}${missing-d}${missing:=d}${missing=d}", "dddd"),
        ("${empty:-d}|${empty-d}", "d|"),
        (
            "${name:+yes}|${empty:+yes}|${empty+yes}|${missing+yes}",
            "yes||yes|",
        ),
        ("${name:?needed}", "world"),
        ("${missing:-${empty:-${name}}}", "world"),
        ("${missing:-a\\}b}", "a}b"),
        ("${missing:-$${name}}", "${name}"),
        ("${#name} ${#mixed}", "5 6"),
        ("${name:1}|${name:1:3}|${name:9}|${name:0:0}", "orld|orl||"),
        (
            "${mixed,,}|${mixed^^}|${mixed^}|${name^}|${file,}",
            "éclair|ÉCLAIR|ÉCLAIR|World|a.b.tar.gz",
        ),
        (
            "${file#*.}|${file##*.}|${file%.*}|${file%%.*}",
            "b.tar.gz|gz|a.b.tar|a",
        ),
        ("${file#?.}|${file#z}", "b.tar.gz|a.b.tar.gz"),
        (
            "${path/x/1}|${path//x/1}|${path/#x/1}|${path/%z/1}",
            "1/y/x/z|1/y/1/z|1/y/x/z|x/y/x/1",
        ),
        ("${path//\\//-}", "x-y-x-z"),
        ("${path//x}", "/y//z"),
        ("${path/y*/1}", "x/1"),
        ("${name/${name}/${count}}", "3"),
    ];
    for (source, expected) in cases {
        assert_eq!(text(source).as_deref(), Ok(expected), "{source}");
    }
}

#[test]
fn what_cannot_be_replaced_is_told() {
    let cases = [
        ("${missing}", "the variable `missing` is not defined"),
        ("${#missing}", "the variable `missing` is not defined"),
        (
            "${missing:?set ${name}}",
            "the variable `missing` is needed: set world",
        ),
        ("${name", "`}` is missing"),
        ("${name:-x", "`}` is missing"),
        ("${}", "a name is missing"),
        ("${1a}", "a name is missing"),
        ("${a.b}", "what follows the name is not understood"),
        ("x${list}", "is a list or a map"),
    ];
    for (source, expected) in cases {
        let error = text(source).unwrap_err().to_string();
        assert!(error.contains(expected), "{source}: {error}");
    }
    let deep = format!("{}x{}", "${a:-".repeat(40), "}".repeat(40));
    assert!(text(&deep).unwrap_err().to_string().contains("too deeply"));
}

#[test]
fn undefined_variables_become_empty_or_stay_when_that_is_asked_for() {
    let empty = substitution(Undefined::Empty);
    assert_eq!(empty.text("a${missing}b${#missing}").as_deref(), Ok("ab0"));
    let keep = substitution(Undefined::Keep);
    let source = "a${missing}b${missing:1:2}${name}";
    assert_eq!(
        keep.text(source).as_deref(),
        Ok("a${missing}b${missing:1:2}world")
    );
}

#[test]
fn structure_never_changes_and_a_lone_reference_takes_the_variables_type() {
    let hostile = json!("a: b\n---\nkind: Evil");
    let variables = BTreeMap::from([
        ("text".to_owned(), hostile.clone()),
        ("count".to_owned(), json!(3)),
        ("list".to_owned(), json!([1, 2])),
    ]);
    let substitution = Substitution::new(variables, Undefined::Refuse);
    let mut objects = ObjectSet::new();
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "c${count}", "labels": {"count": "${count}", "key-${count}": "v"}},
        "data": {"text": "${text}", "count": "${count}", "both": "${count}${count}"},
        "list": "${list}",
    });
    objects.push(Object::from_value(object).unwrap(), "c.yaml");
    let context = TransformContext::new("n", "c");
    substitution.transform(&mut objects, &context).unwrap();
    let changed = objects.iter().next().unwrap().object.clone().into_value();
    let expected = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "c3", "labels": {"count": "3", "key-3": "v"}},
        "data": {"text": hostile, "count": 3, "both": "33"},
        "list": [1, 2],
    });
    assert_eq!(changed, expected);
}

#[test]
fn errors_name_object_and_file_and_some_objects_are_left_alone() {
    let object = |annotation: &str| {
        let value = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "c", "annotations": {"whipstaff.dev/substitute": annotation}},
            "data": {"a": "${missing}"}});
        let mut objects = ObjectSet::new();
        objects.push(Object::from_value(value).unwrap(), "c.yaml");
        objects
    };
    let context = TransformContext::new("n", "c");
    let substitution = substitution(Undefined::Refuse);
    let error = substitution.transform(&mut object(""), &context);
    let report = error.unwrap_err().report();
    assert!(
        report.starts_with("c.yaml: cannot substitute variables in ConfigMap"),
        "{report}"
    );
    assert!(report.contains("`missing` is not defined"), "{report}");
    assert!(
        substitution
            .transform(&mut object("disabled"), &context)
            .is_ok()
    );
}

#[test]
fn keys_that_become_the_same_are_refused() {
    let mut value = json!({"${name}": 1, "world": 2});
    let error = substitution(Undefined::Refuse).apply(&mut value);
    assert_eq!(
        error,
        Err(SubstituteError::Key {
            key: "world".to_owned()
        })
    );
}

#[test]
fn long_texts_are_not_matched() {
    let variables = BTreeMap::from([("long".to_owned(), json!("a".repeat(5_000)))]);
    let substitution = Substitution::new(variables, Undefined::Refuse);
    assert_eq!(
        substitution.text("${long//a*b/c}"),
        Err(SubstituteError::Limit)
    );
}
