//! A Redis server: how it is started, and what it says of itself.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How long it may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// A Redis server with a port and a folder of its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Redis {
    pub(crate) port: u16,
    pub(crate) folder: PathBuf,
}

/// What a process is told of the servers of several shards, behind the URL of the first.
pub(crate) fn shards<'a>(servers: impl IntoIterator<Item = &'a Redis>) -> Vec<(String, String)> {
    let others: Vec<String> = servers.into_iter().skip(1).map(|redis| format!("\"{}\"", redis.url())).collect();
    if others.is_empty() {
        return Vec::new();
    }
    vec![
        ("TOOLPLANE__STORE__REDIS__URLS".to_owned(), format!("[{}]", others.join(","))),
        ("TOOLPLANE__STORE__REDIS__SHARDS".to_owned(), (others.len() + 1).to_string()),
    ]
}

impl Redis {
    /// The name of its folder.
    pub(crate) fn name(&self) -> &str {
        self.folder.file_name().and_then(|name| name.to_str()).unwrap_or("redis")
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub(crate) fn log_file(&self) -> PathBuf {
        self.folder.join("redis.log")
    }

    /// The command that starts it: every answered write is on disk, and nothing is ever evicted.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new("redis-server");
        command.args(["--bind", "127.0.0.1", "--port", &self.port.to_string(), "--save", ""]);
        command.args(["--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction"]);
        command.arg("--dir").arg(&self.folder).current_dir(&self.folder);
        command
    }

    /// Whether it answers and takes commands.
    pub(crate) fn answers(&self) -> bool {
        self.ask("PING").is_ok_and(|lines| lines.first().is_some_and(|line| line == "+PONG"))
    }

    /// What an answered write survives, from its own configuration.
    pub(crate) fn promise(&self) -> String {
        let setting = |name: &str| {
            let lines = self.ask(&format!("CONFIG GET {name}")).unwrap_or_default();
            lines.last().cloned().unwrap_or_else(|| "unknown".to_owned())
        };
        let (append, sync) = (setting("appendonly"), setting("appendfsync"));
        let promise = match (append.as_str(), sync.as_str()) {
            ("yes", "always") => "fsynced: an answered write is on disk",
            ("yes", _) => "buffered: about the last second may be lost with the machine",
            _ => "buffered: everything since the last snapshot may be lost with the server",
        };
        format!("{promise} (appendonly {append}, appendfsync {sync}, {})", setting("maxmemory-policy"))
    }

    /// Bytes of memory its data takes.
    pub(crate) fn used_memory(&self) -> std::io::Result<u64> {
        let lines = self.ask("INFO memory")?;
        let used = lines.iter().find_map(|line| line.strip_prefix("used_memory:")?.trim().parse().ok());
        used.ok_or_else(|| std::io::Error::other("it does not say how much memory it uses"))
    }

    /// Sends one command and reads its whole answer, line by line.
    fn ask(&self, command: &str) -> std::io::Result<Vec<String>> {
        let address = std::net::SocketAddr::from(([127, 0, 0, 1], self.port));
        let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(stream, "{command}\r\n")?;
        let mut lines = BufReader::new(stream).lines();
        let mut answer = vec![lines.next().unwrap_or_else(|| Err(std::io::ErrorKind::UnexpectedEof.into()))?];
        // An array announces its elements, each a length and a line; a text its bytes.
        let number = |mark: char| answer[0].strip_prefix(mark).and_then(|count| count.parse::<usize>().ok());
        let (elements, mut bytes) = (number('*').unwrap_or_default(), number('$').unwrap_or_default());
        for line in lines.by_ref().take(elements * 2) {
            answer.push(line?);
        }
        while bytes > 0
            && let Some(line) = lines.next()
        {
            let line = line?;
            bytes = bytes.saturating_sub(line.len() + 2);
            answer.push(line);
        }
        Ok(answer)
    }
}
