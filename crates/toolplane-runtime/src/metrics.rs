//! What a process counts and measures ([`toolplane_metrics`]), told to others: to an OTLP receiver from time to time, and to whoever
//! asks for `GET /metrics`.

mod endpoint;
mod export;
mod otlp;

pub(crate) use endpoint::answer;
pub(crate) use export::MetricExport;
