//! Work that goes on without its caller.

use futures_util::future::BoxFuture;

use crate::calls::Calls;
use crate::error::CallError;

/// Runs work that must not stop half way when its caller goes away.
pub(super) async fn detached<T: Send + 'static>(
    calls: &Calls,
    work: BoxFuture<'static, Result<T, CallError>>,
) -> Result<T, CallError> {
    let done = calls.storage().environment().detached(work).await;
    done.unwrap_or_else(|| Err(CallError::Internal("a handler panicked".to_owned())))
}
