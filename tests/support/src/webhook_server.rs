use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::https_server::{HttpsServer, json_answer, read_json, status};
use crate::{ControlPlane, Error};

/// A server of admission webhooks that allows everything once it is open. While it is closed, as it is at first, every call fails.
#[derive(Debug)]
pub struct WebhookServer {
    server: HttpsServer,
    authority: String,
}

impl WebhookServer {
    /// Starts a server that is closed. It ends when it is dropped.
    ///
    /// # Errors
    ///
    /// When there is no free port.
    pub async fn start(plane: &ControlPlane) -> Result<Self, Error> {
        let server = HttpsServer::start(plane, |request| async {
            let Some(review) = read_json(request).await else {
                return json_answer(400, &status(400, "BadRequest", "no review"));
            };
            let uid = review.pointer("/request/uid").cloned();
            let answer = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
                "response": {"uid": uid, "allowed": true}});
            json_answer(200, &answer)
        });
        Ok(Self {
            server: server.await?,
            authority: STANDARD.encode(plane.ca_pem()),
        })
    }

    /// Answers from now on, or does not any more.
    pub fn set_open(&self, open: bool) {
        self.server.set_open(open);
    }

    /// The `clientConfig` of a webhook that leads here.
    pub fn client_config(&self) -> serde_json::Value {
        let url = format!("https://localhost:{}/", self.server.port());
        json!({"url": url, "caBundle": self.authority})
    }
}
