//! What SOPS says about a file: for whom, by which rule, and its message authentication code.
//!
//! **Source**: `stores/stores.go`, `stores/metadata.go` and `stores/flatten.go` of SOPS 3.13.3.

use std::collections::BTreeMap;

use crate::cipher::boolean;
use crate::error::{KeyService, SopsError};
use crate::rules::Rule;
use crate::tree::Node;

/// The key that YAML, JSON and INI files keep metadata under.
pub(crate) const METADATA_KEY: &str = "sops";

/// Most keys that one file is encrypted for.
const MAX_RECIPIENTS: usize = 256;

/// Most bytes of a data key as it is encrypted for one recipient.
const MAX_ENCRYPTED_KEY_BYTES: usize = 32 * 1024;

/// Longest name of a recipient that an error shows.
const MAX_RECIPIENT_BYTES: usize = 4 * 1024;

/// How deep a name of flat metadata, `age__list_0__map_enc`, may nest.
const MAX_FLAT_DEPTH: usize = 8;

/// The services under the fields that hold their keys.
const KEY_SERVICES: [(&str, KeyService); 5] = [
    ("kms", KeyService::AwsKms),
    ("gcp_kms", KeyService::GoogleKms),
    ("hckms", KeyService::HuaweiKms),
    ("azure_kv", KeyService::AzureKeyVault),
    ("hc_vault", KeyService::HashicorpVault),
];

/// What SOPS says about a file.
#[derive(Debug)]
pub(crate) struct Metadata {
    /// The message authentication code, encrypted.
    pub(crate) mac: String,
    /// When the file was written, which the code was encrypted together with.
    pub(crate) last_modified: String,
    /// Whether the code is about encrypted values alone.
    pub(crate) mac_only_encrypted: bool,
    pub(crate) rule: Rule,
    /// Each group's keys decrypt the same part of the data key; a single group's the whole of it.
    pub(crate) groups: Vec<Vec<Recipient>>,
    /// How many groups are needed if there are several.
    pub(crate) threshold: usize,
}

/// Whom a data key is encrypted for.
#[derive(Debug)]
pub(crate) enum Recipient {
    Age {
        recipient: String,
        encrypted: String,
    },
    Pgp {
        fingerprint: String,
        encrypted: String,
    },
    Service(KeyService),
}

impl Metadata {
    /// Reads the map that holds the metadata.
    pub(crate) fn read(fields: &Node) -> Result<Self, SopsError> {
        if !matches!(fields, Node::Map(_)) {
            return Err(wrong("they are not a map"));
        }
        let text = |name: &'static str| fields.get(name).and_then(Node::as_str);
        let required = |name: &'static str| {
            text(name)
                .map(str::to_owned)
                .ok_or_else(|| wrong(&format!("`{name}` is missing")))
        };
        let groups = read_groups(fields)?;
        let threshold = fields.get("shamir_threshold").and_then(whole_number);
        Ok(Self {
            mac: required("mac")?,
            last_modified: go_time(&required("lastmodified")?),
            mac_only_encrypted: fields.get("mac_only_encrypted").is_some_and(is_true),
            rule: Rule::read(|name| text(name).filter(|text| !text.is_empty()))?,
            // SOPS writes the threshold whenever it makes groups.
            threshold: threshold.unwrap_or(groups.len()),
            groups,
        })
    }
}

/// Makes nested metadata of the names that dotenv and INI files have: `age__list_0__map_enc`.
pub(crate) fn unflatten(entries: Vec<(String, Node)>) -> Result<Node, SopsError> {
    let mut root = Branch::default();
    for (name, value) in entries {
        let mut branch = &mut root;
        for (depth, step) in steps(&name).into_iter().enumerate() {
            if depth >= MAX_FLAT_DEPTH {
                return Err(wrong("a name is nested too deep"));
            }
            branch = branch.children.entry(step).or_default();
        }
        branch.value = Some(value);
    }
    Ok(root.into_node())
}

/// A part of a flat name. Items come before keys, and in the order of their numbers.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Item(usize),
    Key(String),
}

#[derive(Default)]
struct Branch {
    value: Option<Node>,
    children: BTreeMap<Step, Self>,
}

impl Branch {
    fn into_node(self) -> Node {
        if let Some(value) = self.value {
            return value;
        }
        let is_list = matches!(self.children.first_key_value(), Some((Step::Item(_), _)));
        if is_list {
            let items = self.children.into_values().map(Self::into_node);
            return Node::List(items.collect());
        }
        let entries = self
            .children
            .into_iter()
            .filter_map(|(step, branch)| match step {
                Step::Key(key) => Some((key, branch.into_node())),
                Step::Item(_) => None,
            });
        Node::Map(entries.collect())
    }
}

fn steps(name: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    for (at, part) in name.split("__map_").enumerate() {
        let mut parts = part.split("__list_");
        if let Some(key) = parts.next()
            && (at == 0 || !key.is_empty())
        {
            steps.push(Step::Key(key.to_owned()));
        }
        steps.extend(parts.map(|number| match number.parse() {
            Ok(number) => Step::Item(number),
            Err(_) => Step::Key(number.to_owned()),
        }));
    }
    steps
}

