//! `toolplane export`: records of ended calls as a chain of lines that proves by itself what it is.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::value::RawValue;
use toolplane_evidence::{Begin, Chain, Head, PublicKey, SigningKey, Verified, Verifier};
use toolplane_proto::convert::field::{instant as to_message, optional_time};
use toolplane_proto::v1;
use toolplane_records::time::Timestamp;
use toolplane_runtime::clock;

use super::connection::Connection;
use super::failure::Failure;
use super::fetch::sink::Sink;
use super::outcome::CommandOutcome;
use super::output::{Output, payload_text};
use super::verify::{read_lines, scope};

/// Which records.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The file of the key that signs, as `toolplane keys signing` makes it.
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// Only calls that ended, and deletions that were made, at or after this instant (RFC 3339).
    #[arg(long, visible_alias = "since", conflicts_with = "after")]
    from: Option<String>,
    /// Only what was before this instant; five seconds ago when not given.
    #[arg(long, visible_alias = "until")]
    to: Option<String>,
    /// Go on from this export: it is proved first, and the new one begins where it ends.
    #[arg(long, value_name = "FILE")]
    after: Option<PathBuf>,
    /// Whose calls: refused when it is not the tenant of the credential. That one's when not given.
    #[arg(long, default_value = "")]
    tenant: String,
    /// Only calls of this session.
    #[arg(long, default_value = "")]
    session: String,
    /// Only this call.
    #[arg(long, default_value = "")]
    invocation: String,
    /// The inputs by value too, where this caller may see them; else their digests alone.
    #[arg(long)]
    inputs: bool,
    /// Write to this file instead of standard output. It is there when it is whole.
    #[arg(short = 'O', long = "file", value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Writes the export.
pub(crate) async fn run(
    args: ExportArgs,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    if args.file.is_none() && out.terminal() {
        let rule = "an export is for files: give `--file FILE`, or redirect standard output";
        return Err(Failure::Usage(rule.to_owned()));
    }
    let key = signing_key(&args.key)?;
    if let Some(file) = args.file.as_deref().filter(|file| file.is_file()) {
        let rule = "is there already; an export takes no other file's place, give it a name of its own";
        return Err(Failure::Local(format!("`{}` {rule}", file.display())));
    }
    let before = args.after.as_deref().map(|file| proved(file, key.public())).transpose()?;
    let continues = before.as_ref().map(|before| before.head);
    let from = args.from.as_deref().map(|text| instant("--from", text)).transpose()?;
    let from = continues.map(|head| head.until).or(from);
    let until = args.to.as_deref().map(|text| instant("--to", text)).transpose()?;
    let request = v1::ExportRecordsRequest {
        from: from.and_then(to_message),
        until: until.and_then(to_message),
        session_ref: args.session.clone(),
        invocation_id: args.invocation.clone(),
        include_inputs: args.inputs,
        tenant: args.tenant,
    };
    let begin = Begin {
        format: String::new(),
        tenant: String::new(),
        from,
        until: Timestamp::from_millis(0),
        session_ref: args.session,
        invocation_id: args.invocation,
        made_at: Timestamp::from_millis(i64::try_from(clock::since_epoch().as_millis()).unwrap_or(i64::MAX)),
        made_by: format!("toolplane {}", env!("CARGO_PKG_VERSION")),
        continues,
    };
    let named = Some(begin.invocation_id.clone()).filter(|id| !id.is_empty());
    let before = before.map(|before| before.begin);
    let mut sink = Sink::open(args.file, false)?;
    let (records, head) = write(request, (begin, before), &key, connection, &mut sink, out).await?;
    sink.close(out)?;
    if let Some(call) = named.filter(|_| records == 0) {
        // A wrong id, a call that is not over and one of another time look the same, and its reader expects the call.
        out.note(&format!("warning: nothing of `{call}` ended or was deleted in this time; is it the id you mean?"))?;
    }
    let key = key.public().fingerprint();
    out.note(&format!("{records} records until {}, signed with {key}; `--after` goes on from here", head.until))?;
    Ok(CommandOutcome::Done)
}

/// Writes all lines; how many records there are, and where the export ends.
async fn write(
    request: v1::ExportRecordsRequest,
    (begin, before): (Begin, Option<Begin>),
    key: &SigningKey,
    connection: &Connection,
    sink: &mut Sink,
    out: &mut Output,
) -> Result<(u64, Head), Failure> {
    let mut answers = connection.invocations().export_records(request).await?.into_inner();
    let broken = || Failure::Answer("the export broke off".to_owned());
    let first = answers.message().await?.ok_or_else(broken)?;
    let until = optional_time("until", first.until).map_err(|error| Failure::Answer(error.to_string()))?;
    let begin = Begin { tenant: first.tenant, until: until.ok_or_else(broken)?, ..begin };
    if let Some(before) = before.filter(|before| !before.is_of_the_same(&begin)) {
        let (of, before) = (scope(&begin), scope(&before));
        let rule = "one that goes on from it must be of the same (`--session`, `--invocation`, the tenant of the key)";
        return Err(Failure::Usage(format!("--after: it is of {before}, and this would be of {of}; {rule}")));
    }
    let (mut chain, line) = Chain::begin(begin);
    let mut records = 0;
    write_line(&line, sink, out)?;
    loop {
        let answer = answers.message().await?.ok_or_else(broken)?;
        for record in answer.records {
            let json = payload_text(record.json.as_ref()).and_then(|text| RawValue::from_string(text).ok());
            let json = json.ok_or_else(|| Failure::Answer(format!("the record `{}` is no JSON", record.id)))?;
            write_line(&chain.add(&record.kind, &record.id, json), sink, out)?;
            records += 1;
        }
        if answer.complete {
            break;
        }
    }
    let (line, head) = chain.seal(key);
    write_line(&line, sink, out)?;
    Ok((records, head))
}

fn write_line(line: &str, sink: &mut Sink, out: &mut Output) -> Result<(), Failure> {
    sink.write(line.as_bytes(), out)?;
    sink.write(b"\n", out)
}

fn signing_key(file: &Path) -> Result<SigningKey, Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| Failure::file(file, &error))?;
    SigningKey::read(&text)
        .map_err(|error| Failure::Local(format!("`{}` is no key to sign with: {error}", file.display())))
}

/// What the export in `file` is of and where it ends, once it is proved.
fn proved(file: &Path, key: PublicKey) -> Result<Verified, Failure> {
    let mut verifier = Verifier::new(key);
    read_lines(file, |line| verifier.line(line))?;
    let verified = verifier.finish();
    let wrong = |fault| Failure::Local(format!("`{}` is no export to go on from: {fault}", file.display()));
    verified.map_err(wrong)
}

fn instant(option: &str, text: &str) -> Result<Timestamp, Failure> {
    text.parse().map_err(|_| Failure::Usage(format!("{option}: `{text}` is no instant, e.g. 2026-11-26T02:00:00Z")))
}
