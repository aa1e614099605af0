//! `toolplane keys signing`: a key that signs exports, and the one that proves them.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use toolplane_evidence::SigningKey;

use crate::cli::failure::Failure;
use crate::cli::outcome::CommandOutcome;
use crate::cli::output::Output;

/// Where the keys go.
#[derive(Debug, Args)]
pub(crate) struct SigningArgs {
    /// The file of the key that signs, which must not be there yet; that of the public key has `.pub` added.
    #[arg(long, value_name = "FILE")]
    file: PathBuf,
}

/// Makes both keys.
pub(super) fn run(args: &SigningArgs, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let (key, secret) = SigningKey::make().map_err(|error| Failure::Local(error.to_string()))?;
    let mut public = args.file.clone().into_os_string();
    public.push(".pub");
    let public = PathBuf::from(public);
    write_new(&args.file, &secret, 0o600)?;
    write_new(&public, &key.public().to_pem(), 0o644)?;
    let fingerprint = key.public().fingerprint();
    if out.json() {
        out.serialized(&json!({ "key": args.file, "public_key": public, "fingerprint": fingerprint }))?;
    } else {
        out.line(format!("{}  signs exports; keep it secret", args.file.display()))?;
        out.line(format!("{}  proves them; give it to those who verify", public.display()))?;
        out.line(format!("fingerprint {fingerprint}"))?;
    }
    Ok(CommandOutcome::Done)
}

fn write_new(file: &Path, text: &str, mode: u32) -> Result<(), Failure> {
    let write = || {
        let mut new = OpenOptions::new().write(true).create_new(true).mode(mode).open(file)?;
        new.write_all(text.as_bytes())?;
        new.sync_all()
    };
    write().map_err(|error| Failure::file(file, &error))
}
