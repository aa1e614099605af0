//! What the classifier of a call says.

use super::ruling::Ruling;
use crate::call::CallFacts;
use crate::verdict::source;
use toolplane_records::explanation::ClassifierCheck;
use toolplane_records::vocabulary::{Behavior, ClassifierAuthority, ReasonType};

/// What a classifier says, if it says that and may decide it. One that may approve may deny as well.
pub(crate) fn classifier(call: &CallFacts, says: Behavior) -> Option<&ClassifierCheck> {
    let check = call.signals.classifier.as_ref().filter(|check| !check.pending && check.behavior == Some(says))?;
    let may = match check.authority {
        ClassifierAuthority::Approve => true,
        ClassifierAuthority::Deny => says != Behavior::Allow,
        ClassifierAuthority::Recommend => false,
    };
    may.then_some(check)
}

/// A classifier that may decide and has not answered.
pub(crate) fn pending(call: &CallFacts) -> Option<&ClassifierCheck> {
    call.signals.classifier.as_ref().filter(|check| check.pending && check.authority != ClassifierAuthority::Recommend)
}

pub(crate) fn of_classifier(check: &ClassifierCheck, behavior: Behavior) -> Ruling<'static> {
    let says = match behavior {
        Behavior::Allow => "approves",
        Behavior::Deny => "denies",
        Behavior::Ask | Behavior::Passthrough => "asks",
    };
    let message = format!("the classifier `{}` {says}{}", check.classifier_ref, because(&check.reason));
    Ruling::new(behavior, source::CLASSIFIER, ReasonType::Classifier, message)
}

pub(crate) fn because(reason: &str) -> String {
    if reason.is_empty() { String::new() } else { format!(": {reason}") }
}
