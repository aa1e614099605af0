//! The system call filter: which calls a tool is denied, and the program that tells the kernel so.
//!
//! Denied calls are put to process 1 of the sandbox (user notification), which records them and answers with an error:
//! that record is the evidence for a violation. Calls of another processor architecture are put to it as well and end
//! the caller. Calls newer than this list, and those libraries have a fallback for, do not exist as far as the tool can
//! tell. A call to connect is put to process 1 too, which makes the connection itself where it stays inside. Everything here is
//! what namespaces and missing capabilities do not already cover, or cover only by one layer.

mod denial;

pub(super) use denial::{SyscallDenial, judge};

use libc::{c_long, sock_filter};

/// A denied call: its number, its name, and how it is judged.
type Denied = (c_long, &'static str);

/// Denied, and a sign that the tool tried to leave its sandbox.
const DENIED: &[Denied] = &[
    // Namespaces and mounts.
    (libc::SYS_unshare, "unshare"),
    (libc::SYS_setns, "setns"),
    (libc::SYS_mount, "mount"),
    (libc::SYS_umount2, "umount2"),
    (libc::SYS_pivot_root, "pivot_root"),
    (libc::SYS_chroot, "chroot"),
    (libc::SYS_move_mount, "move_mount"),
    (libc::SYS_open_tree, "open_tree"),
    (libc::SYS_fsopen, "fsopen"),
    (libc::SYS_fsconfig, "fsconfig"),
    (libc::SYS_fsmount, "fsmount"),
    (libc::SYS_fspick, "fspick"),
    (libc::SYS_mount_setattr, "mount_setattr"),
    // Other processes.
    (libc::SYS_ptrace, "ptrace"),
    (libc::SYS_process_vm_readv, "process_vm_readv"),
    (libc::SYS_process_vm_writev, "process_vm_writev"),
    (libc::SYS_kcmp, "kcmp"),
    (libc::SYS_pidfd_getfd, "pidfd_getfd"),
    // Files by handle, around every path check.
    (libc::SYS_open_by_handle_at, "open_by_handle_at"),
    // Large or young parts of the kernel.
    (libc::SYS_bpf, "bpf"),
    (libc::SYS_perf_event_open, "perf_event_open"),
    (libc::SYS_userfaultfd, "userfaultfd"),
    (libc::SYS_fanotify_init, "fanotify_init"),
    (libc::SYS_lookup_dcookie, "lookup_dcookie"),
    (libc::SYS_vmsplice, "vmsplice"),
    // Keyrings are shared between all namespaces.
    (libc::SYS_add_key, "add_key"),
    (libc::SYS_request_key, "request_key"),
    (libc::SYS_keyctl, "keyctl"),
    // The machine itself.
    (libc::SYS_init_module, "init_module"),
    (libc::SYS_finit_module, "finit_module"),
    (libc::SYS_delete_module, "delete_module"),
    (libc::SYS_kexec_load, "kexec_load"),
    (libc::SYS_kexec_file_load, "kexec_file_load"),
    (libc::SYS_reboot, "reboot"),
    (libc::SYS_swapon, "swapon"),
    (libc::SYS_swapoff, "swapoff"),
    (libc::SYS_acct, "acct"),
    (libc::SYS_settimeofday, "settimeofday"),
    (libc::SYS_clock_settime, "clock_settime"),
    (libc::SYS_clock_adjtime, "clock_adjtime"),
    (libc::SYS_syslog, "syslog"),
    (libc::SYS_quotactl, "quotactl"),
    (libc::SYS_nfsservctl, "nfsservctl"),
    (libc::SYS_vhangup, "vhangup"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_iopl, "iopl"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_ioperm, "ioperm"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_modify_ldt, "modify_ldt"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_uselib, "uselib"),
];

/// Denied, but also tried by ordinary run-time libraries to find out what they can use.
const PROBED: &[Denied] = &[
    (libc::SYS_io_uring_setup, "io_uring_setup"),
    (libc::SYS_io_uring_enter, "io_uring_enter"),
    (libc::SYS_io_uring_register, "io_uring_register"),
];

/// Attributes beside the mode: capabilities of a file, and access lists. Copying programs try them and go on without.
const ATTRIBUTES: &[Denied] = &[
    (libc::SYS_setxattr, "setxattr"),
    (libc::SYS_lsetxattr, "lsetxattr"),
    (libc::SYS_fsetxattr, "fsetxattr"),
    (SYS_SETXATTRAT, "setxattrat"),
];
/// The same number on every architecture, and not known to the C library yet.
const SYS_SETXATTRAT: c_long = 463;

/// Bits of a mode that lend the rights of a file's owner or group to the process that runs it.
const LENDING: u32 = libc::S_ISUID | libc::S_ISGID;

/// Calls that give a file a mode, and the argument it is in. No file of a tool may lend the rights of its owner or
/// group: on the host its owner is the workspace's owner, and `nosuid` mounts protect only the inside.
const MODES: &[(c_long, &str, usize)] = &[
    (libc::SYS_fchmod, "fchmod", 1),
    (libc::SYS_fchmodat, "fchmodat", 2),
    (libc::SYS_fchmodat2, "fchmodat2", 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, "chmod", 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, "creat", 1),
];

/// Calls that open a file and may make it: the arguments of flags and mode. The mode counts only where a file can be made;
/// otherwise it is whatever happened to be in the register.
const OPENS: &[(c_long, &str, usize, usize)] = &[
    (libc::SYS_openat, "openat", 2, 3),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, "open", 1, 2),
];
/// `O_CREAT`, and of `O_TMPFILE` the bit that is not `O_DIRECTORY` as well.
const MAKES: u32 = (libc::O_CREAT | (libc::O_TMPFILE & !libc::O_DIRECTORY)) as u32;

