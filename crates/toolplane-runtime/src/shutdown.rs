//! How a process is asked to stop: politely once, then for good.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// The wish to stop, shared by everything in a process. Cheap to clone; all clones are the same wish.
///
/// `requested` asks for a drain: no new work, finish what runs. `forced` ends the drain early.
#[derive(Clone, Debug, Default)]
pub struct Shutdown {
    requested: CancellationToken,
    forced: CancellationToken,
}

impl Shutdown {
    /// A process that is not asked to stop.
    pub fn new() -> Self {
        Self::default()
    }

    /// A part that can be stopped alone and stops with the whole.
    pub fn child(&self) -> Self {
        Self { requested: self.requested.child_token(), forced: self.forced.child_token() }
    }

    /// Asks for a drain. Harmless when already asked for.
    pub fn request(&self) {
        self.requested.cancel();
    }

    /// Ends the drain: what still runs is dropped.
    pub fn force(&self) {
        self.requested.cancel();
        self.forced.cancel();
    }

    /// Whether a stop was asked for.
    pub fn is_requested(&self) -> bool {
        self.requested.is_cancelled()
    }

    /// Waits until a stop is asked for.
    pub async fn requested(&self) {
        self.requested.cancelled().await;
    }

    /// Waits until the drain is to end early.
    pub async fn forced(&self) {
        self.forced.cancelled().await;
    }

    /// The token behind [`requested`](Self::requested), for code that only knows tokens.
    pub fn token(&self) -> CancellationToken {
        self.requested.clone()
    }

    /// Makes SIGTERM and SIGINT ask for a drain, and a second one force the end. Must be called within the runtime.
    /// Returns an error when the operating system does not let them be handled.
    pub fn on_signals(&self) -> std::io::Result<()> {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let shutdown = self.clone();
        crate::tasks::spawn("following signals", async move {
            loop {
                let name = tokio::select! {
                    _ = terminate.recv() => "SIGTERM",
                    _ = interrupt.recv() => "SIGINT",
                };
                if shutdown.is_requested() {
                    tracing::warn!(signal = name, "second signal: stopping now");
                    shutdown.force();
                    return;
                }
                tracing::info!(signal = name, "stopping: finishing what runs");
                shutdown.request();
            }
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Shutdown;

    #[tokio::test]
    async fn a_child_stops_with_its_parent_but_not_the_other_way() {
        let process = Shutdown::new();
        let (one, other) = (process.child(), process.child());
        one.request();
        assert!(one.is_requested() && !process.is_requested() && !other.is_requested());
        process.force();
        other.requested().await;
        other.forced().await;
    }
}
