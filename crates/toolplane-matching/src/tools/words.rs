//! The plain words that name tools in settings of coding agents, and which of them a slip of the keyboard may have meant.

use super::family::Family;
use crate::near::near;

/// Tools of coding agents that are no family here. Settings that are shared with such agents name them; what registers none of
/// them is not touched by such a rule.
const AGENT_TOOLS: &[&str] = &[
    "AskUserQuestion",
    "BashOutput",
    "EnterPlanMode",
    "ExitPlanMode",
    "KillBash",
    "KillShell",
    "ListMcpResources",
    "ListMcpResourcesTool",
    "LSP",
    "NotebookRead",
    "ReadMcpResource",
    "ReadMcpResourceTool",
    "SendMessage",
    "SlashCommand",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TodoRead",
    "TodoWrite",
    "ToolSearch",
];

/// From this length on a word may be two slips away from another one.
const LONG: usize = 8;

/// The known word that `name` is almost, and is not. Only a plain word with a capital letter in front can be a slip: everything
/// else may be the name of a tool that is registered later.
pub(super) fn meant(name: &str) -> Option<&'static str> {
    let plain = name.starts_with(|c: char| c.is_ascii_uppercase()) && name.bytes().all(|c| c.is_ascii_alphabetic());
    let known = || Family::WORDS.iter().map(|(word, _)| *word).chain(AGENT_TOOLS.iter().copied());
    if !plain || known().any(|word| word == name) {
        return None;
    }
    let allowed = if name.len() < LONG { 1 } else { 2 };
    let folded = name.to_ascii_lowercase();
    let distances = known().map(|word| (near(&folded, &word.to_ascii_lowercase(), allowed), word));
    distances.filter(|(distance, _)| *distance <= allowed).min_by_key(|(distance, _)| *distance).map(|(_, word)| word)
}
