//! Rules that passed their checks.

mod check;
pub(crate) mod compiled;
mod example;
#[cfg(test)]
mod tests;

pub use check::{MAX_CONDITIONS, MAX_EXAMPLES, MAX_MATCHER, MAX_REASON_CHARS, ROLES, slip};
pub use compiled::Rule;

use toolplane_records::error::FieldViolation;
use toolplane_records::rule::PermissionRule;

impl Rule {
    /// Checks a rule, its own examples included. Every fault is named by its field, e.g. `facts[1]`.
    ///
    /// # Errors
    ///
    /// Every fault of the record: the behaviour is `passthrough`; the id, the matcher, a fact, an argument, the scope,
    /// the author, the pin or `expires_at` is not valid; or a text or list is over its limit ([`MAX_MATCHER`],
    /// [`MAX_REASON_CHARS`], [`MAX_CONDITIONS`], [`MAX_EXAMPLES`]). When there is none of these, every example that
    /// does not hold.
    pub fn from_record(record: &PermissionRule) -> Result<Self, Vec<FieldViolation>> {
        let rule = check::rule(record)?;
        let faults = example::faults(&rule);
        if faults.is_empty() { Ok(rule) } else { Err(faults) }
    }
}
