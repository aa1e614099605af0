//! Callers that never give up: each submits a call under a key until it is accepted, waits a while for its end, and goes on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tonic::Code;
use toolplane_proto::v1;
use toolplane_testkit::clients::{Clients, payload};

/// A call the cluster has promised to keep.
#[derive(Clone, Debug)]
pub(crate) struct Accepted {
    pub(crate) invocation_id: String,
    pub(crate) mark: String,
    pub(crate) idempotent: bool,
    /// The result a caller was given while the storm went on.
    pub(crate) seen_result: Option<String>,
    /// The key was answered with two different calls.
    pub(crate) twice_accepted: bool,
}

pub(crate) struct Load {
    clients: Clients,
    surface_id: String,
    stopped: AtomicBool,
    accepted: Mutex<Vec<Accepted>>,
}

impl Load {
    pub(crate) fn new(clients: Clients, surface_id: String) -> Self {
        Self { clients, surface_id, stopped: AtomicBool::new(false), accepted: Mutex::new(Vec::new()) }
    }

    /// No further calls; those being submitted are brought to an end.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Every call that was accepted.
    pub(crate) fn accepted(&self) -> Vec<Accepted> {
        self.accepted.lock().unwrap().clone()
    }

    /// One caller.
    pub(crate) async fn caller(self: Arc<Self>, number: usize) {
        for call in 0.. {
            if self.stopped.load(Ordering::Relaxed) {
                return;
            }
            let idempotent = (number + call).is_multiple_of(2);
            let accepted = self.submit(format!("mark-{number}-{call}"), idempotent).await;
            let place = {
                let mut all = self.accepted.lock().unwrap();
                all.push(accepted.clone());
                all.len() - 1
            };
            let seen = self.wait(&accepted.invocation_id).await;
            self.accepted.lock().unwrap()[place].seen_result = seen;
        }
    }

    /// Submits until the cluster says yes. The same key again can never make a second call.
    async fn submit(&self, mark: String, idempotent: bool) -> Accepted {
        let spec = v1::InvocationSpec {
            surface_id: self.surface_id.clone(),
            tool_name: if idempotent { "storm.again" } else { "storm.once" }.to_owned(),
            model_input: Some(payload(format!("{{\"mark\":\"{mark}\"}}"))),
            idempotency_key: mark.clone(),
            ..Default::default()
        };
        let first = self.until_accepted(&spec).await;
        // Now and then asked again, as a caller would that did not get the answer.
        let again = if mark.ends_with('3') { self.until_accepted(&spec).await } else { first.clone() };
        Accepted { twice_accepted: again != first, invocation_id: first, mark, idempotent, seen_result: None }
    }

    async fn until_accepted(&self, spec: &v1::InvocationSpec) -> String {
        loop {
            let request = v1::SubmitInvocationRequest { spec: Some(spec.clone()) };
            match self.clients.invocations().submit_invocation(request).await {
                Ok(answer) => return answer.into_inner().accepted.unwrap().invocation_id,
                Err(status) => {
                    let wrong = matches!(status.code(), Code::InvalidArgument | Code::AlreadyExists | Code::NotFound);
                    assert!(!wrong, "refused for good: {status:?}");
                    toolplane_wait::look_again().await;
                }
            }
        }
    }

    /// The result, if it comes soon.
    async fn wait(&self, invocation_id: &str) -> Option<String> {
        for _ in 0..3 {
            let request = v1::WaitInvocationRequest {
                invocation_id: invocation_id.to_owned(),
                timeout_ms: 2_000,
                ..Default::default()
            };
            match self.clients.invocations().wait_invocation(request).await {
                Ok(answer) => match answer.into_inner().result {
                    Some(result) => return Some(result.result_id),
                    None if self.stopped.load(Ordering::Relaxed) => return None,
                    None => {}
                },
                Err(_) => toolplane_wait::look_again().await,
            }
        }
        None
    }
}
