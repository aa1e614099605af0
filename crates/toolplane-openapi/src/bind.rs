//! Which credentials of the broker an operation is called with.

use std::collections::{BTreeMap, BTreeSet};

use toolplane_records::credential::CredentialUse;
use toolplane_records::operation::{CredentialRequirement, OperationBinding};

/// No way of showing who asks is complete.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the operation `{operation}` needs a credential for: {}", listed(.schemes))]
pub struct Unbound {
    /// The operation.
    pub operation: String,
    /// Security schemes of the document for which no credential is named.
    pub schemes: BTreeSet<String>,
}

fn listed(schemes: &BTreeSet<String>) -> String {
    schemes.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// Names the credentials of `binding` by the security schemes of its document, and keeps the one way of showing who asks that
/// is used from then on: the first for which every scheme has a credential, else one that needs none. Gives back the
/// names of the credentials.
///
/// # Errors
///
/// [`Unbound`] with every scheme that has no credential, when no way is complete; the binding stays as it is.
pub fn bind_credentials(
    binding: &mut OperationBinding,
    credentials: &BTreeMap<String, String>,
) -> Result<Vec<String>, Unbound> {
    let complete = binding
        .credentials
        .iter()
        .position(|way| !way.is_empty() && way.iter().all(|needed| credentials.contains_key(&needed.scheme)));
    let without = || binding.credentials.iter().position(Vec::is_empty);
    let Some(chosen) = complete.or_else(without) else {
        if binding.credentials.is_empty() {
            return Ok(Vec::new());
        }
        let schemes = binding.credentials.iter().flatten().map(|needed| needed.scheme.clone());
        let schemes = schemes.filter(|scheme| !credentials.contains_key(scheme)).collect();
        return Err(Unbound { operation: binding.operation.clone(), schemes });
    };
    let mut way = binding.credentials.swap_remove(chosen);
    for needed in &mut way {
        needed.credential = credentials.get(&needed.scheme).cloned();
    }
    let names = way.iter().filter_map(|needed| needed.credential.clone()).collect();
    binding.credentials = if way.is_empty() { Vec::new() } else { vec![way] };
    Ok(names)
}

/// Sends `uses` along with every request of `binding`, whatever its document says of security: what an operator names for all
/// operations of a provider. To be called after [`bind_credentials`].
pub fn add_credentials(binding: &mut OperationBinding, uses: &[CredentialUse]) {
    if uses.is_empty() {
        return;
    }
    let needed = uses.iter().map(|used| CredentialRequirement {
        scheme: String::new(),
        placement: used.placement.clone(),
        source: None,
        scopes: Vec::new(),
        credential: Some(used.credential.clone()),
        field: used.field.clone(),
    });
    let needed: Vec<CredentialRequirement> = needed.collect();
    if binding.credentials.is_empty() {
        binding.credentials.push(Vec::new());
    }
    binding.credentials.iter_mut().for_each(|way| way.extend(needed.iter().cloned()));
}