/// Space is taken by writing, which takes time and is seen; libraries fall back to that. Giving space back is allowed.
const NO_RESERVING: u32 = libc::SECCOMP_RET_ERRNO | libc::EOPNOTSUPP as u32;

/// Calls that make something that is no plain file, and the argument of its mode. Devices are nothing a tool makes.
const NODES: &[(c_long, &str, usize)] = &[
    (libc::SYS_mknodat, "mknodat", 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, "mknod", 1),
];
const TYPE_BITS: u32 = libc::S_IFMT;
const DEVICES: &[u32] = &[libc::S_IFCHR, libc::S_IFBLK];

/// Kinds of Unix sockets that reach another one only by `connect`, which is looked at one by one (see
/// [`super::sockets`]). A datagram socket names its target with every message.
const SOCKET_TYPES: &[u32] = &[libc::SOCK_STREAM as u32, libc::SOCK_SEQPACKET as u32];
/// The type without `SOCK_CLOEXEC` and `SOCK_NONBLOCK`.
const SOCKET_TYPE_BITS: u32 = 0xf;

/// The last call this list was checked against (`removexattrat`).
const LAST_KNOWN: u32 = 466;

/// Terminal requests that put words into another process's terminal. Only the low 32 bits count, as in the kernel.
const TERMINAL_REQUESTS: &[(u32, &str)] = &[(0x5412, "TIOCSTI"), (0x541c, "TIOCLINUX")];

/// Flags of `clone` that make namespaces.
const NAMESPACE_FLAGS: u32 = (libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP) as u32;

#[cfg(target_arch = "x86_64")]
const ARCH: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCH: u32 = 0xc000_00b7;

// Offsets in the kernel's `seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
/// Of the argument `at` (from 0), the half the kernel looks at in modes, flags, families and requests.
#[cfg(target_endian = "little")]
const fn argument_low(at: usize) -> u32 {
    16 + 8 * at as u32
}

const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
const JUMP_EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const JUMP_AT_LEAST: u32 = libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K;
const JUMP_ANY_BIT: u32 = libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K;
const MASK: u32 = libc::BPF_ALU | libc::BPF_AND | libc::BPF_K;
const RETURN: u32 = libc::BPF_RET | libc::BPF_K;

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const ASK: u32 = libc::SECCOMP_RET_USER_NOTIF;
const MISSING: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;

/// The filter as the kernel wants it; `network`: a run that is connected to hosts by a proxy in its own network namespace.
pub(super) fn program(network: bool) -> Vec<sock_filter> {
    let mut code = vec![load(ARCHITECTURE), jump(JUMP_EQUAL, ARCH, 1, 0), done(ASK), load(NUMBER)];
    // Also covers the x32 numbers, which start at 2^30.
    code.extend([jump(JUMP_AT_LEAST, LAST_KNOWN + 1, 0, 1), done(MISSING)]);
    // Their flags are behind a pointer, where a filter cannot look; libraries fall back to `clone` and `openat`.
    for number in [libc::SYS_clone3, libc::SYS_openat2] {
        code.extend(when(number, &[done(MISSING)]));
    }
    for (number, _) in DENIED.iter().chain(PROBED).chain(ATTRIBUTES) {
        code.extend(when(*number, &[done(ASK)]));
    }
    code.extend(when(libc::SYS_clone, &unless_any(0, NAMESPACE_FLAGS)));
    code.extend(files());
    code.extend(sockets(network));
    let mut requests = vec![load(argument_low(1))];
    for (request, _) in TERMINAL_REQUESTS {
        requests.extend([jump(JUMP_EQUAL, *request, 0, 1), done(ASK)]);
    }
    requests.push(done(ALLOW));
    code.extend(when(libc::SYS_ioctl, &requests));
    code.push(done(ALLOW));
    code
}

