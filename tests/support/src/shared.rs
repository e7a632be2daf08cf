use tokio::sync::OnceCell;

use crate::{ControlPlane, ControlPlaneOptions, Error};

// A failure is kept too: the other tests need not wait for the same one again.
static SHARED: OnceCell<Result<ControlPlane, Error>> = OnceCell::const_new();

/// The control plane that all tests of this process share: all parts, started by the first who asks.
/// It ends with the process.
///
/// # Panics
///
/// When it cannot be started.
#[allow(clippy::panic, reason = "tests have nothing to do about it")]
pub async fn shared() -> &'static ControlPlane {
    let start = || ControlPlane::start(ControlPlaneOptions::default());
    match SHARED.get_or_init(start).await {
        Ok(plane) => plane,
        Err(error) => panic!("{}", with_causes(error)),
    }
}

/// Makes a fresh namespace on the [`shared`] control plane and returns its name, which begins with
/// the prefix.
///
/// # Panics
///
/// When there is no control plane, or it refuses the namespace.
#[allow(clippy::panic, reason = "tests have nothing to do about it")]
pub async fn namespace(prefix: &str) -> String {
    match shared().await.namespace(prefix).await {
        Ok(name) => name,
        Err(error) => panic!("{}", with_causes(&error)),
    }
}

fn with_causes(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}
