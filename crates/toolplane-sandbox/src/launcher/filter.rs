//! The system call filter: which calls a tool is denied, and the program that tells the kernel so.
//!
//! Denied calls are put to process 1 of the sandbox (user notification), which records them and answers with an error:
//! that record is the evidence for a violation. Calls of another processor architecture are put to it as well and end
//! the caller. Calls newer than this list, and those libraries have a fallback for, do not exist as far as the tool can
//! tell. Everything here is what namespaces and missing capabilities do not already cover, or cover only by one layer.

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

/// The last call this list was checked against (`removexattrat`).
const LAST_KNOWN: u32 = 466;

/// Terminal requests that put words into somebody else's terminal. Only the low 32 bits count, as in the kernel.
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
#[cfg(target_endian = "little")]
const FIRST_ARGUMENT_LOW: u32 = 16;
#[cfg(target_endian = "little")]
const SECOND_ARGUMENT_LOW: u32 = 24;

const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
const JUMP_EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const JUMP_AT_LEAST: u32 = libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K;
const JUMP_ANY_BIT: u32 = libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K;
const RETURN: u32 = libc::BPF_RET | libc::BPF_K;

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const ASK: u32 = libc::SECCOMP_RET_USER_NOTIF;
const MISSING: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;

/// The filter as the kernel wants it.
pub(super) fn program() -> Vec<sock_filter> {
    let mut code = vec![load(ARCHITECTURE), jump(JUMP_EQUAL, ARCH, 1, 0), done(ASK), load(NUMBER)];
    // Also covers the x32 numbers, which start at 2^30.
    code.extend([jump(JUMP_AT_LEAST, LAST_KNOWN + 1, 0, 1), done(MISSING)]);
    // Its flags are behind a pointer, where a filter cannot look; libraries fall back to `clone`.
    code.extend(when(libc::SYS_clone3, &[done(MISSING)]));
    for (number, _) in DENIED.iter().chain(PROBED) {
        code.extend(when(*number, &[done(ASK)]));
    }
    code.extend(when(
        libc::SYS_clone,
        &[load(FIRST_ARGUMENT_LOW), jump(JUMP_ANY_BIT, NAMESPACE_FLAGS, 0, 1), done(ASK), done(ALLOW)],
    ));
    for number in [libc::SYS_socket, libc::SYS_socketpair] {
        let unix = libc::AF_UNIX as u32;
        code.extend(when(number, &[load(FIRST_ARGUMENT_LOW), jump(JUMP_EQUAL, unix, 1, 0), done(ASK), done(ALLOW)]));
    }
    let mut requests = vec![load(SECOND_ARGUMENT_LOW)];
    for (request, _) in TERMINAL_REQUESTS {
        requests.extend([jump(JUMP_EQUAL, *request, 0, 1), done(ASK)]);
    }
    requests.push(done(ALLOW));
    code.extend(when(libc::SYS_ioctl, &requests));
    code.push(done(ALLOW));
    code
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

/// What a denied call is recorded as.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Verdict {
    pub(super) syscall: String,
    pub(super) detail: String,
    /// Ordinary programs try it too.
    pub(super) probe: bool,
    /// Error number for the caller.
    pub(super) errno: i32,
    /// The caller is ended as the kernel would end it.
    pub(super) fatal: bool,
}

/// Names a denied call from what the kernel told about it.
pub(super) fn judge(arch: u32, number: i32, arguments: &[u64; 6]) -> Verdict {
    let verdict = |syscall: &str, detail: String| Verdict {
        syscall: syscall.into(),
        detail,
        probe: false,
        errno: libc::EPERM,
        fatal: false,
    };
    if arch != ARCH {
        let detail = format!("arch={arch:#x},number={number}");
        return Verdict { fatal: true, ..verdict("foreign_architecture", detail) };
    }
    let number = c_long::from(number);
    let find = |list: &[Denied]| list.iter().find(|(denied, _)| *denied == number).map(|(_, name)| *name);
    if let Some(name) = find(DENIED) {
        return verdict(name, String::new());
    }
    if let Some(name) = find(PROBED) {
        return Verdict { probe: true, errno: libc::ENOSYS, ..verdict(name, String::new()) };
    }
    let low = |at: usize| arguments[at] as u32;
    match number {
        libc::SYS_socket => verdict("socket", format!("family={}", low(0))),
        libc::SYS_socketpair => verdict("socketpair", format!("family={}", low(0))),
        libc::SYS_clone => verdict("clone", format!("namespace_flags={:#x}", low(0) & NAMESPACE_FLAGS)),
        libc::SYS_ioctl => {
            let name = TERMINAL_REQUESTS.iter().find(|(request, _)| *request == low(1)).map_or("?", |(_, name)| *name);
            verdict("ioctl", format!("request={name}"))
        }
        other => verdict("unknown", format!("number={other}")),
    }
}

#[cfg(test)]
mod tests;
