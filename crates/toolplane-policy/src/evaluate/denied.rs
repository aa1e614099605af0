//! The paths that deny rules keep from a call, for the executor that runs it.
//!
//! What a command does with files can be seen only as far as its words go. What a program opens by itself, through a
//! link or in code that is not looked at, is kept from it where it runs; these are the patterns that say what.

use toolplane_records::decision::DeniedPaths;
use toolplane_records::time::Timestamp;

use crate::scene::Scene;
use crate::set::RuleSet;
use toolplane_matching::fit::Fit;
use toolplane_matching::subject::SubjectKind;
use toolplane_matching::tools::{Family, ToolPattern};

/// Most patterns of one decision, and their bytes. With more, everything is kept from the call.
const MAX_PATTERNS: usize = 1_000;
const MAX_BYTES: usize = 64 * 1024;
/// Stands for everything.
const EVERYTHING: &str = "**";

/// The patterns of `Read` and `Edit` denies about the call. One whose conditions may hold counts.
pub(super) fn paths(rules: &RuleSet, scene: &Scene<'_>, now: Timestamp) -> DeniedPaths {
    let mut denied = DeniedPaths::default();
    if scene.target.kind == Some(SubjectKind::Url) {
        return denied;
    }
    let mut bytes = 0;
    for rule in rules.path_denies() {
        if !rule.is_in_force(now) || !rule.is_in_scope(scene.call) || scene.conditions_fit(rule) == Fit::No {
            continue;
        }
        let matcher = rule.matcher();
        let (ToolPattern::Family(family, _), Some(pattern)) = (&matcher.tools, &matcher.pattern) else { continue };
        let list = if *family == Family::Read { &mut denied.read } else { &mut denied.write };
        if list.iter().all(|known| known != pattern.text()) {
            bytes += pattern.text().len();
            list.push(pattern.text().to_owned());
        }
        if denied.read.len() + denied.write.len() > MAX_PATTERNS || bytes > MAX_BYTES {
            return DeniedPaths { read: vec![EVERYTHING.to_owned()], write: Vec::new() };
        }
    }
    denied
}
