//! API keys. Made here, without a cluster: a key's text is printed once, and its file keeps a digest only.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;
use toolplane_records::ids::TenantId;
use toolplane_runtime::Role;
use toolplane_runtime::keys::{KeyEntry, NewKey, has_key};

use super::failure::Failure;
use super::outcome::CommandOutcome;
use super::output::Output;

mod signing;
mod tls;

/// What to do with keys.
#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Make a key. It is printed once; its digest goes into a file, which running servers read again.
    New(NewArgs),
    /// Make certificates for encryption: an authority, a server's and clients'; and print what goes into the configuration.
    Tls(tls::TlsArgs),
    /// Make a key that signs exports, and the one that proves them.
    Signing(signing::SigningArgs),
}

/// Whose key it is.
#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// Name of the key: letters, digits, `-` and `.`. Records name callers by it.
    #[arg(long)]
    id: String,
    /// The tenant of its holder.
    #[arg(long, default_value_t = TenantId::unauthenticated().to_string())]
    tenant: String,
    /// The person or program that holds it.
    #[arg(long)]
    actor: Option<String>,
    /// What its holder may do; once for each role.
    #[arg(long = "role", required = true, value_enum)]
    roles: Vec<RoleName>,
    /// When it ends (RFC 3339); never without this.
    #[arg(long)]
    expires_at: Option<String>,
    /// The file to add it to, created if needed; without this option, the lines for the file are printed.
    #[arg(long)]
    file: Option<PathBuf>,
}

/// The roles of a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RoleName {
    /// Makes surfaces and calls.
    Agent,
    /// Answers questions about calls.
    Approver,
    /// Registers tools, changes rules, stops calls.
    Operator,
    /// Runs calls, of every tenant.
    Worker,
    /// Reads, and changes nothing.
    Auditor,
    /// Another process of the cluster.
    Peer,
}

impl From<RoleName> for Role {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::Agent => Self::Agent,
            RoleName::Approver => Self::Approver,
            RoleName::Operator => Self::Operator,
            RoleName::Worker => Self::Worker,
            RoleName::Auditor => Self::Auditor,
            RoleName::Peer => Self::Peer,
        }
    }
}

/// Runs the command.
pub(crate) fn run(command: &KeysCommand, out: &mut Output) -> Result<CommandOutcome, Failure> {
    match command {
        KeysCommand::New(args) => new(args, out),
        KeysCommand::Tls(args) => tls::run(args, out),
        KeysCommand::Signing(args) => signing::run(args, out),
    }
}

fn new(args: &NewArgs, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let refused = |error: toolplane_runtime::keys::KeyError| Failure::Usage(error.to_string());
    let key = NewKey::make(&args.id).map_err(refused)?;
    let entry = KeyEntry {
        id: args.id.clone(),
        sha256: key.sha256(),
        tenant: args.tenant.clone(),
        actor: args.actor.clone(),
        roles: args.roles.iter().copied().map(Role::from).collect(),
        expires_at: args.expires_at.clone(),
        disabled: false,
    };
    let lines = entry.to_toml().map_err(refused)?;
    if let Some(file) = &args.file {
        add(file, &entry.id, &lines)?;
        out.note(&format!("added to {}; the key itself is shown only now:", file.display()))?;
    }
    if out.json() {
        out.serialized(&json!({ "key": key.text(), "entry": entry }))?;
        return Ok(CommandOutcome::Done);
    }
    out.line(key.text())?;
    if args.file.is_none() {
        out.note("the key itself is shown only now; for the file of `server.auth.api_key_file`:")?;
        lines.lines().try_for_each(|line| out.line(line))?;
    }
    Ok(CommandOutcome::Done)
}

/// Adds lines to a file of keys. A server that reads it meanwhile sees the old file or the new one, never half of it.
fn add(file: &Path, id: &str, lines: &str) -> Result<(), Failure> {
    let unusable = |error: std::io::Error| Failure::file(file, &error);
    let mut text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(unusable(error)),
    };
    let broken = |error| Failure::Local(format!("cannot use `{}`: {error}", file.display()));
    if has_key(&text, id).map_err(broken)? {
        return Err(Failure::Local(format!("`{}` has a key `{id}` already: choose another id", file.display())));
    }
    if !text.is_empty() {
        text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
    }
    text.push_str(lines);
    let mut next = file.as_os_str().to_owned();
    next.push(format!(".{}.new", std::process::id()));
    let next = PathBuf::from(next);
    let write = || {
        let mut new = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&next)?;
        new.write_all(text.as_bytes())?;
        new.sync_all()?;
        if let Ok(old) = fs::metadata(file) {
            // Users who could read it still can.
            fs::set_permissions(&next, old.permissions())?;
        }
        fs::rename(&next, file)
    };
    write().map_err(|error| {
        // Best effort: what is left behind holds no secret.
        let _ = fs::remove_file(&next);
        unusable(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_added_one_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys.toml");
        for id in ["a", "b"] {
            let key = NewKey::make(id).unwrap();
            let entry = KeyEntry {
                id: id.to_owned(),
                sha256: key.sha256(),
                tenant: "acme".to_owned(),
                actor: None,
                roles: vec![Role::Agent],
                expires_at: None,
                disabled: false,
            };
            add(&file, id, &entry.to_toml().unwrap()).unwrap();
        }
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(toolplane_runtime::keys::check_file(&text), Ok(2));
        assert!(add(&file, "a", "").is_err(), "an id is there once");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left behind");
        fs::write(&file, "secret = 1").unwrap();
        let refused = add(&file, "c", "").unwrap_err().to_string();
        assert!(refused.contains("line 1") && !refused.contains("secret"), "{refused}");
    }
}
