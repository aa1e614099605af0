//! Which forms there are, by their words.

use std::fmt;
use std::str::FromStr;

/// A form in which a call can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum View {
    /// The standard's records, as JSON.
    Record,
    /// Agent Client Protocol, version 1: `session/update` notifications.
    Acp,
    /// The same for clients that show terminals of the agent's own (`_meta.terminal_output`).
    AcpTerminal,
    /// The result of `tools/call` of the Model Context Protocol.
    Mcp,
    /// An input item of OpenAI's Responses API.
    OpenAiResponses,
    /// A message of OpenAI's Chat Completions API.
    OpenAiChat,
    /// A content block of Anthropic's Messages API.
    Anthropic,
    /// A part of Gemini's API.
    Gemini,
    /// A task of the Agent2Agent protocol, version 1.0.
    A2a,
    /// The one result of `ToolSpec` tools: `ok`, `degraded`, `empty` or `error`.
    ToolResult,
    /// CloudEvents 1.0, as JSON.
    CloudEvents,
    /// CloudEvents 1.0, as protobuf.
    CloudEventsProtobuf,
    /// An in-toto statement, version 1.
    InToto,
}

/// A word that names no form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is no form; there are {words}", words = View::words())]
pub struct UnknownView {
    /// The word, cut where it is long.
    pub word: String,
}

impl View {
    /// All of them, in the order they are named.
    pub const ALL: [Self; 13] = [
        Self::Record,
        Self::Acp,
        Self::AcpTerminal,
        Self::Mcp,
        Self::OpenAiResponses,
        Self::OpenAiChat,
        Self::Anthropic,
        Self::Gemini,
        Self::A2a,
        Self::ToolResult,
        Self::CloudEvents,
        Self::CloudEventsProtobuf,
        Self::InToto,
    ];

    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Acp => "acp",
            Self::AcpTerminal => "acp-terminal",
            Self::Mcp => "mcp",
            Self::OpenAiResponses => "openai-responses",
            Self::OpenAiChat => "openai-chat",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::A2a => "a2a",
            Self::ToolResult => "tool-result",
            Self::CloudEvents => "cloudevents",
            Self::CloudEventsProtobuf => "cloudevents-protobuf",
            Self::InToto => "in-toto",
        }
    }

    /// The words, as they are told to people.
    pub fn words() -> String {
        let words: Vec<&str> = Self::ALL.iter().map(|view| view.as_str()).collect();
        words.join(", ")
    }

    /// Whether it says how a call ended, so that a call that has not ended has no such form.
    pub const fn is_of_a_result(self) -> bool {
        matches!(
            self,
            Self::Mcp
                | Self::OpenAiResponses
                | Self::OpenAiChat
                | Self::Anthropic
                | Self::Gemini
                | Self::ToolResult
                | Self::InToto
        )
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for View {
    type Err = UnknownView;

    fn from_str(word: &str) -> Result<Self, UnknownView> {
        let found = Self::ALL.into_iter().find(|view| view.as_str() == word);
        found.ok_or_else(|| UnknownView { word: word.chars().take(64).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_read_back_and_no_other() {
        for view in View::ALL {
            assert_eq!(view.as_str().parse(), Ok(view));
        }
        let refused = "MCP".parse::<View>().unwrap_err().to_string();
        assert!(refused.starts_with("`MCP` is no form; there are record, acp, ") && refused.ends_with("in-toto"));
    }
}
