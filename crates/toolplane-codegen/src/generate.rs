//! From protos to code and descriptors, without writing into the repository.

use std::path::{Path, PathBuf};

use prost::Message as _;
use prost_types::FileDescriptorSet;
use protox::Compiler;

use crate::layout;

/// Fields that would make every message they may be in some kilobytes large, which is copied at each step of a call.
const LARGE: [&str; 9] = [
    ".toolplane.v1.CallResponse.result",
    ".toolplane.v1.CallResponse.invocation",
    ".toolplane.v1.InvokeResponse.result",
    ".toolplane.v1.SubmitInvocationResponse.invocation",
    ".toolplane.v1.WaitInvocationResponse.result",
    ".toolplane.v1.WatchInvocationResponse.result",
    ".toolplane.v1.BatchItem.result",
    ".toolplane.v1.ExecutionDone.outcome",
    ".toolplane.v1.Offer.dispatch",
];

/// Messages that can hold secrets of a caller or of a worker. `toolplane-proto` gives them a `Debug` that shows none.
const SECRET: [&str; 5] = [
    ".toolplane.v1.JsonPayload",
    ".toolplane.v1.TextBlock",
    ".toolplane.v1.LogBlock",
    ".toolplane.v1.DiffBlock",
    ".toolplane.v1.LeaseRef",
];

/// What is generated from the protos.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// Messages, clients and server traits.
    pub code: String,
    /// An encoded `google.protobuf.FileDescriptorSet` with all imports and without source positions.
    pub descriptors: Vec<u8>,
}

/// Why nothing was generated.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// A proto is wrong.
    #[error("cannot compile the protos: {0:?}")]
    Proto(#[from] protox::Error),
    /// A file cannot be read or written.
    #[error("cannot use `{path}`: {source}")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl GenerateError {
    fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::File { path: path.to_owned(), source }
    }
}

/// Compiles every proto below `root`. The same protos give the same bytes.
///
/// # Errors
///
/// - [`GenerateError::Proto`] when a proto cannot be read or compiled.
/// - [`GenerateError::File`] when `root` or a directory below it cannot be listed, or the code cannot be written to a
///   temporary directory and read back, e.g. because no proto is of the package [`layout::PACKAGE`].
pub fn generate(root: &Path) -> Result<Generated, GenerateError> {
    let with_comments = compiled(root)?;
    let descriptors = without_comments(with_comments.clone()).encode_to_vec();
    Ok(Generated { code: rust_code(with_comments)?, descriptors })
}

/// The descriptors of every proto below `root` with all imports and comments, as an encoded `google.protobuf.FileDescriptorSet`.
///
/// Fails with [`GenerateError::Proto`] or [`GenerateError::File`] as [`generate`] does.
pub fn described(root: &Path) -> Result<Vec<u8>, GenerateError> {
    compiled(root).map(|set| set.encode_to_vec())
}

fn compiled(root: &Path) -> Result<FileDescriptorSet, GenerateError> {
    let mut compiler = Compiler::new([root])?;
    compiler.include_imports(true).include_source_info(true);
    for file in proto_files(root)? {
        compiler.open_file(file)?;
    }
    Ok(compiler.file_descriptor_set())
}

/// Every proto below `root`, sorted, relative to it.
fn proto_files(root: &Path) -> Result<Vec<PathBuf>, GenerateError> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).map_err(GenerateError::file(&folder))? {
            let path = entry.map_err(GenerateError::file(&folder))?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "proto") {
                found.push(path.strip_prefix(root).unwrap_or(&path).to_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Positions and comments would change the descriptor set with every edit and are of no use to a running server.
fn without_comments(mut set: FileDescriptorSet) -> FileDescriptorSet {
    for file in &mut set.file {
        file.source_code_info = None;
    }
    set
}

fn rust_code(set: FileDescriptorSet) -> Result<String, GenerateError> {
    let out = tempfile::tempdir().map_err(GenerateError::file(Path::new("a temporary folder")))?;
    let configured = tonic_prost_build::configure().bytes(".").btree_map(".").skip_debug(SECRET);
    LARGE
        .iter()
        .fold(configured, |builder, field| builder.boxed(field))
        .out_dir(out.path())
        .compile_fds(set)
        .map_err(GenerateError::file(out.path()))?;
    let file = out.path().join(format!("{}.rs", layout::PACKAGE));
    std::fs::read_to_string(&file).map_err(GenerateError::file(&file))
}
