//! What is printed, and where to.

use anyhow::{Context, Result};
use std::{
    collections::BTreeSet,
    fs,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};
use whipstaff_helm::{
    Dialect, Rendered, TextOptions, render_text, show_only, text_parts, write_part, write_text,
};

/// Bytes that are written at once.
const BUFFER: usize = 64 * 1024;

/// What is printed, and where to.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of its own, with Helm's name"
)]
#[derive(Debug, clap::Args)]
pub(super) struct OutputArguments {
    /// Print the custom resource definitions of `crds/` too
    #[arg(long)]
    include_crds: bool,
    /// Accepted for the sake of scripts: nothing is installed here
    #[arg(long, hide = true)]
    skip_crds: bool,
    /// Leave out hooks
    #[arg(long)]
    no_hooks: bool,
    /// Leave out hooks that are tests
    #[arg(long)]
    skip_tests: bool,
    /// Print only what comes from these templates
    #[arg(short, long, value_name = "TEMPLATE")]
    show_only: Vec<String>,
    /// Write to files below this folder instead
    #[arg(long, value_name = "FOLDER")]
    output_dir: Option<PathBuf>,
    /// Put the release's name into the paths below the folder
    #[arg(long)]
    release_name: bool,
    /// Render the notes of subcharts too
    #[arg(long)]
    pub(super) render_subchart_notes: bool,
    /// Print the notes after the manifests
    #[arg(long, hide = true)]
    notes: bool,
}

impl OutputArguments {
    /// Prints what was rendered.
    pub(super) fn print(&self, rendered: &Rendered, release: &str, dialect: Dialect) -> Result<()> {
        let options = TextOptions {
            include_crds: self.include_crds,
            no_hooks: self.no_hooks,
            skip_tests: self.skip_tests,
        };
        let mut out = BufWriter::with_capacity(BUFFER, io::stdout().lock());
        if let Some(folder) = &self.output_dir {
            self.write_files(rendered, options, folder, release, &mut out)?;
        }
        match (&self.output_dir, self.show_only.as_slice()) {
            (None, []) => write_text(&mut out, rendered, options)?,
            (Some(_), []) => out.write_all(b"\n")?,
            (None, patterns) => {
                let text = render_text(rendered, options);
                out.write_all(&show_only(&text, patterns, dialect)?)?;
            }
            (Some(_), patterns) => out.write_all(&show_only(b"\n", patterns, dialect)?)?,
        }
        if self.notes && !rendered.notes.trim().is_empty() {
            writeln!(out, "\nNOTES:\n{}", rendered.notes.trim())?;
        }
        out.flush()?;
        Ok(())
    }

    fn write_files(
        &self,
        rendered: &Rendered,
        options: TextOptions,
        folder: &Path,
        release: &str,
        out: &mut impl Write,
    ) -> Result<()> {
        let mut written = BTreeSet::new();
        for part in text_parts(rendered, options) {
            let below = if self.release_name && !part.is_crd {
                release
            } else {
                ""
            };
            let path = folder.join(below).join(part.path);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)
                    .with_context(|| format!("cannot make folder {}", parent.display()))?;
            }
            let file = if written.insert(path.clone()) {
                fs::File::create(&path)
            } else {
                fs::OpenOptions::new().append(true).open(&path)
            }
            .with_context(|| format!("cannot write {}", path.display()))?;
            let mut file = BufWriter::new(file);
            write_part(&mut file, part)
                .and_then(|()| file.flush())
                .with_context(|| format!("cannot write {}", path.display()))?;
            writeln!(out, "wrote {}", path.display())?;
        }
        Ok(())
    }
}
