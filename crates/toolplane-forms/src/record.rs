//! The standard's records of a call, as JSON: each under the name of its kind.

use toolplane_records::event::ToolEvent;
use toolplane_records::invocation::InputBodies;

use crate::object::Object;
use crate::story::Story;

/// Every record of a call that is known. The call's own has the inputs the reader may see by reference alone; `GetInvocation` has
/// them by value.
pub(crate) fn all(story: &Story<'_>) -> Object {
    let bodies = InputBodies { observable: story.input.cloned(), ..InputBodies::default() };
    Object::new()
        .with("invocation", &story.call.to_json(&bodies))
        .maybe("result", story.result)
        .maybe("result_persistence", story.persistence)
        .with("permission_decisions", story.decisions)
        .with("input_mutations", story.mutations)
        .with("hooks", story.hooks)
}

/// One event.
pub(crate) fn event(event: &ToolEvent) -> String {
    toolplane_records::payload::JsonPayload::of(event).text().to_owned()
}
