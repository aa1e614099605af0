//! Questions to people: a request for permission, and what its outcome answers.

use serde::Deserialize;
use toolplane_records::approval::{Approval, ApprovalOption};
use toolplane_records::visible;

use crate::object::Object;
use crate::story::Reader;

/// A request for permission. Its id is that of the question, so that an answer says which question it is about.
pub fn request(approval: &Approval, reader: Reader<'_>) -> Object {
    let call = approval.invocation_id.as_str();
    let why = approval.request.reason.as_ref().map(|reason| reason.message.as_str()).unwrap_or_default();
    let tool = Object::new()
        .with("toolCallId", reader.call.unwrap_or(call))
        .with("title", &visible::line(&approval.tool_name))
        .with("status", "pending")
        .with("rawInput", &approval.permission_input);
    let tool = match why {
        "" => tool,
        why => {
            let text = Object::typed("text").with("text", &visible::text(why));
            tool.list("content", &[Object::typed("content").object("content", &text)])
        }
    };
    let option = |option: &ApprovalOption| {
        Object::new().with("optionId", &option.option_id).with("name", &option.name).with("kind", &option.kind)
    };
    let options: Vec<Object> = approval.options.iter().map(option).collect();
    let session = reader.session.or(approval.session_ref.as_deref()).unwrap_or(call);
    let params = Object::new().with("sessionId", session).object("toolCall", &tool).list("options", &options);
    Object::new()
        .with("jsonrpc", "2.0")
        .with("id", &approval.approval_id)
        .with("method", "session/request_permission")
        .object("params", &params)
}

/// What a client answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// One of the options.
    Selected(String),
    /// Nothing: the turn was canceled.
    Cancelled,
}

/// Why an answer answers nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadOutcome {
    /// It is not of the protocol's form.
    #[error("is no outcome of `session/request_permission`: {0}")]
    Form(String),
    /// No question has this option.
    #[error("`{0}` is none of the options that were offered")]
    Option(String),
    /// It was canceled, and that is no answer.
    #[error("is `cancelled`, which answers nothing: cancel the call with CancelInvocation")]
    Cancelled,
}

impl Outcome {
    /// Reads an outcome: the whole answer of the client, its result, or the outcome alone. What is not known is never taken for a
    /// yes: fails with [`BadOutcome::Form`].
    pub fn read(json: &str) -> Result<Self, BadOutcome> {
        #[derive(Deserialize)]
        struct Answer {
            result: Option<Given>,
            error: Option<serde::de::IgnoredAny>,
            outcome: Option<Word>,
            #[serde(rename = "optionId")]
            option_id: Option<String>,
        }
        #[derive(Deserialize)]
        struct Given {
            outcome: Word,
        }
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Word {
            Plain(String),
            Whole {
                outcome: String,
                #[serde(rename = "optionId")]
                option_id: Option<String>,
            },
        }
        let answer: Answer = serde_json::from_str(json).map_err(|error| BadOutcome::Form(error.to_string()))?;
        if answer.error.is_some() {
            return Err(BadOutcome::Form("it is an error".to_owned()));
        }
        let outcome = answer.result.map(|given| given.outcome).or(answer.outcome);
        let (word, option) = match outcome {
            Some(Word::Plain(word)) => (word, answer.option_id),
            Some(Word::Whole { outcome, option_id }) => (outcome, option_id),
            None => return Err(BadOutcome::Form("`outcome` is missing".to_owned())),
        };
        match (word.as_str(), option) {
            ("selected", Some(option)) => Ok(Self::Selected(option)),
            ("selected", None) => Err(BadOutcome::Form("`optionId` is missing".to_owned())),
            ("cancelled", _) => Ok(Self::Cancelled),
            (other, _) => {
                let other: String = other.chars().take(64).collect();
                Err(BadOutcome::Form(format!("`{other}` is not a known outcome")))
            }
        }
    }
}

/// The option of a question that an outcome chooses. Fails with [`BadOutcome`] where it chooses none.
pub fn answer<'a>(approval: &'a Approval, outcome: &Outcome) -> Result<&'a ApprovalOption, BadOutcome> {
    match outcome {
        Outcome::Cancelled => Err(BadOutcome::Cancelled),
        Outcome::Selected(chosen) => {
            let found = approval.options.iter().find(|option| option.option_id == *chosen);
            found.ok_or_else(|| BadOutcome::Option(chosen.chars().take(64).collect()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_read_in_each_of_its_wrappings() {
        let chosen = Ok(Outcome::Selected("allow_once".to_owned()));
        for answer in [
            r#"{"jsonrpc":"2.0","id":5,"result":{"outcome":{"outcome":"selected","optionId":"allow_once"}}}"#,
            r#"{"outcome":{"outcome":"selected","optionId":"allow_once"},"_meta":{}}"#,
            r#"{"outcome":"selected","optionId":"allow_once"}"#,
        ] {
            assert_eq!(Outcome::read(answer), chosen, "{answer}");
        }
        assert_eq!(Outcome::read(r#"{"outcome":{"outcome":"cancelled"}}"#), Ok(Outcome::Cancelled));
    }

    #[test]
    fn what_is_not_known_is_no_yes() {
        for answer in [
            "{}",
            "[]",
            r#"{"outcome":{"outcome":"selected"}}"#,
            r#"{"outcome":{"outcome":"approved","optionId":"allow_once"}}"#,
            r#"{"jsonrpc":"2.0","id":5,"error":{"code":-32800,"message":"no"}}"#,
        ] {
            assert!(matches!(Outcome::read(answer), Err(BadOutcome::Form(_))), "{answer}");
        }
    }
}
