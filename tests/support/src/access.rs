use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::api::{Api, PostParams};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use crate::Error;

/// How one user reaches an API server: its address, whom to trust, and a bearer token.
#[derive(Clone)]
pub struct Access {
    server: String,
    authority: String,
    token: String,
}

impl std::fmt::Debug for Access {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Access")
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}

impl Access {
    pub(crate) fn new(server: &str, authority: &str, token: &str) -> Self {
        Self {
            server: server.to_owned(),
            authority: authority.to_owned(),
            token: token.to_owned(),
        }
    }

    /// The same user by another address, that of a [`FaultProxy`](crate::FaultProxy) for example.
    #[must_use]
    pub fn with_server(&self, server: &str) -> Self {
        Self::new(server, &self.authority, &self.token)
    }

    /// Another user at the same address.
    #[must_use]
    pub fn with_token(&self, token: &str) -> Self {
        Self::new(&self.server, &self.authority, token)
    }

    /// The address of the API server.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The bearer token of the user.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// A client configuration with the default namespace `default` and without retries, so that
    /// tests see the errors that there are.
    ///
    /// # Panics
    ///
    /// When the address is none.
    pub fn config(&self) -> kube::Config {
        let mut config = self.anonymous_config();
        config.auth_info.token = Some(self.token.clone().into());
        config
    }

    /// A new client. It belongs to the Tokio runtime that it is made on.
    ///
    /// # Panics
    ///
    /// When the address is none, or outside a Tokio runtime.
    #[allow(clippy::expect_used, reason = "tests have nothing to do about it")]
    pub fn client(&self) -> kube::Client {
        install_crypto();
        kube::Client::try_from(self.config()).expect("a client of a valid configuration")
    }

    /// A kubeconfig as YAML that refers to no other file.
    pub fn kubeconfig(&self) -> String {
        let kubeconfig = serde_json::json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{ "name": "test", "cluster": {
                "server": self.server,
                "certificate-authority-data": STANDARD.encode(&self.authority),
            } }],
            "users": [{ "name": "test", "user": { "token": self.token } }],
            "contexts": [{ "name": "test", "context": { "cluster": "test", "user": "test" } }],
            "current-context": "test",
        });
        // JSON is YAML.
        format!("{kubeconfig:#}\n")
    }

    #[allow(clippy::expect_used, reason = "tests have nothing to do about it")]
    pub(crate) fn anonymous_config(&self) -> kube::Config {
        let address = self.server.parse().expect("the address of a server");
        let mut config = kube::Config::new(address);
        let authority = CertificateDer::pem_slice_iter(self.authority.as_bytes());
        config.root_cert = Some(
            authority
                .filter_map(Result::ok)
                .map(|der| der.to_vec())
                .collect(),
        );
        config.default_retry = false;
        config
    }
}

/// kube takes the crypto provider of the process. A second installation changes nothing.
pub(crate) fn install_crypto() {
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
}

pub(crate) async fn request_token(
    accounts: &Api<ServiceAccount>,
    name: &str,
) -> Result<String, Error> {
    let request = TokenRequest {
        spec: TokenRequestSpec::default(),
        ..TokenRequest::default()
    };
    let answer = accounts
        .create_token_request(name, &PostParams::default(), &request)
        .await
        .map_err(Error::api("request a token of the service account"))?;
    Ok(answer.status.map(|status| status.token).unwrap_or_default())
}
