use std::fmt::Debug;
use std::time::Duration;

use kube::api::Api;
use kube::runtime::wait::await_condition;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// How long [`eventually`] waits. Nothing that a test waits for takes this long on an idle machine.
const EVENTUALLY_LIMIT: Duration = Duration::from_mins(1);

/// Watches one object until it is as wanted, or gone if `None` is what is wanted, and returns it.
///
/// # Panics
///
/// When that does not happen within a minute; the message shows the object as it is then.
#[allow(clippy::panic, reason = "a test that waits in vain has failed")]
pub async fn eventually<K>(
    api: &Api<K>,
    name: &str,
    wanted: impl Fn(Option<&K>) -> bool,
) -> Option<K>
where
    K: kube::Resource + Clone + Debug + Send + DeserializeOwned + Serialize + 'static,
{
    // The future is large, and so would be that of every test that waits.
    let waiting = await_condition(api.clone(), name, |object: Option<&K>| wanted(object));
    let waiting = Box::pin(waiting);
    match tokio::time::timeout(EVENTUALLY_LIMIT, waiting).await {
        Ok(Ok(object)) => object,
        Ok(Err(error)) => panic!("cannot watch `{name}`: {error}"),
        Err(_) => match api.get_opt(name).await {
            Ok(Some(object)) => {
                let shown = serde_json::to_string_pretty(&object).unwrap_or_default();
                panic!("waited in vain for `{name}`, which is now\n{shown}")
            }
            Ok(None) => panic!("waited in vain for `{name}`, which does not exist"),
            Err(error) => panic!("waited in vain for `{name}`: {error}"),
        },
    }
}
