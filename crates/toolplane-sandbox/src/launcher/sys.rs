//! System calls that have no safe wrapper elsewhere.
#![expect(unsafe_code, reason = "this module is where the crate meets the operating system")]

use std::ffi::CString;
use std::io;
use std::mem;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use std::ptr;

/// Turns -1 into the error of the last call.
fn check(result: impl Into<i64>) -> io::Result<i64> {
    let result = result.into();
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Which side of a fork this is.
pub(super) enum Fork {
    Child,
    Parent(i32),
}

/// Duplicates this process. Sound here because the launcher never has a second thread.
pub(super) fn fork() -> io::Result<Fork> {
    // SAFETY: single-threaded process, so the child may go on as if nothing had happened.
    match check(unsafe { libc::fork() })? {
        0 => Ok(Fork::Child),
        pid => Ok(Fork::Parent(pid as i32)),
    }
}

/// Moves the descriptor at 0 to `target`, puts `/dev/null` at 0, and closes everything above `target`.
pub(super) fn claim_stdin_as(target: RawFd) -> io::Result<()> {
    // SAFETY: plain descriptor calls on numbers this process owns.
    unsafe {
        check(libc::dup2(0, target))?;
        let null = check(libc::open(c"/dev/null".as_ptr(), libc::O_RDWR))? as RawFd;
        if null != 0 {
            check(libc::dup2(null, 0))?;
        }
    }
    close_above(target)
}

/// Closes every descriptor above `last`.
pub(super) fn close_above(last: RawFd) -> io::Result<()> {
    // SAFETY: nothing in this process uses a descriptor above `last` afterwards.
    check(unsafe { libc::syscall(libc::SYS_close_range, last + 1, u32::MAX, 0) })?;
    Ok(())
}

/// Puts `source` at the number `target`, inherited over exec.
pub(super) fn place(source: BorrowedFd<'_>, target: RawFd) -> io::Result<()> {
    // SAFETY: plain descriptor call.
    check(unsafe { libc::dup2(source.as_raw_fd(), target) })?;
    Ok(())
}

/// Whether `fd` is closed at exec.
pub(super) fn set_close_on_exec(fd: RawFd) -> io::Result<()> {
    // SAFETY: plain descriptor call.
    check(unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) })?;
    Ok(())
}

/// Gives the file behind `fd` to a user.
pub(super) fn give_to(fd: RawFd, id: u32) -> io::Result<()> {
    // SAFETY: plain descriptor call.
    check(unsafe { libc::fchown(fd, id, id) })?;
    Ok(())
}

/// Becomes `id` (user and group) for good, with no further groups.
pub(super) fn become_user(id: u32) -> io::Result<()> {
    // SAFETY: plain calls; an empty list needs no memory.
    unsafe {
        check(libc::setgroups(0, ptr::null()))?;
        check(libc::setresgid(id, id, id))?;
        check(libc::setresuid(id, id, id))?;
    }
    Ok(())
}

/// Leaves the mount and IPC sharing of the parent for the given namespaces.
pub(super) fn unshare(flags: i32) -> io::Result<()> {
    // SAFETY: plain call.
    check(unsafe { libc::unshare(flags) })?;
    Ok(())
}

/// Translates owners on the detached mount `mount` by the user namespace `map`.
pub(super) fn map_owners(mount: BorrowedFd<'_>, map: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: all-zero is a valid value of this plain struct.
    let mut attributes: libc::mount_attr = unsafe { mem::zeroed() };
    attributes.attr_set = libc::MOUNT_ATTR_IDMAP;
    attributes.userns_fd = map.as_raw_fd() as u64;
    // SAFETY: path and struct outlive the call; the size is that of the struct.
    check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | libc::AT_RECURSIVE,
            &raw const attributes,
            mem::size_of::<libc::mount_attr>(),
        )
    })?;
    Ok(())
}

/// Replaces this program. Returns only if that failed.
pub(super) fn execute(program: &CString, argv: &[CString], env: &[CString]) -> io::Error {
    let pointers = |list: &[CString]| -> Vec<*const libc::c_char> {
        list.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect()
    };
    let (argv, env) = (pointers(argv), pointers(env));
    // SAFETY: both lists end with null and outlive the call.
    unsafe { libc::execve(program.as_ptr(), argv.as_ptr(), env.as_ptr()) };
    io::Error::last_os_error()
}

/// Sets one resource limit of this process.
pub(super) fn limit(resource: u32, soft: u64, hard: u64) -> io::Result<()> {
    let value = libc::rlimit { rlim_cur: soft, rlim_max: hard };
    // SAFETY: the struct outlives the call.
    check(unsafe { libc::setrlimit(resource, &raw const value) })?;
    Ok(())
}

