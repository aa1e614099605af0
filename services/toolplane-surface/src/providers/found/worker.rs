//! Tools that workers bring along.

use std::collections::BTreeMap;

use serde_json::value::{RawValue, to_raw_value};
use toolplane_catalog::Registration;
use toolplane_providers::{Found, ToolNames, native};
use toolplane_records::provider::{Provider, ToolRefusal};
use toolplane_records::vocabulary::{ExecutionKind, ProviderFault, ProviderTrust, RiskLevel};

use super::adopted::{adopted, unreadable};
use super::{World, execution_profile, interface, permission_profile, say};
use crate::declarations;
use crate::providers::look::{Fault, Said};

/// What a worker may leave out of each part of a registration. The namespace and the ids are the platform's, whatever it says.
const LEFT_OUT: [(&str, &[(&str, &str)]); 4] = [
    (
        "declaration",
        &[("tool_id", "tool"), ("namespace", "tool"), ("lifecycle", "available"), ("tool_kind", "native_tool")],
    ),
    ("interface", &[("interface_id", "interface"), ("tool_id", "tool")]),
    ("execution_profile", &[("execution_profile_id", "execution"), ("execution_kind", "embedded_runtime")]),
    ("permission_profile", &[("permission_profile_id", "permission"), ("risk_level", "high")]),
];

/// Members of an object, each as it is written: schemas keep their exact bytes.
type Members = BTreeMap<String, Box<RawValue>>;

/// The tools in the answer of a worker: registrations as in a file. Not to be called on threads that serve calls.
pub(crate) fn read(provider: &Provider, prefix: &str, answer: &[u8]) -> Result<Said, Fault> {
    let texts = declarations::texts(answer)
        .map_err(|why| Fault::new(ProviderFault::ProtocolError, format!("the answer of the worker {why}")))?;
    let tools = texts.iter().map(|text| found(provider, prefix, text)).collect();
    Ok(Said { tools, ..Said::default() })
}

fn found(provider: &Provider, prefix: &str, text: &RawValue) -> Found {
    match filled(text) {
        Ok(registration) => {
            let native_id = native::own_name(prefix, &registration.declaration.name).to_owned();
            let made = made(provider, prefix, &native_id, registration);
            Found { native_id, made }
        }
        Err(error) => unreadable(text, &error, |_, name| native::own_name(prefix, name).to_owned()),
    }
}

/// The registration that is written there, with what was left out.
fn filled(text: &RawValue) -> Result<Registration, serde_json::Error> {
    let mut parts: Members = serde_json::from_str(text.get())?;
    for (part, left_out) in LEFT_OUT {
        let Some(written) = parts.get_mut(part).filter(|written| written.get() != "null") else { continue };
        let mut members: Members = serde_json::from_str(written.get())?;
        for (name, value) in left_out.iter().copied() {
            if !members.contains_key(name) {
                members.insert(name.to_owned(), to_raw_value(value)?);
            }
        }
        *written = to_raw_value(&members)?;
    }
    serde_json::from_str(to_raw_value(&parts)?.get())
}

/// The registration as one of this provider's, which its workers alone run.
fn made(
    provider: &Provider,
    prefix: &str,
    native_id: &str,
    mut registration: Registration,
) -> Result<Registration, ToolRefusal> {
    let names = ToolNames::of(&provider.provider_id, native_id)?;
    let profile = registration
        .execution_profile
        .get_or_insert_with(|| Box::new(execution_profile(&names, ExecutionKind::EmbeddedRuntime)));
    profile.binding = Some(native::bind(prefix, native_id, profile.binding.take())?);
    if provider.trust == ProviderTrust::Untrusted {
        disbelieve(&names, &mut registration);
    }
    adopted(provider, native_id, registration)
}

