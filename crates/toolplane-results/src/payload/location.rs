//! Where payloads are kept: a directory, or a bucket of a cloud. Read from a URL, and opened.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use object_store::ObjectStore;
use object_store::local::LocalFileSystem;

use super::cloud;
use super::error::PayloadError;
use super::link::Signs;

/// A kind of cloud.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cloud {
    /// Amazon S3, or what speaks its protocol.
    S3,
    /// Google Cloud Storage.
    Gcs,
    /// Azure Blob Storage.
    Azure,
}

impl Cloud {
    /// The feature of a build that can use it.
    pub const fn feature(self) -> &'static str {
        match self {
            Self::S3 => "s3",
            Self::Gcs => "gcs",
            Self::Azure => "azure",
        }
    }
}

/// Where payloads are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A directory of this machine.
    Directory(PathBuf),
    /// A bucket, or below a prefix in it.
    Bucket {
        /// Of which cloud.
        cloud: Cloud,
        /// Its name; that of a container in Azure.
        bucket: String,
        /// What every name in it begins with; empty for the whole bucket.
        prefix: String,
    },
}

impl FromStr for Location {
    type Err = PayloadError;

    /// Reads `file:///directory`, `s3://bucket/prefix`, `gs://bucket/prefix` or `az://container/prefix`.
    fn from_str(url: &str) -> Result<Self, PayloadError> {
        let refuse = |reason: &str| PayloadError::Unusable { store: url.to_owned(), reason: reason.to_owned() };
        let Some((scheme, rest)) = url.split_once("://") else {
            return Err(refuse("it is no URL; `file:///directory`, `s3://`, `gs://` and `az://` are known"));
        };
        let cloud = match scheme {
            "file" if rest.starts_with('/') => return Ok(Self::Directory(PathBuf::from(rest))),
            "file" => return Err(refuse("a directory begins with `file:///`")),
            "s3" => Cloud::S3,
            "gs" => Cloud::Gcs,
            "az" => Cloud::Azure,
            _ => return Err(refuse("`file`, `s3`, `gs` and `az` are known")),
        };
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        // Secrets come from the environment: a URL is shown in logs.
        if rest.contains(['@', '?', '#']) {
            return Err(refuse(
                "it has more than a bucket and a prefix; credentials and endpoints come from the environment",
            ));
        }
        if bucket.is_empty() {
            return Err(refuse("it names no bucket"));
        }
        let prefix = prefix.trim_matches('/');
        if prefix.split('/').any(|part| matches!(part, "." | "..")) {
            return Err(refuse("its prefix has a part that is no name"));
        }
        Ok(Self::Bucket { cloud, bucket: bucket.to_owned(), prefix: prefix.to_owned() })
    }
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Directory(path) => write!(f, "file://{}", path.display()),
            Self::Bucket { cloud, bucket, prefix } => {
                let scheme = match cloud {
                    Cloud::S3 => "s3",
                    Cloud::Gcs => "gs",
                    Cloud::Azure => "az",
                };
                write!(f, "{scheme}://{bucket}/{prefix}")
            }
        }
    }
}

/// An object store that was opened.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) objects: Arc<dyn ObjectStore>,
    /// What makes links to objects, where the store has such a thing.
    pub(super) signer: Option<Arc<dyn Signs>>,
    /// It keeps a media type and a digest with an object.
    pub(super) keeps_attributes: bool,
}

impl Location {
    /// Opens it. Of a cloud nothing is asked yet.
    pub(super) fn open(&self) -> Result<Opened, PayloadError> {
        match self {
            Self::Directory(path) => Ok(Opened { objects: directory(path)?, signer: None, keeps_attributes: false }),
            Self::Bucket { cloud, bucket, prefix } => cloud::open(*cloud, bucket, prefix)
                .map_err(|reason| PayloadError::Unusable { store: self.to_string(), reason }),
        }
    }
}

/// A directory whose writes are durable when they return; made when it does not exist.
pub(super) fn directory(path: &Path) -> Result<Arc<dyn ObjectStore>, PayloadError> {
    let refuse = |reason: String| PayloadError::Open { path: path.to_owned(), reason };
    std::fs::create_dir_all(path).map_err(|source| refuse(source.to_string()))?;
    let objects = LocalFileSystem::new_with_prefix(path).map_err(|source| refuse(source.to_string()))?;
    Ok(Arc::new(objects.with_fsync(true)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read_and_written() {
        for url in ["file:///var/objects", "s3://bucket/a/b", "gs://bucket/", "az://container/x"] {
            assert_eq!(url.parse::<Location>().expect("an address").to_string(), url);
        }
        let bare: Location = "s3://bucket".parse().expect("an address");
        assert_eq!(bare, Location::Bucket { cloud: Cloud::S3, bucket: "bucket".to_owned(), prefix: String::new() });
        for url in [
            "objects",
            "file://objects",
            "ftp://x/y",
            "s3:///x",
            "s3://key:secret@bucket/x",
            "az://c/x?sig=1",
            "s3://b/../c",
        ] {
            let refused = url.parse::<Location>().expect_err("refused");
            assert_eq!(refused.code(), "PAYLOAD_STORE_UNUSABLE", "{url}");
        }
    }

    #[test]
    fn a_build_without_a_cloud_says_how_to_get_one_with_it() {
        for (cloud, there) in [
            (Cloud::S3, cfg!(feature = "s3")),
            (Cloud::Gcs, cfg!(feature = "gcs")),
            (Cloud::Azure, cfg!(feature = "azure")),
        ] {
            let place = Location::Bucket { cloud, bucket: "b".to_owned(), prefix: String::new() };
            if !there {
                let refused = place.open().expect_err("not in this build").to_string();
                assert!(refused.contains(&format!("--features {}", cloud.feature())), "{refused}");
            }
        }
    }
}
