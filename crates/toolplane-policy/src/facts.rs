//! What rules look at: the facts of one call.

use std::fmt;
use std::str::FromStr;

use toolplane_records::ids::ToolId;
use toolplane_records::invocation::InputSafety;

/// Whether something is so. What nobody vouches for is unknown, and stays so through every comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// It is not so.
    No,
    /// Nobody vouches for either.
    #[default]
    Unknown,
    /// It is so.
    Yes,
}

impl Certainty {
    /// The opposite; the opposite of unknown is unknown.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Unknown => Self::Unknown,
            Self::Yes => Self::No,
        }
    }
}

impl From<bool> for Certainty {
    fn from(known: bool) -> Self {
        if known { Self::Yes } else { Self::No }
    }
}

/// A fact rules may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FactName {
    /// `read_only`: the call leaves no trace.
    ReadOnly,
    /// `destructive`: the call may destroy something.
    Destructive,
    /// `open_world`: the call touches the uncontrolled outside.
    OpenWorld,
    /// `sensitive_sink`: the call may carry sensitive data out.
    SensitiveSink,
    /// `approval_required`: the tool's permission profile wants a person to approve.
    ApprovalRequired,
}

impl FactName {
    /// Every fact.
    pub const ALL: &'static [Self] =
        &[Self::ReadOnly, Self::Destructive, Self::OpenWorld, Self::SensitiveSink, Self::ApprovalRequired];

    /// The fact's name in rules.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::Destructive => "destructive",
            Self::OpenWorld => "open_world",
            Self::SensitiveSink => "sensitive_sink",
            Self::ApprovalRequired => "approval_required",
        }
    }
}

impl fmt::Display for FactName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for FactName {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.iter().find(|name| name.as_str() == text).copied().ok_or(())
    }
}

/// The facts of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The tool.
    pub tool_id: ToolId,
    /// `namespace.name` of the tool.
    pub full_name: String,
    /// Its namespace.
    pub namespace: String,
    /// Every other name that leads to the tool. A deny or ask rule may use them; an allow rule may not.
    pub other_names: Vec<String>,
    /// The call leaves no trace.
    pub read_only: Certainty,
    /// The call may destroy something.
    pub destructive: Certainty,
    /// The call touches the uncontrolled outside.
    pub open_world: Certainty,
    /// The call may carry sensitive data out.
    pub sensitive_sink: Certainty,
    /// The tool's permission profile wants a person to approve.
    pub approval_required: Certainty,
    /// Somebody is there who can answer a question.
    pub can_ask: bool,
}

impl Facts {
    /// Facts of a call of which nothing is known but the tool, with somebody to ask.
    pub fn of_tool(tool_id: ToolId, full_name: impl Into<String>, namespace: impl Into<String>) -> Self {
        Self {
            tool_id,
            full_name: full_name.into(),
            namespace: namespace.into(),
            other_names: Vec::new(),
            read_only: Certainty::Unknown,
            destructive: Certainty::Unknown,
            open_world: Certainty::Unknown,
            sensitive_sink: Certainty::Unknown,
            approval_required: Certainty::Unknown,
            can_ask: true,
        }
    }

    /// Takes over the safety facts of an input. `unknown` lists, by their names in the interface (`is_read_only` ...), those
    /// that are only defaults.
    #[must_use]
    pub fn with_safety<'a>(mut self, safety: &InputSafety, unknown: impl IntoIterator<Item = &'a str>) -> Self {
        let unknown: Vec<&str> = unknown.into_iter().collect();
        let known = |name: &str, value: bool| {
            if unknown.contains(&name) { Certainty::Unknown } else { Certainty::from(value) }
        };
        self.read_only = known("is_read_only", safety.is_read_only);
        self.destructive = known("is_destructive", safety.is_destructive);
        self.open_world = known("is_open_world", safety.is_open_world);
        self
    }

    /// What is known of `name`.
    pub fn certainty(&self, name: FactName) -> Certainty {
        match name {
            FactName::ReadOnly => self.read_only,
            FactName::Destructive => self.destructive,
            FactName::OpenWorld => self.open_world,
            FactName::SensitiveSink => self.sensitive_sink,
            FactName::ApprovalRequired => self.approval_required,
        }
    }
}
