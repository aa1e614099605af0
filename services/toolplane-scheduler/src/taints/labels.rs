//! Which labels an output has.

use toolplane_records::SmolStr;
use toolplane_records::result::Cleaned;
use toolplane_records::taint;

/// The treatment by which nothing of an output is shown to anybody.
const DROPPED: &str = "drop";

/// The labels of an output in which `cleaned` was found, of a tool that is `untrusted` or not. What is withheld as a whole taints nobody.
pub(super) fn of(cleaned: &[Cleaned], untrusted: bool) -> Vec<SmolStr> {
    if cleaned.iter().any(|found| found.treatment == DROPPED) {
        return Vec::new();
    }
    let found = |label: &str| cleaned.iter().any(|found| found.taints && found.class == label);
    let has = |label: &&&str| found(label) || (untrusted && **label == taint::UNTRUSTED);
    taint::LABELS.iter().filter(has).map(|label| SmolStr::new_static(label)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(class: &str, treatment: &str, taints: bool) -> Cleaned {
        Cleaned { class: class.into(), rule: "a_rule".into(), treatment: treatment.into(), places: 1, taints }
    }

    #[test]
    fn what_taints_is_said_once_and_what_is_withheld_says_nothing() {
        let mark = [found("instructions", "mark", true), found("instructions", "mark", true)];
        assert_eq!(of(&mark, false), ["instructions"]);
        assert_eq!(of(&mark, true), ["instructions", "untrusted"]);
        assert!(of(&[found("credentials", "mask", false), found("invisible", "mask", false)], false).is_empty());
        assert_eq!(
            of(&[found("invisible", "mask", true), found("markup", "mark", true)], false),
            ["markup", "invisible"]
        );
        assert!(of(&[found("markup", "mark", true), found("instructions", "drop", true)], true).is_empty());
    }
}
