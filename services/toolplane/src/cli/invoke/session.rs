//! The surface used when none is named: one session surface of all tools, made once and used again.

use toolplane_proto::v1;
use toolplane_proto::v1::load_outcome::Outcome;

use crate::cli::connection::{Connection, PRODUCER};
use crate::cli::failure::Failure;
use crate::cli::output::Output;

/// Surfaces looked at when one is wanted again.
const LOOKED_AT: i32 = 50;

/// A surface in which `tools` are loaded, as far as that is possible at all. Says on standard error what it did.
pub(crate) async fn surface_for(tools: &[String], connection: &Connection, out: &Output) -> Result<String, Failure> {
    if let Some(surface_id) = last_surface(connection).await? {
        // A tool declared after the surface was made is no part of it: then a new one is made below.
        if let Loading::Done(how) = load(tools, &surface_id, connection).await? {
            out.note(&format!("using surface {surface_id}: {how}"))?;
            return Ok(surface_id);
        }
    }
    let surface_id = create(connection).await?;
    let how = match load(tools, &surface_id, connection).await? {
        Loading::Done(how) => how,
        Loading::NoPart(missing) => format!("it has no tool `{missing}`"),
    };
    out.note(&format!("made surface {surface_id} of all tools: {how}"))?;
    Ok(surface_id)
}

async fn last_surface(connection: &Connection) -> Result<Option<String>, Failure> {
    let request = v1::ListSurfacesRequest {
        scope_code: v1::SurfaceScope::Session.into(),
        page_size: LOOKED_AT,
        ..Default::default()
    };
    let surfaces = connection.surfaces().list_surfaces(request).await?.into_inner().surfaces;
    let ours = surfaces.into_iter().find(|surface| surface.producer == PRODUCER && surface.surface_reason == REASON);
    Ok(ours.map(|surface| surface.surface_id))
}

/// Marks the surfaces this module made, beside those people made on purpose.
const REASON: &str = "calls from the command line";

async fn create(connection: &Connection) -> Result<String, Failure> {
    let request = v1::CreateSurfaceRequest {
        request_id: uuid::Uuid::now_v7().to_string(),
        scope_code: v1::SurfaceScope::Session.into(),
        role: "agent".to_owned(),
        interaction_mode: v1::InteractionMode::Interactive.into(),
        producer: PRODUCER.to_owned(),
        surface_reason: REASON.to_owned(),
        ..Default::default()
    };
    let surface = connection.surfaces().create_surface(request).await?.into_inner().surface;
    surface.map(|surface| surface.surface_id).ok_or_else(|| Failure::Answer("the surface is missing".to_owned()))
}

/// How the loading of tools went.
enum Loading {
    /// The outcome of each, for people. One that may not be used, or that no surface has, is told by the call's own
    /// result.
    Done(String),
    /// This tool is there, but no part of the surface.
    NoPart(String),
}

async fn load(tools: &[String], surface_id: &str, connection: &Connection) -> Result<Loading, Failure> {
    let request = v1::LoadToolsRequest { surface_id: surface_id.to_owned(), names: tools.to_vec() };
    let answer = connection.surfaces().load_tools(request).await?.into_inner();
    let mut said = Vec::new();
    for (name, outcome) in tools.iter().zip(answer.outcomes) {
        match outcome.outcome {
            Some(Outcome::Loaded(schema)) => said.push(format!("`{}` is loaded", schema.tool.unwrap_or_default().name)),
            Some(Outcome::Failure(failure)) if failure.reason_code() == v1::HiddenReason::NotSelected => {
                return Ok(Loading::NoPart(name.clone()));
            }
            Some(Outcome::Failure(failure)) if failure.kind() == v1::NotCallableKind::Unknown => {
                let near = match failure.similar_names.as_slice() {
                    [] => String::new(),
                    names => format!("; did you mean {}?", names.join(", ")),
                };
                said.push(format!("there is no tool `{name}`{near}"));
            }
            Some(Outcome::Failure(failure)) => said.push(failure.message),
            None => {}
        }
    }
    Ok(Loading::Done(said.join(", ")))
}
