//! YAML.