fn read_groups(fields: &Node) -> Result<Vec<Vec<Recipient>>, SopsError> {
    let mut count = 0;
    let whole = read_group(fields, &mut count)?;
    if !whole.is_empty() {
        return Ok(vec![whole]);
    }
    let groups = list(fields.get("key_groups"), "key_groups")?;
    if groups.is_empty() {
        return Err(wrong("no keys are named"));
    }
    groups
        .iter()
        .map(|group| {
            count += 1;
            read_group(group, &mut count)
        })
        .collect()
}

fn read_group(fields: &Node, count: &mut usize) -> Result<Vec<Recipient>, SopsError> {
    let mut group = Vec::new();
    for entry in list(fields.get("age"), "age")? {
        group.push(Recipient::Age {
            recipient: recipient_field(entry, "age", "recipient")?,
            encrypted: recipient_field(entry, "age", "enc")?,
        });
    }
    for entry in list(fields.get("pgp"), "pgp")? {
        group.push(Recipient::Pgp {
            fingerprint: recipient_field(entry, "pgp", "fp")?,
            encrypted: recipient_field(entry, "pgp", "enc")?,
        });
    }
    for (name, service) in KEY_SERVICES {
        let entries = list(fields.get(name), name)?;
        group.extend(entries.iter().map(|_| Recipient::Service(service)));
    }
    *count += group.len();
    if *count > MAX_RECIPIENTS {
        return Err(SopsError::Limit {
            what: "recipients",
            limit: MAX_RECIPIENTS,
        });
    }
    Ok(group)
}

fn recipient_field(entry: &Node, list: &str, name: &str) -> Result<String, SopsError> {
    let text = entry
        .get(name)
        .and_then(Node::as_str)
        .ok_or_else(|| wrong(&format!("an entry of `{list}` has no `{name}`")))?;
    let limit = if name == "enc" {
        MAX_ENCRYPTED_KEY_BYTES
    } else {
        MAX_RECIPIENT_BYTES
    };
    if text.len() > limit {
        return Err(wrong(&format!(
            "`{name}` of an entry of `{list}` is too long"
        )));
    }
    Ok(text.to_owned())
}

fn list<'n>(node: Option<&'n Node>, name: &str) -> Result<&'n [Node], SopsError> {
    match node {
        None | Some(Node::Null) => Ok(&[]),
        Some(Node::List(items)) => Ok(items),
        Some(_) => Err(wrong(&format!("`{name}` is not a list"))),
    }
}

fn whole_number(node: &Node) -> Option<usize> {
    match node {
        Node::Int(number) => usize::try_from(*number).ok(),
        other => other.as_str()?.parse().ok(),
    }
    .filter(|number| *number > 0)
}

fn is_true(node: &Node) -> bool {
    match node {
        Node::Bool(value) => *value,
        Node::Int(number) => *number != 0,
        other => other.as_str().and_then(boolean).unwrap_or(false),
    }
}

/// The time as Go writes it once it has read it: without a fraction of a second, and with `Z` for no offset.
fn go_time(text: &str) -> String {
    let whole = match text.split_once('.') {
        Some((seconds, rest)) => {
            let zone = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
            format!("{seconds}{zone}")
        }
        None => text.to_owned(),
    };
    match whole.strip_suffix("+00:00") {
        Some(start) => format!("{start}Z"),
        None => whole,
    }
}

fn wrong(problem: &str) -> SopsError {
    SopsError::Metadata {
        problem: problem.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_go_does() {
        for (text, expected) in [
            ("2024-01-02T03:04:05Z", "2024-01-02T03:04:05Z"),
            ("2024-01-02T03:04:05.678Z", "2024-01-02T03:04:05Z"),
            ("2024-01-02T03:04:05+00:00", "2024-01-02T03:04:05Z"),
            ("2024-01-02T03:04:05.6+02:00", "2024-01-02T03:04:05+02:00"),
        ] {
            assert_eq!(go_time(text), expected);
        }
    }

    #[test]
    fn flat_names_become_lists_and_maps() {
        let entry = |name: &str| (name.to_owned(), Node::text(name));
        let node = unflatten(vec![
            entry("key_groups__list_1__map_age__list_0__map_enc"),
            entry("key_groups__list_0__map_pgp__list_0__map_fp"),
            entry("mac"),
        ])
        .unwrap();
        let Some(Node::List(groups)) = node.get("key_groups") else {
            panic!("no list");
        };
        assert!(groups[0].get("pgp").is_some());
        assert!(groups[1].get("age").is_some());
        assert_eq!(node.get("mac").and_then(Node::as_str), Some("mac"));
    }

    #[test]
    fn flat_names_are_not_nested_without_bound() {
        let name = format!("a{}", "__map_b".repeat(1_000_000));
        assert!(unflatten(vec![(name, Node::Null)]).is_err());
        assert!(
            unflatten(vec![(
                "a__list_18446744073709551615".to_owned(),
                Node::Null
            )])
            .is_ok()
        );
    }
}
