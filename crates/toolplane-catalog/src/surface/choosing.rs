//! What a surface says about choosing its tools, held at each call: its default choice and its selection policy.
//!
//! All of it is judged from the surface and the call alone; nothing is counted.

mod idle;

use serde::Deserialize;
use serde_json::{Map, Value};
use toolplane_matching::fit::Fit;
use toolplane_matching::tools::ToolPattern;
use toolplane_records::ids::ToolId;
use toolplane_records::payload::JsonPayload;
use toolplane_records::tool_facts::ToolFacts;
use toolplane_records::vocabulary::Behavior;

/// Most patterns of one list.
const MAX_PATTERNS: usize = 100;
/// What a choice may be, in words.
const CHOICES: &str = "must be `auto`, `required`, `none`, the name of a tool, or `{\"tool\": NAME}`";

/// What may be called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// Whatever the surface shows.
    #[default]
    Auto,
    /// The same: that something is called is for who asks the model.
    Required,
    /// Nothing.
    None,
    /// The tool of this name alone.
    Tool(String),
}

/// How tools may be selected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelectionRules {
    /// Only these may be called; any without one.
    allowed: Vec<(String, ToolPattern)>,
    /// These may not; stronger.
    denied: Vec<(String, ToolPattern)>,
    /// A batch runs its calls one after the other.
    pub one_at_a_time: bool,
    /// A call names the moment of the surface it goes by.
    pub requires_moment: bool,
}

/// What a surface says about choosing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choosing {
    /// What may be called.
    pub choice: ToolChoice,
    /// How it may be selected.
    pub rules: SelectionRules,
}

/// A value that says nothing about choosing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoosingFault {
    /// The field of the request, and of its value.
    pub field: String,
    /// What it must be.
    pub rule: String,
}

/// Why a surface does not let a call be made of a tool that it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotChosen {
    /// Nothing is called in it.
    NoCalls,
    /// Another tool is the only one to be called; its name.
    OnlyOther(String),
    /// The selection policy does not allow it.
    NotAllowed,
    /// The selection policy denies it, by this pattern.
    Denied(String),
    /// The call does not say the moment it goes by.
    NoMoment,
}

impl NotChosen {
    /// What of a surface says it, whatever the tool is.
    pub(super) fn said_by(&self) -> String {
        match self {
            Self::NoCalls => "the `default_tool_choice` `none`".to_owned(),
            Self::OnlyOther(other) => format!("the `default_tool_choice` `{other}`"),
            Self::NotAllowed => "`selection_policy.allowed_tools`".to_owned(),
            Self::Denied(pattern) => format!("`{pattern}` in `selection_policy.denied_tools`"),
            Self::NoMoment => "`selection_policy.require_moment`".to_owned(),
        }
    }

    /// What is said of the tool `name`, and what to do.
    pub fn message(&self, name: &str) -> String {
        match self {
            Self::NoCalls => "no tool is called in this surface: its `default_tool_choice` is `none`".to_owned(),
            Self::OnlyOther(other) => {
                format!("`{name}` is not called in this surface: its `default_tool_choice` is `{other}`")
            }
            Self::NotAllowed => format!("`{name}` fits none of `selection_policy.allowed_tools` of this surface"),
            Self::Denied(pattern) => {
                format!("`{name}` is denied by `{pattern}` in `selection_policy.denied_tools` of this surface")
            }
            Self::NoMoment => {
                "`selection_policy.require_moment` of this surface wants each call to name the moment it goes by \
                               (`surface_moment`)"
                    .to_owned()
            }
        }
    }
}

impl Choosing {
    /// Reads what is said with the request for a surface.
    ///
    /// # Errors
    ///
    /// The first value that is none, with the rule.
    pub fn read(choice: Option<&JsonPayload>, policy: Option<&JsonPayload>) -> Result<Self, ChoosingFault> {
        let choice = choice.map(|choice| ToolChoice::read(&choice.to_value())).transpose()?.unwrap_or_default();
        let rules = policy.map(|policy| SelectionRules::read(&policy.to_value())).transpose()?.unwrap_or_default();
        Ok(Self { choice, rules })
    }

    /// The same of what is stored. Earlier versions took any value and held nothing: what is none says nothing.
    pub fn stored(choice: Option<&JsonPayload>, policy: Option<&JsonPayload>) -> Self {
        Self {
            choice: Self::read(choice, None).unwrap_or_default().choice,
            rules: Self::read(None, policy).unwrap_or_default().rules,
        }
    }

    /// Whether it says anything that a call is held against.
    pub fn is_silent(&self) -> bool {
        matches!(self.choice, ToolChoice::Auto | ToolChoice::Required) && self.rules == SelectionRules::default()
    }

