//! Families of tools, by the names that users of coding agents know.

use toolplane_records::tool_facts::ToolFacts;
use toolplane_records::vocabulary::{AccessKind, Behavior, ToolKind, WriteEffect};

use crate::fit::{Certainty, Fit};
use crate::subject::SubjectKind;
use crate::tool::ToolMatching as _;

/// Tools that do the same kind of thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// `Bash`: shell commands.
    Bash,
    /// `Read`: reading files.
    Read,
    /// `Edit`, `Write`, `MultiEdit`, `NotebookEdit`: changing files.
    Edit,
    /// `Glob`, `LS`: finding files by name.
    Glob,
    /// `Grep`: finding text in files.
    Grep,
    /// `WebFetch`: fetching a URL.
    WebFetch,
    /// `WebSearch`: searching the web.
    WebSearch,
    /// `Agent`, `Task`: other agents.
    Agent,
    /// `Skill`: skills.
    Skill,
}

impl Family {
    /// Every name of a family. Users of coding agents know them; some families have several.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("Bash", Self::Bash),
        ("Read", Self::Read),
        ("Edit", Self::Edit),
        ("Write", Self::Edit),
        ("MultiEdit", Self::Edit),
        ("NotebookEdit", Self::Edit),
        ("Glob", Self::Glob),
        ("LS", Self::Glob),
        ("Grep", Self::Grep),
        ("WebFetch", Self::WebFetch),
        ("WebSearch", Self::WebSearch),
        ("Agent", Self::Agent),
        ("Task", Self::Agent),
        ("Skill", Self::Skill),
    ];

    /// The family of that name.
    pub fn of(name: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(word, _)| *word == name).map(|(_, family)| *family)
    }

    /// What a pattern in brackets after the name is about; none where no pattern makes sense.
    pub fn subject(self) -> Option<SubjectKind> {
        match self {
            Self::Bash => Some(SubjectKind::Command),
            Self::Read | Self::Edit | Self::Glob | Self::Grep => Some(SubjectKind::Path),
            Self::WebFetch => Some(SubjectKind::Url),
            Self::WebSearch | Self::Agent | Self::Skill => None,
        }
    }

    /// Whether a tool belongs to it. An allow takes in only tools that declare to do nothing else; the other behaviours
    /// every tool that may do this among other things.
    pub fn fit(self, behavior: Behavior, tool: &ToolFacts) -> Fit {
        match self {
            Self::Bash => (tool.subject_kind() == Some(SubjectKind::Command)).into(),
            Self::Read => of_files(behavior, tool, AccessKind::FileRead),
            Self::Edit => of_files(behavior, tool, AccessKind::FileWrite),
            Self::Glob => of_files(behavior, tool, AccessKind::FileRead).min(named(tool, &["glob", "list", "find"])),
            Self::Grep => of_files(behavior, tool, AccessKind::FileRead).min(named(tool, &["grep", "search"])),
            Self::WebFetch => of_web(behavior, tool),
            Self::WebSearch => (tool.kind == Some(ToolKind::WebSearch)).into(),
            Self::Agent => (tool.kind == Some(ToolKind::PeerAgentTool)).into(),
            Self::Skill => (tool.kind == Some(ToolKind::SkillTool)).into(),
        }
    }
}

fn of_files(behavior: Behavior, tool: &ToolFacts, wanted: AccessKind) -> Fit {
    if tool.subject_kind() != Some(SubjectKind::Path) {
        return Fit::No;
    }
    let does = Fit::from(tool.has_access(wanted));
    if behavior != Behavior::Allow {
        return does;
    }
    let harmless: &[AccessKind] = match wanted {
        AccessKind::FileWrite => &[AccessKind::FileRead, AccessKind::FileWrite],
        _ => &[AccessKind::FileRead],
    };
    does.min(only(tool, harmless))
}

/// Whether the tool declares no access beyond these; unknown when it declares none at all.
fn only(tool: &ToolFacts, harmless: &[AccessKind]) -> Fit {
    match tool.access_kinds() {
        None => Fit::Unknown,
        Some(kinds) => kinds.iter().all(|kind| harmless.contains(kind)).into(),
    }
}

/// Lists, searches and reads are the same access; only their names tell them apart.
fn named(tool: &ToolFacts, words: &[&str]) -> Fit {
    let name = tool.short_name().to_ascii_lowercase();
    words.iter().any(|word| name.contains(word)).into()
}

fn of_web(behavior: Behavior, tool: &ToolFacts) -> Fit {
    if tool.subject_kind() != Some(SubjectKind::Url) || tool.kind == Some(ToolKind::WebSearch) {
        return Fit::No;
    }
    if behavior != Behavior::Allow {
        return Fit::Yes;
    }
    let changes = [WriteEffect::LocalPersistent, WriteEffect::RemoteMutation, WriteEffect::Irreversible];
    let effects = changes.iter().map(|effect| tool.has_effect(*effect)).max().unwrap_or(Certainty::Unknown);
    Fit::from(effects.negated()).min(only(tool, &[AccessKind::Network, AccessKind::FileRead]))
}
