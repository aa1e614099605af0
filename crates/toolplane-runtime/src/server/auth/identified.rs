//! Who a caller was found to be.

use crate::caller::Caller;
use crate::status::ApiError;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use std::sync::Arc;
use toolplane_records::codes;

/// Who calls, now or after keys were fetched.
pub(crate) enum Identified {
    Now(Result<Arc<Caller>, ApiError>),
    Later(BoxFuture<'static, Result<Arc<Caller>, ApiError>>),
}

impl std::fmt::Debug for Identified {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Now(found) => f.debug_tuple("Now").field(found).finish(),
            Self::Later(_) => f.write_str("Later"),
        }
    }
}

impl Identified {
    pub(super) fn later(found: impl Future<Output = Result<Arc<Caller>, ApiError>> + Send + 'static) -> Self {
        Self::Later(found.boxed())
    }
}

/// Nothing is said about how a secret was wrong.
pub(super) fn unknown() -> ApiError {
    ApiError::Unauthenticated {
        reason: codes::TOKEN_UNKNOWN,
        message: "the bearer token or API key is not known here".to_owned(),
    }
}
