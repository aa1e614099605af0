//! The secrets of this worker: made from the configuration, looked at again and again, and exchanged when the configuration is.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::signal::unix::{SignalKind, signal};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use toolplane_credentials::{Broker, ConfigFault, CredentialConfig};
use toolplane_execution::CredentialSource;
use toolplane_runtime::Config;

use crate::error::ExecutorError;

/// How often what is due is renewed, and sources and the file of the configuration are looked at.
const RENEW: Duration = Duration::from_secs(5);
/// How long the start waits for slow sources. What is not there by then is got when a call needs it.
const LOAD_BOUND: Duration = Duration::from_secs(15);

/// The credentials of `config`; nothing is looked at yet.
///
/// Fails with [`ExecutorError::Option`] when the configuration breaks a rule.
pub(crate) fn source(config: &Config) -> Result<CredentialSource, ExecutorError> {
    if config.credentials.is_empty() {
        return Ok(CredentialSource::default());
    }
    let broker = Broker::of_process(config.credentials.clone());
    let broker = broker.map_err(|fault| ExecutorError::Option { key: "credentials", rule: fault.to_string() })?;
    Ok(CredentialSource::new(Arc::new(broker)))
}

/// Looks at the sources before the first call.
pub(crate) async fn load(source: &CredentialSource) {
    if let Some(broker) = source.broker()
        && tokio::time::timeout(LOAD_BOUND, broker.load()).await.is_err()
    {
        tracing::warn!(waited = ?LOAD_BOUND, "a source of credentials is slow; the worker starts without it");
    }
}

/// Keeps credentials fresh, and takes over what `file` says when it changes or on SIGHUP, until `stop`.
pub(crate) async fn follow(source: Arc<CredentialSource>, file: Option<PathBuf>, stop: CancellationToken) {
    let mut seen = stamp(file.as_deref()).await;
    let mut look = tokio::time::interval(RENEW);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // Where signals cannot be had, the file is still looked at.
    let mut hangups = signal(SignalKind::hangup()).ok();
    loop {
        let hangup = async {
            match &mut hangups {
                Some(hangups) => hangups.recv().await,
                None => std::future::pending().await,
            }
        };
        let asked = tokio::select! {
            () = stop.cancelled() => return,
            _ = hangup => true,
            _ = look.tick() => false,
        };
        let now = stamp(file.as_deref()).await;
        if let Some(file) = file.as_deref().filter(|_| asked || now != seen) {
            seen = now;
            reload(&source, file).await;
        }
        if let Some(broker) = source.broker() {
            broker.renew().await;
            // What is not there any more, or again, is told although no call asks.
            broker.load().await;
        }
    }
}

/// When the file was written, and how large it is.
async fn stamp(file: Option<&Path>) -> Option<(SystemTime, u64)> {
    let meta = tokio::fs::metadata(file?).await.ok()?;
    Some((meta.modified().ok()?, meta.len()))
}

/// What is wrong is refused as a whole: the credentials before stay in force then.
async fn reload(source: &CredentialSource, file: &Path) {
    let path = file.to_owned();
    let read = tokio::task::spawn_blocking(move || Config::load(Some(&path), std::env::vars_os())).await;
    let credentials = match read {
        Ok(Ok(config)) => config.credentials,
        Ok(Err(error)) => {
            return tracing::error!(%error, "the configuration is refused; the credentials before stay in force");
        }
        Err(_) => return,
    };
    match exchange(source, credentials) {
        Ok(None) => {}
        Ok(Some(broker)) => {
            broker.load().await;
            source.replace(Arc::new(broker));
            tracing::info!("the credentials of the configuration were read again");
        }
        Err(fault) => tracing::error!(%fault, "the credentials before stay in force"),
    }
}

fn exchange(source: &CredentialSource, credentials: Vec<CredentialConfig>) -> Result<Option<Broker>, ConfigFault> {
    match source.broker() {
        Some(earlier) => earlier.with_credentials(credentials).map(Some),
        None if credentials.is_empty() => Ok(None),
        None => Broker::of_process(credentials).map(Some),
    }
}
