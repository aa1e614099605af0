//! What the names mean that models call.

use std::sync::Arc;

use toolplane_catalog::catalog::CatalogEntry;
use toolplane_catalog::{Effort, Lookup, similar_in};
use toolplane_records::ids::{SurfaceId, TenantId};
use toolplane_records::payload::Digest;
use toolplane_runtime::ApiError;

use super::SurfaceNames;
use crate::surfaces::meant::{Meaning, Refusal, RefusalKind, chosen, meaning};

/// What a name means that a model used.
#[derive(Debug)]
pub(crate) enum Called {
    /// A tool that can be called.
    Tool(Box<CatalogEntry>),
    /// Nothing that can be called; with the aliases that may have been meant.
    Refused(Box<Refusal>, Vec<String>),
}

impl SurfaceNames {
    /// What names mean that a model used, each with the declaration it was shown, where that is known. A name from before a tool was given
    /// another one leads to that tool.
    pub(crate) async fn called(
        &self,
        tenant: &TenantId,
        id: &SurfaceId,
        names: &[(String, Option<Digest>)],
    ) -> Result<(Vec<Called>, u64), ApiError> {
        let view = self.surfaces.held(tenant, id).await?.view();
        let now = self.registry.now().await?;
        let owner = self.registry.tenant(tenant);
        let (mut found, similar, revision): (Vec<Called>, _, _) = {
            let catalog = owner.catalog.read();
            // Whoever maps calls makes them later, and says the moment then.
            let mean =
                |name: &str, known: Option<&Digest>| match chosen(&view, meaning(&view, &catalog, name, known), true) {
                    Meaning::Callable(entry, _) => Called::Tool(Box::new(entry)),
                    Meaning::Refused(refusal) => Called::Refused(Box::new(refusal), Vec::new()),
                };
            let called = names.iter().map(|(name, known)| match mean(name, known.as_ref()) {
                Called::Refused(refusal, _) if refusal.kind == RefusalKind::Unknown => match catalog.once_named(name) {
                    Some(entry) => mean(entry.tool_id().as_str(), known.as_ref()),
                    None => Called::Refused(refusal, Vec::new()),
                },
                called => called,
            });
            (called.collect(), Arc::clone(catalog.similar()), view.indexed().revision(&catalog))
        };
        let mut effort = Effort::of_one_request();
        for (called, (name, _)) in found.iter_mut().zip(names) {
            match called {
                Called::Tool(entry) => {
                    if let Some(error) = self.gate.obstacle(tenant, entry, now) {
                        *called =
                            Called::Refused(Box::new(Refusal::of_obstacle(entry.tool_id().clone(), error)), Vec::new());
                    }
                }
                Called::Refused(refusal, aliases) if refusal.kind == RefusalKind::Unknown => {
                    match self.gate.waiting(tenant, name) {
                        Some((tool_id, error)) => **refusal = Refusal::of_obstacle(tool_id, error),
                        None => {
                            refusal.similar = similar_in(view.indexed(), &similar, name, &mut effort);
                            let catalog = owner.catalog.read();
                            let alias = |name: &String| match catalog.find(name) {
                                Lookup::One(entry) => Some(entry.tool.registration().alias()),
                                _ => None,
                            };
                            *aliases = refusal.similar.iter().filter_map(alias).collect();
                        }
                    }
                }
                Called::Refused(..) => {}
            }
        }
        Ok((found, revision))
    }
}
