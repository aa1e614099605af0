//! The operations of OpenAPI documents.

use std::collections::{BTreeMap, BTreeSet};

use toolplane_catalog::{MAX_TAG_CHARS, Registration};
use toolplane_openapi::{
    Document, DocumentLimits, ImportOptions, Operation, Selection, add_credentials, bind_credentials,
};
use toolplane_providers::{Found, ToolNames};
use toolplane_records::contract::{InputContract, OutputContract};
use toolplane_records::mapping::ExternalMapping;
use toolplane_records::operation::OperationBinding;
use toolplane_records::profile::ExecutionBinding;
use toolplane_records::provider::{OperationSelection, Provider, ProviderSource, ToolRefusal};
use toolplane_records::vocabulary::{
    AccessKind, ExecutionKind, ProviderFault, ProviderTrust, RefusalCode, ToolKind, ToolLifecycle, WriteEffect,
};
use url::Url;

use super::{World, named, say};
use crate::providers::look::{Fault, Said, ServerSaid};

/// Most tags that are taken over.
const MAX_TAGS: usize = 64;

/// The operations of a document. `from`: its address, when it has one. Not to be called on threads that serve calls.
pub(crate) fn read(provider: &Provider, document: &[u8], from: Option<&str>) -> Result<Said, Fault> {
    let ProviderSource::Openapi { selection, server_url, server_variables, .. } = &provider.source else {
        return Err(Fault::new(ProviderFault::Misconfigured, "the provider is no OpenAPI document"));
    };
    let wrong = |error: &dyn std::fmt::Display| Fault::new(ProviderFault::ProtocolError, error.to_string());
    let document = Document::read(document, &DocumentLimits::default()).map_err(|error| wrong(&error))?;
    let options = ImportOptions {
        document_url: from.and_then(|from| Url::parse(from).ok()),
        server: (!server_url.is_empty()).then(|| server_url.clone()),
        server_variables: server_variables.clone(),
        trusted: provider.trust != ProviderTrust::Untrusted,
        overrides: BTreeMap::new(),
    };
    let wanted = Selection { tags: selection.tags.clone(), methods: selection.methods.clone(), ..Selection::default() };
    let misconfigured = |message: String| Fault::new(ProviderFault::Misconfigured, message);
    let import = document.operations(&wanted, &options).map_err(|error| misconfigured(error.to_string()))?;
    let mut chosen = Chosen::new(selection);
    let mut tools = Vec::new();
    for operation in import.operations {
        if chosen.takes(&operation.native_id, Some(&operation.binding)) {
            let native_id = operation.native_id.clone();
            tools.push(Found { native_id, made: registration(provider, operation) });
        }
    }
    for refusal in import.refused {
        if chosen.takes(&refusal.operation, None) {
            let reason = format!("`{}` {}", refusal.pointer, refusal.rule);
            let made = Err(ToolRefusal { code: RefusalCode::Unsupported, reason });
            tools.push(Found { native_id: refusal.operation, made });
        }
    }
    if let Some(pattern) = chosen.unused() {
        return Err(misconfigured(format!("the document has no operation `{pattern}`")));
    }
    let server = ServerSaid {
        name: document.title().to_owned(),
        version: document.edition().to_owned(),
        protocol: format!("{:?}", document.version()),
    };
    Ok(Said { tools, in_part: false, server })
}

/// Which operations are meant, and which patterns meant any.
struct Chosen<'a> {
    selection: &'a OperationSelection,
    unused: BTreeSet<&'a str>,
}

impl<'a> Chosen<'a> {
    fn new(selection: &'a OperationSelection) -> Self {
        Self { selection, unused: selection.operations.iter().map(String::as_str).collect() }
    }

    fn takes(&mut self, native_id: &str, binding: Option<&OperationBinding>) -> bool {
        let place = binding.map(|binding| format!("{} {}", binding.method, binding.path));
        let fits =
            |pattern: &str| fits(pattern, native_id) || place.as_deref().is_some_and(|place| fits(pattern, place));
        let mut named = self.selection.operations.is_empty();
        for pattern in &self.selection.operations {
            if fits(pattern) {
                self.unused.remove(pattern.as_str());
                named = true;
            }
        }
        named && !self.selection.except.iter().any(|pattern| fits(pattern))
    }

