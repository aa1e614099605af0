//! What the processes of a cluster count and measure: every instrument in one table, with labels whose values are bounded.
//!
//! An instrument is a static of [`table`]; who knows a fact tells it there, with one value for each of its labels. A value of a label is
//! a word of the program, or a name that [`names`] lets in: a bounded number of them, and `other` for the rest. So no text that a
//! caller, a tool or a person wrote becomes a label, and the memory of all this has a bound. [`collect`] reads everything; [`text`] and
//! the OTLP exporter of `toolplane-runtime` say it to others, and `docs/metrics.md` is written from the table ([`page`]).
//!
//! It is one set for a process, like its log. This crate knows no clock, no socket and no tool.
//!
//! ```
//! use toolplane_metrics::{names, table, text};
//!
//! let tool = names::TOOLS.name("demo.echo");
//! table::CALLS_ENDED.add([tool, "succeeded", ""], 1);
//! let page = text::page(&toolplane_metrics::collect(), text::Format::Prometheus);
//! assert!(page.contains(r#"toolplane_calls_ended_total{gen_ai_tool_name="demo.echo",status="succeeded"} 1"#));
//! ```

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests start tasks, lock and read clocks as they need; their sleeps are counted by `cargo xtask tidy`"
    )
)]

mod about;
mod instrument;
pub mod names;
mod observe;
pub mod page;
mod reading;
pub mod table;
#[cfg(test)]
mod tests;
pub mod text;

pub use about::{About, Kind, Label};
pub use instrument::{Counter, Gauge, Histogram};
pub use observe::{Observing, before_collect};
pub use reading::{Exemplar, Family, Point, Spread, Value, collect};
