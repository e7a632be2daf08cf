//! What a component owns, as a tree for a person.

use crate::api::v1alpha1::{Component, ComponentStatus, InventoryItem, Phase};
use crate::status::Status;
use kube::ResourceExt;
use std::fmt::Write as _;

/// Draws a component and its objects by wave, each with its readiness and what it waits for.
pub fn tree(component: &Component) -> String {
    let status = component.status.clone().unwrap_or_default();
    let mut text = format!("{}\n", headline(component));
    let mut items: Vec<_> = status.inventory.iter().collect();
    items.sort_by_key(|item| (item.apply_order, item.id()));
    let width = items
        .iter()
        .map(|item| label(item).chars().count())
        .max()
        .unwrap_or(0);
    let waves: Vec<_> = items
        .chunk_by(|a, b| a.apply_order == b.apply_order)
        .collect();
    for (position, wave) in waves.iter().enumerate() {
        let last_wave = position + 1 == waves.len();
        let order = wave.first().map_or(0, |item| item.apply_order);
        let (branch, stem) = if last_wave {
            ("└─", "  ")
        } else {
            ("├─", "│ ")
        };
        let _ = writeln!(text, "{branch} wave {order}");
        for (position, item) in wave.iter().enumerate() {
            let branch = if position + 1 == wave.len() {
                "└─"
            } else {
                "├─"
            };
            let _ = writeln!(
                text,
                "{stem} {branch} {:width$}  {}",
                label(item),
                state(item)
            );
        }
    }
    text
}

/// One line about a component: name, state, revision and message.
pub fn headline(component: &Component) -> String {
    let status = component.status.clone().unwrap_or_default();
    let state = status
        .state
        .map_or_else(|| "Pending".to_owned(), |state| state.to_string());
    let mut text = format!(
        "Component {}/{}  {state}",
        component.namespace().unwrap_or_default(),
        component.name_any()
    );
    if let Some(revision) = status.revision {
        let _ = write!(text, "  revision {revision}");
    }
    if let Some(message) = message(&status) {
        let _ = write!(text, "  {message}");
    }
    text
}

fn message(status: &ComponentStatus) -> Option<&str> {
    let ready = status
        .conditions
        .iter()
        .find(|condition| condition.type_ == "Ready")?;
    Some(ready.message.as_str())
}

fn label(item: &InventoryItem) -> String {
    item.id().to_string()
}

fn state(item: &InventoryItem) -> String {
    let word = match (item.phase, item.status) {
        (Phase::Completed, _) => "completed, and deleted as asked".to_owned(),
        (Phase::Scheduled, _) => "not applied yet".to_owned(),
        (Phase::Deleting, _) => "being deleted".to_owned(),
        (_, Status::Current) => "ready".to_owned(),
        (_, status) => status.to_string(),
    };
    match (&item.message, &item.since) {
        (message, _) if message.is_empty() => word,
        (message, None) => format!("{word}: {message}"),
        (message, Some(since)) => {
            format!("{word}: {message} (since {})", since.0.strftime("%H:%M:%S"))
        }
    }
}
