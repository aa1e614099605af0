//! `toolplane fetch`: bytes a call keeps by reference, whole or in part, proved by their digest.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::Args;
use sha2::{Digest as _, Sha256};
use toolplane_proto::v1;
use toolplane_proto::v1::read_payload_request::Selector;

use super::advised;
use super::connection::Connection;
use super::failure::Failure;
use super::kept;
use super::outcome::CommandOutcome;
use super::output::{Output, bytes};
use sink::Sink;

pub(super) mod sink;

/// Which bytes.
#[derive(Debug, Args)]
pub(crate) struct FetchArgs {
    /// The call that keeps them.
    invocation: String,
    /// Which reference of the call: by uri, `sha256:` digest, or the name of an artifact it has left (`out/report.csv`); the first one
    /// of its result when absent.
    #[arg(long = "ref", value_name = "URI|DIGEST|NAME")]
    reference: Option<String>,
    /// First byte.
    #[arg(long, default_value_t = 0)]
    offset: u64,
    /// Most bytes, at least 1; without it, to the end.
    #[arg(long, value_name = "BYTES")]
    limit: Option<NonZeroU64>,
    /// Send the bytes to a terminal as they are. Without this they are shown there as text, with everything spelled out that
    /// would act on the terminal.
    #[arg(long)]
    raw: bool,
    /// Write to this file instead of standard output, as they are; `-` is standard output.
    #[arg(short = 'O', long = "file", value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Copies the bytes to a file or to standard output. A whole payload is checked against its digest.
pub(crate) async fn run(args: FetchArgs, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let selector = match &args.reference {
        Some(text) if text.starts_with("sha256:") => Selector::Digest(text.clone()),
        Some(uri) if uri.starts_with("payload:") || uri.contains("://") => Selector::Uri(uri.clone()),
        Some(name) => artifact(&args.invocation, name, connection).await?,
        None => first_reference(&args.invocation, connection).await?,
    };
    let whole = args.offset == 0 && args.limit.is_none();
    let request = v1::ReadPayloadRequest {
        invocation_id: args.invocation,
        selector: Some(selector),
        offset: args.offset,
        limit: args.limit.map_or(0, NonZeroU64::get),
    };
    let file = args.file.filter(|file| file.as_os_str() != "-");
    let mut sink = Sink::open(file.clone(), out.terminal() && !args.raw)?;
    let mut stream = connection.invocations().read_payload(request).await?.into_inner();
    let mut seen = ReceivedPart::default();
    while let Some(part) = stream.message().await? {
        seen.part(&part);
        sink.write(&part.data, out)?;
    }
    let proof = seen.proof(args.offset, whole)?;
    sink.close(out)?;
    let place = file.map(|file| format!(" to {}", file.display())).unwrap_or_default();
    out.note(&format!("{} of {}{place}; {proof}", bytes(seen.received), bytes(seen.total)))?;
    Ok(CommandOutcome::Done)
}

async fn first_reference(invocation_id: &str, connection: &Connection) -> Result<Selector, Failure> {
    let result = result(invocation_id, connection).await?;
    let kept = kept::first(&result).map(|kept| Selector::Uri(kept.uri.clone()));
    kept.ok_or_else(|| {
        let get = advised::command(format_args!("get result {invocation_id}"));
        Failure::Usage(format!("the result of `{invocation_id}` keeps nothing by reference; `{get}` shows it"))
    })
}

/// The artifact of that name.
async fn artifact(invocation_id: &str, name: &str, connection: &Connection) -> Result<Selector, Failure> {
    let result = result(invocation_id, connection).await?;
    let named = result.artifact_refs.iter().filter(|artifact| artifact.artifact_id == name);
    let kept = named.filter_map(|artifact| artifact.payload.as_ref()).next();
    kept.map(|kept| Selector::Uri(kept.uri.clone())).ok_or_else(|| {
        let names: Vec<&str> = result.artifact_refs.iter().map(|artifact| artifact.artifact_id.as_str()).collect();
        let there = if names.is_empty() { "it left none".to_owned() } else { format!("it left {}", names.join(", ")) };
        Failure::Usage(format!("`{invocation_id}` keeps no artifact `{name}`; {there}"))
    })
}

async fn result(invocation_id: &str, connection: &Connection) -> Result<v1::ToolResult, Failure> {
    let request = v1::GetResultRequest { invocation_id: invocation_id.to_owned(), ..Default::default() };
    Ok(connection.invocations().get_result(request).await?.into_inner().result.unwrap_or_default())
}

/// What has been received.
#[derive(Default)]
struct ReceivedPart {
    received: u64,
    total: u64,
    digest: Sha256,
    wanted: Vec<u8>,
}

impl ReceivedPart {
    fn part(&mut self, part: &v1::ReadPayloadResponse) {
        self.received += part.data.len() as u64;
        self.total = part.total_size_bytes;
        self.digest.update(&part.data);
        if !part.sha256.is_empty() {
            self.wanted = part.sha256.to_vec();
        }
    }

    /// What the digest proves; wrong bytes are an error, and so are too few when all were asked for.
    fn proof(&self, offset: u64, whole: bool) -> Result<String, Failure> {
        if !whole && (offset > 0 || self.received < self.total) {
            // In bytes: rounded, a part may look as large as the whole.
            let left = format!("{} of {} bytes", self.received, self.total);
            return Ok(format!("a part ({left}), so its digest was not checked"));
        }
        let found = self.digest.clone().finalize().to_vec();
        if found == self.wanted {
            return Ok(format!("digest checked: sha256:{}", hex::encode(found)));
        }
        Err(Failure::Damaged(format!(
            "they are sha256:{} and not sha256:{}; do not use them",
            hex::encode(found),
            hex::encode(&self.wanted)
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(data: &[u8], kept: &[u8]) -> ReceivedPart {
        let mut seen = ReceivedPart::default();
        seen.part(&v1::ReadPayloadResponse {
            data: data.to_vec().into(),
            total_size_bytes: kept.len() as u64,
            sha256: Sha256::digest(kept).to_vec().into(),
            ..Default::default()
        });
        seen
    }

    #[test]
    fn wrong_bytes_and_too_few_are_damage() {
        assert!(seen(b"right", b"right").proof(0, true).unwrap().starts_with("digest checked"));
        for wrong in [&b"wrong"[..], b"righ", b""] {
            let failure = seen(wrong, b"right").proof(0, true).unwrap_err();
            assert!(failure.to_string().contains("damaged"), "{failure}");
            assert!(!failure.advice().unwrap().contains("version"), "another command line would get them too");
        }
        let parts = [(seen(b"ig", b"right"), 1), (seen(b"ri", b"right"), 0)];
        for (part, offset) in parts {
            assert!(part.proof(offset, false).unwrap().starts_with("a part (2 of 5 bytes)"));
        }
        assert!(seen(b"right", b"right").proof(0, false).unwrap().starts_with("digest checked"), "all there is");
    }
}
