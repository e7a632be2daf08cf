//! Flags that give the release its name.

use anyhow::{Result, bail};
use std::{
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};
use whipstaff_helm::{Dialect, generated_release_name, render_release_name};

/// Name of the release when none is given.
const DEFAULT_RELEASE: &str = "release-name";

/// Where the release's name comes from.
#[derive(Debug, clap::Args)]
pub(super) struct NameArguments {
    /// Make up a release name
    #[arg(short, long)]
    generate_name: bool,
    /// Template that the release name is rendered from
    #[arg(long, value_name = "TEMPLATE")]
    name_template: Option<String>,
}

impl NameArguments {
    /// The release's name and the chart, out of the positional arguments.
    pub(super) fn name_and_chart<'a>(
        &self,
        positional: &'a [String],
        dialect: Dialect,
    ) -> Result<(String, &'a str)> {
        match positional {
            [name, chart] => {
                if self.generate_name {
                    bail!("cannot set --generate-name and also specify a name");
                }
                if self.name_template.is_some() {
                    bail!("cannot set --name-template and also specify a name");
                }
                Ok((name.clone(), chart))
            }
            [chart] => Ok((self.choose(chart, dialect)?, chart)),
            _ => bail!("a chart is needed"),
        }
    }

    fn choose(&self, chart: &str, dialect: Dialect) -> Result<String> {
        if let Some(template) = self
            .name_template
            .as_deref()
            .filter(|text| !text.is_empty())
        {
            return Ok(render_release_name(template, dialect)?);
        }
        if !self.generate_name {
            return Ok(DEFAULT_RELEASE.to_owned());
        }
        let file = Path::new(chart).file_name();
        let file = file.and_then(|name| name.to_str()).unwrap_or_default();
        let seconds = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs();
        Ok(generated_release_name(file, seconds))
    }
}
