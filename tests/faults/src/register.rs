//! The guarded resource: it looks at fences, refuses old ones, and writes down who was inside when.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::history::{Access, AccessStep, Record, Recorder};
use crate::trouble::Trouble;

/// A running resource. Dropping it closes it.
#[derive(Debug)]
pub struct Register {
    address: SocketAddr,
    _stop: DropGuard,
}

/// The newest fence of each key.
type Fences = Arc<Mutex<BTreeMap<String, (u64, u64)>>>;

impl Register {
    /// Listens on a free port and records every access.
    pub async fn start(recorder: Recorder) -> Result<Self, Trouble> {
        let failed = |error: std::io::Error| Trouble::Said(format!("the register cannot listen: {error}"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let stop = CancellationToken::new();
        let (until, fences) = (stop.clone(), Fences::default());
        tokio::spawn(async move {
            let accept = async {
                while let Ok((connection, _)) = listener.accept().await {
                    tokio::spawn(serve(connection, fences.clone(), recorder.clone()));
                }
            };
            until.run_until_cancelled(accept).await;
        });
        Ok(Self { address, _stop: stop.drop_guard() })
    }

    /// Where it listens.
    pub fn address(&self) -> String {
        self.address.to_string()
    }
}

/// One visit.
async fn serve(connection: TcpStream, fences: Fences, recorder: Recorder) {
    let mut connection = BufReader::new(connection);
    let mut inside: Option<Access> = None;
    let mut line = String::new();
    while matches!(connection.read_line(&mut line).await, Ok(length) if length > 0) {
        let Ok(mut access) = serde_json::from_str::<Access>(&line) else { break };
        line.clear();
        {
            // Judged and recorded under one lock: the history has the order the resource had.
            let mut fences = fences.lock();
            access.accepted = allowed(&mut fences, &access);
            recorder.record(Record::Register(access.clone()));
        }
        let answer: &[u8] = if access.accepted { b"yes\n" } else { b"no\n" };
        inside = match access.step {
            AccessStep::Enter | AccessStep::Write if access.accepted => Some(access),
            AccessStep::Leave => None,
            _ => inside,
        };
        if connection.get_mut().write_all(answer).await.is_err() {
            break;
        }
    }
    if let Some(access) = inside {
        recorder.record(Record::Register(Access { step: AccessStep::Gone, ..access }));
    }
}

/// An exclusive access makes every older fence invalid.
fn allowed(fences: &mut BTreeMap<String, (u64, u64)>, access: &Access) -> bool {
    let newest = fences.entry(access.key.clone()).or_default();
    let fence = (access.grant, access.fence);
    let allowed = access.step == AccessStep::Leave || fence >= *newest;
    if allowed && access.exclusive {
        *newest = fence.max(*newest);
    }
    allowed
}
