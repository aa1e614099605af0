//! Metrics as OTLP says them.

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Exemplar, Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint, ResourceMetrics,
    ScopeMetrics, Sum, exemplar, metric, number_data_point,
};
use opentelemetry_proto::tonic::resource::v1::Resource as WireResource;
use opentelemetry_sdk::Resource;
use toolplane_metrics::{Family, Kind, Label, Point, Spread, Value};

use crate::clock;

/// Writes the metrics of one process.
pub(super) struct Writer {
    resource: WireResource,
    /// Since when everything is counted.
    began: u64,
}

impl Writer {
    /// Of the process `resource`, which begins now.
    pub(super) fn of(resource: &Resource) -> Self {
        let attributes = resource.iter().map(|(key, value)| text(key.as_str(), &value.as_str())).collect();
        Self { resource: WireResource { attributes, ..WireResource::default() }, began: now() }
    }

    /// One request with all of it.
    pub(super) fn request(&self, families: &[Family]) -> ExportMetricsServiceRequest {
        let moment = Moment { began: self.began, now: now() };
        let metrics = families.iter().map(|family| moment.metric(family)).collect();
        let scope = InstrumentationScope { name: "toolplane".to_owned(), ..InstrumentationScope::default() };
        let scope_metrics = vec![ScopeMetrics { scope: Some(scope), metrics, ..ScopeMetrics::default() }];
        let resource = Some(self.resource.clone());
        let resource_metrics = vec![ResourceMetrics { resource, scope_metrics, ..ResourceMetrics::default() }];
        ExportMetricsServiceRequest { resource_metrics }
    }
}

/// Since when is counted, and until when.
#[derive(Clone, Copy)]
struct Moment {
    began: u64,
    now: u64,
}

impl Moment {
    fn metric(self, family: &Family) -> Metric {
        let aggregation_temporality = AggregationTemporality::Cumulative.into();
        let data = match family.kind {
            Kind::Counter => metric::Data::Sum(Sum {
                data_points: self.numbers(family),
                aggregation_temporality,
                is_monotonic: true,
            }),
            Kind::Gauge => metric::Data::Gauge(Gauge { data_points: self.numbers(family) }),
            Kind::Histogram => {
                let points = family.points.iter().filter_map(|point| match &point.value {
                    Value::Spread(spread) => Some(self.spread(attributes(family.labels, point), spread)),
                    _ => None,
                });
                metric::Data::Histogram(Histogram { data_points: points.collect(), aggregation_temporality })
            }
        };
        Metric {
            name: family.about.name.to_owned(),
            description: family.about.help.to_owned(),
            unit: family.about.unit.to_owned(),
            data: Some(data),
            ..Metric::default()
        }
    }

    fn numbers(self, family: &Family) -> Vec<NumberDataPoint> {
        let points = family.points.iter().filter_map(|point| {
            let number = match point.value {
                Value::Count(count) => i64::try_from(count).unwrap_or(i64::MAX),
                Value::Level(level) => level,
                Value::Spread(_) => return None,
            };
            Some(NumberDataPoint {
                attributes: attributes(family.labels, point),
                start_time_unix_nano: self.began,
                time_unix_nano: self.now,
                value: Some(number_data_point::Value::AsInt(number)),
                ..NumberDataPoint::default()
            })
        });
        points.collect()
    }

    fn spread(self, attributes: Vec<KeyValue>, spread: &Spread) -> HistogramDataPoint {
        let shown = spread.exemplars.iter().flatten().map(|exemplar| Exemplar {
            time_unix_nano: u64::try_from(exemplar.at_millis).unwrap_or_default().saturating_mul(1_000_000),
            trace_id: exemplar.trace_id.to_be_bytes().to_vec(),
            span_id: exemplar.span_id.to_be_bytes().to_vec(),
            value: Some(exemplar::Value::AsDouble(exemplar.value)),
            ..Exemplar::default()
        });
        HistogramDataPoint {
            attributes,
            start_time_unix_nano: self.began,
            time_unix_nano: self.now,
            count: spread.count(),
            sum: Some(spread.sum),
            bucket_counts: spread.counts.clone(),
            explicit_bounds: spread.bounds.to_vec(),
            exemplars: shown.collect(),
            ..HistogramDataPoint::default()
        }
    }
}

fn attributes(labels: &[Label], point: &Point) -> Vec<KeyValue> {
    let said = labels.iter().zip(&point.labels).filter(|(_, value)| !value.is_empty());
    said.map(|(label, value)| text(label.key, value)).collect()
}

fn text(key: &str, value: &str) -> KeyValue {
    let value = any_value::Value::StringValue(value.to_owned());
    KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
}

fn now() -> u64 {
    u64::try_from(clock::since_epoch().as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use toolplane_metrics::{collect, table};

    use super::*;

    #[test]
    fn what_is_told_says_the_same_as_the_instruments() {
        table::CALLS_ENDED.add(["demo.echo", "failed", "timeout"], 2);
        table::CALL_DURATION.record_with(["demo.echo", "failed"], Duration::from_millis(30), Some((7, 9, 1_000)));
        let request = Writer::of(&Resource::builder().with_service_name("toolplane-x").build()).request(&collect());
        let resource = request.resource_metrics[0].resource.as_ref().expect("a process");
        assert!(resource.attributes.contains(&text("service.name", "toolplane-x")));
        let metrics = &request.resource_metrics[0].scope_metrics[0].metrics;
        let find =
            |name: &str| metrics.iter().find(|metric| metric.name == name).and_then(|metric| metric.data.clone());
        let Some(metric::Data::Sum(ended)) = find("toolplane.calls.ended") else { panic!("{metrics:?}") };
        assert!(ended.is_monotonic);
        assert_eq!(ended.data_points[0].value, Some(number_data_point::Value::AsInt(2)));
        assert_eq!(ended.data_points[0].attributes[0], text("gen_ai.tool.name", "demo.echo"));
        let Some(metric::Data::Histogram(took)) = find("toolplane.call.duration") else { panic!("{metrics:?}") };
        let point = &took.data_points[0];
        assert_eq!((point.count, point.bucket_counts.len()), (1, point.explicit_bounds.len() + 1));
        assert_eq!(point.exemplars[0].trace_id.last(), Some(&7));
        assert!(point.start_time_unix_nano <= point.time_unix_nano);
    }
}