    fn unused(&self) -> Option<&str> {
        self.unused.first().copied()
    }
}

/// Whether a text fits a pattern, in which `*` stands for any text.
fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// The tags of an operation that a tool can have: what a document says beyond that keeps no tool from being there.
fn tags(of_document: Vec<String>) -> Vec<String> {
    let fits = |tag: &String| {
        let length = tag.chars().count();
        !tag.trim().is_empty() && length <= MAX_TAG_CHARS && !tag.chars().any(char::is_control)
    };
    of_document.into_iter().filter(fits).take(MAX_TAGS).collect()
}

fn registration(provider: &Provider, operation: Operation) -> Result<Registration, ToolRefusal> {
    let names = ToolNames::of(&provider.provider_id, &operation.native_id)?;
    let mut made = named(provider, &names, ToolKind::OpenapiOperation, ExecutionKind::HttpApi);
    let mut binding = operation.binding;
    let credentials = credentials(provider, &mut binding)?;
    let facts = operation.facts;
    let declaration = &mut made.declaration;
    declaration.tool_kind = operation.kind;
    if operation.name != names.name {
        declaration.aliases.push(format!("{}.{}", provider.namespace, names.name));
        declaration.name = operation.name;
    }
    declaration.search_hint = operation.search_hint;
    declaration.tags = tags(operation.tags);
    declaration.title = operation.title;
    declaration.description = operation.description;
    if operation.deprecated {
        declaration.lifecycle = ToolLifecycle::Deprecated;
    }
    declaration.input_contract =
        Some(InputContract { model_input_schema: Some(operation.input_schema), ..InputContract::default() });
    declaration.output_contract = operation
        .output_schema
        .map(|schema| Box::new(OutputContract { structured_schema: Some(schema), ..OutputContract::default() }));
    let mapping = ExternalMapping { source: "openapi".to_owned(), native_id: operation.native_id, fields: None };
    declaration.external_mappings.push(mapping);
    if let Some(interface) = &mut made.interface {
        let world = World {
            read_only: facts.read_only,
            idempotent: facts.idempotent,
            destructive: facts.destructive,
            open: facts.open_world,
        };
        say(interface, world);
    }
    if let Some(profile) = &mut made.permission_profile {
        profile.risk_level = operation.risk;
        profile.access_kinds.push(AccessKind::Network);
        profile.write_effects.push(match (facts.read_only, facts.destructive) {
            (true, _) => WriteEffect::None,
            (_, true) => WriteEffect::Irreversible,
            _ => WriteEffect::RemoteMutation,
        });
        profile.credential_refs = credentials;
    }
    if let Some(profile) = &mut made.execution_profile {
        profile.supports_retries = facts.idempotent;
        profile.binding = Some(ExecutionBinding::Operation(binding));
    }
    Ok(made)
}

/// Names the credentials the operation is called with.
fn credentials(provider: &Provider, binding: &mut OperationBinding) -> Result<Vec<String>, ToolRefusal> {
    let mut names = match bind_credentials(binding, &provider.scheme_credentials) {
        Ok(names) => names,
        // Who places credentials by hand says what the document should have.
        Err(_) if !provider.credentials.is_empty() => {
            binding.credentials.clear();
            Vec::new()
        }
        Err(unbound) => {
            return Err(ToolRefusal { code: RefusalCode::Unsupported, reason: unbound.to_string() });
        }
    };
    add_credentials(binding, &provider.credentials);
    names.extend(provider.credentials.iter().map(|used| used.credential.clone()));
    names.sort();
    names.dedup();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text, expected) in [
            ("getPet", "getPet", true),
            ("getPet", "getPets", false),
            ("get*", "getPets", true),
            ("GET /pets/*", "GET /pets/{id}", true),
            ("*Pet*ById", "findPetNowById", true),
            ("*a*a", "a", false),
            ("*", "", true),
            ("", "x", false),
        ] {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }
}
