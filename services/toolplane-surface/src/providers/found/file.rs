//! A file of registrations.

use std::path::Path;

use toolplane_providers::Found;
use toolplane_records::provider::Provider;
use toolplane_records::vocabulary::ProviderFault;

use super::adopted::adopted;
use crate::declarations;
use crate::providers::look::{Fault, Said};

/// The tools in a file. Not to be called on threads that serve calls.
pub(crate) fn read(provider: &Provider, path: &Path) -> Result<Said, Fault> {
    if !path.exists() {
        return Err(Fault::new(ProviderFault::Unreachable, "the file is not there"));
    }
    let tools =
        declarations::read(path).map_err(|why| Fault::new(ProviderFault::ProtocolError, format!("the file {why}")))?;
    let tools = tools.into_iter().map(|registration| {
        let native_id = registration.declaration.full_name();
        let made = adopted(provider, &native_id, registration);
        Found { native_id, made }
    });
    Ok(Said { tools: tools.collect(), ..Said::default() })
}
