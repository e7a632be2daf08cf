//! Templates that are rendered one by one as a chart's notes.

use crate::{outcomes, peers::PEERS};
use serde_json::{Map, Value as Json, json};
use std::{
    error::Error,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    thread,
};

/// Characters of an output beyond which a check is not worth its place.
const MAX_OUTPUT: usize = 700;
/// The day, in the two forms that the questions ask for dates in: what a function takes from the clock has one of them.
const TODAY: &str = "{{ now | date \"2006-01-02\" }}\n{{ now | date \"Jan 2, 2006\" }}";
/// Hexadecimal digits that make a number an address of memory.
const ADDRESS: usize = 10;
/// Of checks of types of arguments, which are many and alike, one in so many is kept.
const ONE_IN: usize = 3;

/// One line of JSON for each template whose outcome is always the same.
pub(crate) fn record(chart: &Path, templates: &[String]) -> Result<Vec<String>, Box<dyn Error>> {
    let mut answers = Vec::new();
    let today = ask(&PEERS[0].1.expressions()?, chart, &[TODAY.to_owned()])?;
    let today = today[0]["output"].as_str().unwrap_or_default();
    for (dialect, helm) in PEERS {
        answers.push((dialect, ask(&helm.expressions()?, chart, templates)?));
    }
    let mut lines = Vec::new();
    for (index, template) in templates.iter().enumerate() {
        let of_all: Vec<(&str, &Json)> = answers
            .iter()
            .map(|(dialect, answers)| (*dialect, &answers[index]))
            .collect();
        if of_all
            .iter()
            .all(|(_, answer)| is_comparable(answer, today))
            && !is_one_of_many(index, of_all[0].1)
        {
            lines.push(serde_json::to_string(&check(template, &of_all))?);
        }
    }
    Ok(lines)
}

/// Whether an answer is the same each time and for each build of Helm, on any day.
fn is_comparable(answer: &Json, today: &str) -> bool {
    let text = answer["output"].as_str().or(answer["error"].as_str());
    let text = text.unwrap_or_default();
    let has_address = text.split("0x").skip(1).any(|rest| {
        rest.len() >= ADDRESS
            && rest
                .bytes()
                .take(ADDRESS)
                .all(|byte| byte.is_ascii_hexdigit())
    });
    let is_of_today = today.lines().any(|day| text.contains(day));
    answer["varies"].is_null() && text.len() <= MAX_OUTPUT && !has_address && !is_of_today
}

fn is_one_of_many(index: usize, answer: &Json) -> bool {
    let error = answer["error"].as_str().unwrap_or_default();
    let is_of_type = [
        ": wrong type for value; expected",
        "; found ",
        "wrong number of args",
    ];
    !index.is_multiple_of(ONE_IN) && is_of_type.iter().any(|text| error.contains(text))
}

fn ask(program: &Path, chart: &Path, templates: &[String]) -> Result<Vec<Json>, Box<dyn Error>> {
    let mut child = Command::new(program)
        .arg(chart)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut input = child.stdin.take().ok_or("no input")?;
    let questions: Vec<String> = templates
        .iter()
        .map(|template| json!({ "template": template }).to_string())
        .collect();
    let writer = thread::spawn(move || {
        for question in questions {
            if writeln!(input, "{question}").is_err() {
                return;
            }
        }
    });
    let output = child.stdout.take().ok_or("no output")?;
    let mut answers = Vec::new();
    for line in BufReader::new(output).lines() {
        answers.push(serde_json::from_str(&line?)?);
    }
    child.wait()?;
    writer.join().map_err(|_| "the writer stopped")?;
    if answers.len() != templates.len() {
        let stopped = templates.get(answers.len()).map_or("", String::as_str);
        return Err(format!("{} stopped at {stopped}", program.display()).into());
    }
    Ok(answers)
}

/// The check, with one outcome for all dialects if they agree.
fn check(template: &str, answers: &[(&str, &Json)]) -> Json {
    let mut check = Map::from_iter([("template".to_owned(), json!(template))]);
    let outcomes: Vec<(&str, Json)> = answers
        .iter()
        .map(|(dialect, answer)| (*dialect, outcome(answer, *dialect != "v3")))
        .collect();
    outcomes::add(&mut check, &outcomes);
    Json::Object(check)
}

/// What became of a template: its `output`, the whole `error`, or the place, node and message of a failure in the template itself, which is
/// as usual for the version in `fails` and, where Helm 4 leaves it in one line, in `line`.
fn outcome(answer: &Json, in_lines: bool) -> Json {
    if let Some(output) = answer["output"].as_str() {
        return json!({ "output": output });
    }
    let error = answer["error"].as_str().unwrap_or_default();
    let name = if in_lines { "line" } else { "fails" };
    if let Some(parts) = in_lines.then(|| failure(error, &TRACE)).flatten() {
        return json!({ "fails": parts });
    }
    failure(error, &LINE).map_or_else(|| json!({ "error": error }), |parts| json!({ name: parts }))
}

/// What stands before, between and after the place and the node of a failure.
const LINE: [&str; 3] = [
    "template: m/templates/NOTES.txt:",
    ": executing \"m/templates/NOTES.txt\" at <",
    ">: ",
];
const TRACE: [&str; 3] = [
    "m/templates/NOTES.txt:",
    "\n  executing \"m/templates/NOTES.txt\" at <",
    ">:\n    ",
];

fn failure<'a>(error: &'a str, [start, middle, end]: &[&str; 3]) -> Option<[&'a str; 3]> {
    let (place, rest) = error.strip_prefix(start)?.split_once(middle)?;
    let (node, message) = rest.split_once(end)?;
    Some([place, node, message])
}
