//! Who may see which call, and who may read which input by value: callers and operators all of them when they ask for them, all others, and those
//! that do not ask, the copies in which nothing is shown that is sensitive.

use toolplane_records::invocation::{InputBodies, Invocation};
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::provider::is_list_tool;
use toolplane_runtime::{Caller, Role};

/// Whether `caller` may see a call at all. What a provider says it has is for those who look at it: it reaches an agent as tools that
/// somebody has approved.
pub(super) fn may_see(caller: &Caller, record: &Invocation) -> bool {
    const LOOKING: [Role; 4] = [Role::Operator, Role::Approver, Role::Auditor, Role::Peer];
    !is_list_tool(&record.tool_id) || LOOKING.into_iter().any(|role| caller.is(role))
}

/// Whether `caller` may follow a call and read what it keeps, which are methods of their own: who only answers questions may read its record
/// and its result, and a form must not show more.
pub(super) fn may_follow(caller: &Caller) -> bool {
    [Role::Agent, Role::Operator, Role::Auditor, Role::Peer].into_iter().any(|role| caller.is(role))
}

/// Whether `caller` may read an input of `record` that has this digest.
pub(crate) fn may_read(caller: &Caller, record: &Invocation, digest: Digest) -> bool {
    let owner = [Role::Agent, Role::Operator, Role::Peer].into_iter().any(|role| caller.is(role));
    owner || is_copy(record, digest)
}

/// Whether an input with this digest is one that every caller may read.
fn is_copy(record: &Invocation, digest: Digest) -> bool {
    let copies = [&record.inputs.observable, &record.inputs.permission];
    copies.into_iter().flatten().any(|copy| copy.digest == digest)
}

/// The inputs `caller` may read; only what every caller may read unless `asked` for.
pub(super) fn seen_by(caller: &Caller, record: &Invocation, bodies: InputBodies, asked: bool) -> InputBodies {
    let may = |digest| if asked { may_read(caller, record, digest) } else { is_copy(record, digest) };
    let seen = |body: Option<JsonPayload>| body.filter(|body| may(body.digest()));
    InputBodies {
        model: seen(bodies.model),
        observable: seen(bodies.observable),
        permission: seen(bodies.permission),
        call: seen(bodies.call),
    }
}
