//! One sample of every record with every field set, and one with only what must be there.

mod batches;
mod calls;
mod decisions;
mod providers;
mod results;
mod tools;

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use toolplane_records::json::JsonLimits;
use toolplane_records::payload::{Digest, JsonPayload, PayloadRef};
use toolplane_records::refs::{ArtifactRef, ResourceRef, TelemetryRef};
use toolplane_records::time::Timestamp;

/// A record in its JSON form.
pub(crate) struct Sample {
    /// Name of the golden file.
    pub(crate) name: &'static str,
    /// The record of the standard it is, when it is one.
    pub(crate) published_as: Option<&'static str>,
    /// With every field set.
    pub(crate) full: String,
    /// With only what must be there.
    pub(crate) minimal: Option<String>,
    /// Reads the text as the record and writes it again; absent for forms that are only written.
    pub(crate) reread: Option<fn(&str) -> String>,
}

/// Every sample.
pub(crate) fn samples() -> Vec<Sample> {
    let of_calls = [calls::samples(), batches::samples(), decisions::samples(), results::samples()];
    [tools::samples(), providers::samples()].into_iter().chain(of_calls).flatten().collect()
}

/// A record of the standard.
fn published<T: Serialize + DeserializeOwned>(name: &'static str, full: &T, minimal: &str) -> Sample {
    Sample { published_as: Some(name), ..ours::<T>(name, full, minimal) }
}

/// A record that the standard has no JSON schema for.
fn ours<T: Serialize + DeserializeOwned>(name: &'static str, full: &T, minimal: &str) -> Sample {
    let minimal = reread::<T>(minimal);
    Sample { name, published_as: None, full: pretty(full), minimal: Some(minimal), reread: Some(reread::<T>) }
}

fn reread<T: Serialize + DeserializeOwned>(text: &str) -> String {
    match serde_json::from_str::<T>(text) {
        Ok(record) => pretty(&record),
        Err(error) => panic!("{error} in {text}"),
    }
}

fn pretty<T: Serialize + ?Sized>(record: &T) -> String {
    serde_json::to_string_pretty(record).unwrap()
}

fn id<T: std::str::FromStr>(text: &str) -> T
where
    T::Err: Debug,
{
    text.parse().unwrap()
}

fn json(text: &str) -> JsonPayload {
    JsonPayload::ingest(text.to_owned(), &JsonLimits::default()).unwrap()
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_779_000_000_000 + millis)
}

fn strings<'a, T: From<&'a str>>(texts: &[&'a str]) -> Vec<T> {
    texts.iter().map(|text| T::from(text)).collect()
}

fn some<'a, T: From<&'a str>>(text: &'a str) -> Option<T> {
    Some(text.into())
}

fn payload_ref(name: &str) -> PayloadRef {
    PayloadRef {
        uri: format!("payload:inv-1/{name}").into(),
        media_type: "application/json".into(),
        digest: Digest::of(name.as_bytes()),
        size_bytes: 42,
    }
}

fn resource() -> ResourceRef {
    ResourceRef {
        resource_id: "res-1".to_owned(),
        uri: "file:///workspace/report.txt".to_owned(),
        media_type: "text/plain".to_owned(),
        digest: Some(Digest::of(b"report")),
        size_bytes: Some(6),
        access: "workspace".to_owned(),
        relation: "produced_by".to_owned(),
    }
}

fn artifact() -> ArtifactRef {
    ArtifactRef {
        artifact_id: "art-1".to_owned(),
        uri: "artifact://reports/1".to_owned(),
        media_type: "text/markdown".to_owned(),
        digest: Some(Digest::of(b"artifact")),
        version: "3".to_owned(),
        relation: "derived_from".to_owned(),
        payload: Some(payload_ref("artifact")),
    }
}

fn trace() -> TelemetryRef {
    TelemetryRef { trace_id: "4bf92f3577b34da6a3ce929d0e0e4736".into(), span_id: "00f067aa0ba902b7".into() }
}
