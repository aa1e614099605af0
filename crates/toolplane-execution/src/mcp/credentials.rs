//! Credentials as a server gets them: texts in variables of a program, or in headers of its requests.

use std::collections::BTreeMap;

use toolplane_credentials::Injection;
use toolplane_records::codes;
use toolplane_records::error::ToolError;

use crate::credentials::Injections;
use crate::failure::nothing_done;

/// Variable or header to its secret value. Nothing of it may be told.
pub(super) type Values = BTreeMap<String, String>;

/// The values of `injections`, by the names of their places.
pub(super) fn values(injections: &Injections) -> Result<Values, ToolError> {
    injections.placed().iter().map(named).collect()
}

fn named(injection: &Injection) -> Result<(String, String), ToolError> {
    let (name, value) = match injection {
        Injection::Env { name, value } => (name.as_str(), value.reveal_text()),
        Injection::Header { name, value } => (name.as_str(), value.to_str().ok()),
        _ => ("", None),
    };
    let unfit = || {
        let message = format!("a credential cannot be put there: `{name}` takes no such value");
        nothing_done(ToolError::of(codes::CREDENTIAL_UNFIT, message))
    };
    Ok((name.to_owned(), value.ok_or_else(unfit)?.to_owned()))
}
