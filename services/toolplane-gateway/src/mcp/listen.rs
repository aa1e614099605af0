//! Streams on which clients hear that the list of tools has changed.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::watch;
use toolplane_proto::v1;
use toolplane_runtime::tasks;

use crate::mcp::exchange::Exchange;
use crate::mcp::fault::Fault;
use crate::mcp::reply::Reply;
use crate::mcp::tools::loaded_surface;
use crate::upstream::Upstream;

/// How often the moment of a surface is looked at while anybody listens.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long who wants to listen waits for the first look.
const PATIENCE: Duration = Duration::from_secs(5);

/// Surfaces somebody listens to. Each is looked at once for all who listen: 0 until it was looked at, then one more for each change.
#[derive(Debug, Default)]
pub(crate) struct Changes(Arc<Mutex<HashMap<String, watch::Sender<u64>>>>);

impl Changes {
    /// Hears of changes of a surface.
    fn of_surface(&self, upstream: &Upstream, surface: &str) -> watch::Receiver<u64> {
        let key = format!("{} {surface}", upstream.principal());
        let mut heard = self.0.lock();
        if let Some(sender) = heard.get(&key) {
            return sender.subscribe();
        }
        let (sender, receiver) = watch::channel(0);
        heard.insert(key.clone(), sender);
        let (all, upstream, surface) = (Arc::clone(&self.0), upstream.clone(), surface.to_owned());
        tasks::spawn("mcp changes", async move { look(&all, &key, &upstream, &surface).await });
        receiver
    }

    /// Hears of changes this process makes itself.
    fn of_name(&self, name: &str) -> watch::Receiver<u64> {
        let mut heard = self.0.lock();
        heard.retain(|key, sender| key.contains(' ') || sender.receiver_count() > 0);
        heard.entry(name.to_owned()).or_insert_with(|| watch::channel(0).0).subscribe()
    }

    /// This process has changed something.
    pub(crate) fn changed(&self, name: &str) {
        if let Some(sender) = self.0.lock().get(name) {
            sender.send_modify(|times| *times += 1);
        }
    }
}

/// Looks at the moment a surface is at, which is another one when it shows other tools, until nobody listens any more.
async fn look(all: &Mutex<HashMap<String, watch::Sender<u64>>>, key: &str, upstream: &Upstream, surface: &str) {
    let mut known = None;
    loop {
        let request =
            v1::ListSurfaceToolsRequest { surface_id: surface.to_owned(), page_size: 1, ..Default::default() };
        let looked = upstream.surfaces().list_surface_tools(request).await;
        if let Some(sender) = all.lock().get(key) {
            match looked.map(|answer| answer.into_inner().moment) {
                Ok(moment) if known.as_ref() == Some(&moment) => {}
                Ok(moment) => {
                    known = Some(moment);
                    sender.send_modify(|times| *times += 1);
                }
                // It is looked at again, and nobody waits for that to listen.
                Err(_) => {
                    sender.send_if_modified(|times| std::mem::replace(times, (*times).max(1)) == 0);
                }
            }
        }
        tokio::time::sleep(LOOK_EVERY).await;
        let mut all = all.lock();
        if all.get(key).is_none_or(|sender| sender.receiver_count() == 0) {
            all.remove(key);
            return;
        }
    }
}

/// What a client hears of, from now on.
pub(crate) struct Heard {
    tools: watch::Receiver<u64>,
    loaded: watch::Receiver<u64>,
}

/// Begins to hear of changes of the client's tools: none that comes after this is missed.
pub(crate) async fn hear(x: &Exchange) -> Heard {
    let mut tools = x.front.changes.of_surface(&x.upstream, &x.front.surface());
    let loaded = x.front.changes.of_name(&loaded_surface(x).surface_id);
    // Where the surface cannot be looked at, the first look that succeeds counts as a change.
    let _ = tokio::time::timeout(PATIENCE, tools.wait_for(|times| *times > 0)).await;
    Heard { tools, loaded }
}

impl Heard {
    /// Tells the client of each change, as long as it listens. `meta` goes with each.
    pub(crate) async fn tell(mut self, x: &Exchange, meta: Option<Value>) -> Result<Reply, Fault> {
        let params = meta.map_or_else(|| json!({}), |meta| json!({ "_meta": meta }));
        loop {
            // Neither end goes away while it is heard.
            let changed = tokio::select! {
                changed = self.tools.changed() => changed,
                changed = self.loaded.changed() => changed,
            };
            if changed.is_err() {
                return std::future::pending().await;
            }
            // The client asks for the list now, and is not to be given the one from before.
            x.front.listings.forget(&x.upstream, &x.front.surface());
            x.notify(None, "notifications/tools/list_changed", &params).await;
        }
    }
}

/// `subscriptions/listen`: never answered; it ends when its client goes away.
pub(crate) async fn listen(x: &Exchange, params: &Bytes) -> Result<Reply, Fault> {
    #[derive(Deserialize)]
    struct Params {
        notifications: Wanted,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Wanted {
        #[serde(default)]
        tools_list_changed: bool,
    }
    let said: Params =
        serde_json::from_slice(params).map_err(|error| Fault::params(format!("not a subscription: {error}")))?;
    let id: Value = serde_json::from_slice(&x.id).unwrap_or_default();
    let meta = json!({ "io.modelcontextprotocol/subscriptionId": id });
    // Only what is heard here is promised.
    let mut heard = json!({});
    if said.notifications.tools_list_changed {
        heard["toolsListChanged"] = true.into();
    }
    let changes = if said.notifications.tools_list_changed { Some(hear(x).await) } else { None };
    let accepted = json!({ "notifications": heard, "_meta": meta });
    x.notify(None, "notifications/subscriptions/acknowledged", &accepted).await;
    match changes {
        Some(changes) => changes.tell(x, Some(meta)).await,
        None => std::future::pending().await,
    }
}
