//! `toolplane original`: what a tool gave before it was cleaned, for the readers whom policy names.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use toolplane_proto::v1;
use toolplane_proto::v1::content_block::Block;
use toolplane_proto::v1::read_original_response::Part;
use toolplane_records::result::ContentBlock;

use super::connection::Connection;
use super::failure::Failure;
use super::fetch::sink::Sink;
use super::outcome::CommandOutcome;
use super::output::{Output, bytes, instant, payload_text};

/// Whose original, and why.
#[derive(Debug, Args)]
pub(crate) struct OriginalArgs {
    /// The call.
    id: String,
    /// Why you read it; kept in the log of the call.
    #[arg(long)]
    reason: String,
    /// Who asks; counts only where the credential names no actor.
    #[arg(long = "as", env = "USER", default_value = "")]
    who: String,
    /// Write the bytes of outputs that were kept elsewhere to files in this folder, instead of standard output.
    #[arg(short = 'O', long = "folder", value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

/// Shows what the tool said, and then the bytes of what it kept.
pub(crate) async fn run(
    args: OriginalArgs,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let request = v1::ReadOriginalRequest { invocation_id: args.id, reason: args.reason, requested_by: args.who };
    let mut stream = connection.invocations().read_original(request).await?.into_inner();
    let mut files = Files { folder: args.folder, open: None, number: 0 };
    while let Some(message) = stream.message().await? {
        match message.part {
            Some(Part::Output(output)) => show(output, out)?,
            Some(Part::Bytes(piece)) => files.write(&piece, out)?,
            None => {}
        }
    }
    files.close(out)?;
    Ok(CommandOutcome::Done)
}

fn show(output: v1::OriginalOutput, out: &mut Output) -> Result<(), Failure> {
    let v1::OriginalOutput { content, structured_content, error, summary, rules, kept_at, expires_at } = output;
    if out.json() {
        let content: Vec<ContentBlock> = content.into_iter().filter_map(|block| block.try_into().ok()).collect();
        let value = payload_text(structured_content.as_ref());
        let value = value.and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
        return out.serialized(&json!({
            "content": content, "structured_content": value, "summary": summary, "rules": rules,
            "error": error.map(|error| json!({ "error_code": error.error_code, "message": error.message })),
            "kept_at": instant(kept_at.as_ref()), "expires_at": instant(expires_at.as_ref()),
        }));
    }
    if let Some(error) = error {
        out.block(&format!("{} [{}]", error.message, error.error_code))?;
    }
    for block in &content {
        match &block.block {
            Some(Block::Text(block)) => out.block(&block.text)?,
            Some(Block::Log(block)) => out.block(&block.text)?,
            Some(Block::Diff(block)) => out.block(&block.text)?,
            _ => {}
        }
    }
    if let Some(value) = payload_text(structured_content.as_ref()) {
        out.block(&value)?;
    }
    out.note(&format!("taken out: {}; kept until {}", rules.join(", "), instant(expires_at.as_ref())))
}

/// Where the bytes of kept outputs go, one after the other.
struct Files {
    folder: Option<PathBuf>,
    /// The one that is being written, by its address.
    open: Option<(String, Sink)>,
    number: usize,
}

impl Files {
    fn write(&mut self, piece: &v1::OriginalBytes, out: &mut Output) -> Result<(), Failure> {
        if self.open.as_ref().is_none_or(|(uri, _)| *uri != piece.uri) {
            self.close(out)?;
            self.number += 1;
            let file = self.folder.as_ref().map(|folder| folder.join(format!("output-{}", self.number)));
            let kind = if piece.media_type.is_empty() { "bytes" } else { &piece.media_type };
            out.note(&format!("output {}: {} of {kind}", self.number, bytes(piece.total_size_bytes)))?;
            self.open = Some((piece.uri.clone(), Sink::open(file, out.terminal())?));
        }
        match &mut self.open {
            Some((_, sink)) => sink.write(&piece.data, out),
            None => Ok(()),
        }
    }

    /// A file is there once it is whole.
    fn close(&mut self, out: &mut Output) -> Result<(), Failure> {
        self.open.take().map_or(Ok(()), |(_, mut sink)| sink.close(out))
    }
}
