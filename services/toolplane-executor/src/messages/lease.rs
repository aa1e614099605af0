//! The key of everything a worker does.

use toolplane_records::ids::{InvocationId, LeaseId};

/// One lease of one call. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Lease {
    /// The call; it means something within its tenant only, which [`Self::id`] names.
    pub(crate) invocation_id: InvocationId,
    /// Number of the lease within its call, from 1.
    pub(crate) number: u32,
    /// Secret name of the lease: a worker that knows it may report under it.
    pub(crate) id: LeaseId,
}

impl Lease {
    /// Whether both are leases of one call.
    pub(crate) fn is_of_same_call(&self, other: &Self) -> bool {
        self.invocation_id == other.invocation_id && self.id.tenant() == other.id.tenant()
    }
}

impl std::fmt::Debug for Lease {
    /// Without the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}#{}", self.invocation_id, self.number)
    }
}

#[cfg(test)]
impl Lease {
    /// The first lease of a call.
    pub(crate) fn example(invocation_id: &str) -> Self {
        Self {
            invocation_id: InvocationId::from_trusted(invocation_id),
            number: 1,
            id: LeaseId::from_trusted(format!("lease-{invocation_id}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use toolplane_records::ids::{LeaseId, TenantId};

    use super::Lease;

    #[test]
    fn leases_of_one_call_name_the_same_tenant() {
        let of = |tenant: &str| {
            let tenant = TenantId::from_trusted(tenant);
            Lease { id: LeaseId::of(&tenant, &uuid::Uuid::new_v4()), ..Lease::example("inv_a") }
        };
        assert!(of("acme").is_of_same_call(&Lease { number: 2, ..of("acme") }));
        assert!(!of("acme").is_of_same_call(&of("other")));
        assert!(!of("default").is_of_same_call(&Lease::example("inv_b")));
    }

    #[test]
    fn the_secret_is_not_in_what_is_logged() {
        assert_eq!(format!("{:?}", Lease::example("inv_a")), "inv_a#1");
    }
}
