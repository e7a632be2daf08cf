//! Service accounts for policies of cloud providers.
//!
//! Mirrors `filters/iampolicygenerator` of kustomize api v0.21.1.

use crate::error::{Result, fail};
use crate::resource::{Resource, Store, read_objects};
use serde::Deserialize;
use std::fmt::Write as _;

/// What `IAMPolicyGenerator` takes.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct PolicyArgs {
    cloud: String,
    kubernetes_service: KubernetesService,
    service_account: ServiceAccount,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct KubernetesService {
    name: String,
    namespace: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ServiceAccount {
    name: String,
    project_id: String,
}

/// Makes the service account of a policy.
///
/// # Errors
/// For any other cloud than `gke`.
pub(crate) fn make_policy_account(store: &mut Store, args: &PolicyArgs) -> Result<Vec<Resource>> {
    if args.cloud != "gke" {
        return Err(fail(format!(
            "cloud provider {} not supported yet",
            args.cloud
        )));
    }
    let (service, account) = (&args.kubernetes_service, &args.service_account);
    let mut text = format!(
        "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  annotations:\n    iam.gke.io/gcp-service-account: \
         {}@{}.iam.gserviceaccount.com\n  name: {}\n",
        account.name, account.project_id, service.name
    );
    if !service.namespace.is_empty() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  namespace: {}", service.namespace);
    }
    read_objects(store, &text)
}