    /// Why a call of `tool` is not let through; `chosen` is the tool that the choice names, where that is known. What a pattern says of a tool that
    /// does not declare what it does is unknown, and no permission.
    pub fn refuses(&self, tool: &ToolFacts, chosen: Option<&ToolId>, by_moment: bool) -> Option<NotChosen> {
        match &self.choice {
            ToolChoice::None => return Some(NotChosen::NoCalls),
            ToolChoice::Tool(name) => {
                let is_it = match chosen {
                    Some(chosen) => tool.tool_id == *chosen,
                    None => ToolPattern::Named(name.clone()).fit(Behavior::Allow, tool) == Fit::Yes,
                };
                if !is_it {
                    return Some(NotChosen::OnlyOther(name.clone()));
                }
            }
            ToolChoice::Auto | ToolChoice::Required => {}
        }
        let SelectionRules { allowed, denied, requires_moment, one_at_a_time: _ } = &self.rules;
        if let Some((text, _)) = denied.iter().find(|(_, pattern)| pattern.fit(Behavior::Deny, tool) != Fit::No) {
            return Some(NotChosen::Denied(text.clone()));
        }
        if !allowed.is_empty() && !allowed.iter().any(|(_, pattern)| pattern.fit(Behavior::Allow, tool) == Fit::Yes) {
            return Some(NotChosen::NotAllowed);
        }
        (*requires_moment && !by_moment).then_some(NotChosen::NoMoment)
    }
}

impl ToolChoice {
    fn read(value: &Value) -> Result<Self, ChoosingFault> {
        let named = match value {
            Value::String(word) => return Ok(Self::of(word)).and_then(Self::checked),
            Value::Object(members) if members.len() == 1 => members.get("tool").and_then(Value::as_str),
            _ => None,
        };
        let name = named.ok_or_else(|| fault("default_tool_choice", CHOICES))?;
        Self::checked(Self::Tool(name.to_owned()))
    }

    fn of(word: &str) -> Self {
        match word {
            "auto" => Self::Auto,
            "required" => Self::Required,
            "none" => Self::None,
            name => Self::Tool(name.to_owned()),
        }
    }

    fn checked(self) -> Result<Self, ChoosingFault> {
        match &self {
            Self::Tool(name) if name.trim().is_empty() => Err(fault("default_tool_choice", CHOICES)),
            _ => Ok(self),
        }
    }
}

impl SelectionRules {
    fn read(value: &Value) -> Result<Self, ChoosingFault> {
        let Value::Object(members) = value else { return Err(fault("selection_policy", "must be a JSON object")) };
        const KNOWN: [&str; 4] = ["allowed_tools", "denied_tools", "parallel_calls", "require_moment"];
        if let Some(unknown) = members.keys().find(|member| !KNOWN.contains(&member.as_str())) {
            let rule = format!("is not known; a selection policy has `{}`", KNOWN.join("`, `"));
            return Err(fault(format!("selection_policy.{unknown}"), rule));
        }
        Ok(Self {
            allowed: patterns(members, "allowed_tools", Behavior::Allow)?,
            denied: patterns(members, "denied_tools", Behavior::Deny)?,
            one_at_a_time: flag(members, "parallel_calls")? == Some(false),
            requires_moment: flag(members, "require_moment")? == Some(true),
        })
    }
}

fn patterns(
    members: &Map<String, Value>,
    name: &str,
    behavior: Behavior,
) -> Result<Vec<(String, ToolPattern)>, ChoosingFault> {
    let Some(value) = members.get(name) else { return Ok(Vec::new()) };
    let place = format!("selection_policy.{name}");
    let texts = Vec::<String>::deserialize(value).unwrap_or_default();
    if texts.is_empty() || texts.len() > MAX_PATTERNS {
        return Err(fault(place, format!("must be a list of 1 to {MAX_PATTERNS} patterns for tools")));
    }
    let read = texts.into_iter().enumerate().map(|(index, text)| {
        let pattern = text.parse::<ToolPattern>().and_then(|pattern| {
            pattern.check_word()?;
            pattern.check(behavior)?;
            Ok(pattern)
        });
        match pattern {
            Ok(pattern) => Ok((text, pattern)),
            Err(wrong) => Err(fault(format!("{place}[{index}]"), wrong.to_string())),
        }
    });
    read.collect()
}

fn flag(members: &Map<String, Value>, name: &str) -> Result<Option<bool>, ChoosingFault> {
    match members.get(name) {
        None => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(fault(format!("selection_policy.{name}"), "must be true or false")),
    }
}

fn fault(field: impl Into<String>, rule: impl Into<String>) -> ChoosingFault {
    ChoosingFault { field: field.into(), rule: rule.into() }
}
