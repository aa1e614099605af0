//! What a failed call says may help: tools of its own surface, and no others.

use toolplane_records::SmolStr;
use toolplane_records::invocation::Invocation;

use crate::calls::Calls;
use crate::intake::{Asker, Resolved, SurfacePeer, ToolAddress};
use crate::storage::RecordError;

/// Most tools one failure names.
const MOST: usize = 5;
/// Most names that are asked about.
const MOST_ASKED: usize = 20;

/// Checks the tools that failures name.
#[derive(Clone, Debug, Default)]
pub(crate) struct NextSteps {
    /// Without it no tool is known to be there.
    surface: Option<SurfacePeer>,
}

impl NextSteps {
    /// By the surfaces behind `surface`.
    pub(crate) fn new(surface: SurfacePeer) -> Self {
        Self { surface: Some(surface) }
    }

    /// Leaves in `names` the tools that the surface of `record` has, each once. A name that cannot be asked about now is left out too:
    /// nobody is sent to a tool that may not be there.
    pub(super) async fn keep(
        &self,
        calls: &Calls,
        record: &Invocation,
        names: &mut Vec<String>,
    ) -> Result<(), RecordError> {
        let (Some(place), Some(surface)) = (ToolAddress::of(record), &self.surface) else {
            names.clear();
            return Ok(());
        };
        let asker = match calls.records().facts(&record.key()).await? {
            Some(facts) => facts.parse()?,
            None => Asker::anybody(),
        };
        let caller = asker.caller(record);
        let mut kept: Vec<String> = Vec::new();
        for name in std::mem::take(names).into_iter().take(MOST_ASKED) {
            if kept.len() == MOST || kept.contains(&name) {
                continue;
            }
            let place = ToolAddress { name: SmolStr::new(&name), ..place.clone() };
            if matches!(surface.resolve(&place, &caller, None).await, Ok(Resolved::Callable(..))) {
                kept.push(name);
            }
        }
        *names = kept;
        Ok(())
    }
}
