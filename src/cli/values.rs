//! Flags that give values, and their merging in Helm's order.

use super::{block_on, system_reason::system_reason};
use crate::source::{FileFetcher, Trust};
use anyhow::{Context, Result, anyhow};
use std::{
    fs,
    io::{self, Read},
};
use whipstaff_helm::{
    Assignment, Dialect, Map, assign, assign_json, merge_values, read_values, values_from_json,
};

/// Largest values file in bytes.
const MAX_VALUES_BYTES: u64 = 64 * 1024 * 1024;

/// Values and what is done with them.
#[derive(Debug, clap::Args)]
pub(super) struct ValueArguments {
    /// Values file or its address; `-` is standard input (may be given several times)
    #[arg(
        short = 'f',
        long = "values",
        value_name = "FILE",
        value_delimiter = ','
    )]
    files: Vec<String>,
    /// Values as `key=value,list[0]=value` (may be given several times)
    #[arg(long, value_name = "VALUES", allow_hyphen_values = true)]
    set: Vec<String>,
    /// Values that are always texts
    #[arg(long, value_name = "VALUES", allow_hyphen_values = true)]
    set_string: Vec<String>,
    /// Values out of files: `key=path`
    #[arg(long, value_name = "VALUES", allow_hyphen_values = true)]
    set_file: Vec<String>,
    /// Values as JSON: `key=json`, or a whole object
    #[arg(long, value_name = "VALUES", allow_hyphen_values = true)]
    set_json: Vec<String>,
    /// A value without any escapes
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    set_literal: Vec<String>,
    /// Do not validate values against the chart's schema
    #[arg(long)]
    pub(super) skip_schema_validation: bool,
}

impl ValueArguments {
    /// The values of all flags, in Helm's order: files, JSON, typed, texts, files' contents, literals.
    pub(super) fn merge(&self, dialect: Dialect) -> Result<Map> {
        let mut values = values_from_json(&serde_json::Map::new());
        for path in &self.files {
            let text = read_input(path)?;
            let file =
                read_values(&text, dialect).with_context(|| format!("failed to parse {path}"))?;
            values = merge_values(&values, &values_from_json(&file));
        }
        for text in &self.set_json {
            values = assign_json(text, &values, dialect)?;
        }
        for text in &self.set {
            assign(text, &values, Assignment::Typed, dialect)
                .context("failed parsing --set data")?;
        }
        for text in &self.set_string {
            assign(text, &values, Assignment::Text, dialect)
                .context("failed parsing --set-string data")?;
        }
        for text in &self.set_file {
            let mut read = |path: &str| {
                let bytes = read_input(path).map_err(|error| format!("{error:#}"))?;
                Ok(String::from_utf8_lossy(&bytes).into_owned())
            };
            assign(text, &values, Assignment::File(&mut read), dialect)
                .context("failed parsing --set-file data")?;
        }
        for text in &self.set_literal {
            assign(text, &values, Assignment::Literal, dialect)
                .context("failed parsing --set-literal data")?;
        }
        Ok(values)
    }
}

/// A values file, or what a `--set-file` names.
fn read_input(path: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path.trim() == "-" {
        io::stdin()
            .take(MAX_VALUES_BYTES)
            .read_to_end(&mut bytes)
            .context("cannot read input")?;
        return Ok(bytes);
    }
    if path.starts_with("http://") || path.starts_with("https://") {
        let fetcher = FileFetcher::new(&Trust::default())?;
        return block_on(async {
            let limit = MAX_VALUES_BYTES as usize;
            Ok(fetcher.fetch(path, None, limit).await?)
        });
    }
    let file =
        fs::File::open(path).map_err(|error| anyhow!("open {path}: {}", system_reason(&error)))?;
    file.take(MAX_VALUES_BYTES)
        .read_to_end(&mut bytes)
        .map_err(|error| anyhow!("read {path}: {}", system_reason(&error)))?;
    Ok(bytes)
}
