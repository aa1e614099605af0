//! What is said of an instrument, beside its values.

/// How values of an instrument are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A sum that only grows while the process lives.
    Counter,
    /// A level that rises and falls.
    Gauge,
    /// How many values fell into each of several ranges, and their sum.
    Histogram,
}

impl Kind {
    /// The word for it that Prometheus uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// A label, and the values it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// As OpenTelemetry writes it, e.g. `gen_ai.tool.name`.
    pub key: &'static str,
    /// Which values there are, for people.
    pub values: &'static str,
}

/// An instrument of [`table`](crate::table).
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// As OpenTelemetry writes it, e.g. `toolplane.call.duration`.
    pub name: &'static str,
    /// In the words of UCUM: `s`, `By`, or what is counted, as in `{call}`.
    pub unit: &'static str,
    /// What it says, in one sentence.
    pub help: &'static str,
    /// Which processes tell it.
    pub told_by: &'static str,
}

impl About {
    /// The name as Prometheus writes it, without the ending of a counter: `toolplane_call_duration_seconds`.
    pub fn family(&self) -> String {
        let mut name = self.name.replace('.', "_");
        if let Some(unit) = self.spelled_unit() {
            name.push('_');
            name.push_str(unit);
        }
        name
    }

    /// The unit as Prometheus spells it; none for what is only counted.
    pub fn spelled_unit(&self) -> Option<&'static str> {
        match self.unit {
            "s" => Some("seconds"),
            "By" => Some("bytes"),
            _ => None,
        }
    }
}

impl Label {
    /// The key as Prometheus writes it.
    pub fn spelled(&self) -> String {
        self.key.replace('.', "_")
    }
}
