//! Tasks that live as long as what owns them.

use tokio_util::task::AbortOnDropHandle;

/// Starts a task that nobody waits for and that ends soon by itself.
#[expect(clippy::disallowed_methods, reason = "as below; what it leaves undone when the process ends is done again")]
pub(crate) fn beside(work: impl Future<Output = ()> + Send + 'static) {
    drop(tokio::spawn(work));
}

/// Starts a task that ends with its handle.
#[expect(clippy::disallowed_methods, reason = "a store knows no process whose tasks it could join, and owns its own")]
pub(crate) fn owned(work: impl Future<Output = ()> + Send + 'static) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(work))
}