/// Every signal back to its default action, none blocked.
pub(super) fn reset_signals() {
    // SAFETY: plain calls on valid values; signals that cannot be changed are left alone.
    unsafe {
        for signal in 1..=64 {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
    }
}

/// Blocks every signal and returns a descriptor that tells of ended children.
pub(super) fn watch_children() -> io::Result<OwnedFd> {
    // SAFETY: the sets are initialised by sigfillset and sigemptyset; the descriptor is new and ours.
    unsafe {
        let mut set: libc::sigset_t = mem::zeroed();
        libc::sigfillset(&raw mut set);
        check(libc::sigprocmask(libc::SIG_SETMASK, &raw const set, ptr::null_mut()))?;
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        let fd = check(libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK))?;
        Ok(OwnedFd::from_raw_fd(fd as RawFd))
    }
}

/// An ended child: its number, raw wait status and usage.
pub(super) struct EndedChild {
    pub(super) pid: i32,
    pub(super) status: i32,
}

/// Collects one ended child without waiting. `Ok(None)`: children are left, none has ended. `Err`: none are left.
pub(super) fn reap() -> io::Result<Option<EndedChild>> {
    let mut status = 0;
    // SAFETY: the status outlives the call.
    match check(unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) })? {
        0 => Ok(None),
        pid => Ok(Some(EndedChild { pid: pid as i32, status })),
    }
}

/// (user µs, system µs, largest resident set in bytes) of all collected children.
pub(super) fn usage_of_children() -> (u64, u64, u64) {
    // SAFETY: all-zero is valid, and the struct outlives the call.
    let usage = unsafe {
        let mut usage: libc::rusage = mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    let micros = |time: libc::timeval| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
    (micros(usage.ru_utime), micros(usage.ru_stime), usage.ru_maxrss as u64 * 1024)
}

/// Sends `signal` to every process this one can reach: in the sandbox, all but process 1.
pub(super) fn signal_everyone(signal: i32) {
    // SAFETY: plain call.
    unsafe { libc::kill(-1, signal) };
}

/// Sends `signal` to one process.
pub(super) fn signal(pid: i32, signal: i32) {
    // SAFETY: plain call.
    unsafe { libc::kill(pid, signal) };
}

/// What `wait` saw of one descriptor.
#[derive(Clone, Copy)]
pub(super) struct PollEvents {
    /// There is something to read.
    pub(super) readable: bool,
    /// The other side is closed, or the descriptor is broken.
    pub(super) closed: bool,
}

/// Waits until one of `fds` can be read or is closed. A descriptor of -1 is ignored; a negative timeout means no
/// timeout.
pub(super) fn wait<const N: usize>(fds: [RawFd; N], timeout_ms: i32) -> io::Result<[PollEvents; N]> {
    let mut polls = fds.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    // SAFETY: the array outlives the call and has N entries.
    let result = check(unsafe { libc::poll(polls.as_mut_ptr(), N as libc::nfds_t, timeout_ms) });
    if let Err(error) = result
        && error.kind() != io::ErrorKind::Interrupted
    {
        return Err(error);
    }
    let closed = libc::POLLHUP | libc::POLLERR | libc::POLLNVAL;
    Ok(polls.map(|poll| PollEvents { readable: poll.revents & libc::POLLIN != 0, closed: poll.revents & closed != 0 }))
}

/// A file in memory holding `bytes`, read from its beginning.
pub(super) fn memory_file(bytes: &[u8]) -> io::Result<OwnedFd> {
    // SAFETY: the name is a constant; the descriptor is new and ours.
    let fd = unsafe { OwnedFd::from_raw_fd(check(libc::memfd_create(c"stdin".as_ptr(), libc::MFD_CLOEXEC))? as RawFd) };
    let mut file = std::fs::File::from(fd);
    io::Write::write_all(&mut file, bytes)?;
    io::Seek::rewind(&mut file)?;
    Ok(file.into())
}

/// A connected pair of sockets that keep message borders, closed at exec.
pub(super) fn message_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [0; 2];
    // SAFETY: the array has room for two descriptors, which are new and ours.
    unsafe {
        check(libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0, fds.as_mut_ptr()))?;
        Ok((OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])))
    }
}

/// Room for one descriptor in a control message, aligned as the kernel wants it.
#[repr(C, align(8))]
struct FdMessage([u8; 64]);

/// Sends a message, with a descriptor when given.
pub(super) fn send_message(socket: BorrowedFd<'_>, bytes: &[u8], fd: Option<BorrowedFd<'_>>) -> io::Result<()> {
    let mut control = FdMessage([0; 64]);
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // SAFETY: the header points to memory that outlives the call; the control buffer is larger than CMSG_SPACE(4).
    unsafe {
        let mut header: libc::msghdr = mem::zeroed();
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        if let Some(fd) = fd {
            header.msg_control = control.0.as_mut_ptr().cast();
            header.msg_controllen = libc::CMSG_SPACE(4) as _;
            let message = libc::CMSG_FIRSTHDR(&raw const header);
            (*message).cmsg_level = libc::SOL_SOCKET;
            (*message).cmsg_type = libc::SCM_RIGHTS;
            (*message).cmsg_len = libc::CMSG_LEN(4) as _;
            libc::CMSG_DATA(message).cast::<RawFd>().write_unaligned(fd.as_raw_fd());
        }
        check(libc::sendmsg(socket.as_raw_fd(), &raw const header, libc::MSG_NOSIGNAL) as i64)?;
    }
    Ok(())
}

