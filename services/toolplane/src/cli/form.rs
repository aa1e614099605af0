//! `--view`: a call, a step of it or a question in the form of another protocol.

use std::io::Write as _;

use clap::Args;
use clap::builder::PossibleValuesParser;
use toolplane_forms::View;
use toolplane_proto::v1;
use toolplane_proto::v1::formed::Body;

use super::connection::Connection;
use super::failure::Failure;
use super::outcome::CommandOutcome;
use super::output::Output;

/// The form that is wanted.
#[derive(Clone, Debug, Args)]
pub(crate) struct FormArgs {
    /// In this form, as a program that speaks it reads it: docs/forms.md.
    #[arg(long, value_name = "FORM", value_parser = PossibleValuesParser::new(View::ALL.map(View::as_str)))]
    view: Option<String>,
    /// Your session in a form that names one (ACP, A2A); the session of the call when absent.
    #[arg(long, value_name = "ID", requires = "view", default_value = "", hide_default_value = true)]
    session_id: String,
    /// Where the workspace is on your machine, for paths in a form; /workspace when absent.
    #[arg(long, value_name = "DIR", requires = "view", default_value = "", hide_default_value = true)]
    workspace_root: String,
    /// What you call the call in a form; the id its model gave it when absent.
    #[arg(long, value_name = "ID", requires = "view", default_value = "", hide_default_value = true)]
    call_id: String,
}

impl FormArgs {
    /// The form, where one is wanted.
    pub(crate) fn spec(&self) -> Option<v1::FormSpec> {
        let view = self.view.clone()?;
        let Self { session_id, workspace_root, call_id, .. } = self.clone();
        Some(v1::FormSpec { view, session_id, workspace_root, call_id })
    }
}

/// Shows a call.
pub(crate) async fn call(
    id: String,
    form: v1::FormSpec,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let view = form.view.clone();
    let request = v1::GetInvocationRequest { invocation_id: id.clone(), form: Some(form), ..Default::default() };
    let answer = connection.invocations().get_invocation(request).await?.into_inner();
    match answer.formed {
        Some(formed) => print(&formed, out)?,
        None => {
            let status = answer.invocation.map(|call| call.status).unwrap_or_default();
            let rule = format!("`{id}` is {status} and has no result yet, which `{view}` is the form of");
            return Err(Failure::Usage(rule));
        }
    }
    Ok(CommandOutcome::Done)
}

/// Shows a question.
pub(crate) async fn approval(
    id: String,
    form: v1::FormSpec,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let request = v1::GetApprovalRequest { approval_id: id, form: Some(form), ..Default::default() };
    let answer = connection.permissions().get_approval(request).await?.into_inner();
    let formed = answer.formed.ok_or_else(|| Failure::Answer("the form is missing".to_owned()))?;
    print(&formed, out)?;
    Ok(CommandOutcome::Done)
}

/// Prints one of many: JSON as a line of it, other bytes with their length before them, or nobody could tell where one ends.
pub(crate) fn print_step(formed: &v1::Formed, out: &mut Output) -> Result<(), Failure> {
    match &formed.body {
        Some(Body::Binary(bytes)) => {
            let delimited = [length(bytes.len()), bytes.to_vec()].concat();
            print(&v1::Formed { body: Some(Body::Binary(delimited.into())), ..formed.clone() }, out)
        }
        _ => print(formed, out),
    }
}

/// A length as messages of protobuf in a row have it before each: seven bits a byte, the lowest first.
fn length(mut bytes: usize) -> Vec<u8> {
    let mut all = Vec::new();
    while bytes > 0x7f {
        all.push(u8::try_from(bytes & 0x7f).unwrap_or_default() | 0x80);
        bytes >>= 7;
    }
    all.push(u8::try_from(bytes).unwrap_or_default());
    all
}

/// Prints what is in a form: JSON as a line of it, other bytes as they are.
pub(crate) fn print(formed: &v1::Formed, out: &mut Output) -> Result<(), Failure> {
    match &formed.body {
        Some(Body::Json(json)) => out.payload(Some(json.clone())),
        Some(Body::Binary(_)) if out.terminal() => {
            let rule = format!("{} is not text: send it to a file or a program", formed.media_type);
            Err(Failure::Usage(rule))
        }
        Some(Body::Binary(bytes)) => {
            let mut stdout = std::io::stdout().lock();
            stdout.write_all(bytes)?;
            Ok(stdout.flush()?)
        }
        None => Err(Failure::Answer("the form is empty".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::length;

    #[test]
    fn lengths_are_those_of_delimited_messages() {
        for (bytes, expected) in [(0, vec![0]), (127, vec![0x7f]), (128, vec![0x80, 1]), (300, vec![0xac, 2])] {
            assert_eq!(length(bytes), expected, "{bytes}");
        }
    }
}
