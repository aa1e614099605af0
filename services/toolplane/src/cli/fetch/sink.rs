//! Where fetched bytes go: a file, which is there when they are proved and not before, or standard output.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use super::super::output::Output;
use crate::cli::failure::Failure;

/// Longest line that is kept back until its end has come.
const MAX_LINE: usize = 64 * 1024;

/// A file or standard output.
pub(in crate::cli) struct Sink {
    file: Option<PartialFile>,
    /// The bytes are shown as text; those of the line that has not ended are kept back.
    shown: Option<Vec<u8>>,
}

impl Sink {
    pub(in crate::cli) fn open(path: Option<PathBuf>, terminal: bool) -> Result<Self, Failure> {
        let Some(path) = path else { return Ok(Self { file: None, shown: terminal.then(Vec::new) }) };
        Ok(Self { file: Some(PartialFile::open(path)?), shown: None })
    }

    pub(in crate::cli) fn write(&mut self, data: &[u8], out: &mut Output) -> Result<(), Failure> {
        match (&mut self.file, &mut self.shown) {
            (Some(target), _) => target.file.write_all(data).map_err(|error| Failure::file(&target.path, &error)),
            (None, None) => out.raw(data),
            (None, Some(kept)) => {
                kept.extend_from_slice(data);
                let end = kept.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
                let end = end.or((kept.len() > MAX_LINE).then_some(kept.len())).unwrap_or(0);
                let lines: Vec<u8> = kept.drain(..end).collect();
                show(&lines, out)
            }
        }
    }

    /// Everything has come, and is right. Without this, a file is as it was.
    pub(in crate::cli) fn close(&mut self, out: &mut Output) -> Result<(), Failure> {
        match (&mut self.file, &mut self.shown) {
            (Some(target), _) => target.finish(),
            (None, None) => Ok(()),
            (None, Some(kept)) => show(&std::mem::take(kept), out),
        }
    }
}

fn show(lines: &[u8], out: &mut Output) -> Result<(), Failure> {
    let text = String::from_utf8_lossy(lines);
    if text.is_empty() { Ok(()) } else { out.block(text.strip_suffix('\n').unwrap_or(&text)) }
}

/// A file that is written under another name until it is whole.
struct PartialFile {
    path: PathBuf,
    file: BufWriter<File>,
    /// What it is called meanwhile. Something else than a file, as a pipe, is written to as it is.
    partial: Option<PathBuf>,
}

impl PartialFile {
    fn open(path: PathBuf) -> Result<Self, Failure> {
        let there = fs::metadata(&path).ok();
        let partial = there.as_ref().is_none_or(fs::Metadata::is_file);
        // Where a link leads to, not the link, is written.
        let path = if there.is_some() { fs::canonicalize(&path).unwrap_or(path) } else { path };
        let partial = partial.then(|| with_ending(&path, ".partial"));
        let file = Self::create(partial.as_ref().unwrap_or(&path), there.filter(fs::Metadata::is_file));
        let file = BufWriter::new(file.map_err(|error| Failure::file(&path, &error))?);
        Ok(Self { path, file, partial })
    }

    fn create(path: &Path, like: Option<fs::Metadata>) -> std::io::Result<File> {
        let file = File::create(path)?;
        if let Some(like) = like {
            file.set_permissions(like.permissions())?;
        }
        Ok(file)
    }

    fn finish(&mut self) -> Result<(), Failure> {
        let written = self.file.flush().and_then(|()| match &self.partial {
            Some(partial) => fs::rename(partial, &self.path),
            None => Ok(()),
        });
        written.map_err(|error| Failure::file(&self.path, &error))?;
        self.partial = None;
        Ok(())
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        if let Some(partial) = &self.partial {
            // Of no use any more. What cannot be removed has a name that says so.
            drop(fs::remove_file(partial));
        }
    }
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_is_there_when_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fetched");
        let open = || PartialFile::open(path.clone()).unwrap();
        let mut target = open();
        target.file.write_all(b"wrong").unwrap();
        drop(target);
        assert_eq!(names(folder.path()), Vec::<String>::new());
        let mut target = open();
        target.file.write_all(b"right").unwrap();
        assert!(!path.exists());
        target.finish().unwrap();
        drop(target);
        // What is there stays until something better has come.
        let mut target = open();
        target.file.write_all(b"wrong").unwrap();
        drop(target);
        assert_eq!((fs::read(&path).unwrap(), names(folder.path())), (b"right".to_vec(), vec!["fetched".to_owned()]));
    }

    #[test]
    fn what_is_no_file_is_not_replaced() {
        let mut target = PartialFile::open("/dev/null".into()).unwrap();
        target.file.write_all(b"text").unwrap();
        target.finish().unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
