//! Tools of the posture probe: what a tool inside the sandbox finds when it looks around and tries things.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::ExitCode;

use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};

use super::sys::{self, Fork};
use super::verify;
use crate::inside::SCRATCH;
use crate::inside::WORKSPACE;

/// What a tool found inside the sandbox.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Facts {
    pub(crate) namespaces: BTreeMap<String, u64>,
    /// Lines of `/proc/self/status`: capabilities, `NoNewPrivs:`, `Seccomp:`, `Uid:`.
    pub(crate) status: BTreeMap<String, String>,
    pub(crate) pid: i32,
    pub(crate) environment: Vec<String>,
    /// What reading `/proc/1/environ` gave.
    pub(crate) init_environment: Attempt,
    pub(crate) interfaces: Vec<String>,
    pub(crate) internet_socket: Attempt,
    /// Reading a file the worker can read on the host.
    pub(crate) canary: Attempt,
    /// Connecting to a socket of the worker that lies in the workspace.
    pub(crate) host_socket: Attempt,
    /// Connecting two processes of the sandbox over its scratch directory.
    pub(crate) own_socket: Attempt,
    /// Making a file of the workspace run with its owner's rights.
    pub(crate) set_user_id: Attempt,
    /// Writing a file in each of these directories.
    pub(crate) writes: BTreeMap<String, Attempt>,
    pub(crate) descriptors: Vec<String>,
    /// Files that could be opened at once.
    pub(crate) files_opened: u64,
    /// Processes that could be started at once.
    pub(crate) processes_started: u64,
    /// Bytes a process could fill before it was stopped.
    pub(crate) memory_filled: u64,
    pub(crate) new_namespace: Attempt,
    pub(crate) terminal: Attempt,
}

/// Something the self-test tried: whether it worked, and what came of it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Attempt {
    pub(crate) worked: bool,
    pub(crate) outcome: String,
}

impl Attempt {
    fn of<T>(result: io::Result<T>, show: impl Fn(T) -> String) -> Self {
        match result {
            Ok(value) => Self { worked: true, outcome: show(value) },
            Err(error) => Self { worked: false, outcome: error.to_string() },
        }
    }
}

