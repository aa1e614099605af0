//! What to do about a failed call, in the words of an MCP server. The registry of codes speaks of the API and of the command line, and of
//! the usual case of a code.

use toolplane_records::codes::{self, Code};
use toolplane_records::error::ToolError;
use toolplane_records::vocabulary::Recoverability;

use super::Door;

/// What to do; nothing where nobody knows. A tool that the server does not list is not named.
pub(super) fn of(error: &ToolError, door: Door) -> Option<&'static str> {
    let code = Code::find(&error.error_code)?;
    let words = match (code, door) {
        (codes::SURFACE_UNKNOWN_TOOL, Door::Finding) => {
            "Use one of the similar names, or find tools with `tool_search`."
        }
        (codes::SURFACE_UNKNOWN_TOOL, Door::Listing) => "Use one of the similar names, or another tool of the list.",
        (codes::SURFACE_NOT_LOADED, Door::Finding) => "Load the tool with `tool_load`, then call it.",
        (codes::SURFACE_NOT_LOADED, Door::Listing) => "List the tools again, then call it by what the list says.",
        (codes::SURFACE_CHANGED, Door::Finding) => {
            "Load the tool again with `tool_load`, and make the call for the schema it has now."
        }
        (codes::SURFACE_CHANGED, Door::Listing) => {
            "List the tools again, and make the call for the schema the tool has now."
        }
        (codes::SURFACE_RETIRED, Door::Finding) => "Find the tool that replaces it with `tool_search`.",
        (codes::SURFACE_RETIRED, Door::Listing) => "Call another tool of the list.",
        (codes::INPUT_SCHEMA, Door::Finding) => "Change the fields that are named; `tool_load` shows the input schema.",
        (codes::INPUT_SCHEMA, Door::Listing) => {
            "Change the fields that are named; the list of tools has the input schema."
        }
        (codes::SURFACE_NO_MOMENT, _) => {
            "List the tools again, and name the moment of the list in the call (`toolplane/surface_moment` in `_meta` of both)."
        }
        (codes::SURFACE_LATER, _) => {
            "List the tools again, and call by the moment of that list (`toolplane/surface_moment` in `_meta` of both)."
        }
        _ => code.entry().cure,
    };
    let usual = code.of_call().1;
    Some(match error.recoverability {
        // This call may simply be repeated: nobody is sent to look for an effect.
        Recoverability::RetrySafe if usual == Recoverability::VerifyBeforeRetry => {
            "Make the call again: the tool has no effect, or one that is the same when it runs twice."
        }
        // And this one may not.
        Recoverability::VerifyBeforeRetry
            if matches!(usual, Recoverability::RetrySafe | Recoverability::RetryLater) =>
        {
            "Look whether the effect has happened before the call is made again."
        }
        _ => words,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(code: Code, advice: Recoverability) -> ToolError {
        ToolError::new(code, code.of_call().0, advice, "")
    }

    #[test]
    fn a_server_names_its_own_tools() {
        for code in [
            codes::SURFACE_UNKNOWN_TOOL,
            codes::SURFACE_NOT_LOADED,
            codes::SURFACE_CHANGED,
            codes::SURFACE_RETIRED,
            codes::INPUT_SCHEMA,
        ] {
            let said = of(&error(code, code.of_call().1), Door::Finding).unwrap();
            assert!(said.contains("`tool_") && !said.contains("toolplane ") && !said.contains("Tools`"), "{said}");
            let said = of(&error(code, code.of_call().1), Door::Listing).unwrap();
            assert!(!said.contains("`tool_") && !said.contains("toolplane ") && !said.contains("Tools`"), "{said}");
        }
    }

    #[test]
    fn what_to_do_is_what_the_error_advises() {
        let said = |code, advice| of(&error(code, advice), Door::Listing).unwrap();
        let look = said(codes::OUTCOME_UNKNOWN, Recoverability::VerifyBeforeRetry);
        assert!(look.starts_with("Look whether"), "{look}");
        assert!(said(codes::OUTCOME_UNKNOWN, Recoverability::RetrySafe).starts_with("Make the call again"));
        let stopped = said(codes::SIBLING_CANCELED, Recoverability::VerifyBeforeRetry);
        assert!(stopped.starts_with("Look whether"), "{stopped}");
        let mut foreign = error(codes::OUTCOME_UNKNOWN, Recoverability::RetrySafe);
        foreign.error_code = "acme.own".to_owned();
        assert_eq!(of(&foreign, Door::Listing), None);
    }
}
