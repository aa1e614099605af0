//! What was done with the stores, told.

use std::path::Path;

use toolplane_backend::stored::{Copied, Forgotten, Named, Report};
use toolplane_runtime::Config;

use super::super::output::{Output, bytes};
use crate::cli::failure::Failure;
use crate::cli::outcome::CommandOutcome;

pub(super) fn checked(report: &Report, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let ending = if report.sound { CommandOutcome::Done } else { CommandOutcome::ToolFailed };
    if out.json() {
        out.serialized(report)?;
        return Ok(ending);
    }
    for part in &report.stores {
        out.line(format!(
            "{}  {}: {} records, {} index entries, {} events",
            part.role, part.place, part.records, part.entries, part.events
        ))?;
        for Named { kind, name, reason } in &part.damaged {
            out.line(format!("  damaged  {kind} {name}: {reason}"))?;
        }
        if let Some(fatal) = &part.fatal {
            out.line(format!("  does not open: {fatal}"))?;
        }
    }
    match &report.objects.elsewhere {
        Some(bucket) => out.line(format!("payloads: in {bucket}, not looked at"))?,
        None => out.line(format!("payloads: {} files", report.objects.files))?,
    }
    for Named { kind, name, reason } in &report.objects.damaged {
        out.line(format!("  damaged  {kind} {name}: {reason}"))?;
    }
    let opens = report.stores.iter().all(|part| part.fatal.is_none());
    match (report.sound, opens) {
        (true, _) => out.line("everything is as it was written")?,
        (false, true) => out.note("what is damaged is set aside and refused; everything else works. `toolplane store restore` brings a backup back, `toolplane store forget` removes what no backup has")?,
        (false, false) => out.note("a store does not open: bring a backup back with `toolplane store restore`")?,
    }
    Ok(ending)
}

pub(super) fn backed_up(copied: &Copied, directory: &Path, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let ending = if copied.missing.is_empty() { CommandOutcome::Done } else { CommandOutcome::ToolFailed };
    if out.json() {
        out.serialized(&serde_json::json!({
            "directory": directory, "made_at": copied.made_at, "files": copied.files, "bytes": copied.bytes,
            "not_included": copied.not_included, "missing": copied.missing,
        }))?;
        return Ok(ending);
    }
    out.line(format!("{}: {} files, {}", directory.display(), copied.files, bytes(copied.bytes)))?;
    if !copied.not_included.is_empty() {
        let roles = copied.not_included.join(", ");
        out.note(&format!(
            "not in the backup, because it is kept elsewhere; back that up with its own means, at the same time: {roles}"
        ))?;
    }
    for Named { kind, name, reason } in &copied.missing {
        out.line(format!("  missing  {kind} {name}: {reason}"))?;
    }
    if !copied.missing.is_empty() {
        out.note("the backup is whole but for what is missing: an earlier backup may have it")?;
    }
    Ok(ending)
}

pub(super) fn forgotten(forgotten: &Forgotten, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let Forgotten { role, kind, name, at, values, file } = forgotten;
    let file = file.display().to_string();
    if out.json() {
        out.serialized(&serde_json::json!({
            "role": role, "kind": kind, "name": name, "at": at, "values": values.len(), "file": file,
        }))?;
        return Ok(CommandOutcome::Done);
    }
    let count = if values.is_empty() { String::new() } else { format!(" ({} values)", values.len()) };
    out.line(format!("{role}: {kind} {name} is forgotten; what was there{count} is kept in {file}"))?;
    Ok(CommandOutcome::Done)
}

pub(super) fn restored(copied: &Copied, config: &Config, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let data_dir = &config.server.data_dir;
    if out.json() {
        out.serialized(&serde_json::json!({
            "data_dir": data_dir, "made_at": copied.made_at, "files": copied.files, "bytes": copied.bytes,
            "not_included": copied.not_included,
        }))?;
        return Ok(CommandOutcome::Done);
    }
    let (files, size) = (copied.files, bytes(copied.bytes));
    out.line(format!("restored as of {}: {files} files, {size}, below {}", copied.made_at, data_dir.display()))?;
    out.note("calls that had not ended at that time continue; calls accepted later are lost")?;
    Ok(CommandOutcome::Done)
}
