//! The fields that are known without a configuration.
//!
//! `defaults.txt` has the groups of kustomize v5.8.1, each field as group, version, kind (`-` for any), path, and `create` where it
//! is made; lines with `>` start the fields that name a type. Each group is sorted by type, as [`Configuration::sort`] does.

use super::field_spec::Text;
use super::{Configuration, FieldSpec, FieldSpecs, NameReference};
use std::sync::{Arc, OnceLock};

const DEFAULTS: &str = include_str!("defaults.txt");

/// The default configuration.
pub(crate) fn default_configuration() -> &'static Arc<Configuration> {
    static CONFIGURATION: OnceLock<Arc<Configuration>> = OnceLock::new();
    CONFIGURATION.get_or_init(|| Arc::new(read(DEFAULTS)))
}

fn read(text: &'static str) -> Configuration {
    let mut configuration = Configuration::default();
    let mut group = "";
    for line in text.lines() {
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|line| line.strip_suffix(']'))
        {
            group = name;
        } else if let Some(target) = line.strip_prefix("> ") {
            let FieldSpec {
                group,
                version,
                kind,
                ..
            } = read_spec(target);
            configuration.name_reference.push(NameReference {
                group,
                version,
                kind,
                field_specs: FieldSpecs::default(),
            });
        } else if let Some(specs) = specs(&mut configuration, group) {
            specs.0.push(read_spec(line));
        }
    }
    configuration
}

fn specs<'c>(configuration: &'c mut Configuration, group: &str) -> Option<&'c mut FieldSpecs> {
    Some(match group {
        "namePrefix" => &mut configuration.name_prefix,
        "nameSuffix" => &mut configuration.name_suffix,
        "namespace" => &mut configuration.namespace,
        "commonLabels" => &mut configuration.common_labels,
        "templateLabels" => &mut configuration.template_labels,
        "commonAnnotations" => &mut configuration.common_annotations,
        "varReference" => &mut configuration.var_reference,
        "images" => &mut configuration.images,
        "replicas" => &mut configuration.replicas,
        "nameReference" => &mut configuration.name_reference.last_mut()?.field_specs,
        _ => return None,
    })
}

fn read_spec(line: &'static str) -> FieldSpec {
    let mut words = line.split(' ');
    let mut part = || match words.next() {
        None | Some("-") => Text::default(),
        Some(word) => Text::Borrowed(word),
    };
    FieldSpec {
        group: part(),
        version: part(),
        kind: part(),
        path: part(),
        create: words.next() == Some("create"),
    }
}

#[cfg(test)]
mod tests {
    use super::default_configuration;
    use crate::configuration::Configuration;

    #[test]
    fn defaults_are_complete() {
        let defaults = default_configuration();
        assert_eq!(defaults.common_labels.0.len(), 32);
        assert_eq!(defaults.var_reference.0.len(), 72);
        assert_eq!(defaults.name_reference.len(), 16);
        assert!(
            defaults
                .name_reference
                .iter()
                .all(|reference| !reference.field_specs.0.is_empty())
        );
    }

    #[test]
    fn defaults_are_sorted_and_none_is_another_once_more() {
        let mut merged = Configuration::default();
        merged.merge(default_configuration()).unwrap();
        assert!(merged == **default_configuration());
    }
}
