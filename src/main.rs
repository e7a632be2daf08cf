//! The `whipstaff` binary.

use std::process::ExitCode;
use whipstaff::cli::{Cli, run};

fn main() -> ExitCode {
    // Before any client: kube and reqwest must find the same provider. It fails only if one is installed already.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    run(Cli::of_process())
}
