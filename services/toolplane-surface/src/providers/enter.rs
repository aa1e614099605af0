//! Entering approved tools into the catalogue: one that cannot be entered keeps no other from it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use toolplane_catalog::Registration;
use toolplane_records::ids::{TenantId, ToolId};
use toolplane_records::payload::Digest;
use toolplane_runtime::ApiError;
use toolplane_runtime::status::Violation;

use crate::registry::Registry;

/// Most tools that are entered at once.
const AT_ONCE: usize = 250;
/// Most rounds in which those that cannot be entered are left out.
const ROUNDS: usize = 4;

/// What became of tools that were to be entered.
#[derive(Debug, Default)]
pub(super) struct Entered {
    /// Digest of each exact registration that is in the catalogue now.
    pub(super) registered: BTreeMap<ToolId, Digest>,
    /// Why the others are not.
    pub(super) refused: HashMap<ToolId, String>,
}

/// Enters registrations into the catalogue, each as far as it can be. Answered when schedulers know.
pub(super) async fn enter(
    registry: &Registry,
    tenant: &TenantId,
    tools: Vec<Arc<Registration>>,
) -> Result<Entered, ApiError> {
    let mut entered = Entered::default();
    for tools in tools.chunks(AT_ONCE) {
        enter_some(registry, tenant, tools.to_vec(), &mut entered).await?;
    }
    Ok(entered)
}

async fn enter_some(
    registry: &Registry,
    tenant: &TenantId,
    mut tools: Vec<Arc<Registration>>,
    entered: &mut Entered,
) -> Result<(), ApiError> {
    for round in 1..=ROUNDS {
        if tools.is_empty() {
            return Ok(());
        }
        let registrations = tools.iter().map(|tool| Registration::clone(tool)).collect();
        let violations = match registry.register(tenant.clone(), registrations, false).await {
            Ok(changes) => {
                let done = changes
                    .iter()
                    .map(|change| (change.tool.registration().declaration.tool_id.clone(), change.tool.digest()));
                entered.registered.extend(done);
                return Ok(());
            }
            Err(ApiError::InvalidArgument(violations)) => violations,
            Err(error) => return Err(error),
        };
        let mut wrong: HashMap<usize, String> = HashMap::new();
        for violation in &violations {
            if let Some((index, rule)) = read(violation) {
                wrong.entry(index).or_insert(rule);
            }
        }
        let all = round == ROUNDS || wrong.is_empty();
        let mut index = 0;
        tools.retain(|tool| {
            let why = wrong.remove(&index).or_else(|| all.then(|| "cannot be entered with others".to_owned()));
            index += 1;
            let Some(why) = why else { return true };
            entered.refused.insert(tool.declaration.tool_id.clone(), why);
            false
        });
    }
    Ok(())
}

/// Which of the tools a violation is about, and the rule with its place in the tool.
fn read(violation: &Violation) -> Option<(usize, String)> {
    let (index, place) = violation.field.strip_prefix("tools[")?.split_once(']')?;
    let place = place.trim_start_matches('.');
    Some((index.parse().ok()?, format!("`{place}` {}", violation.rule)))
}
