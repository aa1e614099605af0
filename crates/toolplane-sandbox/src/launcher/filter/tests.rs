use libc::sock_filter;

use super::{ALLOW, ARCH, ASK, MISSING, judge, program};

/// Runs the program as the kernel would.
fn verdict(arch: u32, number: u32, arguments: [u64; 4]) -> u32 {
    verdict_of(&program(false), arch, number, arguments)
}

fn verdict_of(code: &[sock_filter], arch: u32, number: u32, arguments: [u64; 4]) -> u32 {
    let (mut at, mut loaded) = (0, 0_u32);
    loop {
        let sock_filter { code: operation, jt, jf, k } = code[at];
        at += 1;
        let mut branch = |condition: bool| at += usize::from(if condition { jt } else { jf });
        match u32::from(operation) {
            super::LOAD => {
                loaded = match k {
                    0 => number,
                    4 => arch,
                    16 | 24 | 32 | 40 => arguments[(k as usize - 16) / 8] as u32,
                    other => panic!("unexpected offset {other}"),
                }
            }
            super::JUMP_EQUAL => branch(loaded == k),
            super::JUMP_AT_LEAST => branch(loaded >= k),
            super::JUMP_ANY_BIT => branch(loaded & k != 0),
            super::MASK => loaded &= k,
            super::RETURN => return k,
            other => panic!("unexpected operation {other}"),
        }
    }
}

#[track_caller]
fn check<const N: usize>(number: libc::c_long, arguments: [u64; N], expected: u32) {
    let mut all = [0; 4];
    all[..N].copy_from_slice(&arguments);
    assert_eq!(verdict(ARCH, number as u32, all), expected, "call {number} with {arguments:x?}");
}

#[test]
fn ordinary_calls_are_allowed() {
    for number in [libc::SYS_read, libc::SYS_openat, libc::SYS_execve, libc::SYS_exit_group, libc::SYS_futex, 466] {
        check(number, [0, 0], ALLOW);
    }
    check(libc::SYS_socket, [libc::AF_UNIX as u64, 1], ALLOW);
    check(libc::SYS_clone, [0x0100_0011, 0], ALLOW);
    check(libc::SYS_ioctl, [0, 0x5401], ALLOW);
}

#[test]
fn dangerous_calls_are_asked_about() {
    for (number, _) in super::DENIED.iter().chain(super::PROBED) {
        check(*number, [0, 0], ASK);
    }
    for family in [2, 10, 16, 17, 38, 40, 0xffff_ffff_0000_0002] {
        check(libc::SYS_socket, [family, 1], ASK);
    }
    check(libc::SYS_clone, [libc::CLONE_NEWUSER as u64 | 0x11, 0], ASK);
}

#[test]
fn only_the_low_half_of_an_argument_counts() {
    check(libc::SYS_ioctl, [0, 0x5412], ASK);
    check(libc::SYS_ioctl, [0, 0x1_0000_5412], ASK);
    check(libc::SYS_socket, [0x5_0000_0001, 1], ALLOW);
}

#[test]
fn unknown_and_foreign_calls_never_pass() {
    check(libc::SYS_clone3, [0, 0], MISSING);
    check(467, [0, 0], MISSING);
    check(0x4000_0029, [2, 1], MISSING);
    assert_eq!(verdict(0x4000_0003, 359, [2, 1, 0, 0]), ASK, "i386");
    assert!(judge(0x4000_0003, 359, &[0; 6]).fatal);
}

