//! Certificates for a cluster: an authority of its own, a server's certificate, and clients' ones.

use std::fs;
use std::io::Write as _;
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
};
use serde_json::json;

use toolplane_runtime::clock;

use crate::cli::failure::Failure;
use crate::cli::outcome::CommandOutcome;
use crate::cli::output::Output;

/// The authority's name: the same for all that are made here, so that its key is enough to go on with.
const AUTHORITY: &str = "Toolplane cluster authority";
/// Names every server's certificate has: its own machine reaches it by them.
const OWN_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// A clock that is a little behind must not call a certificate too new.
const BEFORE: Duration = Duration::from_secs(60 * 60);
/// How long an authority lasts against the certificates it signs.
const AUTHORITY_LASTS: u32 = 10;

/// Whose certificates, and where to.
#[derive(Debug, Args)]
pub(crate) struct TlsArgs {
    /// The folder to write to; made when there is none. An authority that is there already signs what is missing.
    folder: PathBuf,
    /// A name or address by which the server is reached, beside `localhost`, 127.0.0.1 and ::1; once for each. With `--renew`,
    /// beside those of the certificate before.
    #[arg(long = "host")]
    hosts: Vec<String>,
    /// The base name of the server's files, e.g. one for each machine.
    #[arg(long, default_value = "server")]
    server: String,
    /// A client to make a certificate for (its `CN`); once for each.
    #[arg(long = "client", default_value = "client")]
    clients: Vec<String>,
    /// For how many days the certificates are good; the authority lasts ten times as long.
    #[arg(long, default_value_t = 365, value_parser = clap::value_parser!(u32).range(1..=3650))]
    days: u32,
    /// Make the certificates of the server and the clients anew, from the authority that is there. The server's stays good for
    /// every name it was good for.
    #[arg(long)]
    renew: bool,
}

/// What was made, and what was there.
#[derive(Debug, Default)]
struct Written {
    made: Vec<PathBuf>,
    kept: Vec<PathBuf>,
}

/// Runs the command.
pub(super) fn run(args: &TlsArgs, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let written = make(args)?;
    if out.json() {
        out.line(json!({ "made": written.made, "kept": written.kept }).to_string())?;
        return Ok(CommandOutcome::Done);
    }
    for (word, files) in [("made", &written.made), ("kept, it was there", &written.kept)] {
        for file in files {
            out.note(&format!("{word}: {}", file.display()))?;
        }
    }
    for line in lines(args) {
        out.line(line)?;
    }
    Ok(CommandOutcome::Done)
}

/// What goes into the configuration, and how it is called then.
fn lines(args: &TlsArgs) -> Vec<String> {
    let at = |name: &str| args.folder.join(name).display().to_string();
    let quoted = |name: &str| format!("{:?}", at(name));
    vec![
        "[server.tls]".to_owned(),
        format!("cert_file = {}", quoted(&format!("{}.pem", args.server))),
        format!("key_file = {}", quoted(&format!("{}.key", args.server))),
        "# Only clients with a certificate of this authority may connect:".to_owned(),
        format!("# client_ca_file = {}", quoted("ca.pem")),
        String::new(),
        "[peers]".to_owned(),
        format!("ca_file = {}", quoted("ca.pem")),
        String::new(),
        format!("# toolplane --endpoint https://localhost:7420 --ca-file {} tools ls", at("ca.pem")),
    ]
}

