//! What is heard of providers while their tools are called, on its way to the surface service: how calls ended, and that tools have
//! changed. What follows from it is decided there.
//!
//! News is gathered for a moment and told for many providers at once. A provider whose calls succeed is told of now and then, one whose
//! calls fail each time. While the surface service is away it is kept within bounds: the newest calls of each provider.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolplane_proto::v1;
use toolplane_proto::v1::provider_service_client::ProviderServiceClient;
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::ids::{InvocationId, TenantId, ToolId};
use toolplane_records::provider::{is_list_tool, provider_of};
use toolplane_runtime::client::Peer;

/// How long news is gathered before it is told.
const GATHER: Duration = Duration::from_millis(500);
/// Wait before it is told again when the surface service did not take it.
const AGAIN: Duration = Duration::from_secs(2);
/// A provider whose calls succeed is told of so often.
const WELL_EVERY: Duration = Duration::from_secs(10);
/// Most failed calls of a provider that are kept: more say nothing new.
const MAX_CALLS: usize = 16;
/// Longest text of an error that is told, in characters.
const MAX_CHARS: usize = 500;
/// Most providers that are remembered.
const MAX_PROVIDERS: usize = 10_000;
/// Most providers that are told of at once.
const MAX_TOLD: usize = 1_000;

type Name = (TenantId, String);

/// News of providers. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProviderNews(Arc<Untold>);

#[derive(Debug, Default)]
struct Untold {
    providers: Mutex<HashMap<Name, Heard>>,
    wake: Notify,
}

/// What was heard of one provider, and not told.
#[derive(Debug, Default)]
struct Heard {
    calls: VecDeque<v1::ProviderCall>,
    tools_changed: bool,
    /// When a success was told that nothing else came after.
    well_since: Option<Instant>,
}

impl Heard {
    fn is_empty(&self) -> bool {
        self.calls.is_empty() && !self.tools_changed
    }
}

impl ProviderNews {
    /// A call of a tool ended: with `error`, or well. Of tools that are no provider's nothing is noted.
    pub(crate) fn called(&self, tenant: &TenantId, tool_id: &ToolId, call: &InvocationId, error: Option<&ToolError>) {
        let Some((provider, _)) = provider_of(tool_id).filter(|_| !is_list_tool(tool_id)) else { return };
        self.note(tenant, provider, |heard| {
            if error.is_none() {
                // It is there now: what failed before is over.
                heard.calls.clear();
                if heard.well_since.is_some_and(|since| since.elapsed() < WELL_EVERY) {
                    return;
                }
            }
            heard.well_since = None;
            let error = error.map(brief);
            heard.calls.push_back(v1::ProviderCall { invocation_id: call.to_string(), error });
            if heard.calls.len() > MAX_CALLS {
                heard.calls.pop_front();
            }
        });
    }

    /// A server of a provider, or a worker that has the tools itself, says that they have changed. Any worker may say so of any
    /// provider: all that follows is a look at one that exists, every few seconds at most.
    pub(crate) fn tools_changed(&self, tenant: &TenantId, provider: &str) {
        self.note(tenant, provider, |heard| heard.tools_changed = true);
    }

    fn note(&self, tenant: &TenantId, provider: &str, what: impl FnOnce(&mut Heard)) {
        let mut providers = self.0.providers.lock();
        if providers.len() >= MAX_PROVIDERS {
            providers.retain(|_, heard| !heard.is_empty());
        }
        let name = (tenant.clone(), provider.to_owned());
        if providers.len() >= MAX_PROVIDERS && !providers.contains_key(&name) {
            return;
        }
        let heard = providers.entry(name).or_default();
        what(heard);
        if !heard.is_empty() {
            self.0.wake.notify_one();
        }
    }

    /// Tells the surface service behind `peer` what is heard, until `stop`.
    pub(crate) async fn tell(self, peer: Peer, stop: CancellationToken) {
        stop.run_until_cancelled(self.always(ProviderServiceClient::new(peer))).await;
    }

    async fn always(&self, mut client: ProviderServiceClient<Peer>) {
        loop {
            self.0.wake.notified().await;
            tokio::time::sleep(GATHER).await;
            loop {
                let news = self.take();
                if news.is_empty() {
                    break;
                }
                let count = news.len();
                let request = v1::TellProvidersRequest { news: news.clone() };
                if let Err(status) = client.tell_providers(request).await {
                    tracing::warn!(code = ?status.code(), message = status.message(), count, "the surface service cannot be told of providers");
                    self.put_back(news);
                    tokio::time::sleep(AGAIN).await;
                }
            }
        }
    }

