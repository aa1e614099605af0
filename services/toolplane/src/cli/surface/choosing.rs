//! What a new surface says about choosing its tools: held at each call.

use clap::Args;
use serde_json::{Map, Value, json};
use toolplane_proto::v1;
use toolplane_records::payload::JsonPayload;

/// What may be called in the surface, and how.
#[derive(Debug, Args)]
pub(super) struct ChoosingArgs {
    /// What may be called: `auto`, `required`, `none` (nothing), or the one tool of this name.
    #[arg(long, value_name = "CHOICE")]
    tool_choice: Option<String>,
    /// Let only tools be called that fit a pattern of rules, e.g. `files.*`. May be repeated.
    #[arg(long = "allow", value_name = "PATTERN")]
    allowed: Vec<String>,
    /// Let no tools be called that fit a pattern of rules. May be repeated.
    #[arg(long = "deny", value_name = "PATTERN")]
    denied: Vec<String>,
    /// Refuse batches that may run calls beside each other.
    #[arg(long)]
    one_at_a_time: bool,
    /// A policy that is in force in it, for rules (`surface_policy:NAME`). May be repeated.
    #[arg(long = "policy", value_name = "NAME")]
    pub(super) policies: Vec<String>,
    /// Refuse calls that do not name the moment of the surface they go by.
    #[arg(long)]
    require_moment: bool,
}

impl ChoosingArgs {
    /// The default tool choice.
    pub(super) fn choice(&self) -> Option<v1::JsonPayload> {
        self.tool_choice.as_ref().map(|choice| (&JsonPayload::of(choice)).into())
    }

    /// The selection policy; nothing where nothing of it is said.
    pub(super) fn policy(&self) -> Option<v1::JsonPayload> {
        let mut policy = Map::new();
        for (member, patterns) in [("allowed_tools", &self.allowed), ("denied_tools", &self.denied)] {
            if !patterns.is_empty() {
                policy.insert(member.to_owned(), json!(patterns));
            }
        }
        if self.one_at_a_time {
            policy.insert("parallel_calls".to_owned(), json!(false));
        }
        if self.require_moment {
            policy.insert("require_moment".to_owned(), json!(true));
        }
        (!policy.is_empty()).then(|| (&JsonPayload::of(&Value::Object(policy))).into())
    }
}
