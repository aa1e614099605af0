//! Inputs that once made a reader fail, kept as files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The kept inputs of a target, in the order of their names; none when there is no such directory.
pub(crate) fn read(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    files.into_iter().filter_map(|file| fs::read(&file).ok().map(|bytes| (file, bytes))).collect()
}

/// Keeps an input, under a name made from its bytes.
pub(crate) fn keep(folder: &Path, input: &[u8]) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let file = folder.join(format!("{:016x}", name(input)));
    fs::write(&file, input)?;
    Ok(file)
}

/// FNV-1a: the same on every machine and with every compiler.
fn name(input: &[u8]) -> u64 {
    input.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
