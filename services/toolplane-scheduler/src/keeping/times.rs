//! How long ended calls are kept, by tenant; pure.

use std::collections::BTreeMap;

use toolplane_records::ids::TenantId;

/// How long ended calls are kept, milliseconds.
#[derive(Clone, Debug)]
pub(crate) struct KeepTimes {
    /// Of tenants that are not named.
    pub(crate) usual: i64,
    pub(crate) tenants: BTreeMap<TenantId, i64>,
}

impl KeepTimes {
    /// How long those of `tenant` are.
    pub(crate) fn of(&self, tenant: &TenantId) -> i64 {
        self.tenants.get(tenant).copied().unwrap_or(self.usual)
    }

    /// The shortest of all: no call younger than that goes.
    pub(crate) fn shortest(&self) -> i64 {
        self.tenants.values().copied().fold(self.usual, i64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_that_is_named_has_its_own_time() {
        let acme = TenantId::from_trusted("acme");
        let times = KeepTimes { usual: 10, tenants: BTreeMap::from([(acme.clone(), 3)]) };
        assert_eq!((times.of(&acme), times.of(&TenantId::from_trusted("b")), times.shortest()), (3, 10, 3));
    }
}
