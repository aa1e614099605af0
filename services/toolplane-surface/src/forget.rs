//! What of a damaged record or log may be taken out for good when there is no backup, and what goes with it.

use toolplane_backend::forget::{Along, Entries, Verdict};
use toolplane_store::{DamageLocation, Family, RecordKey};

use crate::keys;

/// Judges damage in the surface role's store. A tool or a surface goes with its log, which a new one of that name begins anew, and a
/// tool with what the embedding model made of it.
pub fn forget(place: &DamageLocation) -> Verdict {
    let key = match place {
        DamageLocation::Record(key) => Some(key.clone()),
        DamageLocation::Stream { stream, .. } => keys::logged_in(stream),
        _ => None,
    };
    let stream = key.as_ref().and_then(keys::log_of);
    let (Some(key), Some(stream)) = (key, stream) else { return Verdict::usual(place) };
    let entries = surface_of(&key).map(|id| Entries { member: id.to_owned(), stand_for_it: keys::lists_surfaces });
    let meaning = (key.family == Family::Declaration).then(|| keys::meaning_of(&key));
    let records = [Some(key), meaning].into_iter().flatten().collect();
    Verdict::Goes(Along { records, streams: vec![stream], entries })
}

/// Surfaces are listed by their ids alone: they are drawn, so no two tenants share one.
fn surface_of(key: &RecordKey) -> Option<&str> {
    key.id.split_once('|').filter(|_| key.family == Family::Surface).map(|(_, id)| id)
}

#[cfg(test)]
mod tests {
    use toolplane_records::ids::{SurfaceId, TenantId, ToolId};

    use super::*;

    #[test]
    fn a_tool_and_a_surface_go_with_their_logs() {
        let tenant = TenantId::from_trusted("acme");
        let (tool, surface) = (ToolId::from_trusted("text.count"), SurfaceId::from_trusted("surf_1"));
        let (tool_log, surface_log) = (keys::tool_stream(&tenant, &tool), keys::surface_stream(&tenant, &surface));
        let tool = vec![keys::tool(&tenant, &tool), keys::meaning(&tenant, &tool)];
        let surface = vec![keys::surface(&tenant, &surface)];
        for (records, log, listed) in [(tool, tool_log, None), (surface, surface_log, Some("surf_1"))] {
            for place in [
                DamageLocation::Record(records[0].clone()),
                DamageLocation::Stream { stream: log.clone(), from_seq: 2 },
            ] {
                let Verdict::Goes(along) = forget(&place) else { panic!("{place} stays") };
                assert_eq!((&along.records, &along.streams), (&records, &vec![log.clone()]));
                assert_eq!(along.entries.as_ref().map(|entries| entries.member.as_str()), listed);
                let lists = along.entries.map(|entries| entries.stand_for_it);
                assert!(lists.is_none_or(|lists| lists(&keys::surfaces(&tenant, None)) && !lists("other")));
            }
        }
    }
}
