//! Files are replaced whole: a reader sees the old bytes or the new ones, and another name of the old file keeps it.

use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use toolplane_records::codes;
use toolplane_records::error::ToolError;

use super::site::Site;
use super::target::{Existing, FileTarget, unwritable};
use crate::failure::{canceled, excerpt, execution_failed, nothing_done};

/// Puts `content` at the place of `target`, durably, with the permission bits of the file before.
///
/// `before` is what was found there: when that is not there any more, or something is there that was not, nothing is
/// written. The file is written beside the old one and renamed over it, so that neither a crash nor a second name (a hard
/// link) of the old file ever sees half of it.
pub(super) fn replace(
    site: &Site,
    target: &FileTarget,
    before: Option<&Existing>,
    content: &[u8],
    given: &str,
) -> Result<(), ToolError> {
    site.admit(before.map(|existing| existing.size), content.len())?;
    let spare = Spare::write(&target.directory, before.map(|existing| existing.mode), content)
        .map_err(|error| unwritable(given, error))?;
    if site.stop.wanted() {
        return Err(nothing_done(canceled()));
    }
    let renamed = match before {
        None => spare.rename(&target.name, RenameFlags::NOREPLACE),
        Some(existing) if target.identity() != Some(existing.identity) => Err(Errno::EXIST),
        Some(_) => spare.rename(&target.name, RenameFlags::empty()),
    };
    match renamed {
        Ok(()) => {}
        Err(Errno::EXIST) => return Err(changed(given)),
        Err(error) => return Err(unwritable(given, error)),
    }
    // The bytes are safe already; this makes the name safe. Some file systems cannot, and then there is nothing to be done.
    let _ = rustix::fs::fsync(&target.directory);
    Ok(())
}

fn changed(given: &str) -> ToolError {
    let message = format!("another program changed `{}` meanwhile; read it again", excerpt(given));
    nothing_done(execution_failed(codes::PATH_CHANGED, message))
}

/// A file with the new bytes that has no lasting name yet; it goes away unless it gets one.
struct Spare<'a> {
    directory: &'a OwnedFd,
    name: String,
}

impl<'a> Spare<'a> {
    fn write(directory: &'a OwnedFd, mode: Option<Mode>, content: &[u8]) -> Result<Self, Errno> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let spare = Self { directory, name: name() };
        let file = match rustix::fs::openat(directory, &spare.name, flags, Mode::from_raw_mode(0o666)) {
            Ok(file) => file,
            Err(error) => {
                // Whatever has the name is not ours to remove.
                std::mem::forget(spare);
                return Err(error);
            }
        };
        if let Some(mode) = mode {
            rustix::fs::fchmod(&file, mode)?;
        }
        let mut file = std::fs::File::from(file);
        let written = file.write_all(content).and_then(|()| file.sync_all());
        written.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        Ok(spare)
    }

    fn rename(self, to: &str, flags: RenameFlags) -> Result<(), Errno> {
        let done = rustix::fs::renameat_with(self.directory, &self.name, self.directory, to, flags);
        if done.is_ok() {
            std::mem::forget(self);
        }
        done
    }
}

impl Drop for Spare<'_> {
    fn drop(&mut self) {
        let _ = rustix::fs::unlinkat(self.directory, &self.name, AtFlags::empty());
    }
}

/// A name no other writer takes: not in this process, nor in another one on this machine.
fn name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let now = std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos());
    format!(".toolplane-{}-{now:x}-{}.tmp", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}
