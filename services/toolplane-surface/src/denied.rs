//! Tools that nobody may call, as the permission service says: surfaces have them among the blocked ones.
//!
//! This is about what is shown. What is known may be some moments old, and nothing is hidden while nothing is known; each call is decided
//! about by the permission service all the same.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::RwLock;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolplane_catalog::{Catalog, Registration};
use toolplane_matching::fit::Fit;
use toolplane_matching::tools::{ToolPattern, within};
use toolplane_proto::v1;
use toolplane_proto::v1::permission_service_client::PermissionServiceClient;
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::ids::{TenantId, ToolId};
use toolplane_records::payload::Digest;
use toolplane_records::vocabulary::Behavior;
use toolplane_runtime::client::Peer;

use crate::options::DenialOptions;
use crate::registry::Tenants;

/// How long after a break the rules are followed again.
const REOPEN: Duration = Duration::from_secs(1);
/// The same right after a start, where the service may not be there yet; twice as long each time.
const SOON: Duration = Duration::from_millis(50);

/// Tools that are denied.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeniedTools {
    /// By id, with why.
    pub(crate) tools: BTreeMap<ToolId, String>,
    /// Stands for the rules by which they are: 0 where there is none.
    pub(crate) mark: u32,
}

/// The rules by which tools are denied to everybody. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Denials {
    known: Arc<RwLock<Arc<[Denial]>>>,
    /// Changes whenever all tools were judged by other rules.
    judged: Arc<watch::Sender<()>>,
    /// Until when the first word is waited for; nothing once it came, and where nobody says any.
    awaited: Arc<watch::Sender<Option<Instant>>>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Denial {
    tenant: String,
    namespace: String,
    tools: ToolPattern,
    /// What is said of a tool.
    words: String,
    /// Stands for the tools it denies, in every process.
    mark: u32,
}

impl Denial {
    /// One that cannot be read, from a newer service, hides nothing.
    fn read(told: v1::DeniedTools) -> Option<Self> {
        let v1::DeniedTools { rule_id, tools, tenant, namespace, reason } = told;
        let words = match reason.trim() {
            "" => format!("is denied by the rule `{rule_id}`, whatever the call"),
            reason => format!("is denied by the rule `{rule_id}`, whatever the call: {reason}"),
        };
        let mark = mark([tenant.as_str(), &namespace, &tools]);
        Some(Self { tenant, namespace, tools: tools.parse().ok()?, words, mark })
    }

    /// Whether it denies tools of the tenant.
    fn is_of(&self, tenant: &TenantId) -> bool {
        self.tenant.is_empty() || self.tenant == tenant.as_str()
    }
}

impl Denials {
    /// Those of a tenant.
    pub(crate) fn of(&self, tenant: &TenantId) -> TenantDenials {
        TenantDenials(self.known.read().iter().filter(|denial| denial.is_of(tenant)).cloned().collect())
    }

    /// Says what is known now; tells whether that is something else.
    fn know(&self, told: Vec<v1::DeniedTools>) -> bool {
        let new: Arc<[Denial]> = told.into_iter().filter_map(Denial::read).collect();
        let mut known = self.known.write();
        let is_new = *known != new;
        *known = new;
        is_new
    }

    /// Waits, shortly after a start, until it is known what is denied.
    pub(crate) async fn settled(&self) {
        let Some(until) = *self.awaited.borrow() else { return };
        let mut awaited = self.awaited.subscribe();
        // Where none comes, all is shown, and denied when it is called.
        _ = tokio::time::timeout_at(until, awaited.wait_for(Option::is_none)).await;
    }

    /// Changes whenever all tools were judged by other rules.
    pub(crate) fn judged(&self) -> watch::Receiver<()> {
        self.judged.subscribe()
    }
}

/// A number that stands for these texts in every process; never 0, which stands for none.
pub(crate) fn mark<'t>(texts: impl IntoIterator<Item = &'t str>) -> u32 {
    let mut all = String::new();
    texts.into_iter().for_each(|text| {
        all.push_str(text);
        all.push('\0');
    });
    let [a, b, c, d, ..] = *Digest::of(all.as_bytes()).as_bytes();
    u32::from_be_bytes([a, b, c, d]).max(1)
}

/// What is denied to everybody of a tenant.
#[derive(Debug)]
pub(crate) struct TenantDenials(Vec<Denial>);

impl TenantDenials {
    /// Why no call of the tool is let through.
    pub(crate) fn why(&self, tool: &Registration) -> Option<&str> {
        if self.0.is_empty() {
            return None;
        }
        let facts = tool.tool_facts();
        let denies = |denial: &&Denial| {
            let is_within = denial.namespace.is_empty() || within(&facts.namespace, &denial.namespace);
            is_within && denial.tools.fit(Behavior::Deny, &facts) == Fit::Yes
        };
        self.0.iter().find(denies).map(|denial| denial.words.as_str())
    }

