//! From this role's refusals to what callers and operators see.

use std::path::PathBuf;
use std::time::Duration;

use toolplane_backend::BackendError;
use toolplane_proto::convert::ConvertError;
use toolplane_records::codes;
use toolplane_records::error::FieldViolation;
use toolplane_records::ids::{SurfaceId, TenantId};
use toolplane_runtime::ApiError;
use toolplane_runtime::process::RoleError;
use toolplane_store::StoreError;

/// Pause before trying again where room has to be made first.
const TOO_MANY_PAUSE: Duration = Duration::from_secs(30);

/// The role could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SurfaceError {
    /// The store cannot be opened.
    #[error("the surface store cannot be opened: {0}")]
    Open(#[from] BackendError),
    /// The store cannot be read.
    #[error("the registered tools cannot be read: {0}")]
    Store(#[from] StoreError),
    /// A stored tool is not what this program writes or accepts.
    #[error("the stored tool `{key}` cannot be used: {reason}")]
    Tool {
        /// The record.
        key: String,
        /// What is wrong with it.
        reason: String,
    },
    /// What the role kept in a directory before it used Redis cannot be moved there.
    #[error("`{}` holds tools and surfaces of before, and `store.backend` is `redis`: {reason}", directory.display())]
    Moved {
        /// The directory.
        directory: PathBuf,
        /// The cause, and what is to be done.
        reason: String,
    },
    /// An entry of `[[providers]]` cannot be used.
    #[error("`providers[{index}]`: {reason}")]
    Providers {
        /// Which entry, from 0.
        index: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// An entry of `surface.synonyms` cannot be used.
    #[error("`surface.synonyms[{index}]`: {reason}")]
    Synonyms {
        /// Which entry, from 0.
        index: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The embedding model or endpoint cannot be used.
    #[error("`surface.search.meaning.{key}`: {reason}")]
    Meaning {
        /// The key.
        key: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The reranker cannot be used.
    #[error("`surface.search.reranker`: {reason}")]
    Reranker {
        /// What is wrong with it.
        reason: String,
    },
    /// Configured tool files cannot be used.
    #[error("`surface.declarations`: {}", told(faults))]
    Declarations {
        /// Each of these files, with what is wrong with it.
        faults: Vec<(PathBuf, String)>,
    },
}

impl SurfaceError {
    /// Work in the background was cut off.
    pub(crate) fn ending() -> Self {
        Self::Store(StoreError::Unavailable { reason: "the process is ending".to_owned() })
    }

    /// Stable machine-readable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Open(error) => error.code(),
            Self::Store(error) => error.code(),
            Self::Tool { .. } => codes::SURFACE_STORED_TOOL.as_str(),
            Self::Moved { .. } => codes::SURFACE_NOT_MOVED.as_str(),
            Self::Providers { .. } => codes::SURFACE_PROVIDERS.as_str(),
            Self::Synonyms { .. } => codes::SURFACE_SYNONYMS.as_str(),
            Self::Meaning { .. } => codes::SURFACE_MEANING.as_str(),
            Self::Reranker { .. } => codes::SURFACE_RERANKER.as_str(),
            Self::Declarations { .. } => codes::SURFACE_DECLARATIONS.as_str(),
        }
    }
}

fn told(faults: &[(PathBuf, String)]) -> String {
    let told: Vec<String> = faults.iter().map(|(file, reason)| format!("`{}`: {reason}", file.display())).collect();
    told.join("; ")
}

impl From<SurfaceError> for RoleError {
    fn from(error: SurfaceError) -> Self {
        Self::new(error.code(), error)
    }
}

pub(crate) fn of_store(error: StoreError) -> ApiError {
    toolplane_backend::api_error("surface", &error)
}

/// Others changed the same thing in the store first, again and again.
pub(crate) fn lost() -> ApiError {
    let message = "another request changed it first; read it again".to_owned();
    ApiError::Conflict { reason: codes::VERSION_LOST, message }
}

/// What a tenant may have is used up.
pub(crate) fn too_many(tenant: &TenantId, message: String) -> ApiError {
    let subject = format!("tenant/{tenant}");
    ApiError::Exhausted { reason: codes::TOO_MANY, subject, message, retry_after: Some(TOO_MANY_PAUSE) }
}

pub(crate) fn unreadable(error: serde_json::Error) -> ApiError {
    ApiError::internal(codes::RECORD_UNREADABLE, error)
}

pub(crate) fn of_violations(violations: Vec<FieldViolation>) -> ApiError {
    ApiError::invalid_arguments(violations.into_iter().map(|violation| (violation.field, violation.description)))
}

/// A surface that `id` is within, or is to be within, is not there any more.
pub(crate) fn parent_gone(id: &SurfaceId, gone: &SurfaceId) -> ApiError {
    let message = format!("the surface `{id}` is within the surface `{gone}`, which is not there any more");
    ApiError::FailedPrecondition { reason: codes::PARENT_GONE, subject: format!("surface/{id}"), message }
}

/// Whether it is what [`parent_gone`] says.
pub(crate) fn is_parent_gone(error: &ApiError) -> bool {
    matches!(error, ApiError::FailedPrecondition { reason, .. } if *reason == codes::PARENT_GONE)
}

pub(crate) fn of_field(error: ConvertError) -> ApiError {
    ApiError::invalid_argument(error.field, error.rule)
}