fn make(args: &TlsArgs) -> Result<Written, Failure> {
    let names: Vec<&str> = args.clients.iter().map(String::as_str).chain([args.server.as_str()]).collect();
    for (at, name) in names.iter().enumerate() {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if name.is_empty() || *name == "ca" || name.starts_with('.') || !name.chars().all(plain) {
            let rule = "is not a name of letters, digits, `-`, `_` and `.`, other than `ca`";
            return Err(Failure::Usage(format!("`{name}` {rule}")));
        }
        if names[..at].contains(name) {
            return Err(Failure::Usage(format!("`{name}` is named twice, and each has files of that name")));
        }
    }
    fs::create_dir_all(&args.folder).map_err(|error| Failure::file(&args.folder, &error))?;
    let mut written = Written::default();
    let hosts = hosts(args)?;
    let authority = authority(args, &mut written)?;
    // A server shows its certificate to its peers as well.
    let both = [ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    let name = hosts.first().cloned().unwrap_or_default();
    signed(args, (&args.server, &name), hosts, &both, &authority, &mut written)?;
    for client in &args.clients {
        let uses = [ExtendedKeyUsagePurpose::ClientAuth];
        signed(args, (client, client), Vec::new(), &uses, &authority, &mut written)?;
    }
    Ok(written)
}

/// The names of the server's certificate: those that are asked for, those it had, and those every one has. One that is kept must
/// have what is asked for.
fn hosts(args: &TlsArgs) -> Result<Vec<String>, Failure> {
    // Addresses in the form in which certificates hold them.
    let plain = |host: &String| host.parse::<IpAddr>().map_or_else(|_| host.clone(), |address| address.to_string());
    let mut hosts: Vec<String> = args.hosts.iter().map(plain).collect();
    let has = |names: &[String], host: &String| names.iter().any(|name| name.eq_ignore_ascii_case(host));
    let mut before = Vec::new();
    let file = args.folder.join(format!("{}.pem", args.server));
    if file.exists() {
        before = names_of(&file)?;
        if let Some(missing) = hosts.iter().find(|host| !args.renew && !has(&before, host)) {
            let (shown, names) = (file.display(), before.join("`, `"));
            let help = "make it anew with `--renew`: the names it has stay";
            return Err(Failure::Usage(format!("`{shown}` is not for `{missing}`, only for `{names}`; {help}")));
        }
    }
    for name in before.into_iter().chain(OWN_NAMES.map(str::to_owned)) {
        if !has(&hosts, &name) {
            hosts.push(name);
        }
    }
    Ok(hosts)
}

fn names_of(file: &Path) -> Result<Vec<String>, Failure> {
    let pem = fs::read(file).map_err(|error| Failure::file(file, &error))?;
    toolplane_runtime::tls::names_in(&pem).ok_or_else(|| {
        let rule = "it holds no certificate (PEM); take it away with its key, and name its hosts again";
        Failure::Local(format!("cannot use `{}`: {rule}", file.display()))
    })
}

/// The authority of the folder, or a new one.
fn authority(args: &TlsArgs, written: &mut Written) -> Result<Issuer<'static, KeyPair>, Failure> {
    let (certificate, key) = (args.folder.join("ca.pem"), args.folder.join("ca.key"));
    let mut params = params(Vec::new(), AUTHORITY, args.days.saturating_mul(AUTHORITY_LASTS))?;
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
    match (certificate.exists(), key.exists()) {
        (true, true) => {
            let pem = fs::read_to_string(&key).map_err(|error| Failure::file(&key, &error))?;
            // What the library says could hold parts of the key.
            let unusable = |_| Failure::Local(format!("cannot use `{}`: it is not a private key (PEM)", key.display()));
            let pair = KeyPair::from_pem(&pem).map_err(unusable)?;
            written.kept.extend([certificate, key]);
            Ok(Issuer::new(params, pair))
        }
        (false, false) => {
            let pair = KeyPair::generate().map_err(failed)?;
            let made = params.self_signed(&pair).map_err(failed)?;
            write(&key, &pair.serialize_pem(), 0o600, written)?;
            write(&certificate, &made.pem(), 0o644, written)?;
            Ok(Issuer::new(params, pair))
        }
        (true, false) => Err(half(&certificate, &key)),
        (false, true) => Err(half(&key, &certificate)),
    }
}

fn half(there: &Path, missing: &Path) -> Failure {
    let (there, missing) = (there.display(), missing.display());
    Failure::Local(format!("`{there}` is there and `{missing}` is not: bring it back, or name another folder"))
}

/// A certificate with its key, unless both are there.
fn signed(
    args: &TlsArgs,
    (base, name): (&str, &str),
    hosts: Vec<String>,
    uses: &[ExtendedKeyUsagePurpose],
    authority: &Issuer<'static, KeyPair>,
    written: &mut Written,
) -> Result<(), Failure> {
    let at = |ending: &str| args.folder.join(format!("{base}.{ending}"));
    let (certificate, key) = (at("pem"), at("key"));
    if !args.renew && (certificate.exists() || key.exists()) {
        if certificate.exists() && key.exists() {
            written.kept.extend([certificate, key]);
            return Ok(());
        }
        return Err(if key.exists() { half(&key, &certificate) } else { half(&certificate, &key) });
    }
    let mut params = params(hosts, name, args.days)?;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = uses.to_vec();
    params.use_authority_key_identifier_extension = true;
    let pair = KeyPair::generate().map_err(failed)?;
    let made = params.signed_by(&pair, authority).map_err(failed)?;
    write(&key, &pair.serialize_pem(), 0o600, written)?;
    write(&certificate, &made.pem(), 0o644, written)
}