/// What may be made, and with which mode.
fn files() -> Vec<sock_filter> {
    let mut code = Vec::new();
    for (number, _, mode) in MODES {
        code.extend(when(*number, &unless_any(*mode, LENDING)));
    }
    for (number, _, flags, mode) in OPENS {
        let mut made = vec![load(argument_low(*flags)), jump(JUMP_ANY_BIT, MAKES, 1, 0), done(ALLOW)];
        made.extend(unless_any(*mode, LENDING));
        code.extend(when(*number, &made));
    }
    let punches = [load(argument_low(1)), jump(JUMP_ANY_BIT, libc::FALLOC_FL_PUNCH_HOLE as u32, 0, 1)];
    code.extend(when(libc::SYS_fallocate, &[punches[0], punches[1], done(ALLOW), done(NO_RESERVING)]));
    for (number, _, mode) in NODES {
        let mut made = vec![load(argument_low(*mode)), jump(JUMP_ANY_BIT, LENDING, 0, 1), done(ASK)];
        made.push(jump(MASK, TYPE_BITS, 0, 0));
        for device in DEVICES {
            made.extend([jump(JUMP_EQUAL, *device, 0, 1), done(ASK)]);
        }
        made.push(done(ALLOW));
        code.extend(when(*number, &made));
    }
    code
}

/// Unix sockets of the kinds that have to be connected, and every connection put to process 1. With `network` also TCP over IPv4, which
/// is how the proxy is reached: there is nothing else in the namespace to connect to.
fn sockets(network: bool) -> Vec<sock_filter> {
    let mut code = Vec::new();
    if network {
        let mut tcp = vec![load(argument_low(0)), jump(JUMP_EQUAL, libc::AF_INET as u32, 0, 7)];
        tcp.extend([load(argument_low(1)), jump(MASK, SOCKET_TYPE_BITS, 0, 0)]);
        tcp.extend([jump(JUMP_EQUAL, libc::SOCK_STREAM as u32, 0, 4), load(argument_low(2))]);
        tcp.extend([jump(JUMP_EQUAL, 0, 1, 0), jump(JUMP_EQUAL, libc::IPPROTO_TCP as u32, 0, 1), done(ALLOW)]);
        // Whatever else it is, the rules below decide.
        tcp.push(load(NUMBER));
        code.extend(when(libc::SYS_socket, &tcp));
    }
    for number in [libc::SYS_socket, libc::SYS_socketpair] {
        let mut kinds = vec![load(argument_low(0)), jump(JUMP_EQUAL, libc::AF_UNIX as u32, 1, 0), done(ASK)];
        kinds.extend([load(argument_low(1)), jump(MASK, SOCKET_TYPE_BITS, 0, 0)]);
        for kind in SOCKET_TYPES {
            kinds.extend([jump(JUMP_EQUAL, *kind, 0, 1), done(ALLOW)]);
        }
        kinds.push(done(ASK));
        code.extend(when(number, &kinds));
    }
    code.extend(when(libc::SYS_connect, &[done(ASK)]));
    code
}

/// Allowed unless the argument `at` has any of `bits`.
fn unless_any(at: usize, bits: u32) -> [sock_filter; 4] {
    [load(argument_low(at)), jump(JUMP_ANY_BIT, bits, 0, 1), done(ASK), done(ALLOW)]
}

fn load(offset: u32) -> sock_filter {
    jump(LOAD, offset, 0, 0)
}

fn done(verdict: u32) -> sock_filter {
    jump(RETURN, verdict, 0, 0)
}

fn jump(code: u32, value: u32, if_true: u8, if_false: u8) -> sock_filter {
    sock_filter { code: code as u16, jt: if_true, jf: if_false, k: value }
}

/// `then` (which must end in a verdict) if the call is `number`; the number stays loaded otherwise.
fn when(number: c_long, then: &[sock_filter]) -> Vec<sock_filter> {
    let mut code = vec![jump(JUMP_EQUAL, number as u32, 0, then.len() as u8)];
    code.extend_from_slice(then);
    code
}

#[cfg(test)]
mod tests;
