//! Kinds that bring further kinds.

use super::{Assessment, Live, require};
use crate::status::live::Condition;

pub(super) fn custom_resource_definition(live: &Live<'_>) -> Assessment {
    if let Some(refused) = live.condition("NamesAccepted").filter(Condition::is_false) {
        return Assessment::failed(refused.explain());
    }
    let established = live.condition("Established");
    // While it is being installed, a definition is not established for a moment.
    if let Some(refused) = established.filter(|c| c.is_false() && c.reason != "Installing") {
        return Assessment::failed(refused.explain());
    }
    ["Established", "NamesAccepted"]
        .iter()
        .find_map(|name| require(live, name))
        .unwrap_or_else(|| Assessment::current("definition is established"))
}

pub(super) fn api_service(live: &Live<'_>) -> Assessment {
    // The generic `Ready` has no meaning here.
    require(live, "Available").unwrap_or_else(|| Assessment::current("API service is available"))
}
