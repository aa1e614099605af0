//! How a call is made, beside what it does: its permission mode, who makes it, and how sure the agent is.

use clap::Args;
use toolplane_proto::v1;

use crate::cli::argument::ArgumentError;
use crate::cli::connection::PRODUCER;

/// How a call is made.
#[derive(Debug, Args)]
pub(crate) struct Manner {
    /// The permission mode: `default`, `plan` (only what is known to read), `accept_edits`, `dont_ask` or `bypass`.
    #[arg(long, value_name = "MODE")]
    mode: Option<String>,
    /// Who calls, for rules and records.
    #[arg(long, default_value = PRODUCER, value_name = "NAME")]
    actor: String,
    /// What the call belongs to: `task:ID`, `turn:ID`, ..., `role:NAME`. A surface that is for one wants it named. May be repeated.
    #[arg(long = "ref", value_name = "REF")]
    refs: Vec<String>,
    /// How sure the agent is that this call is right, from 0 to 1; it can only make the decision stricter.
    #[arg(long, value_name = "0..1", value_parser = share)]
    confidence: Option<f64>,
    /// Outcome of the agent's own check, e.g. `uncertain`.
    #[arg(long, default_value = "", value_name = "WORD")]
    verdict: String,
    /// Evidence that should be there and is not. May be repeated.
    #[arg(long = "missing-evidence", value_name = "WHAT")]
    missing_evidence: Vec<String>,
    /// A label of untrusted material the arguments were made from, e.g. `web`. May be repeated.
    #[arg(long = "taint", value_name = "LABEL")]
    taints: Vec<String>,
}

fn share(text: &str) -> Result<f64, ArgumentError> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err(ArgumentError::NotAShare),
    }
}

impl Manner {
    /// Puts it into the call.
    pub(crate) fn apply(self, spec: &mut v1::InvocationSpec) {
        spec.actor_ref = self.actor;
        spec.runtime_refs = self.refs;
        spec.permission_mode = self.mode.unwrap_or_default();
        let assurance = v1::CallAssurance {
            confidence: self.confidence,
            verdict: self.verdict,
            missing_evidence: self.missing_evidence,
            taints: self.taints,
            ..Default::default()
        };
        // When the agent says nothing there is no statement at all, rather than an empty one.
        spec.assurance = Some(assurance).filter(|assurance| *assurance != v1::CallAssurance::default());
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        manner: Manner,
    }

    fn spec(words: &[&str]) -> Result<v1::InvocationSpec, clap::Error> {
        let line = Line::try_parse_from([&["invoke"], words].concat())?;
        let mut spec = v1::InvocationSpec::default();
        line.manner.apply(&mut spec);
        Ok(spec)
    }

    #[test]
    fn nothing_said_is_nothing_claimed() {
        let plain = spec(&[]).unwrap();
        assert_eq!((plain.actor_ref.as_str(), plain.permission_mode.as_str()), (PRODUCER, ""));
        assert_eq!(plain.assurance, None);
    }

    #[test]
    fn what_the_agent_says_is_passed_on() {
        let words = [
            "--ref",
            "task:7",
            "--mode",
            "plan",
            "--actor",
            "ann",
            "--confidence",
            "0.6",
            "--taint",
            "web",
            "--taint",
            "mail",
        ];
        let said = spec(&words).unwrap();
        assert_eq!((said.actor_ref.as_str(), said.permission_mode.as_str()), ("ann", "plan"));
        assert_eq!(said.runtime_refs, ["task:7"]);
        let assurance = said.assurance.unwrap();
        assert_eq!((assurance.confidence, assurance.taints.len()), (Some(0.6), 2));
        for wrong in ["1.5", "-1", "NaN", "much"] {
            assert!(spec(&["--confidence", wrong]).is_err(), "{wrong}");
        }
    }
}
