//! Whether a schema can describe calls.

use std::sync::Arc;

use cedar_policy::{Entities, Schema};
use toolplane_matching::{Certainty, ToolFacts};
use toolplane_policy::CallFacts;
use toolplane_records::ids::{ProfileId, ToolId};
use toolplane_records::payload::JsonPayload;
use toolplane_records::profile::PermissionProfile;
use toolplane_records::vocabulary::{AccessKind, RiskLevel, ToolKind, WriteEffect};

use crate::fault::{PolicyFault, PolicyText, told};
use crate::names::{CALL, Type};
use crate::request;
use crate::wanted::Wanted;

/// Refuses a schema that lacks the action, or an attribute that calls have: its policies would be checked against one thing
/// and evaluated on another.
pub(super) fn describable(schema: &Schema, source: &PolicyText) -> Result<(), PolicyFault> {
    let call = Type::Action.uid(CALL);
    if !schema.actions().any(|action| *action == call) {
        return Err(source.fault(format!("has no action `{CALL}`")));
    }
    for facts in [bare(), full()] {
        let resource = request::resource(&facts);
        let entities = request::entities(&facts, &resource, true, &Wanted::Everything);
        let entities = entities.map_err(|error| source.fault(told(&*error)))?;
        Entities::from_entities(entities, Some(schema))
            .map_err(|error| source.fault(format!("cannot describe a call: {}", told(&error))))?;
    }
    Ok(())
}

/// A call of which nothing is known.
fn bare() -> CallFacts {
    CallFacts::new(ToolFacts::named(ToolId::from_trusted("tool_t"), "n.t", "n"), JsonPayload::of(&()))
}

/// A call of which everything is known.
fn full() -> CallFacts {
    let mut facts = bare();
    facts.caller.roles = vec!["agent".to_owned()];
    let tool = Arc::make_mut(&mut facts.tool);
    tool.kind = Some(ToolKind::ShellCommand);
    tool.aliases = vec!["t".to_owned()];
    let text = || Some("x".to_owned());
    tool.profile = Some(PermissionProfile {
        access_kinds: vec![AccessKind::FileRead],
        write_effects: vec![WriteEffect::None],
        network_scope: text(),
        data_sensitivity: text(),
        ..PermissionProfile::new(ProfileId::from_trusted("perm_t"), RiskLevel::Low)
    });
    let safety = &mut facts.safety;
    for fact in [
        &mut safety.read_only,
        &mut safety.destructive,
        &mut safety.open_world,
        &mut safety.sensitive_sink,
        &mut safety.approval_required,
    ] {
        *fact = Certainty::Yes;
    }
    facts
}
