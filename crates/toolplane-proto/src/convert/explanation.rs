//! What decisions are made from beside rules, and how they came about.

use toolplane_records::explanation as records;

use crate::convert::assurance::confidence;
use crate::convert::word::Word as _;
use crate::convert::{ConvertError, field, word};
use crate::v1;

impl From<&records::HookVerdict> for v1::HookVerdict {
    fn from(record: &records::HookVerdict) -> Self {
        Self {
            hook_id: record.hook_id.clone(),
            behavior: record.behavior.number(),
            message: record.message.clone(),
            authoritative: record.authoritative,
        }
    }
}

impl TryFrom<v1::HookVerdict> for records::HookVerdict {
    type Error = ConvertError;

    fn try_from(message: v1::HookVerdict) -> Result<Self, ConvertError> {
        Ok(Self {
            hook_id: message.hook_id,
            behavior: word::closed("behavior", message.behavior)?,
            message: message.message,
            authoritative: message.authoritative,
        })
    }
}

impl From<&records::ClassifierCheck> for v1::ClassifierCheck {
    fn from(record: &records::ClassifierCheck) -> Self {
        Self {
            classifier_ref: record.classifier_ref.clone(),
            pending: record.pending,
            confidence: record.confidence.map(|confidence| confidence.get()),
            reason: record.reason.clone(),
            behavior: word::optional_number(record.behavior),
            authority: record.authority.number(),
        }
    }
}

impl TryFrom<v1::ClassifierCheck> for records::ClassifierCheck {
    type Error = ConvertError;

    fn try_from(message: v1::ClassifierCheck) -> Result<Self, ConvertError> {
        Ok(Self {
            classifier_ref: message.classifier_ref,
            pending: message.pending,
            confidence: confidence(message.confidence)?,
            reason: message.reason,
            behavior: word::optional_closed("behavior", message.behavior)?,
            authority: word::closed("authority", message.authority)?,
        })
    }
}

impl From<&records::RuleExplanation> for v1::RuleExplanation {
    fn from(record: &records::RuleExplanation) -> Self {
        Self {
            rule_id: record.rule_id.clone(),
            source: record.source.clone(),
            behavior: record.behavior.number(),
            matcher: record.matcher.clone(),
            fit: record.fit.number(),
            decided: record.decided,
            shadow: record.shadow,
            why: record.why.clone(),
        }
    }
}

impl TryFrom<v1::RuleExplanation> for records::RuleExplanation {
    type Error = ConvertError;

    fn try_from(message: v1::RuleExplanation) -> Result<Self, ConvertError> {
        Ok(Self {
            rule_id: message.rule_id,
            source: message.source,
            behavior: word::closed("behavior", message.behavior)?,
            matcher: message.matcher,
            fit: word::closed("fit", message.fit)?,
            decided: message.decided,
            shadow: message.shadow,
            why: message.why,
        })
    }
}

impl From<&records::PartExplanation> for v1::PartExplanation {
    fn from(record: &records::PartExplanation) -> Self {
        Self {
            text: record.text.clone(),
            behavior: record.behavior.number(),
            rule_ref: record.rule_ref.clone(),
            why: record.why.clone(),
        }
    }
}

impl TryFrom<v1::PartExplanation> for records::PartExplanation {
    type Error = ConvertError;

    fn try_from(message: v1::PartExplanation) -> Result<Self, ConvertError> {
        Ok(Self {
            text: message.text,
            behavior: word::closed("behavior", message.behavior)?,
            rule_ref: message.rule_ref,
            why: message.why,
        })
    }
}

impl From<&records::DecisionExplanation> for v1::DecisionExplanation {
    fn from(record: &records::DecisionExplanation) -> Self {
        Self {
            rules: field::outs(&record.rules),
            parts: field::outs(&record.parts),
            notes: record.notes.clone(),
            policy_digest: record.policy_digest.clone(),
        }
    }
}

impl TryFrom<v1::DecisionExplanation> for records::DecisionExplanation {
    type Error = ConvertError;

    fn try_from(message: v1::DecisionExplanation) -> Result<Self, ConvertError> {
        Ok(Self {
            rules: field::list("rules", message.rules)?,
            parts: field::list("parts", message.parts)?,
            notes: message.notes,
            policy_digest: message.policy_digest,
        })
    }
}
