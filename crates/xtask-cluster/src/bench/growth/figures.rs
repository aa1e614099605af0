//! The rows of the figures: what was measured, and what it may be at most.

use serde::Serialize;

/// One figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Row {
    what: String,
    value: f64,
    unit: &'static str,
    /// The bound, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    at_most: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_met: Option<bool>,
}

/// All figures of a run. Each is shown as soon as it is known.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Figures {
    store: &'static str,
    rows: Vec<Row>,
    /// What could not be measured as it was asked for.
    notes: Vec<String>,
}

impl Figures {
    /// No figures of this store yet.
    pub(super) fn on(store: &'static str) -> Self {
        println!("growth, on the store `{store}`");
        Self { store, rows: Vec::new(), notes: Vec::new() }
    }

    /// A figure without a bound.
    pub(super) fn add(&mut self, what: impl Into<String>, value: f64, unit: &'static str) {
        self.push(what.into(), value, unit, None);
    }

    /// A figure that may be so much at most.
    pub(super) fn bounded(&mut self, what: impl Into<String>, value: f64, unit: &'static str, at_most: f64) {
        self.push(what.into(), value, unit, Some(at_most));
    }

    /// Says what was measured in another way than asked for.
    pub(super) fn note(&mut self, note: String) {
        println!("  note: {note}");
        self.notes.push(note);
    }

    /// Says which bounds were missed.
    pub(super) fn show_missed(&self) {
        let missed: Vec<&str> =
            self.rows.iter().filter(|row| row.is_met == Some(false)).map(|row| row.what.as_str()).collect();
        match missed.as_slice() {
            [] => println!("every bound is met"),
            missed => println!("bounds missed: {}", missed.join("; ")),
        }
    }

    fn push(&mut self, what: String, value: f64, unit: &'static str, at_most: Option<f64>) {
        let value = (value * 100.0).round() / 100.0;
        let is_met = at_most.map(|most| value <= most);
        let bound = match (at_most, is_met) {
            (Some(most), Some(true)) => format!("   at most {most}: met"),
            (Some(most), _) => format!("   at most {most}: MISSED"),
            (None, _) => String::new(),
        };
        println!("  {what:<64} {value:>12} {unit}{bound}");
        self.rows.push(Row { what, value, unit, at_most, is_met });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_held_to_its_bound() {
        let mut figures = Figures::on("none");
        figures.add("free", 7.0, "ms");
        figures.bounded("within", 10.004, "s", 10.0);
        figures.bounded("beyond", 10.01, "s", 10.0);
        let met: Vec<_> = figures.rows.iter().map(|row| row.is_met).collect();
        assert_eq!(met, [None, Some(true), Some(false)]);
    }
}
