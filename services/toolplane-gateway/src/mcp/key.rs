//! The key that seals what clients keep.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use toolplane_runtime::Config;

use crate::error::GatewayError;
use crate::mcp::seal::Seals;

/// Where a process keeps a key of its own, beneath its folder.
const OWN: &str = "mcp-seals";
/// Shortest secret, in bytes.
const SHORTEST: usize = 16;
/// Most of a file that is read.
const MOST: u64 = 64 * 1024;
/// What seals where nobody is asked who they are: everybody is the same caller and may do everything, so there is nothing to guard.
const OPEN: &[u8] = b"nobody is asked who they are";

/// The seals of a cluster: of `mcp.key_file`, else of the tokens that all its processes share, else of a key that this process keeps.
///
/// Fails with [`GatewayError::Key`] when a file cannot be read or made, or holds nothing that could be a key.
pub(crate) fn seals(config: &Config) -> Result<Seals, GatewayError> {
    let auth = config.server.auth.as_ref();
    let named = config.mcp.as_ref().and_then(|mcp| mcp.key_file.as_deref());
    let shared = auth.and_then(|auth| auth.token_file.as_deref());
    if let Some((setting, file)) =
        named.map(|file| ("mcp.key_file", file)).or(shared.map(|file| ("server.auth.token_file", file)))
    {
        let text = read(File::open(file)).map_err(|reason| GatewayError::key(setting, file, reason))?;
        let keys: Vec<&[u8]> = lines(&text).collect();
        if keys.iter().any(|key| key.len() < SHORTEST) || keys.is_empty() {
            let reason = format!("it has to hold keys of at least {SHORTEST} characters, one a line");
            return Err(GatewayError::key(setting, file, reason));
        }
        return Ok(Seals::of(keys));
    }
    if auth.is_none() {
        return Ok(Seals::of([OPEN]));
    }
    let file = config.server.data_dir.join(OWN);
    let key = own(&file).map_err(|reason| GatewayError::key("server.data_dir", &file, reason))?;
    Ok(Seals::of([key.as_bytes()]))
}

fn lines(text: &str) -> impl Iterator<Item = &[u8]> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(str::as_bytes)
}

fn read(file: std::io::Result<File>) -> Result<String, String> {
    let mut text = String::new();
    let read = file.and_then(|file| file.take(MOST).read_to_string(&mut text));
    read.map(|_| text).map_err(|error| error.to_string())
}

/// The key of this process: made once, and kept where nobody else can read it.
fn own(file: &Path) -> Result<String, String> {
    if let Ok(key) = read(File::open(file))
        && key.trim().len() >= SHORTEST
    {
        return Ok(key.trim().to_owned());
    }
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let key = crate::mcp::seal::nonce();
    let written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
    match written.and_then(|mut file| file.write_all(key.as_bytes()).and_then(|()| file.sync_all())) {
        Ok(()) => Ok(key),
        // Another process of this folder was faster.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            read(File::open(file)).map(|key| key.trim().to_owned())
        }
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::seal::Purpose;

    #[test]
    fn a_key_of_its_own_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("data").join(OWN);
        let key = own(&file).unwrap();
        assert_eq!((key.len(), own(&file).unwrap()), (32, key));
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn every_line_of_a_file_opens_and_the_first_one_seals() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys");
        let of = |text: &str| {
            std::fs::write(&file, text).unwrap();
            let toml = format!("[mcp]\nkey_file = {file:?}\n");
            seals(&toml::from_str(&toml).unwrap())
        };
        let before = of("# old\n0123456789abcdef\n").unwrap();
        let sealed = before.seal(Purpose::Task, "p", &1);
        let between = of("fedcba9876543210\n0123456789abcdef\n").unwrap();
        assert_eq!(between.open::<u8>(Purpose::Task, "p", &sealed), Some(1));
        let after = of("fedcba9876543210\n").unwrap();
        assert_eq!(after.open::<u8>(Purpose::Task, "p", &sealed), None);
        assert!(of("short\n").is_err() && of("# none\n").is_err());
    }
}
