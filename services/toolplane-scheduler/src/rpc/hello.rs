//! The beginning of a worker's stream: who it is, what it has finished, and what it still holds.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use futures_util::{StreamExt as _, TryStreamExt as _};
use prost::Message as _;
use tokio::sync::mpsc;
use toolplane_lifecycle::{Holder, LeaseMessage};
use toolplane_proto::convert::{ConvertError, field};
use toolplane_proto::v1;
use toolplane_proto::v1::worker_report::Report;
use toolplane_records::payload::JsonPayload;
use toolplane_records::time::Timestamp;
use toolplane_runtime::Caller;

use super::in_work::InWork;
use super::report::CallReports;
use super::session::Session;
use super::speaker::{Said, actor};
use super::wire::lease_key;
use super::worker_parts::WorkerParts;
use crate::dispatch::{PoolGap, WorkerInfo, WorkerLink, WorkerMessage, lost};
use crate::error::CallError;
use crate::storage::RecordError;

/// Most native tools one worker may name.
const MAX_NATIVE_TOOLS: usize = 10_000;
/// Longest name of the image a worker runs in.
const MAX_IMAGE_BYTES: usize = 512;
/// Most credentials one worker may have.
const MAX_CREDENTIALS: usize = 10_000;
/// Longest name of a native tool or a credential.
const MAX_NAME_BYTES: usize = 256;
/// Most bytes of a hello, without what it holds and has finished: every list of workers repeats it.
const MAX_HELLO_BYTES: usize = 1024 * 1024;
/// Most endings of one hello that are in work at a time.
const SETTLED_AT_ONCE: usize = 64;
/// Most slots one worker may have.
const MAX_SLOTS: u32 = 4_096;

impl Session {
    /// Reads the hello, settles what the worker has finished and what it holds, and makes it available.
    ///
    /// Kept endings come first: once the leases of an earlier life are over, they would be too late.
    pub(crate) async fn open(
        parts: WorkerParts,
        caller: &Caller,
        first: v1::WorkRequest,
    ) -> Result<(Self, mpsc::UnboundedReceiver<WorkerMessage>), CallError> {
        let mut reports = first.reports.into_iter();
        let mut hello = match reports.next().and_then(|report| report.report) {
            Some(Report::Hello(hello)) => hello,
            _ => return Err(CallError::invalid("reports", "must begin with a hello")),
        };
        let (held, finished) = (std::mem::take(&mut hello.held), std::mem::take(&mut hello.finished));
        let previous_dead = hello.previous_incarnation_dead;
        let speaks_for_all = previous_dead || hello.kept_endings_follow;
        let said = Said {
            within: "hello.",
            worker_id: &hello.worker_id,
            incarnation: &hello.incarnation,
            lease_id: None,
            for_earlier: speaks_for_all,
        };
        let holder = said.holder(&parts.fleet, caller).await?;
        let info = read_hello(hello, &holder, actor(caller), parts.calls.now().await?)?;
        if let Some(other) = parts.fleet.here().other_incarnation(&info.worker_id, &info.incarnation) {
            let id = &info.worker_id;
            tracing::warn!(worker_id = %id, connected = %other, refused = %info.incarnation, "two workers use one id");
            return Err(CallError::Precondition(format!(
                "a worker `{id}` is connected already (incarnation `{other}`); give each worker an id of its own"
            )));
        }
        let (sender, messages) = mpsc::unbounded_channel();
        let link = Arc::new(WorkerLink::new(info, sender));
        let goodbye = AtomicBool::new(false);
        let backlog = reports.collect();
        let reports = Arc::new(CallReports {
            parts: parts.clone(),
            link: link.clone(),
            holder: holder.clone(),
            news: Arc::default(),
            in_work: InWork::default(),
        });
        let session = Self { parts, link, holder, reports, in_turn: Arc::default(), backlog, goodbye };
        session.settle_finished(finished).await?;
        session.settle_held(held).await?;
        if previous_dead {
            let (worker_id, alive) = (&session.link.info.worker_id, &session.link.info.incarnation);
            let ended = lost::end_leases(&session.parts.calls, worker_id, alive).await?;
            // The first life of a worker has none before it, and a restart without leases changed nothing.
            if ended > 0 {
                tracing::info!(%worker_id, ended, "a worker restarted; leases of its earlier life ended");
            }
        }
        session.parts.fleet.connect(&session.link).await;
        Ok((session, messages))
    }

