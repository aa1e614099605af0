//! Everything as it is at one moment, for those who say it to others.

use crate::about::{About, Kind, Label};
use crate::observe::observe;
use crate::table;

/// One measured value that has a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exemplar {
    /// The trace.
    pub trace_id: u128,
    /// The span in it.
    pub span_id: u64,
    /// The value.
    pub value: f64,
    /// When, in milliseconds since 1970.
    pub at_millis: i64,
}

/// The values of a histogram.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// Upper ends of the ranges, inclusive; the last range, which has none, is not among them.
    pub bounds: &'static [f64],
    /// How many values fell into each range; one more than there are bounds.
    pub counts: Vec<u64>,
    /// The sum of all values.
    pub sum: f64,
    /// The newest value with a trace in each range.
    pub exemplars: Vec<Option<Exemplar>>,
}

impl Spread {
    /// How many values there are.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// What one series says.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of a counter.
    Count(u64),
    /// Of a gauge.
    Level(i64),
    /// Of a histogram.
    Spread(Spread),
}

/// One series.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Values of the labels, in the order of the family's labels; empty where a label does not apply.
    pub labels: Vec<&'static str>,
    /// What it says.
    pub value: Value,
}

/// All series of one instrument.
#[derive(Clone, Debug)]
pub struct Family {
    /// What is said of it.
    pub about: About,
    /// How its values are to be read.
    pub kind: Kind,
    /// Its labels.
    pub labels: &'static [Label],
    /// Its series, in the order of their labels.
    pub points: Vec<Point>,
}

/// An instrument as it stands in the table.
pub(crate) trait Instrument: Sync {
    fn about(&self) -> About;
    fn kind(&self) -> Kind;
    fn labels(&self) -> &[Label];
    fn points(&self) -> Vec<Point>;
}

/// Reads every instrument that has a value, in the order of the table.
pub fn collect() -> Vec<Family> {
    observe();
    let read = |instrument: &&'static dyn Instrument| {
        let instrument: &'static dyn Instrument = *instrument;
        let mut points = instrument.points();
        points.sort_by(|one, other| one.labels.cmp(&other.labels));
        Family { about: instrument.about(), kind: instrument.kind(), labels: instrument.labels(), points }
    };
    table::ALL.iter().map(read).filter(|family| !family.points.is_empty()).collect()
}
