//! Each function with each kind of argument in each place, and with too few and too many.

const FUNCTIONS: &str = include_str!("functions.txt");
const KINDS: &str = include_str!("kinds.txt");

/// Expressions for one value of each kind.
pub(crate) fn kinds() -> Vec<&'static str> {
    KINDS.lines().collect()
}

pub(crate) fn templates() -> Vec<String> {
    let mut templates = Vec::new();
    for (number, line) in FUNCTIONS.lines().enumerate() {
        let mut words = line.split("; ");
        let name = words.next().unwrap_or_default();
        let usual: Vec<&str> = words.collect();
        arities(name, &usual, &mut templates);
        // Where the outcome is random there is nothing but errors to compare.
        if !is_random(name) {
            each_kind(number, name, &usual, &mut templates);
        }
    }
    templates
}

fn is_random(name: &str) -> bool {
    name.starts_with("gen")
        || name.starts_with("rand")
        || matches!(name, "bcrypt" | "htpasswd" | "uuidv4")
}

fn call(name: &str, arguments: &[&str]) -> String {
    let mut words = vec![name];
    words.extend(arguments);
    format!("{{{{ {} }}}}", words.join(" "))
}

fn arities(name: &str, usual: &[&str], templates: &mut Vec<String>) {
    for count in 0..=usual.len() {
        templates.push(call(name, &usual[..count]));
    }
    let more = [usual, &["\"more\""]].concat();
    templates.push(call(name, &more));
    if let Some((last, first)) = usual.split_last() {
        templates.push(format!(
            "{{{{ {last} | {} }}}}",
            [&[name], first].concat().join(" ")
        ));
    }
    templates.push(format!(
        "{{{{ {} | typeOf }}}}",
        call(name, usual).trim_matches(['{', '}', ' '])
    ));
}

/// Half of the kinds in each place, the other half in the next: all kinds meet each sort of parameter many times.
fn each_kind(number: usize, name: &str, usual: &[&str], templates: &mut Vec<String>) {
    for place in 0..usual.len() {
        for kind in kinds().into_iter().skip((number + place) % 2).step_by(2) {
            let mut arguments = usual.to_vec();
            arguments[place] = kind;
            templates.push(call(name, &arguments));
        }
    }
}
