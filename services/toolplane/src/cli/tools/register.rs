//! `toolplane tools register`: declare the tools of files, all of them or none.

use std::path::PathBuf;

use serde_json::json;
use tonic::Status;
use toolplane_proto::v1;
use toolplane_surface::declarations::{self, Place, ToolFile};

use crate::cli::connection::Connection;
use crate::cli::failure::Failure;
use crate::cli::outcome::CommandOutcome;
use crate::cli::output::Output;
use crate::cli::spelled::word;
use crate::cli::workers;

/// A tool as it is sent: where it stands, and what is told of it.
#[derive(Debug)]
struct Sent {
    file: String,
    place: Place,
    name: String,
    /// The pool that serves it, where one does.
    pool: Option<String>,
}

pub(super) async fn run(
    files: &[PathBuf],
    check: bool,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let (mut sent, mut tools, mut faults) = (Vec::new(), Vec::new(), Vec::new());
    for file in files {
        let file_name = file.display().to_string();
        match declarations::read(file) {
            Ok(read) => {
                for place in &read.left_out {
                    out.note(&format!("`{file_name}`: `{place}` is no field that is known here, and is left out"))?;
                }
                sent.extend(sent_of(&file_name, &read));
                tools.extend(read.registrations.iter().map(declarations::message));
            }
            Err(rule) => faults.push(format!("`{file_name}`: {rule}")),
        }
    }
    if !faults.is_empty() {
        return Err(Failure::Files { faults, refused: None });
    }
    if tools.is_empty() {
        out.note("no file declares a tool: there is nothing to register")?;
        return Ok(CommandOutcome::Done);
    }
    let request = v1::RegisterToolsRequest { tools, validate_only: check };
    let answer = connection.surfaces().register_tools(request).await.map_err(|status| refused(status, &sent))?;
    tell(answer.into_inner(), &sent, check, out)?;
    if !check {
        for (name, pool) in workers::unserved(sent.iter().map(|tool| (&tool.name, &tool.pool)), connection).await {
            out.note(&format!(
                "no connected worker serves `{name}` ({pool}): its calls wait up to a minute for one, and then end as \
                 `capability_gap`"
            ))?;
        }
    }
    Ok(CommandOutcome::Done)
}

/// The tools of a file, in its order.
fn sent_of(file: &str, read: &ToolFile) -> Vec<Sent> {
    let each = read.registrations.iter().enumerate().map(|(index, registration)| {
        let binding = registration.execution_profile.as_ref().and_then(|profile| profile.binding.as_ref());
        Sent {
            file: file.to_owned(),
            place: read.place(index),
            name: registration.declaration.full_name(),
            pool: binding.map(|binding| binding.pool().into_owned()),
        }
    });
    each.collect()
}

/// What was refused, with each wrong field where it stands in its file.
fn refused(status: Status, sent: &[Sent]) -> Failure {
    let wrong = toolplane_runtime::status::describe(&status).violations;
    let told = wrong.iter().map(|wrong| {
        let part = declarations::part_of_request(&wrong.field);
        match part.and_then(|(index, part)| Some((sent.get(index)?, part))) {
            Some((tool, part)) => match tool.place.of(part).as_str() {
                "" => format!("`{}`: {}", tool.file, wrong.rule),
                place => format!("`{}`: `{place}` {}", tool.file, wrong.rule),
            },
            None => format!("`{}` {}", wrong.field, wrong.rule),
        }
    });
    let faults: Vec<String> = told.collect();
    if faults.is_empty() { status.into() } else { Failure::Files { faults, refused: Some(Box::new(status)) } }
}

/// What each tool is by now.
fn tell(answer: v1::RegisterToolsResponse, sent: &[Sent], check: bool, out: &mut Output) -> Result<(), Failure> {
    for (Sent { name, .. }, tool) in sent.iter().zip(answer.tools) {
        let outcome = word(tool.outcome().as_str_name(), "REGISTRATION_OUTCOME_");
        if out.json() {
            out.serialized(&json!({
                "tool_id": tool.tool_id, "digest": tool.digest, "revision": tool.revision, "outcome": outcome,
            }))?;
        } else {
            let would = if check { "would be " } else { "" };
            out.line(format!("{name}  {would}{outcome}  ({}, revision {})", tool.tool_id, tool.revision))?;
            out.point_out(name)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use toolplane_runtime::ApiError;

    use super::*;

    fn file(text: &str) -> ToolFile {
        declarations::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn what_the_cluster_finds_is_told_where_it_stands() {
        let tool = r#"{"declaration":{"tool_id":"t","namespace":"a","name":"x","description":"d","lifecycle":"available",
            "tool_kind":"native_tool","input_contract":{"model_input_schema":{"type":"object"}}}}"#;
        let mut sent = sent_of("one.json", &file(tool));
        sent.extend(sent_of("list.toml", &file(&format!("[{tool},{tool}]"))));
        let told = |fields: &[&str]| {
            let wrong = fields.iter().map(|field| ((*field).to_owned(), "is wrong".to_owned()));
            match refused(ApiError::invalid_arguments(wrong).into(), &sent) {
                Failure::Files { faults, .. } => faults,
                other => panic!("{other}"),
            }
        };
        assert_eq!(told(&["tools[0].declaration.name"]), ["`one.json`: `declaration.name` is wrong"]);
        assert_eq!(
            told(&["tools[2].declaration.name", "tools[0]", "tools[1]", "tools[7].x", "tools"]),
            [
                "`list.toml`: `tools[1].declaration.name` is wrong",
                "`one.json`: is wrong",
                "`list.toml`: `tools[0]` is wrong",
                "`tools[7].x` is wrong",
                "`tools` is wrong",
            ]
        );
        let other = refused(ApiError::not_found("tenant", "x").into(), &sent);
        assert!(matches!(other, Failure::Api(_)), "{other}");
    }
}
