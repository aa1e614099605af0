//! What a new surface says about choosing its tools: held at each call.

use clap::Args;
use serde_json::{Map, Value, json};
use toolplane_proto::v1;
use toolplane_records::payload::JsonPayload;

use crate::cli::output::payload_text;

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
        let choice = self.tool_choice.as_ref()?;
        // `{"tool": NAME}` as it stands in a request, too.
        let object = serde_json::from_str::<Value>(choice).ok().filter(Value::is_object);
        Some((&JsonPayload::of(&object.unwrap_or_else(|| json!(choice)))).into())
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

/// What a surface holds at each call, in one line; nothing where it holds nothing.
pub(super) fn told(surface: &v1::ToolSurface) -> Option<String> {
    let payload = |payload: &Option<v1::JsonPayload>| payload_text(payload.as_ref());
    let list = |refs: &[String]| (!refs.is_empty()).then(|| refs.join(", "));
    let parts = [
        ("choice", payload(&surface.default_tool_choice).filter(|choice| choice != "\"auto\"")),
        ("policy", payload(&surface.selection_policy)),
        ("policies", list(&surface.policy_refs)),
        ("for", list(&surface.runtime_refs)),
    ];
    let said: Vec<String> = parts.into_iter().filter_map(|(what, said)| Some(format!("{what} {}", said?))).collect();
    (!said.is_empty()).then(|| format!("calls: {}", said.join("  ")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolplane_proto::v1;
    use toolplane_records::payload::JsonPayload;

    use super::{ChoosingArgs, payload_text, told};

    fn args(choice: &str) -> ChoosingArgs {
        let choice = Some(choice.to_owned());
        ChoosingArgs {
            tool_choice: choice,
            allowed: vec!["files.*".to_owned()],
            denied: Vec::new(),
            one_at_a_time: true,
            policies: vec!["freeze".to_owned()],
            require_moment: false,
        }
    }

    #[test]
    fn a_choice_is_a_word_a_name_or_an_object() {
        for (typed, sent) in [("none", r#""none""#), ("{\"tool\":\"a.b\"}", r#"{"tool":"a.b"}"#), ("{a", r#""{a""#)] {
            assert_eq!(payload_text(args(typed).choice().as_ref()).as_deref(), Some(sent));
        }
    }

    #[test]
    fn what_a_surface_holds_is_told_in_one_line() {
        assert_eq!(told(&v1::ToolSurface::default()), None);
        let auto = Some((&JsonPayload::of(&json!("auto"))).into());
        assert_eq!(told(&v1::ToolSurface { default_tool_choice: auto, ..Default::default() }), None);
        let args = args("a.b");
        let surface = v1::ToolSurface {
            default_tool_choice: args.choice(),
            selection_policy: args.policy(),
            policy_refs: args.policies,
            runtime_refs: vec!["task:7".to_owned()],
            ..Default::default()
        };
        assert_eq!(
            told(&surface).unwrap(),
            r#"calls: choice "a.b"  policy {"allowed_tools":["files.*"],"parallel_calls":false}  policies freeze  for task:7"#
        );
    }
}
