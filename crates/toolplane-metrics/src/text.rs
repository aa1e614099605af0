//! Everything as Prometheus reads it: its own text format, and OpenMetrics, which also has exemplars.

use std::fmt::Write as _;

use crate::about::{Kind, Label};
use crate::reading::{Exemplar, Family, Point, Spread, Value};

/// A format of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Prometheus' own, version 0.0.4; without exemplars.
    Prometheus,
    /// OpenMetrics 1.0.0.
    OpenMetrics,
}

impl Format {
    /// The one a reader asks for in `Accept`. Prometheus names OpenMetrics when it is to have exemplars.
    pub fn asked(accept: &str) -> Self {
        if accept.contains("application/openmetrics-text") { Self::OpenMetrics } else { Self::Prometheus }
    }

    /// The media type.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// The whole page.
pub fn page(families: &[Family], format: Format) -> String {
    let mut out = String::new();
    families.iter().for_each(|family| write_family(&mut out, family, format));
    if format == Format::OpenMetrics {
        out.push_str("# EOF\n");
    }
    out
}

fn write_family(out: &mut String, family: &Family, format: Format) {
    let name = family.about.family();
    // A counter is called by its samples in the older format.
    let called = match (format, family.kind) {
        (Format::Prometheus, Kind::Counter) => format!("{name}_total"),
        _ => name.clone(),
    };
    let _ = writeln!(out, "# HELP {called} {}", escaped(family.about.help));
    let _ = writeln!(out, "# TYPE {called} {}", family.kind.as_str());
    if let Some(unit) = family.about.spelled_unit().filter(|_| format == Format::OpenMetrics) {
        let _ = writeln!(out, "# UNIT {called} {unit}");
    }
    for point in &family.points {
        let labels = labels(family.labels, point);
        match &point.value {
            Value::Count(count) => line(out, &name, "_total", &labels, None, &count.to_string()),
            Value::Level(level) => line(out, &name, "", &labels, None, &level.to_string()),
            Value::Spread(spread) => write_spread(out, &name, &labels, spread, format),
        }
    }
}

fn write_spread(out: &mut String, name: &str, labels: &str, spread: &Spread, format: Format) {
    let mut so_far = 0;
    for (range, count) in spread.counts.iter().enumerate() {
        so_far += count;
        let end = spread.bounds.get(range).map_or_else(|| "+Inf".to_owned(), ToString::to_string);
        let exemplar = spread.exemplars[range].filter(|_| format == Format::OpenMetrics);
        let count = match exemplar {
            Some(exemplar) => format!("{so_far}{}", shown(&exemplar)),
            None => so_far.to_string(),
        };
        line(out, name, "_bucket", labels, Some(&end), &count);
    }
    line(out, name, "_sum", labels, None, &spread.sum.to_string());
    line(out, name, "_count", labels, None, &so_far.to_string());
}

#[expect(clippy::cast_precision_loss, reason = "seconds since 1970 with milliseconds fit an f64")]
fn shown(exemplar: &Exemplar) -> String {
    let Exemplar { trace_id, span_id, value, at_millis } = exemplar;
    let at = *at_millis as f64 / 1000.0;
    format!(" # {{trace_id=\"{trace_id:032x}\",span_id=\"{span_id:016x}\"}} {value} {at:.3}")
}

fn line(out: &mut String, name: &str, ending: &str, labels: &str, end: Option<&str>, value: &str) {
    let _ = match (labels, end) {
        ("", None) => writeln!(out, "{name}{ending} {value}"),
        ("", Some(end)) => writeln!(out, "{name}{ending}{{le=\"{end}\"}} {value}"),
        (labels, None) => writeln!(out, "{name}{ending}{{{labels}}} {value}"),
        (labels, Some(end)) => writeln!(out, "{name}{ending}{{{labels},le=\"{end}\"}} {value}"),
    };
}

/// The labels that say something.
fn labels(labels: &[Label], point: &Point) -> String {
    let said = labels.iter().zip(&point.labels).filter(|(_, value)| !value.is_empty());
    let said: Vec<_> = said.map(|(label, value)| format!("{}=\"{}\"", label.spelled(), escaped(value))).collect();
    said.join(",")
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
