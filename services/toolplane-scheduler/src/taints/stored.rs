//! What is stored of one session.

use serde::{Deserialize, Serialize};
use toolplane_records::SmolStr;
use toolplane_records::ids::TenantId;
use toolplane_records::taint::Taint;
use toolplane_records::time::Timestamp;

/// Most clearings that are remembered: the newest.
const MAX_CLEARINGS: usize = 8;

/// The notes of one session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SessionNotes {
    pub(crate) tenant: TenantId,
    pub(crate) session_ref: SmolStr,
    /// One for each label.
    pub(crate) taints: Vec<Taint>,
    /// When it was given the last output with a label.
    pub(crate) tainted_at: Timestamp,
    /// Who cleared what of it, the newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) cleared: Vec<Clearing>,
}

/// Labels that somebody took away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Clearing {
    /// Those that were there.
    pub(crate) labels: Vec<SmolStr>,
    /// Who did it.
    pub(crate) by: String,
    pub(crate) at: Timestamp,
    pub(crate) reason: String,
}

impl SessionNotes {
    /// No notes yet.
    pub(super) fn new(tenant: &TenantId, session: &str) -> Self {
        Self {
            tenant: tenant.clone(),
            session_ref: session.into(),
            taints: Vec::new(),
            tainted_at: Timestamp::from_millis(0),
            cleared: Vec::new(),
        }
    }

    /// Takes `labels` away, all where none is named; true when there was any of them. What was there is noted with who did it.
    pub(super) fn clear(&mut self, labels: &[String], clearing: Clearing) -> bool {
        let goes = |taint: &Taint| labels.is_empty() || labels.iter().any(|label| taint.label == *label);
        let gone: Vec<SmolStr> =
            self.taints.iter().filter(|taint| goes(taint)).map(|taint| taint.label.clone()).collect();
        if gone.is_empty() {
            return false;
        }
        self.taints.retain(|taint| !goes(taint));
        if self.cleared.len() >= MAX_CLEARINGS {
            self.cleared.remove(0);
        }
        self.cleared.push(Clearing { labels: gone, ..clearing });
        true
    }
}

#[cfg(test)]
mod tests {
    use toolplane_records::ids::InvocationId;
    use toolplane_records::taint;

    use super::*;

    #[test]
    fn what_is_cleared_is_gone_and_who_did_it_is_kept() {
        let mut notes = SessionNotes::new(&TenantId::from_trusted("acme"), "s");
        let at = Timestamp::from_millis(5);
        let by = |by: &str| Clearing { labels: Vec::new(), by: by.to_owned(), at, reason: "read it".to_owned() };
        for label in [taint::MARKUP, taint::UNTRUSTED] {
            taint::add(&mut notes.taints, label, &InvocationId::from_trusted("inv_1"), at);
        }
        assert!(!notes.clear(&["instructions".to_owned()], by("nobody")));
        assert!(notes.clear(&["markup".to_owned()], by("ann")));
        assert!(taint::has(&notes.taints, taint::UNTRUSTED) && !taint::has(&notes.taints, taint::MARKUP));
        assert!(notes.clear(&[], by("bob")) && notes.taints.is_empty());
        let told: Vec<_> = notes.cleared.iter().map(|one| (one.by.as_str(), one.labels.as_slice())).collect();
        assert_eq!(told, [("ann", &["markup".into()][..]), ("bob", &["untrusted".into()][..])]);
    }
}
