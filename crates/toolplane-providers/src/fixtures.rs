//! Providers and registrations for tests.

use serde_json::json;
use toolplane_catalog::Registration;
use toolplane_records::ids::ProviderId;
use toolplane_records::payload::JsonPayload;
use toolplane_records::provider::Provider;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::ProviderTrust;

use crate::listing::Found;
use crate::names::ToolNames;

pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_779_000_000_000 + seconds * 1000)
}

pub(crate) fn provider(id: &str, trust: ProviderTrust) -> Provider {
    let source = json!({ "kind": "mcp_http", "url": "https://mcp.example.org/" });
    let value = json!({ "provider_id": id, "tenant": "default", "namespace": id, "source": source, "trust": trust });
    serde_json::from_value(value).unwrap()
}

/// The tool of the provider `gh`.
pub(crate) fn registration(native: &str, description: &str) -> Registration {
    of_provider("gh", native, description)
}

pub(crate) fn of_provider(provider: &str, native: &str, description: &str) -> Registration {
    let names = ToolNames::of(&ProviderId::from_trusted(provider), native).unwrap();
    let value = json!({ "declaration": {
        "tool_id": names.tool_id, "namespace": provider, "name": names.name, "description": description,
        "lifecycle": "available", "tool_kind": "mcp_tool",
        "external_mappings": [{ "source": "mcp", "native_id": native }],
    }});
    serde_json::from_value(value).unwrap()
}

pub(crate) fn with_schema(native: &str, schema: &str) -> Registration {
    let mut registration = registration(native, "does it");
    let payload = JsonPayload::from_checked(schema.to_owned());
    registration.declaration.input_contract.get_or_insert_default().model_input_schema = Some(payload);
    registration
}

pub(crate) fn listed(native: &str, description: &str) -> Found {
    Found { native_id: native.to_owned(), made: Ok(registration(native, description)) }
}