#[test]
fn nothing_is_made_that_lends_rights() {
    for (number, at) in [
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_chmod, 1),
        (libc::SYS_fchmod, 1),
        (libc::SYS_fchmodat, 2),
        (452, 2),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_creat, 1),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_mknod, 1),
        (libc::SYS_mknodat, 2),
    ] {
        for (mode, expected) in
            [(0o755, ALLOW), (0o1777, ALLOW), (0o4755, ASK), (0o2755, ASK), (0xffff_0000_0000_0800, ASK)]
        {
            let mut arguments = [0; 4];
            arguments[at] = mode;
            check(number, arguments, expected);
        }
    }
    // The mode of an open counts only where something can be made.
    for (flags, expected) in [(libc::O_CREAT, ASK), (libc::O_TMPFILE, ASK), (libc::O_DIRECTORY, ALLOW), (0, ALLOW)] {
        check(libc::SYS_openat, [0, 0, flags as u64, 0o4755], expected);
        #[cfg(target_arch = "x86_64")]
        check(libc::SYS_open, [0, flags as u64, 0o4755], expected);
    }
    check(libc::SYS_openat2, [0, 0, 0, 0], MISSING);
    for (kind, expected) in
        [(libc::S_IFCHR, ASK), (libc::S_IFBLK, ASK), (libc::S_IFIFO, ALLOW), (libc::S_IFSOCK, ALLOW)]
    {
        check(libc::SYS_mknodat, [0, 0, u64::from(kind | 0o644)], expected);
    }
    for number in [libc::SYS_setxattr, libc::SYS_lsetxattr, libc::SYS_fsetxattr, 463] {
        check(number, [0, 0], ASK);
    }
}

#[test]
fn only_sockets_that_must_connect_are_given_out() {
    for number in [libc::SYS_socket, libc::SYS_socketpair] {
        for kind in
            [libc::SOCK_STREAM, libc::SOCK_SEQPACKET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK]
        {
            check(number, [1, kind as u64], ALLOW);
        }
        for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC] {
            check(number, [1, kind as u64], ASK);
        }
    }
    check(libc::SYS_connect, [3, 0, 110], ASK);
}

#[test]
fn a_grant_adds_tcp_and_nothing_else() {
    let code = program(true);
    let socket = |family: i32, kind: i32, protocol: u64| {
        verdict_of(&code, ARCH, libc::SYS_socket as u32, [family as u64, kind as u64, protocol, 0])
    };
    let stream = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    for (kind, protocol) in [(libc::SOCK_STREAM, 0), (stream, 0), (stream, 6), (libc::SOCK_STREAM, 0x5_0000_0006)] {
        assert_eq!(socket(libc::AF_INET, kind, protocol), ALLOW, "{kind} {protocol}");
    }
    for (family, kind, protocol) in [
        (libc::AF_INET, libc::SOCK_DGRAM, 0),
        (libc::AF_INET, libc::SOCK_RAW, 1),
        (libc::AF_INET, libc::SOCK_SEQPACKET, 0),
        (libc::AF_INET, libc::SOCK_STREAM, 132),
        (libc::AF_INET, libc::SOCK_STREAM, 262),
        (libc::AF_INET6, libc::SOCK_STREAM, 0),
        (libc::AF_NETLINK, libc::SOCK_RAW, 0),
        (libc::AF_VSOCK, libc::SOCK_STREAM, 0),
        (libc::AF_UNIX, libc::SOCK_DGRAM, 0),
    ] {
        assert_eq!(socket(family, kind, protocol), ASK, "{family} {kind} {protocol}");
    }
    assert_eq!(socket(libc::AF_UNIX, libc::SOCK_STREAM, 0), ALLOW);
    // Every other call is judged as without it.
    for number in 0..=470 {
        for arguments in [[0; 4], [2, 1, 0, 0], [u64::MAX; 4]] {
            if i64::from(number) != libc::SYS_socket {
                assert_eq!(verdict_of(&code, ARCH, number, arguments), verdict(ARCH, number, arguments), "{number}");
            }
        }
    }
}

#[test]
fn space_is_not_reserved() {
    check(libc::SYS_fallocate, [3, 0], super::NO_RESERVING);
    check(libc::SYS_fallocate, [3, 0x10], super::NO_RESERVING);
    check(libc::SYS_fallocate, [3, 3], ALLOW);
}

#[test]
fn denials_are_named() {
    let name = |number: libc::c_long, arguments| {
        let verdict = judge(ARCH, number as i32, &arguments);
        (verdict.syscall, verdict.detail, verdict.probe)
    };
    assert_eq!(name(libc::SYS_setns, [0; 6]), ("setns".into(), String::new(), false));
    assert_eq!(name(libc::SYS_socket, [40, 1, 0, 0, 0, 0]), ("socket".into(), "family=40".into(), false));
    assert_eq!(name(libc::SYS_ioctl, [0, 0x1_0000_5412, 0, 0, 0, 0]).1, "request=TIOCSTI");
    assert!(name(libc::SYS_io_uring_setup, [0; 6]).2);
}