    /// Endings the worker kept on disk, of this life or an earlier one. When one cannot be stored there is no session: what
    /// follows would end its lease without it. Several at a time, so that one durable write serves them: a worker waits for its
    /// welcome only so long, and then says all of them again.
    async fn settle_finished(&self, finished: Vec<v1::ExecutionDone>) -> Result<(), CallError> {
        let settled = finished.into_iter().map(|done| async move {
            let lease = lease_key(done.lease, &self.holder).map_err(CallError::of_field)?;
            self.reports.done(lease, done.outcome).await.map_err(CallError::from)
        });
        futures_util::stream::iter(settled).buffer_unordered(SETTLED_AT_ONCE).try_collect().await
    }

    /// What the worker says it still runs: valid leases go on, others are void.
    async fn settle_held(&self, held: Vec<v1::LeaseRef>) -> Result<(), CallError> {
        for lease in held {
            let lease = lease_key(Some(lease), &self.holder).map_err(CallError::of_field)?;
            match self.parts.calls.leased(&lease).await {
                Ok(_) => self.parts.fleet.here().adopt(&self.link, lease),
                Err(RecordError::Refused { .. } | RecordError::NotFound) => {
                    self.link.send(LeaseMessage::Fenced { lease }.into())
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// Names of native tools, exact or a prefix that ends in `.*`.
fn read_native_tools(names: Vec<String>) -> Result<Vec<String>, CallError> {
    if names.len() > MAX_NATIVE_TOOLS {
        return Err(CallError::invalid("hello.native_tools", format!("must have at most {MAX_NATIVE_TOOLS} entries")));
    }
    let plain = |name: &str| {
        let bare = name.strip_suffix(".*").unwrap_or(name);
        let known = |c: char| c.is_ascii_alphanumeric() || "._-/:".contains(c);
        !bare.is_empty() && bare.len() <= MAX_NAME_BYTES && bare.chars().all(known)
    };
    match names.iter().position(|name| !plain(name)) {
        None => Ok(names),
        Some(place) => Err(CallError::invalid(
            &format!("hello.native_tools[{place}]"),
            "must be the name of a native tool, or a prefix of such names that ends in `.*`",
        )),
    }
}

/// The names of credentials, in order.
pub(super) fn read_credentials(field: &str, told: v1::WorkerCredentials) -> Result<Vec<String>, ConvertError> {
    let mut names = told.names;
    if names.len() > MAX_CREDENTIALS {
        return Err(ConvertError::new(field, format!("must have at most {MAX_CREDENTIALS} entries")));
    }
    let plain =
        |name: &String| (1..=MAX_NAME_BYTES).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic());
    if let Some(place) = names.iter().position(|name| !plain(name)) {
        let rule = format!("must be the name of a credential, of at most {MAX_NAME_BYTES} visible ASCII characters");
        return Err(ConvertError::new(format!("{field}[{place}]"), &rule));
    }
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

/// The name of an image; may be empty.
fn read_image(image: String) -> Result<String, CallError> {
    match image.len() <= MAX_IMAGE_BYTES && image.bytes().all(|byte| byte.is_ascii_graphic()) {
        true => Ok(image),
        false => {
            let rule = format!("must be at most {MAX_IMAGE_BYTES} visible ASCII characters");
            Err(CallError::invalid("hello.image", rule))
        }
    }
}

fn read_hello(
    hello: v1::WorkerHello,
    holder: &Holder,
    actor: Option<String>,
    now: Timestamp,
) -> Result<WorkerInfo, CallError> {
    let faulty = |error: ConvertError| CallError::invalid(&error.field, error.rule);
    if hello.incarnation.is_empty() {
        return Err(CallError::invalid("hello.incarnation", "must be given"));
    }
    let bytes = hello.encoded_len();
    if bytes > MAX_HELLO_BYTES {
        let rule = format!("must have at most {MAX_HELLO_BYTES} bytes without held and finished, and has {bytes}");
        return Err(CallError::invalid("hello", rule));
    }
    if hello.slots == 0 || hello.slots > MAX_SLOTS {
        return Err(CallError::invalid("hello.slots", format!("must be 1 to {MAX_SLOTS}")));
    }
    let gaps = hello.gaps.into_iter().map(|gap| PoolGap {
        pool: gap.pool,
        reason_code: gap.reason_code,
        message: gap.message,
    });
    Ok(WorkerInfo {
        worker_id: holder.worker_id.clone(),
        incarnation: hello.incarnation.into(),
        version: hello.version,
        slots: usize::try_from(hello.slots).unwrap_or(1),
        pools: hello.pools,
        native_tools: read_native_tools(hello.native_tools)?,
        credentials: match hello.credentials {
            Some(told) => Some(read_credentials("hello.credentials.names", told).map_err(faulty)?),
            None => None,
        },
        gaps: gaps.collect(),
        posture: field::optional::<_, JsonPayload>("hello.posture", hello.posture).map_err(faulty)?,
        image: read_image(hello.image)?,
        connected_at: now,
        actor,
    })
}
