//! When objects of other people's kinds are ready.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When objects of a kind are ready, in expressions in the Common Expression Language (CEL).
///
/// An expression sees the object as `object` and its fields by their names: `status.phase == 'Running'`. A field that is missing makes
/// it neither true nor false, and the object is waited for. The macros `has`, `all`, `exists`, `exists_one`, `map` and `filter` are
/// there, two inside each other at most, and with no `+` inside.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct HealthCheck {
    /// API group of the objects. Default is the core group.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 253))]
    pub group: String,

    /// Kind of the objects.
    #[schemars(length(min = 1, max = 63))]
    pub kind: String,

    /// An expression that is true when an object is ready, and false as long as it is not: `status.phase == 'Running'`.
    #[schemars(length(min = 1, max = 1024))]
    pub ready: String,

    /// An expression that is true when an object has failed for good: `status.phase == 'Error'`. Default is that none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    pub failed: Option<String>,
}