/// Puts the worst in the place of what the worker claims the tool does to the world. What it says of fields and places stays: rules that
/// deny go by it, and without a person no rule lets a tool run that may destroy something.
fn disbelieve(names: &ToolNames, registration: &mut Registration) {
    say(registration.interface.get_or_insert_with(|| Box::new(interface(names))), World::WORST);
    registration.permission_profile.get_or_insert_with(|| Box::new(permission_profile(names))).risk_level =
        RiskLevel::High;
    if let Some(profile) = &mut registration.execution_profile {
        profile.supports_retries = false;
        profile.retry_on_timeout = false;
    }
}

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolplane_records::interface::SafetyFact;
    use toolplane_records::profile::ExecutionBinding;
    use toolplane_records::vocabulary::RefusalCode;

    use super::*;

    fn provider(trust: &str) -> Provider {
        let provider = json!({ "provider_id": "own", "tenant": "default", "namespace": "words", "trust": trust,
            "source": { "kind": "worker", "native_prefix": "acme." } });
        serde_json::from_value(provider).unwrap()
    }

    fn said(trust: &str, tools: &str) -> Vec<Found> {
        read(&provider(trust), "acme.", format!(r#"{{"tools":{tools}}}"#).as_bytes()).unwrap().tools
    }

    fn runs(registration: &Registration) -> &str {
        match registration.execution_profile.as_ref().and_then(|profile| profile.binding.as_ref()) {
            Some(ExecutionBinding::Native { name }) => name,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_the_platform_says_anyway_may_be_left_out() {
        let schema = r#"{ "type": "object", "maximum": 18446744073709551617 }"#;
        let short = format!(
            r#"[{{"declaration":{{"name":"acme.translate","description":"d","input_contract":{{"model_input_schema":{schema}}}}},"interface":null}}]"#
        );
        let found = said("new_tools", &short).remove(0);
        let made = found.made.unwrap();
        assert_eq!((found.native_id.as_str(), runs(&made)), ("translate", "acme.translate"));
        assert_eq!(made.declaration.full_name(), "words.translate");
        assert_eq!(made.declaration.tool_id.as_str(), "provider:own/translate");
        assert_eq!(made.model_schema().unwrap().text(), schema);
        // What it says itself counts, but for the names that are the platform's.
        let long = json!([{
            "declaration": { "tool_id": "x", "namespace": "y", "name": "text.count", "description": "d",
                "lifecycle": "deprecated", "tool_kind": "custom" },
            "interface": { "is_read_only": true },
            "execution_profile": { "timeout_ms": 5, "binding": { "type": "native", "name": "acme.count.v2" } },
            "permission_profile": { "risk_level": "low" },
        }]);
        let found = said("new_tools", &long.to_string()).remove(0);
        let made = found.made.unwrap();
        assert_eq!((found.native_id.as_str(), runs(&made)), ("text.count", "acme.count.v2"));
        assert_eq!(made.declaration.full_name(), "words.text.count");
        assert_eq!(made.execution_profile.as_ref().unwrap().timeout_ms, Some(5));
        assert_eq!(made.permission_profile.unwrap().risk_level, RiskLevel::Low);
        assert_eq!(made.interface.unwrap().is_read_only, Some(SafetyFact::Known(true)));
    }

    #[test]
    fn what_an_untrusted_worker_claims_is_not_believed() {
        let tool = json!([{
            "declaration": { "name": "a", "description": "d" },
            "interface": { "is_read_only": true, "is_destructive": false },
            "execution_profile": { "supports_retries": true },
            "permission_profile": { "risk_level": "low" },
        }]);
        let made = said("untrusted", &tool.to_string()).remove(0).made.unwrap();
        let interface = made.interface.unwrap();
        assert_eq!(
            (interface.is_read_only, interface.is_destructive),
            (Some(SafetyFact::Known(false)), Some(SafetyFact::Known(true)))
        );
        assert_eq!(made.permission_profile.unwrap().risk_level, RiskLevel::High);
        assert!(!made.execution_profile.unwrap().supports_retries);
    }

    #[test]
    fn one_bad_tool_never_loses_the_rest() {
        let bound = |name: &str, binding: serde_json::Value| {
            json!({ "declaration": { "name": name, "description": "d" },
            "execution_profile": { "binding": binding } })
        };
        let tools = json!([
            { "declaration": { "name": "good", "description": "d" } },
            { "declaration": { "name": "silent" } },
            7,
            bound("strange", json!({ "type": "native", "name": "other.x" })),
            bound("shell", json!({ "type": "shell" })),
            { "declaration": { "name": "list_tools", "description": "d" } },
        ]);
        let found = said("untrusted", &tools.to_string());
        let outcome = |one: &Found| (one.native_id.clone(), one.made.as_ref().err().map(|refusal| refusal.code));
        let expected = [
            ("good", None),
            ("silent", Some(RefusalCode::InvalidDefinition)),
            ("", Some(RefusalCode::InvalidDefinition)),
            ("strange", Some(RefusalCode::WrongIdentity)),
            ("shell", Some(RefusalCode::Unsupported)),
            ("list_tools", Some(RefusalCode::WrongIdentity)),
        ];
        let expected = expected.map(|(name, code)| (name.to_owned(), code));
        assert_eq!(found.iter().map(outcome).collect::<Vec<_>>(), expected);
        let reason = &found[1].made.as_ref().unwrap_err().reason;
        assert_eq!(reason, "is no registration: `declaration`: missing field `description`");
    }

    #[test]
    fn an_answer_that_is_no_list_is_one_that_cannot_be_read() {
        for answer in ["", "{}", "7", r#"{"tools":{}}"#, r#"{"tools":[],"tools":[]}"#] {
            let fault = read(&provider("untrusted"), "acme.", answer.as_bytes()).unwrap_err();
            assert_eq!(fault.code, ProviderFault::ProtocolError, "{answer}");
            assert!(fault.message.starts_with("the answer of the worker "), "{}", fault.message);
        }
        assert!(read(&provider("untrusted"), "acme.", br#"{"tools":[]}"#).unwrap().tools.is_empty());
    }
}