fn params(hosts: Vec<String>, name: &str, days: u32) -> Result<CertificateParams, Failure> {
    let wrong =
        |_| Failure::Usage(format!("`--host` takes names and addresses: one of `{}` is neither", hosts.join("`, `")));
    let mut params = CertificateParams::new(hosts.clone()).map_err(wrong)?;
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    let now = clock::since_epoch();
    let epoch = rcgen::date_time_ymd(1970, 1, 1);
    params.not_before = epoch + now.saturating_sub(BEFORE);
    params.not_after = epoch + now + DAY * days;
    Ok(params)
}

fn failed(error: rcgen::Error) -> Failure {
    Failure::Local(format!("cannot make a certificate: {error}"))
}

/// Writes a file at once: a server that reads it meanwhile sees the old one or the new one.
fn write(file: &Path, text: &str, mode: u32, written: &mut Written) -> Result<(), Failure> {
    let next = file.with_extension(format!("{}.new", std::process::id()));
    let writing = || {
        let mut new = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&next)?;
        new.write_all(text.as_bytes())?;
        new.sync_all()?;
        fs::rename(&next, file)
    };
    writing().map_err(|error| {
        // Best effort: half a new key is of no use.
        let _ = fs::remove_file(&next);
        Failure::file(file, &error)
    })?;
    written.made.push(file.to_owned());
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn args(folder: &Path) -> TlsArgs {
        TlsArgs {
            folder: folder.to_owned(),
            hosts: vec!["tools.example".to_owned()],
            server: "server".to_owned(),
            clients: vec!["client".to_owned()],
            days: 30,
            renew: false,
        }
    }

    #[test]
    fn what_is_there_stays_and_what_is_missing_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let args = args(folder.path());
        assert_eq!(make(&args).unwrap().made.len(), 6);
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        let (ca, server) = (read("ca.pem"), read("server.pem"));
        let more = TlsArgs { server: "other".to_owned(), clients: vec!["client".to_owned(), "ann".to_owned()], ..args };
        let written = make(&more).unwrap();
        assert_eq!((written.made.len(), written.kept.len()), (4, 4), "{written:?}");
        assert_eq!((read("ca.pem"), read("server.pem")), (ca.clone(), server.clone()));
        let written = make(&TlsArgs { renew: true, ..self::args(folder.path()) }).unwrap();
        assert_eq!((written.made.len(), written.kept.len()), (4, 2));
        assert!(read("ca.pem") == ca && read("server.pem") != server);
        for name in ["ca", "server", "client", "other", "ann"] {
            let mode = fs::metadata(folder.path().join(format!("{name}.key"))).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
        fs::remove_file(folder.path().join("ca.key")).unwrap();
        let half = make(&self::args(folder.path())).unwrap_err().to_string();
        assert!(half.contains("ca.key") && half.contains("bring it back"), "{half}");
    }

    #[test]
    fn a_certificate_stays_good_for_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let of = |hosts: &[&str], renew: bool| {
            let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
            make(&TlsArgs { hosts, renew, ..args(folder.path()) })
        };
        let names = || names_of(&folder.path().join("server.pem")).unwrap();
        of(&["tools.example", "0:0::7"], false).unwrap();
        assert_eq!(names(), ["tools.example", "::7", "localhost", "127.0.0.1", "::1"]);
        // Without new names, or with ones it has, nothing is to be done.
        for hosts in [&[][..], &["TOOLS.example", "::7"]] {
            assert!(of(hosts, false).unwrap().made.is_empty());
        }
        let refused = of(&["other.example"], false).unwrap_err().to_string();
        assert!(refused.contains("other.example") && refused.contains("--renew"), "{refused}");
        of(&[], true).unwrap();
        assert_eq!(names(), ["tools.example", "::7", "localhost", "127.0.0.1", "::1"]);
        of(&["other.example"], true).unwrap();
        assert_eq!(names(), ["other.example", "tools.example", "::7", "localhost", "127.0.0.1", "::1"]);
        fs::write(folder.path().join("server.pem"), "nothing").unwrap();
        assert!(of(&[], true).unwrap_err().to_string().contains("holds no certificate"));
    }

    #[test]
    fn names_that_would_be_other_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["ca", "", "../x", ".x", "a b", "server"] {
            let args = TlsArgs { clients: vec![name.to_owned()], ..args(folder.path()) };
            assert!(make(&args).is_err(), "{name}");
        }
        let args = TlsArgs { hosts: vec!["ümlaut host".to_owned()], ..args(folder.path()) };
        assert!(make(&args).unwrap_err().to_string().contains("--host"));
    }
}