    /// What is to be told now.
    fn take(&self) -> Vec<v1::ProviderNews> {
        let mut providers = self.0.providers.lock();
        let waiting = providers.iter_mut().filter(|(_, heard)| !heard.is_empty()).take(MAX_TOLD);
        let told = waiting.map(|((tenant, provider), heard)| {
            if heard.calls.back().is_some_and(|last| last.error.is_none()) {
                heard.well_since = Some(Instant::now());
            }
            v1::ProviderNews {
                tenant: tenant.to_string(),
                provider_id: provider.clone(),
                calls: std::mem::take(&mut heard.calls).into(),
                tools_changed: std::mem::take(&mut heard.tools_changed),
            }
        });
        told.collect()
    }

    /// What was not told is told later; of the calls as many as there is room for before those that came since.
    fn put_back(&self, news: Vec<v1::ProviderNews>) {
        let mut providers = self.0.providers.lock();
        for v1::ProviderNews { tenant, provider_id, calls, tools_changed } in news {
            let heard = providers.entry((TenantId::from_trusted(tenant), provider_id)).or_default();
            heard.tools_changed |= tools_changed;
            heard.well_since = None;
            if heard.calls.front().is_none_or(|first| first.error.is_some()) {
                for call in calls.into_iter().rev().take(MAX_CALLS.saturating_sub(heard.calls.len())) {
                    heard.calls.push_front(call);
                }
            }
        }
    }
}

/// As much of an error as tells what went wrong.
fn brief(error: &ToolError) -> v1::ToolError {
    let cut = |text: &str| text.chars().take(MAX_CHARS).collect();
    let (error_class, recoverability) = (error.error_class, error.recoverability);
    let brief = ToolError { error_class, recoverability, ..ToolError::of(codes::RESULT_MAPPING, cut(&error.message)) };
    (&ToolError { error_code: cut(&error.error_code), ..brief }).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bed {
        news: ProviderNews,
        tenant: TenantId,
        tool: ToolId,
    }

    impl Bed {
        fn new() -> Self {
            let tool = ToolId::parse("provider:files/read").expect("an id");
            Self { news: ProviderNews::default(), tenant: TenantId::from_trusted("acme"), tool }
        }

        fn called(&self, call: &str, fails: bool) {
            let error = fails.then(|| ToolError::of(codes::MCP_NO_ANSWER, "gone"));
            self.news.called(&self.tenant, &self.tool, &InvocationId::from_trusted(call), error.as_ref());
        }

        /// What is told of the only provider there is: the calls, a failed one with an `!`.
        fn told(&self) -> Option<Vec<String>> {
            let news = self.news.take();
            assert!(news.len() <= 1 && news.iter().all(|one| (&*one.tenant, &*one.provider_id) == ("acme", "files")));
            let line = |call: v1::ProviderCall| {
                let mark = if call.error.is_some() { "!" } else { "" };
                format!("{}{mark}", call.invocation_id)
            };
            Some(news.into_iter().next()?.calls.into_iter().map(line).collect())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn failures_are_told_each_time_and_successes_now_and_then() {
        let bed = Bed::new();
        bed.called("a", false);
        bed.called("b", false);
        assert_eq!(bed.told().as_deref(), Some(&["b".to_owned()][..]));
        bed.called("c", false);
        assert_eq!(bed.told(), None, "nothing new");
        bed.called("d", true);
        bed.called("e", true);
        assert_eq!(bed.told().unwrap_or_default(), ["d!", "e!"]);
        bed.called("f", false);
        assert_eq!(bed.told().unwrap_or_default(), ["f"], "a success after a failure is news");
        tokio::time::advance(WELL_EVERY).await;
        bed.called("g", false);
        assert_eq!(bed.told().unwrap_or_default(), ["g"]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_not_taken_is_told_again_in_order_and_within_bounds() {
        let bed = Bed::new();
        bed.called("a", true);
        let untaken = bed.news.take();
        bed.called("b", true);
        bed.news.put_back(untaken);
        assert_eq!(bed.told().unwrap_or_default(), ["a!", "b!"]);
        (0..100).for_each(|_| bed.called("c", true));
        let untaken = bed.news.take();
        assert_eq!(untaken.first().map(|one| one.calls.len()), Some(MAX_CALLS));
        bed.called("d", false);
        bed.news.put_back(untaken);
        assert_eq!(bed.told().unwrap_or_default(), ["d"], "what failed before a success is over");
    }

    #[test]
    fn tools_of_nobody_and_questions_of_the_platform_are_no_news() {
        let bed = Bed::new();
        for id in ["native.echo", "provider:files/:list"] {
            let tool = ToolId::parse(id).expect("an id");
            bed.news.called(&bed.tenant, &tool, &InvocationId::from_trusted("a"), None);
        }
        assert!(bed.news.take().is_empty());
        bed.news.tools_changed(&bed.tenant, "files");
        assert!(bed.news.take().first().is_some_and(|one| one.tools_changed && one.calls.is_empty()));
    }
}
