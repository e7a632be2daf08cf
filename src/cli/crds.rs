//! `whipstaff crds`.

use super::write_out;
use crate::crd_files;

/// Prints the definitions as YAML documents.
pub(super) fn run() -> anyhow::Result<()> {
    for (_, text) in crd_files()? {
        write_out(&format!("---\n{text}"))?;
    }
    Ok(())
}