    /// All tools of a catalog that are denied.
    pub(crate) fn among(&self, catalog: &Catalog) -> DeniedTools {
        if self.0.is_empty() {
            return DeniedTools::default();
        }
        let denied = catalog.entries().filter_map(|entry| {
            let why = self.why(entry.tool.registration())?;
            Some((entry.tool_id().clone(), why.to_owned()))
        });
        // In any order they deny the same.
        let mark = self.0.iter().fold(0_u32, |all, denial| all.wrapping_add(denial.mark)).max(1);
        DeniedTools { tools: denied.collect(), mark }
    }
}

/// What nobody may call, as the permission service says. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Denied {
    /// Whose tools are judged.
    tenants: Tenants,
}

impl Denied {
    pub(crate) fn new(tenants: Tenants) -> Self {
        Self { tenants }
    }

    /// Why no call of the tool is let through.
    pub(crate) fn denial(&self, tenant: &TenantId, id: &ToolId) -> Option<ToolError> {
        let why = self.tenants.get(tenant).denied().tools.get(id)?.clone();
        let error = ToolError::of(codes::PERMISSION_DENIED_BY_RULE, why);
        Some(ToolError { side_effects: Some("none".to_owned()), ..error })
    }

    /// Follows which tools nobody may call until `stop`, over every break. What was known goes on to be; until the first word came, what is
    /// shown waits for it, as soon as this is called.
    pub(crate) fn follow(self, options: DenialOptions, stop: CancellationToken) -> impl Future<Output = ()> + Send {
        let DenialOptions { permission, patience } = options;
        self.tenants.denials().awaited.send_replace(Some(Instant::now() + patience));
        let client = PermissionServiceClient::new(permission);
        async move {
            let follow = async {
                let mut reopen = SOON;
                loop {
                    if let Err(status) = self.hear(client.clone()).await {
                        tracing::debug!(code = ?status.code(), "the stream of denied tools broke; opening it again");
                    }
                    tokio::time::sleep(reopen).await;
                    reopen = (reopen * 2).min(REOPEN);
                }
            };
            stop.run_until_cancelled(follow).await;
        }
    }

    async fn hear(&self, mut client: PermissionServiceClient<Peer>) -> Result<(), tonic::Status> {
        let request = v1::WatchPolicyRequest { denied_tools: true };
        let mut told = client.watch_policy(request).await?.into_inner();
        while let Some(told) = told.message().await? {
            self.know(told.denied_tools).await;
        }
        Ok(())
    }

    /// Takes in which tools nobody may call.
    async fn know(&self, told: Vec<v1::DeniedTools>) {
        if self.tenants.denials().know(told) {
            self.judge().await;
        }
        self.tenants.denials().awaited.send_if_modified(|awaited| awaited.take().is_some());
    }

    /// Judges all tools by the rules that are known now.
    async fn judge(&self) {
        let tenants = self.tenants.clone();
        // All tools are gone through, away from the threads that serve calls.
        let looked = tokio::task::spawn_blocking(move || {
            tenants.all().into_iter().map(|(_, tenant)| tenant.look_for_denied()).sum::<usize>()
        });
        let count = looked.await.unwrap_or_default();
        self.tenants.denials().judged.send_replace(());
        tracing::info!(count, "the rules deny other tools than before");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(namespace: &str, name: &str) -> Registration {
        let declaration = json!({
            "tool_id": format!("tool_{namespace}_{name}"), "namespace": namespace, "name": name, "tool_kind": "function",
            "description": "A tool.", "lifecycle": "available", "input_contract": { "model_input_schema": { "type": "object" } },
        });
        serde_json::from_value(json!({ "declaration": declaration })).unwrap()
    }

    fn denied(rule_id: &str, tools: &str) -> v1::DeniedTools {
        v1::DeniedTools { rule_id: rule_id.to_owned(), tools: tools.to_owned(), ..Default::default() }
    }

    #[test]
    fn a_tool_is_denied_by_the_first_rule_of_its_tenant_and_namespace_that_surely_fits() {
        let (acme, other) = (TenantId::from_trusted("acme"), TenantId::from_trusted("other"));
        let denials = Denials::default();
        let told = vec![
            v1::DeniedTools { tenant: "acme".to_owned(), reason: "not here".to_owned(), ..denied("a", "files.*") },
            v1::DeniedTools { namespace: "web".to_owned(), ..denied("b", "*") },
            // What a tool does is unknown where it does not say so.
            denied("c", "Bash"),
            denied("d", "what a newer service says("),
        ];
        assert!(denials.know(told.clone()) && !denials.know(told));
        let why = |tenant: &TenantId, namespace: &str, name: &str| {
            denials.of(tenant).why(&tool(namespace, name)).map(str::to_owned)
        };
        let by_a = Some("is denied by the rule `a`, whatever the call: not here".to_owned());
        assert_eq!(why(&acme, "files", "read"), by_a);
        assert_eq!(why(&other, "files", "read"), None);
        let by_b = Some("is denied by the rule `b`, whatever the call".to_owned());
        assert_eq!((why(&other, "web", "get"), why(&acme, "web.more", "get")), (by_b.clone(), by_b));
        assert_eq!(why(&acme, "local", "run"), None);
    }
}
