//! Hearing of changes, where a server tells only who listens.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::Inner;
use crate::ask::{Ask, Clock};
use crate::failure::Failure;
use crate::http::headers;
use crate::link::Link;
use crate::message;
use crate::meta::{Era, ListenParams, ListenTo, Meta};
use crate::watch::Unwatched;

/// First and longest wait before listening again.
const WAITS: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// Listens for as long as the session lives, or until the server says that it has nothing to tell.
pub(super) async fn run(inner: Arc<Inner>) {
    let mut wait = WAITS.0;
    while inner.core.over().is_none() {
        let began = tokio::time::Instant::now();
        let goes_on = match (&inner.link, inner.era()) {
            (Link::Stream(_), Era::Initialized) => return,
            (Link::Http(link), Era::Initialized) => {
                let heading = headers::heading(&inner.server.version, "", None);
                !matches!(link.listen(heading).await, Err(status) if (400..500).contains(&status) && status != 429)
            }
            (_, Era::Stateless) => subscribe(&inner).await,
        };
        if !goes_on {
            return;
        }
        if began.elapsed() > WAITS.1 {
            wait = WAITS.0;
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(WAITS.1);
    }
}

/// One subscription, until it ends. Tells whether another one makes sense.
async fn subscribe(inner: &Inner) -> bool {
    let meta = Meta::new(Era::Stateless, &inner.options.client, false);
    let body = |id| {
        let params = ListenParams { notifications: ListenTo { tools: true }, meta };
        message::write(Some(id), "subscriptions/listen", params)
    };
    let heading = inner.heading("subscriptions/listen", None);
    let cancel = CancellationToken::new();
    let request = Ask { body: &body, heading, call: false, cancel: &cancel, watch: &Unwatched };
    match inner.ask(request, &mut Clock::default()).await {
        Ok(_) | Err(Failure::Lost(_) | Failure::NotSent(_)) => true,
        Err(Failure::Status { status, .. }) => status >= 500 || status == 429,
        Err(_) => false,
    }
}
