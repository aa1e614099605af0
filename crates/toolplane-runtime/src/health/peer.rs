//! The health of another process, asked for and followed.

use std::time::Duration;
use toolplane_records::codes;

use tokio_util::sync::CancellationToken;
use tonic::{Code, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use super::readiness::{Need, REASON};
use crate::client::{Backoff, Peer, retry};
use crate::status;

/// How often a peer is asked, how often while it is missing, and how long it may take to answer.
const EVERY: Duration = Duration::from_secs(2);
const SOON: Duration = Duration::from_millis(250);
const PATIENCE: Duration = Duration::from_secs(2);
/// Longest reason that is passed on.
const MAX_REASON_CHARS: usize = 300;

/// Why a service of another process is of no use now, in a few words. Names no host: any client may ask for the health.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PeerUnready {
    /// It did not answer in time.
    #[error("no answer within {} s", PATIENCE.as_secs())]
    Silent,
    /// Nothing listens at its address, or no way leads there.
    #[error("it cannot be reached")]
    Unreachable,
    /// The TLS handshake with it fails.
    #[error("encryption fails between it and this process")]
    Encryption,
    /// The process at its address knows no such service.
    #[error("another service answers at its address")]
    AnotherService,
    /// It answers with an error.
    #[error("it answers {0:?}")]
    Answers(Code),
    /// It says that it is not ready, and may say what it lacks.
    #[error("it is not ready{}", if .0.is_empty() { String::new() } else { format!(" ({})", .0) })]
    NotReady(String),
}

/// Asks the process behind `peer` whether `service` (or, without a name, all of it) is ready. Returns an error when it cannot be
/// reached, does not answer within 2 s, or is not ready.
pub async fn check(peer: Peer, service: &str) -> Result<(), PeerUnready> {
    // A connection that has grown old is no news.
    let asking = retry(Backoff::BRIEF, || {
        let (mut client, service) = (HealthClient::new(peer.clone()), service.to_owned());
        async move { client.check(HealthCheckRequest { service }).await }
    });
    let asked = tokio::time::timeout(PATIENCE, asking).await;
    let answer = asked.map_err(|_| PeerUnready::Silent)?.map_err(|status| away(&status))?;
    if answer.get_ref().status() == ServingStatus::Serving {
        return Ok(());
    }
    // Header values that are text hold no control characters.
    let said = answer.metadata().get(REASON).and_then(|reason| reason.to_str().ok()).unwrap_or_default();
    Err(PeerUnready::NotReady(said.chars().take(MAX_REASON_CHARS).collect()))
}

fn away(status: &Status) -> PeerUnready {
    match status::reason(status).as_deref().and_then(codes::Code::find) {
        Some(codes::NO_CONNECTION) => PeerUnready::Unreachable,
        // Names of hosts may be in what is said, and any client may ask for the health.
        Some(codes::TLS_FAILED) => {
            tracing::debug!(message = status.message(), "a peer cannot be reached with TLS");
            PeerUnready::Encryption
        }
        _ if status.code() == Code::NotFound => PeerUnready::AnotherService,
        _ => PeerUnready::Answers(status.code()),
    }
}

/// Keeps `need` up to date about a service of another process, until `stop`.
pub async fn follow(need: Need, peer: Peer, service: &'static str, stop: CancellationToken) {
    let following = async {
        loop {
            let pause = match check(peer.clone(), service).await {
                Ok(()) => {
                    need.there();
                    EVERY
                }
                Err(why) => {
                    need.missing(why.to_string());
                    SOON
                }
            };
            tokio::time::sleep(pause).await;
        }
    };
    stop.run_until_cancelled(following).await;
}
