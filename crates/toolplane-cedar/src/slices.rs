//! Policies by the resource they name, so that a call meets only those that can be about it.

use std::collections::HashMap;

use cedar_policy::{EntityUid, Policy, PolicySet, PolicySetError, ResourceConstraint};

/// Evaluation takes time for every policy it is given. A policy whose scope names a tool, a namespace or a kind is given only
/// the calls of what it names; the answers of the slices are put together afterwards.
#[derive(Debug, Default)]
pub(crate) struct Slices {
    /// Policies about any resource.
    any: PolicySet,
    named: HashMap<EntityUid, PolicySet>,
}

impl Slices {
    pub(crate) fn new(policies: Vec<Policy>) -> Result<Self, Box<PolicySetError>> {
        let mut slices = Self::default();
        for policy in policies {
            let slice = match policy.resource_constraint() {
                ResourceConstraint::Eq(name) | ResourceConstraint::In(name) | ResourceConstraint::IsIn(_, name) => {
                    slices.named.entry(name).or_default()
                }
                ResourceConstraint::Any | ResourceConstraint::Is(_) => &mut slices.any,
            };
            slice.add(policy)?;
        }
        Ok(slices)
    }

    /// The slices for a resource that is itself, or is in, each of `names`.
    pub(crate) fn of<'a>(&'a self, names: &'a [EntityUid]) -> impl Iterator<Item = &'a PolicySet> {
        let any = (!self.any.is_empty()).then_some(&self.any);
        any.into_iter().chain(names.iter().filter_map(|name| self.named.get(name)))
    }
}