/// Prints [`Facts`] as JSON. Arguments: path of the canary on the host, most files, processes and bytes to try.
pub(super) fn run(arguments: &[String]) -> ExitCode {
    let [canary, files, processes, bytes] = arguments else { return ExitCode::from(64) };
    let number = |text: &String| text.parse().unwrap_or(0);
    let facts = Facts {
        namespaces: crate::namespaces::NAMESPACES
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), verify::namespace(name)?)))
            .collect(),
        status: status(),
        pid: std::process::id() as i32,
        environment: std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect(),
        init_environment: Attempt::of(fs::read("/proc/1/environ"), |bytes| format!("{} bytes", bytes.len())),
        interfaces: interfaces(),
        internet_socket: Attempt::of(std::net::UdpSocket::bind("127.0.0.1:0"), |_| "opened".into()),
        canary: Attempt::of(fs::read(canary), |bytes| format!("{} bytes", bytes.len())),
        host_socket: Attempt::of(UnixStream::connect(Path::new(WORKSPACE).join("socket")), |_| "connected".into()),
        own_socket: Attempt::of(own_socket(), |()| "connected".into()),
        set_user_id: Attempt::of(set_user_id(), |()| "set".into()),
        writes: ["/", "/usr", "/etc", "/dev", "/proc/sys", WORKSPACE, SCRATCH]
            .iter()
            .map(|dir| try_write(dir))
            .collect(),
        descriptors: descriptors(),
        files_opened: open_files(number(files)),
        processes_started: start_processes(number(processes)),
        memory_filled: fill_memory(number(bytes)),
        new_namespace: Attempt::of(sys::unshare(libc::CLONE_NEWUSER), |()| "made".into()),
        terminal: Attempt::of(fs::File::open("/dev/tty"), |_| "opened".into()),
    };
    match serde_json::to_string(&facts) {
        Ok(json) if writeln!(io::stdout(), "{json}").is_ok() => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn own_socket() -> io::Result<()> {
    let path = Path::new(SCRATCH).join("own-socket");
    let _listener = UnixListener::bind(&path)?;
    UnixStream::connect(&path).map(drop)
}

fn set_user_id() -> io::Result<()> {
    let path = Path::new(WORKSPACE).join("set-user-id");
    fs::write(&path, "x")?;
    let done = fs::set_permissions(&path, fs::Permissions::from_mode(0o4755));
    let _ = fs::remove_file(&path);
    done
}

fn status() -> BTreeMap<String, String> {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let wanted = |key: &str| key.starts_with("Cap") || ["NoNewPrivs", "Seccomp", "Uid"].contains(&key);
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .filter(|(key, _)| wanted(key))
        .map(|(key, value)| (key.to_owned(), value.trim().to_owned()))
        .collect()
}

fn interfaces() -> Vec<String> {
    let text = fs::read_to_string("/proc/self/net/dev").unwrap_or_default();
    text.lines().filter_map(|line| Some(line.split_once(':')?.0.trim().to_owned())).collect()
}

fn try_write(dir: &str) -> (String, Attempt) {
    let file = Path::new(dir).join("self-test");
    let attempt = Attempt::of(fs::write(&file, "x"), |()| "written".into());
    let _ = fs::remove_file(&file);
    (dir.to_owned(), attempt)
}

fn descriptors() -> Vec<String> {
    let Ok(entries) = fs::read_dir("/proc/self/fd") else { return Vec::new() };
    let names: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    // The directory itself was open while it was read, and is closed now.
    names
        .iter()
        .filter_map(|path| Some(format!("{} {}", path.file_name()?.to_str()?, fs::read_link(path).ok()?.display())))
        .collect()
}

fn open_files(most: u64) -> u64 {
    let files: Vec<_> = (0..most).map_while(|_| fs::File::open("/dev/null").ok()).collect();
    files.len() as u64
}

/// Starts children that wait for the end of this process's hold on a pipe.
fn start_processes(most: u64) -> u64 {
    let Ok((reader, writer)) = io::pipe() else { return 0 };
    let mut started = 0;
    while started < most {
        match sys::fork() {
            Ok(Fork::Child) => {
                drop(writer);
                let _ = rustix::io::read(&reader, &mut [0_u8; 1]);
                std::process::exit(0);
            }
            Ok(Fork::Parent(_)) => started += 1,
            Err(_) => break,
        }
    }
    drop(writer);
    while !matches!(sys::reap(), Err(error) if error.raw_os_error() == Some(libc::ECHILD)) {
        std::thread::yield_now();
    }
    started
}

/// Lets a child fill memory step by step and tell how far it came.
fn fill_memory(most: u64) -> u64 {
    const STEP: usize = 1024 * 1024;
    let Ok((reader, writer)) = io::pipe() else { return 0 };
    match sys::fork() {
        Ok(Fork::Child) => {
            let mut held = Vec::new();
            while (held.len() * STEP) < most as usize {
                let mut block: Vec<u8> = Vec::new();
                if block.try_reserve_exact(STEP).is_err() {
                    break;
                }
                block.resize(STEP, 1);
                held.push(block);
                let _ = rustix::io::write(&writer, b"x");
            }
            std::process::exit(0);
        }
        Ok(Fork::Parent(_)) => {
            drop(writer);
            let steps =
                io::Read::bytes(fs::File::from(std::os::fd::OwnedFd::from(reader))).map_while(Result::ok).count();
            (steps * STEP) as u64
        }
        Err(_) => 0,
    }
}

/// Holds a lock on a file of the workspace from two processes that do not want to end.
#[expect(
    clippy::disallowed_methods,
    reason = "a process that holds a file until it is killed; it waits for nothing else"
)]
pub(super) fn linger(arguments: &[String]) -> ExitCode {
    let [file] = arguments else { return ExitCode::from(64) };
    let Ok(file) = fs::File::open(file) else { return ExitCode::FAILURE };
    if rustix::fs::flock(&file, FlockOperation::LockExclusive).is_err() {
        return ExitCode::FAILURE;
    }
    let _ = sys::watch_children();
    if let Ok(Fork::Child) = sys::fork() {
        let _ = rustix::process::setsid();
        println!("holding {}", file.as_raw_fd());
    }
    loop {
        std::thread::sleep(std::time::Duration::from_secs(3600));
    }
}
