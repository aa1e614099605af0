//! Which credential goes where, as bindings say it.

use toolplane_records::credential::{CredentialPlacement, CredentialUse};

use super::{BINDING, is_header, is_variable};
use crate::limits::CatalogLimits;
use crate::validate::checks::check_list_length;
use crate::violations::{Violations, shown};

/// Longest name of a parameter, a cookie or a file, and longest prefix of a header.
const MAX_NAME: usize = 128;

/// What a binding has places in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// A request of the worker's own.
    Request,
    /// A process that the worker starts.
    Process,
}

pub(super) fn check(uses: &[CredentialUse], bound: Bound, limits: &CatalogLimits, faults: &mut Violations) {
    let field = format!("{BINDING}.credentials");
    check_list_length(&field, uses.len(), limits, faults);
    for (index, used) in uses.iter().enumerate() {
        let place = format!("{field}[{index}]");
        if toolplane_records::ids::check_id(&used.credential).is_err() {
            let rule = format!("`{}` is not the name of a credential", shown(&used.credential, 80));
            faults.add(format!("{place}.credential"), rule);
        }
        check_placement(&place, &used.placement, bound, faults);
    }
}

pub(super) fn check_placement(place: &str, placement: &CredentialPlacement, bound: Bound, faults: &mut Violations) {
    let field = format!("{place}.placement");
    let is_short = |name: &str| (1..=MAX_NAME).contains(&name.len()) && !name.chars().any(char::is_control);
    let (well_formed, fits) = match placement {
        CredentialPlacement::Header { name, prefix } => {
            let prefix = prefix.as_deref().unwrap_or_default();
            (is_header(name) && prefix.len() <= MAX_NAME, bound == Bound::Request)
        }
        CredentialPlacement::Query { name } => (is_short(name), bound == Bound::Request),
        CredentialPlacement::Cookie { name } => (is_header(name), bound == Bound::Request),
        CredentialPlacement::Env { name } => (is_variable(name) && is_short(name), bound == Bound::Process),
        // No adapter of these bindings has files or a proxy for its process.
        CredentialPlacement::File { name } | CredentialPlacement::Proxy { name, .. } => (is_short(name), false),
    };
    if !well_formed {
        faults.add(&field, "has no name that can be used there");
    } else if !fits {
        let places = match bound {
            Bound::Request => "`header`, `query` or `cookie`",
            Bound::Process => "`env`",
        };
        faults.add(&field, format!("must be {places} for a tool of this kind"));
    }
}
