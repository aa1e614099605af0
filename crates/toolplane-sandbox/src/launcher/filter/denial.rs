//! What a call that was put to process 1 is recorded as, and how it is answered.

use libc::c_long;

use super::{
    ARCH, ATTRIBUTES, DENIED, Denied, MODES, NAMESPACE_FLAGS, NODES, OPENS, PROBED, SOCKET_TYPE_BITS, TERMINAL_REQUESTS,
};

/// What a denied call is recorded as.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SyscallDenial {
    pub(crate) syscall: String,
    pub(crate) detail: String,
    /// Ordinary programs try it too.
    pub(crate) probe: bool,
    /// Error number for the caller.
    pub(crate) errno: i32,
    /// The caller is ended as the kernel would end it.
    pub(crate) fatal: bool,
    /// Not denied as such: it may connect within the sandbox.
    pub(crate) connects: bool,
}

/// Name and mode argument of a call that makes or changes a file.
fn mode_of(number: c_long) -> Option<(&'static str, usize)> {
    let changes = MODES.iter().chain(NODES).copied();
    let opens = OPENS.iter().map(|(number, name, _, mode)| (*number, *name, *mode));
    changes.chain(opens).find(|(known, _, _)| *known == number).map(|(_, name, mode)| (name, mode))
}

/// Datagram sockets are how libraries reach a system log that may not be there; a family says where a program wanted to
/// connect.
fn socket(syscall: &str, family: u32, kind: u32) -> SyscallDenial {
    let probe = family == libc::AF_UNIX as u32;
    let detail = if probe { format!("unix,type={}", kind & SOCKET_TYPE_BITS) } else { format!("family={family}") };
    SyscallDenial { syscall: syscall.into(), detail, probe, errno: libc::EPERM, fatal: false, connects: false }
}

/// Names a denied call from what the kernel told about it.
pub(crate) fn judge(arch: u32, number: i32, arguments: &[u64; 6]) -> SyscallDenial {
    let verdict = |syscall: &str, detail: String| SyscallDenial {
        syscall: syscall.into(),
        detail,
        probe: false,
        errno: libc::EPERM,
        fatal: false,
        connects: false,
    };
    if arch != ARCH {
        let detail = format!("arch={arch:#x},number={number}");
        return SyscallDenial { fatal: true, ..verdict("foreign_architecture", detail) };
    }
    let number = c_long::from(number);
    let find = |list: &[Denied]| list.iter().find(|(denied, _)| *denied == number).map(|(_, name)| *name);
    if let Some(name) = find(DENIED) {
        return verdict(name, String::new());
    }
    if let Some(name) = find(PROBED) {
        return SyscallDenial { probe: true, errno: libc::ENOSYS, ..verdict(name, String::new()) };
    }
    if let Some(name) = find(ATTRIBUTES) {
        return SyscallDenial { probe: true, errno: libc::EOPNOTSUPP, ..verdict(name, String::new()) };
    }
    let low = |at: usize| arguments[at] as u32;
    if let Some((name, mode)) = mode_of(number) {
        return verdict(name, format!("mode={:o}", low(mode) & 0o177_777));
    }
    match number {
        libc::SYS_socket => socket("socket", low(0), low(1)),
        libc::SYS_socketpair => socket("socketpair", low(0), low(1)),
        libc::SYS_connect => SyscallDenial { errno: libc::EACCES, connects: true, ..verdict("connect", "unix".into()) },
        libc::SYS_clone => verdict("clone", format!("namespace_flags={:#x}", low(0) & NAMESPACE_FLAGS)),
        libc::SYS_ioctl => {
            let name = TERMINAL_REQUESTS.iter().find(|(request, _)| *request == low(1)).map_or("?", |(_, name)| *name);
            verdict("ioctl", format!("request={name}"))
        }
        other => verdict("unknown", format!("number={other}")),
    }
}
