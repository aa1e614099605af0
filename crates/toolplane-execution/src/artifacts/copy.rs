//! A file of a workspace, copied to where no tool comes.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use tokio::io::AsyncReadExt as _;
use toolplane_credentials::Mask;
use toolplane_sandbox::{OutputFile, OutputWriter};

use crate::files::Dir;

/// Bytes copied at once.
const PIECE: usize = 256 * 1024;
/// Bytes of the beginning by which its kind is told.
const BEGINNING: usize = 4096;

/// The file at `path` beneath `workspace`, opened without following a link or waiting for anything.
pub(super) async fn opened(workspace: &Path, path: &str) -> io::Result<File> {
    let (workspace, path) = (workspace.to_owned(), path.to_owned());
    let opened = tokio::task::spawn_blocking(move || open(&workspace, &path)).await;
    opened.unwrap_or_else(|error| Err(io::Error::other(error)))
}

fn open(workspace: &Path, path: &str) -> io::Result<File> {
    let mut directory = Dir::at(workspace)?;
    let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
    for component in above.split('/').filter(|component| !component.is_empty()) {
        directory = directory.dir(OsStr::new(component))?;
    }
    let file = directory.file(OsStr::new(name))?;
    let metadata = file.metadata()?;
    // It may be another one than was looked at.
    if !metadata.is_file() || metadata.nlink() > 1 {
        return Err(io::Error::other("it is no plain file any more"));
    }
    Ok(file)
}

/// The copy, without the secrets of `mask`, and the first bytes of the file.
pub(super) async fn copied(file: File, most: u64, outputs: &Path, mask: &Mask) -> io::Result<(OutputFile, Vec<u8>)> {
    let (mut source, mut writer) = (tokio::fs::File::from_std(file), OutputWriter::create(outputs).await?);
    let (mut stream, mut piece, mut out) = (mask.stream(), vec![0; PIECE], Vec::new());
    let (mut read, mut beginning) = (0, Vec::new());
    loop {
        let length = source.read(&mut piece).await?;
        if length == 0 {
            break;
        }
        read += length as u64;
        if read > most {
            return Err(io::Error::other("it grows while it is copied"));
        }
        if beginning.len() < BEGINNING {
            beginning.extend_from_slice(&piece[..length.min(BEGINNING - beginning.len())]);
        }
        if mask.is_empty() {
            writer.write(&piece[..length]).await?;
        } else {
            stream.push(&piece[..length], &mut out);
            writer.write(&out).await?;
            out.clear();
        }
    }
    stream.finish(&mut out);
    writer.write(&out).await?;
    Ok((writer.finish().await?, beginning))
}
