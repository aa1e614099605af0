//! Who is at work in a workspace: what one run makes for itself must not be taken away because another one has ended.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::path::Path;

use parking_lot::Mutex;
use rustix::fs::FlockOperation;

use super::survey::Id;

static ROOMS: Mutex<BTreeMap<Id, Room>> = Mutex::new(BTreeMap::new());

#[derive(Debug)]
struct Room {
    inside: usize,
    /// FIFOs, sockets and devices that were there when the first run came in.
    before: HashSet<Id>,
    /// Locked (shared) on the directory, so that other workers of this machine know that it is in use.
    door: File,
}

/// One run that is inside. Dropping it goes out and says nothing.
#[derive(Debug)]
pub(super) struct Stay(Option<Id>);

impl Stay {
    /// Goes in; `special` is what is there now.
    pub(super) fn enter(workspace: &Path, special: impl Iterator<Item = Id>) -> std::io::Result<Self> {
        let door = File::open(workspace)?;
        let stat = rustix::fs::fstat(&door)?;
        let id = (stat.st_dev, stat.st_ino);
        let mut rooms = ROOMS.lock();
        let room = rooms.entry(id).or_insert_with(|| {
            // Where a tool holds a lock of its own on the directory, the last one out finds out that it does.
            let _ = rustix::fs::flock(&door, FlockOperation::NonBlockingLockShared);
            Room { inside: 0, before: special.collect(), door }
        });
        room.inside += 1;
        Ok(Self(Some(id)))
    }

    /// Goes out. The last one, also of other workers, is given what was there before and may clear the rest away.
    pub(super) fn leave(mut self) -> Option<HashSet<Id>> {
        let room = self.out()?;
        rustix::fs::flock(&room.door, FlockOperation::NonBlockingLockExclusive).ok()?;
        Some(room.before)
    }

    fn out(&mut self) -> Option<Room> {
        let id = self.0.take()?;
        let mut rooms = ROOMS.lock();
        let room = rooms.get_mut(&id)?;
        room.inside -= 1;
        if room.inside == 0 { rooms.remove(&id) } else { None }
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        drop(self.out());
    }
}
