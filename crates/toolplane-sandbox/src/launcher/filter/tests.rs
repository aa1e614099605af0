use libc::sock_filter;

use super::{ALLOW, ARCH, ASK, MISSING, judge, program};

/// Runs the program as the kernel would.
fn verdict(arch: u32, number: u32, arguments: [u64; 2]) -> u32 {
    let code = program();
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
                    16 => arguments[0] as u32,
                    24 => arguments[1] as u32,
                    other => panic!("unexpected offset {other}"),
                }
            }
            super::JUMP_EQUAL => branch(loaded == k),
            super::JUMP_AT_LEAST => branch(loaded >= k),
            super::JUMP_ANY_BIT => branch(loaded & k != 0),
            super::RETURN => return k,
            other => panic!("unexpected operation {other}"),
        }
    }
}

#[track_caller]
fn check(number: libc::c_long, arguments: [u64; 2], expected: u32) {
    assert_eq!(verdict(ARCH, number as u32, arguments), expected, "call {number} with {arguments:x?}");
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
    assert_eq!(verdict(0x4000_0003, 359, [2, 1]), ASK, "i386");
    assert!(judge(0x4000_0003, 359, &[0; 6]).fatal);
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
