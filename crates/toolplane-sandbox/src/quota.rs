//! What a workspace holds, and may hold.

use serde::{Deserialize, Serialize};

pub(crate) const MIB: u64 = 1024 * 1024;

/// What a directory holds, or how much it may hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Bytes on disk, as the file system counts them. A file with several names counts once.
    pub bytes: u64,
    /// Files, directories and whatever else takes an inode.
    pub files: u64,
}

impl Usage {
    /// What is left of this when `other` is taken away; nothing below zero.
    #[must_use]
    pub fn less(self, other: Self) -> Self {
        Self { bytes: self.bytes.saturating_sub(other.bytes), files: self.files.saturating_sub(other.files) }
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { bytes: self.bytes.saturating_add(other.bytes), files: self.files.saturating_add(other.files) }
    }

    /// The smaller bound of each kind.
    #[must_use]
    pub fn within(self, other: Self) -> Self {
        Self { bytes: self.bytes.min(other.bytes), files: self.files.min(other.files) }
    }
}

/// Bounds on a workspace. Every one is always in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quota {
    /// Most the directory may hold: a run in one that holds as much is refused.
    pub most: Usage,
    /// Most it may grow by while one run lasts. What others write there meanwhile counts too: nobody can tell it apart.
    pub growth: Usage,
    /// Bytes that stay free on the file system for everything else on the machine. Also the bound on what cannot be seen in
    /// the directory: files that were removed and are still open.
    pub reserve_bytes: u64,
}

impl Default for Quota {
    /// 8 GiB and 200,000 files, of which one run adds at most 1 GiB and 50,000; 512 MiB stay free.
    fn default() -> Self {
        Self {
            most: Usage { bytes: 8192 * MIB, files: 200_000 },
            growth: Usage { bytes: 1024 * MIB, files: 50_000 },
            reserve_bytes: 512 * MIB,
        }
    }
}
