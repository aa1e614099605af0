//! `grpc.health.v1` over what the process knows of itself.

use std::pin::Pin;

use futures_util::{Stream, stream};
use tonic::metadata::MetadataValue;
use tonic::{Request, Response, Status};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_server::Health;
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};

use super::readiness::{REASON, REMARK, Readiness};

/// The service behind a listener.
#[derive(Clone, Debug)]
pub(crate) struct HealthApi(pub(crate) Readiness);

type Answers = Pin<Box<dyn Stream<Item = Result<HealthCheckResponse, Status>> + Send>>;

#[tonic::async_trait]
impl Health for HealthApi {
    async fn check(&self, request: Request<HealthCheckRequest>) -> Result<Response<HealthCheckResponse>, Status> {
        let service = request.into_inner().service;
        let Some(lacks) = self.0.lacks(&service) else {
            return Err(Status::not_found("this process does not answer for such a service"));
        };
        let mut response = Response::new(answer(status(Some(&lacks))));
        for (header, said) in [(REASON, lacks), (REMARK, self.0.remarks(&service))] {
            let text =
                said.join("; ").chars().map(|c| if matches!(c, ' '..='~') { c } else { '?' }).collect::<String>();
            if let Ok(text) = MetadataValue::try_from(text)
                && !said.is_empty()
            {
                response.metadata_mut().insert(header, text);
            }
        }
        Ok(response)
    }

    type WatchStream = Answers;

    async fn watch(&self, request: Request<HealthCheckRequest>) -> Result<Response<Answers>, Status> {
        let (service, changes) = (request.into_inner().service, self.0.changes());
        let answers = stream::unfold((changes, None), move |(mut changes, told)| {
            let service = service.clone();
            async move {
                loop {
                    let now = status(changes.borrow_and_update().lacks(&service).as_deref());
                    if told != Some(now) {
                        return Some((Ok(answer(now)), (changes, Some(now))));
                    }
                    changes.changed().await.ok()?;
                }
            }
        });
        Ok(Response::new(Box::pin(answers)))
    }
}

fn status(lacks: Option<&[String]>) -> ServingStatus {
    match lacks {
        Some([]) => ServingStatus::Serving,
        Some(_) => ServingStatus::NotServing,
        None => ServingStatus::ServiceUnknown,
    }
}

fn answer(status: ServingStatus) -> HealthCheckResponse {
    HealthCheckResponse { status: status.into() }
}
