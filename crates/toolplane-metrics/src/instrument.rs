//! The three kinds of instruments. Each has a series for every set of values its labels have had, up to a bound.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use foldhash::fast::FixedState;
use parking_lot::{Mutex, RwLock};

use crate::about::{About, Kind, Label};
use crate::names::OTHER;
use crate::reading::{Exemplar, Instrument, Point, Spread, Value};

/// Series an instrument has at most; further ones become one, whose labels all say `other`.
const MOST_SERIES: usize = 2000;

/// What the labels of one series say, in the order of the labels.
type Said<const N: usize> = [&'static str; N];

/// The series of one instrument.
#[derive(Debug)]
struct Series<T, const N: usize>(LazyLock<RwLock<HashMap<Said<N>, Arc<T>, FixedState>>>);

impl<T, const N: usize> Series<T, N> {
    const fn new() -> Self {
        Self(LazyLock::new(RwLock::default))
    }

    fn of(&self, said: Said<N>, new: impl FnOnce() -> T) -> Arc<T> {
        if let Some(known) = self.0.read().get(&said) {
            return Arc::clone(known);
        }
        let mut series = self.0.write();
        let said = if series.len() < MOST_SERIES { said } else { [OTHER; N] };
        Arc::clone(series.entry(said).or_insert_with(|| Arc::new(new())))
    }

    /// Works with a series that is mostly there already.
    fn with(&self, said: Said<N>, new: impl FnOnce() -> T, work: impl FnOnce(&T)) {
        let known = self.0.read();
        match known.get(&said) {
            Some(series) => work(series),
            None => {
                drop(known);
                work(&self.of(said, new));
            }
        }
    }

    fn points(&self, read: impl Fn(&T) -> Value) -> Vec<Point> {
        let series = self.0.read();
        series.iter().map(|(said, one)| Point { labels: said.to_vec(), value: read(one) }).collect()
    }
}

/// Counts what happens.
#[derive(Debug)]
pub struct Counter<const N: usize> {
    about: About,
    labels: [Label; N],
    series: Series<AtomicU64, N>,
}

impl<const N: usize> Counter<N> {
    pub(crate) const fn new(about: About, labels: [Label; N]) -> Self {
        Self { about, labels, series: Series::new() }
    }

    /// Shows the series before anything was counted: a rate needs a beginning.
    pub fn begin(&self, labels: [&'static str; N]) {
        self.add(labels, 0);
    }

    /// So many more happened.
    pub fn add(&self, labels: [&'static str; N], more: u64) {
        self.series.with(labels, AtomicU64::default, |count| {
            count.fetch_add(more, Ordering::Relaxed);
        });
    }
}

impl<const N: usize> Instrument for Counter<N> {
    fn about(&self) -> About {
        self.about
    }

    fn kind(&self) -> Kind {
        Kind::Counter
    }

    fn labels(&self) -> &[Label] {
        &self.labels
    }

    fn points(&self) -> Vec<Point> {
        self.series.points(|count| Value::Count(count.load(Ordering::Relaxed)))
    }
}

/// Tells a level.
#[derive(Debug)]
pub struct Gauge<const N: usize> {
    about: About,
    labels: [Label; N],
    series: Series<AtomicI64, N>,
}

impl<const N: usize> Gauge<N> {
    pub(crate) const fn new(about: About, labels: [Label; N]) -> Self {
        Self { about, labels, series: Series::new() }
    }

    /// The level is so much higher, or lower.
    pub fn add(&self, labels: [&'static str; N], more: i64) {
        self.series.with(labels, AtomicI64::default, |level| {
            level.fetch_add(more, Ordering::Relaxed);
        });
    }

    /// These are all levels there are: what is not among them is gone. Levels that come twice are added up. Whoever reads meanwhile sees
    /// those from before or these.
    pub fn replace(&self, all: impl IntoIterator<Item = ([&'static str; N], i64)>) {
        let mut series = self.series.0.write();
        series.clear();
        for (labels, level) in all {
            let labels = if series.len() < MOST_SERIES { labels } else { [OTHER; N] };
            series.entry(labels).or_default().fetch_add(level, Ordering::Relaxed);
        }
    }
}

impl<const N: usize> Instrument for Gauge<N> {
    fn about(&self) -> About {
        self.about
    }

    fn kind(&self) -> Kind {
        Kind::Gauge
    }

    fn labels(&self) -> &[Label] {
        &self.labels
    }

    fn points(&self) -> Vec<Point> {
        self.series.points(|level| Value::Level(level.load(Ordering::Relaxed)))
    }
}

/// Measures how long something takes.
#[derive(Debug)]
pub struct Histogram<const N: usize> {
    about: About,
    labels: [Label; N],
    bounds: &'static [f64],
    series: Series<Cells, N>,
}

/// The values of one series.
#[derive(Debug)]
struct Cells {
    counts: Box<[AtomicU64]>,
    sum_nanos: AtomicU64,
    exemplars: Mutex<Box<[Option<Exemplar>]>>,
}

impl Cells {
    fn new(bounds: &[f64]) -> Self {
        let ranges = 0..=bounds.len();
        Self {
            counts: ranges.clone().map(|_| AtomicU64::new(0)).collect(),
            sum_nanos: AtomicU64::new(0),
            exemplars: Mutex::new(ranges.map(|_| None).collect()),
        }
    }

    fn read(&self, bounds: &'static [f64]) -> Value {
        Value::Spread(Spread {
            bounds,
            counts: self.counts.iter().map(|count| count.load(Ordering::Relaxed)).collect(),
            sum: Duration::from_nanos(self.sum_nanos.load(Ordering::Relaxed)).as_secs_f64(),
            exemplars: self.exemplars.lock().to_vec(),
        })
    }
}

impl<const N: usize> Histogram<N> {
    pub(crate) const fn new(about: About, labels: [Label; N], bounds: &'static [f64]) -> Self {
        Self { about, labels, bounds, series: Series::new() }
    }

    /// Shows the series before anything was measured: a rate needs a beginning.
    pub fn begin(&self, labels: [&'static str; N]) {
        self.series.with(labels, || Cells::new(self.bounds), |_| {});
    }

    /// It took so long this time.
    pub fn record(&self, labels: [&'static str; N], took: Duration) {
        self.record_with(labels, took, None);
    }

    /// The same, and this trace shows why: the span as `(trace id, span id)`, and the moment in milliseconds since 1970.
    pub fn record_with(&self, labels: [&'static str; N], took: Duration, shown_by: Option<(u128, u64, i64)>) {
        let value = took.as_secs_f64();
        let range = self.bounds.partition_point(|bound| *bound < value);
        self.series.with(
            labels,
            || Cells::new(self.bounds),
            |cells| {
                cells.counts[range].fetch_add(1, Ordering::Relaxed);
                let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
                cells.sum_nanos.fetch_add(nanos, Ordering::Relaxed);
                if let Some((trace_id, span_id, at_millis)) = shown_by
                // Another one is just as good.
                && let Some(mut exemplars) = cells.exemplars.try_lock()
                {
                    exemplars[range] = Some(Exemplar { trace_id, span_id, value, at_millis });
                }
            },
        );
    }
}

impl<const N: usize> Instrument for Histogram<N> {
    fn about(&self) -> About {
        self.about
    }

    fn kind(&self) -> Kind {
        Kind::Histogram
    }

    fn labels(&self) -> &[Label] {
        &self.labels
    }

    fn points(&self) -> Vec<Point> {
        self.series.points(|cells| cells.read(self.bounds))
    }
}
