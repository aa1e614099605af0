//! `toolplane fetch`: bytes a call keeps by reference, whole or in part, proved by their digest.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::Args;
use sha2::{Digest as _, Sha256};
use toolplane_proto::v1;
use toolplane_proto::v1::content_block::Block;
use toolplane_proto::v1::read_payload_request::Selector;

use super::connection::Connection;
use super::output::{Output, bytes};
use super::{Ending, Failure};

/// Which bytes.
#[derive(Debug, Args)]
pub(crate) struct FetchArgs {
    /// The call that keeps them.
    invocation: String,
    /// Which reference of the call, by uri or `sha256:` digest; the first one of its result when absent.
    #[arg(long = "ref", value_name = "URI|DIGEST")]
    reference: Option<String>,
    /// First byte.
    #[arg(long, default_value_t = 0)]
    offset: u64,
    /// Most bytes; to the end when 0.
    #[arg(long, default_value_t = 0)]
    limit: u64,
    /// Send the bytes to a terminal as they are. Without this they are shown there as text, with everything spelled out that
    /// would act on the terminal.
    #[arg(long)]
    raw: bool,
    /// Write to this file instead of standard output, as they are.
    #[arg(short = 'O', long = "file", value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Copies the bytes to a file or to standard output. A whole payload is checked against its digest.
pub(crate) async fn run(args: FetchArgs, connection: &Connection, out: &mut Output) -> Result<Ending, Failure> {
    let selector = match &args.reference {
        Some(text) if text.starts_with("sha256:") => Selector::Digest(text.clone()),
        Some(uri) => Selector::Uri(uri.clone()),
        None => first_reference(&args.invocation, connection).await?,
    };
    let request = v1::ReadPayloadRequest {
        invocation_id: args.invocation,
        selector: Some(selector),
        offset: args.offset,
        limit: args.limit,
    };
    let mut sink = Sink::open(args.file.clone(), out.terminal() && !args.raw)?;
    let mut stream = connection.invocations().read_payload(request).await?.into_inner();
    let mut seen = Seen::default();
    while let Some(part) = stream.message().await? {
        seen.part(&part);
        sink.write(&part.data, out)?;
    }
    sink.close(out)?;
    let proof = seen.proof(args.offset)?;
    let place = args.file.map(|file| format!(" to {}", file.display())).unwrap_or_default();
    out.note(&format!("{} of {}{place}; {proof}", bytes(seen.received), bytes(seen.total)))?;
    Ok(Ending::Done)
}

async fn first_reference(invocation_id: &str, connection: &Connection) -> Result<Selector, Failure> {
    let request = v1::GetResultRequest { invocation_id: invocation_id.to_owned(), ..Default::default() };
    let result = connection.invocations().get_result(request).await?.into_inner().result.unwrap_or_default();
    let kept = result.content.iter().chain(&result.model_facing_content).find_map(|block| match &block.block {
        Some(Block::PersistedOutputRef(kept) | Block::File(kept)) => Some(Selector::Uri(kept.uri.clone())),
        _ => None,
    });
    kept.ok_or_else(|| {
        Failure::Usage(format!("the result of `{invocation_id}` keeps nothing by reference; `toolplane get result {invocation_id}` shows it"))
    })
}

/// What has been received.
#[derive(Default)]
struct Seen {
    received: u64,
    total: u64,
    digest: Sha256,
    wanted: Vec<u8>,
}

impl Seen {
    fn part(&mut self, part: &v1::ReadPayloadResponse) {
        self.received += part.data.len() as u64;
        self.total = part.total_size_bytes;
        self.digest.update(&part.data);
        if !part.sha256.is_empty() {
            self.wanted = part.sha256.to_vec();
        }
    }

    /// What the digest proves; wrong bytes are an error.
    fn proof(&self, offset: u64) -> Result<String, Failure> {
        if offset > 0 || self.received < self.total {
            return Ok("a part, so its digest was not checked".to_owned());
        }
        let found = self.digest.clone().finalize().to_vec();
        if found == self.wanted {
            return Ok(format!("digest checked: sha256:{}", hex::encode(found)));
        }
        Err(Failure::Answer(format!(
            "the bytes do not match their digest: sha256:{} instead of sha256:{}",
            hex::encode(found),
            hex::encode(&self.wanted)
        )))
    }
}

/// A file or standard output.
struct Sink {
    file: Option<(PathBuf, BufWriter<File>)>,
    /// The bytes are shown as text; those of the line that has not ended are kept back.
    shown: Option<Vec<u8>>,
}

/// Longest line that is kept back until its end has come.
const MAX_LINE: usize = 64 * 1024;

impl Sink {
    fn open(path: Option<PathBuf>, terminal: bool) -> Result<Self, Failure> {
        let Some(path) = path else { return Ok(Self { file: None, shown: terminal.then(Vec::new) }) };
        let file = File::create(&path).map_err(|error| Failure::file(&path, &error))?;
        Ok(Self { file: Some((path, BufWriter::new(file))), shown: None })
    }

    fn write(&mut self, data: &[u8], out: &mut Output) -> Result<(), Failure> {
        match (&mut self.file, &mut self.shown) {
            (Some((path, file)), _) => file.write_all(data).map_err(|error| Failure::file(path, &error)),
            (None, None) => out.raw(data),
            (None, Some(kept)) => {
                kept.extend_from_slice(data);
                let end = kept.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
                let end = end.or((kept.len() > MAX_LINE).then_some(kept.len())).unwrap_or(0);
                let lines: Vec<u8> = kept.drain(..end).collect();
                show(&lines, out)
            }
        }
    }

    fn close(&mut self, out: &mut Output) -> Result<(), Failure> {
        match (&mut self.file, &mut self.shown) {
            (Some((path, file)), _) => file.flush().map_err(|error| Failure::file(path, &error)),
            (None, None) => Ok(()),
            (None, Some(kept)) => show(&std::mem::take(kept), out),
        }
    }
}

fn show(lines: &[u8], out: &mut Output) -> Result<(), Failure> {
    let text = String::from_utf8_lossy(lines);
    if text.is_empty() { Ok(()) } else { out.block(text.strip_suffix('\n').unwrap_or(&text)) }
}
