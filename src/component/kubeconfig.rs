//! Kubeconfigs that strangers wrote: what they may not have is refused by the name of the field.

use kube::Config;
use kube::config::{AuthInfo, Cluster, KubeConfigOptions, Kubeconfig};
use std::time::Duration;

/// Longest kubeconfig in bytes.
const MAX_SIZE: usize = 256 * 1024;
/// How long a connection to another cluster may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A kubeconfig that is not used. None of the errors shows what is in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum KubeConfigError {
    #[error("the kubeconfig is longer than {MAX_SIZE} bytes")]
    Size,
    #[error("the kubeconfig is not YAML of the kind `Config`")]
    Malformed,
    #[error("the kubeconfig has no {what} `{name}`")]
    Missing { what: &'static str, name: String },
    #[error("the kubeconfig has `{field}`, which is refused: {why}")]
    Refused {
        field: &'static str,
        why: &'static str,
    },
    #[error("the kubeconfig cannot be used")]
    Unusable,
    #[error("no client can be made of the kubeconfig")]
    Client(#[source] Box<kube::Error>),
}

/// Reads a kubeconfig, and refuses whatever would make the operator run a program, read a file, or trust anybody.
pub(super) async fn read_config(text: &[u8]) -> Result<Config, KubeConfigError> {
    let kubeconfig = checked(text)?;
    // What the library says may quote the kubeconfig.
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .map_err(|_| KubeConfigError::Unusable)?;
    // A cluster that is gone must not keep the operator from the others.
    config.connect_timeout = Some(CONNECT_TIMEOUT);
    Ok(config)
}

/// The kubeconfig, with nothing but what its current context names.
fn checked(text: &[u8]) -> Result<Kubeconfig, KubeConfigError> {
    if text.len() > MAX_SIZE {
        return Err(KubeConfigError::Size);
    }
    let mut kubeconfig: Kubeconfig =
        serde_yaml::from_slice(text).map_err(|_| KubeConfigError::Malformed)?;
    let missing = |what, name: &str| KubeConfigError::Missing {
        what,
        name: name.to_owned(),
    };
    let current = kubeconfig.current_context.clone().unwrap_or_default();
    kubeconfig.contexts.retain(|named| named.name == current);
    let context = kubeconfig.contexts.first().and_then(|c| c.context.clone());
    let context = context.ok_or_else(|| missing("context", &current))?;
    let (cluster, user) = (context.cluster, context.user.unwrap_or_default());
    kubeconfig.clusters.retain(|named| named.name == cluster);
    kubeconfig.auth_infos.retain(|named| named.name == user);
    let found = kubeconfig.clusters.first().and_then(|c| c.cluster.as_ref());
    check_cluster(found.ok_or_else(|| missing("cluster", &cluster))?)?;
    let found = kubeconfig.auth_infos.first();
    let found = found.and_then(|named| named.auth_info.as_ref());
    check_user(found.ok_or_else(|| missing("user", &user))?)?;
    Ok(kubeconfig)
}

const FILE: &str = "the operator reads no files for it; put the data in";
const PROGRAM: &str = "the operator runs no programs for it; use a token or a client certificate";

fn check_cluster(cluster: &Cluster) -> Result<(), KubeConfigError> {
    let server = cluster.server.as_deref().unwrap_or_default();
    let refused = [
        (
            cluster.insecure_skip_tls_verify == Some(true),
            "cluster.insecure-skip-tls-verify",
            "the API server must prove who it is; use `certificate-authority-data`",
        ),
        (
            cluster.certificate_authority.is_some(),
            "cluster.certificate-authority",
            FILE,
        ),
        (
            !server.starts_with("https://"),
            "cluster.server",
            "the address must begin with `https://`",
        ),
    ];
    refuse(&refused)
}

fn check_user(user: &AuthInfo) -> Result<(), KubeConfigError> {
    let refused = [
        (user.exec.is_some(), "user.exec", PROGRAM),
        (user.auth_provider.is_some(), "user.auth-provider", PROGRAM),
        (user.token_file.is_some(), "user.tokenFile", FILE),
        (
            user.client_certificate.is_some(),
            "user.client-certificate",
            FILE,
        ),
        (user.client_key.is_some(), "user.client-key", FILE),
    ];
    refuse(&refused)
}

fn refuse(checks: &[(bool, &'static str, &'static str)]) -> Result<(), KubeConfigError> {
    match checks.iter().find(|(is_there, _, _)| *is_there) {
        Some((_, field, why)) => Err(KubeConfigError::Refused { field, why }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn kubeconfig(cluster: &Value, user: &Value) -> String {
        let config = json!({"apiVersion": "v1", "kind": "Config", "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
            "clusters": [{"name": "other", "cluster": {"server": "http://x"}}, {"name": "k", "cluster": cluster}],
            "users": [{"name": "u", "user": user}]});
        config.to_string()
    }

    #[test]
    fn whatever_runs_programs_reads_files_or_trusts_anybody_is_refused_by_name() {
        let server = json!({"server": "https://example.org"});
        let token = json!({"token": "hunter2"});
        assert!(checked(kubeconfig(&server, &token).as_bytes()).is_ok());
        let with = |field: &str, value: Value| {
            let mut cluster = server.clone();
            cluster[field] = value;
            kubeconfig(&cluster, &token)
        };
        let user = |field: &str, value: Value| {
            let mut user = token.clone();
            user[field] = value;
            kubeconfig(&server, &user)
        };
        let exec = json!({"apiVersion": "client.authentication.k8s.io/v1", "command": "sh"});
        let cases = [
            (
                with("insecure-skip-tls-verify", json!(true)),
                "insecure-skip-tls-verify",
            ),
            (
                with("certificate-authority", json!("/ca")),
                "certificate-authority",
            ),
            (
                with("server", json!("http://example.org")),
                "cluster.server",
            ),
            (user("exec", exec), "user.exec"),
            (
                user("auth-provider", json!({"name": "gcp", "config": {}})),
                "user.auth-provider",
            ),
            (user("tokenFile", json!("/token")), "user.tokenFile"),
            (
                user("client-certificate", json!("/c")),
                "client-certificate",
            ),
            (user("client-key", json!("/k")), "user.client-key"),
            (
                json!({"kind": "Config", "current-context": "gone"}).to_string(),
                "`gone`",
            ),
            ("hunter2: [".to_owned(), "YAML"),
        ];
        for (text, word) in cases {
            let error = checked(text.as_bytes()).unwrap_err().to_string();
            assert!(
                error.contains(word) && !error.contains("hunter2"),
                "{error}"
            );
        }
    }
}