/// Receives one message of at most `most` bytes and the descriptor that came with it. No bytes: the other side is closed.
pub(super) fn receive_message(socket: BorrowedFd<'_>, most: usize) -> io::Result<(Vec<u8>, Option<OwnedFd>)> {
    let mut bytes = vec![0; most];
    let mut control = FdMessage([0; 64]);
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    // SAFETY: as in `send_message`; a received descriptor is new and ours.
    unsafe {
        let mut header: libc::msghdr = mem::zeroed();
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        header.msg_control = control.0.as_mut_ptr().cast();
        header.msg_controllen = control.0.len() as _;
        let length = check(libc::recvmsg(socket.as_raw_fd(), &raw mut header, libc::MSG_CMSG_CLOEXEC) as i64)?;
        bytes.truncate(length as usize);
        let message = libc::CMSG_FIRSTHDR(&raw const header);
        let fd = (!message.is_null() && (*message).cmsg_type == libc::SCM_RIGHTS)
            .then(|| OwnedFd::from_raw_fd(libc::CMSG_DATA(message).cast::<RawFd>().read_unaligned()));
        Ok((bytes, fd))
    }
}

/// Installs a system call filter for this process and returns where its questions arrive.
pub(super) fn install_filter(program: &[libc::sock_filter]) -> io::Result<OwnedFd> {
    let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
    // SAFETY: the program outlives the call, which copies it; the descriptor is new and ours.
    unsafe {
        let fd = check(libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
            &raw const program,
        ))?;
        Ok(OwnedFd::from_raw_fd(fd as RawFd))
    }
}

/// One denied system call: who asked, and what.
pub(super) struct SyscallNotice {
    pub(super) id: u64,
    pub(super) pid: u32,
    pub(super) arch: u32,
    pub(super) number: i32,
    pub(super) arguments: [u64; 6],
}

/// Takes the next question; `None` when the asker is gone.
pub(super) fn next_question(listener: BorrowedFd<'_>) -> io::Result<Option<SyscallNotice>> {
    // SAFETY: all-zero is valid (and required by the kernel); the struct outlives the call.
    let (result, question) = unsafe {
        let mut question: libc::seccomp_notif = mem::zeroed();
        let result = libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut question);
        (result, question)
    };
    match check(result) {
        Ok(_) => Ok(Some(SyscallNotice {
            id: question.id,
            pid: question.pid,
            arch: question.data.arch,
            number: question.data.nr,
            arguments: question.data.args,
        })),
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EINTR)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Answers a question with an error number. A gone asker is not an error.
pub(super) fn answer(listener: BorrowedFd<'_>, id: u64, errno: i32) {
    let response = libc::seccomp_notif_resp { id, val: 0, error: -errno, flags: 0 };
    // SAFETY: the struct outlives the call.
    unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw const response) };
}

/// Whether the thread behind a question still waits for its answer.
pub(super) fn still_asks(listener: BorrowedFd<'_>, id: u64) -> bool {
    // SAFETY: the number outlives the call.
    unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw const id) == 0 }
}

/// Reads at most `length` bytes at `at` from the memory of a process.
pub(super) fn read_memory(pid: u32, at: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0_u8; length];
    let ours = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: length };
    let theirs = libc::iovec { iov_base: ptr::without_provenance_mut(at as usize), iov_len: length };
    // SAFETY: the kernel writes at most `length` bytes into our buffer, and checks the other address itself.
    let read = unsafe { libc::process_vm_readv(pid as libc::pid_t, &raw const ours, 1, &raw const theirs, 1, 0) };
    let read = check(read as i64)?;
    bytes.truncate(read as usize);
    Ok(bytes)
}

/// Longest wait for a connection within the sandbox, which is made at once when somebody listens.
const CONNECT_BOUND_MS: i32 = 100;

/// Connects a socket without waiting for long: a Unix listener whose queue is full is `EAGAIN`, a TCP connection that is not made at once
/// goes on (`EINPROGRESS`) for a caller that does not wait, and has timed out for one that does.
pub(super) fn connect(socket: BorrowedFd<'_>, address: &[u8]) -> io::Result<()> {
    let fd = socket.as_raw_fd();
    // SAFETY: plain descriptor calls; the address outlives the call and its length is told.
    unsafe {
        let flags = check(libc::fcntl(fd, libc::F_GETFL))? as i32;
        check(libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK))?;
        let connected = check(libc::connect(fd, address.as_ptr().cast(), address.len() as libc::socklen_t));
        check(libc::fcntl(fd, libc::F_SETFL, flags))?;
        match connected {
            Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) && flags & libc::O_NONBLOCK == 0 => {
                let mut poll = libc::pollfd { fd, events: libc::POLLOUT, revents: 0 };
                match check(libc::poll(&raw mut poll, 1, CONNECT_BOUND_MS))? {
                    0 => Err(io::Error::from_raw_os_error(libc::ETIMEDOUT)),
                    _ => rustix::net::sockopt::socket_error(socket)?.map_err(Into::into),
                }
            }
            connected => connected.map(drop),
        }
    }
}
