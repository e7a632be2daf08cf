//! Runs a control plane until its standard input ends or it is interrupted, to try things by hand:
//! it prints one line of JSON with the kubeconfig's path, the address and the process ids.

use std::io::{Read as _, Write as _};

use whipstaff_test_support::{ControlPlane, ControlPlaneOptions};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let plane = ControlPlane::start(ControlPlaneOptions::default()).await?;
    let line = serde_json::json!({
        "kubeconfig": plane.kubeconfig_path(),
        "server": plane.server_url(),
        "dataFolder": plane.data_folder(),
        "processes": plane.processes(),
    });
    writeln!(std::io::stdout(), "{line}")?;
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
    plane.stop().await;
    Ok(())
}
