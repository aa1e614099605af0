//! What a reader gets, and that it stays bounded whatever is told.

use std::path::Path;
use std::time::Duration;

use crate::names::{self, Names};
use crate::text::Format;
use crate::{collect, page, table, text};

fn told(format: Format) -> String {
    text::page(&collect(), format)
}

#[test]
fn a_histogram_is_told_in_ranges_that_add_up_and_shows_a_trace() {
    let labels = ["demo.slow", "succeeded"];
    table::CALL_DURATION.record_with(labels, Duration::from_millis(40), Some((0xabc, 0x12, 1_500)));
    table::CALL_DURATION.record(labels, Duration::from_secs(9999));
    let page = told(Format::OpenMetrics);
    let series = r#"gen_ai_tool_name="demo.slow",status="succeeded""#;
    for line in [
        format!("toolplane_call_duration_seconds_bucket{{{series},le=\"0.025\"}} 0"),
        format!(
            "toolplane_call_duration_seconds_bucket{{{series},le=\"0.05\"}} 1 # {{trace_id=\"{:032x}\",span_id=\"{:016x}\"}} 0.04 1.500",
            0xabc, 0x12
        ),
        format!("toolplane_call_duration_seconds_bucket{{{series},le=\"1800\"}} 1"),
        format!("toolplane_call_duration_seconds_bucket{{{series},le=\"+Inf\"}} 2"),
        format!("toolplane_call_duration_seconds_sum{{{series}}} 9999.04"),
        format!("toolplane_call_duration_seconds_count{{{series}}} 2"),
        "# UNIT toolplane_call_duration_seconds seconds".to_owned(),
        "# EOF".to_owned(),
    ] {
        assert!(page.lines().any(|found| found == line), "no `{line}` in\n{page}");
    }
    assert!(!told(Format::Prometheus).contains(" # {"), "the older format has no exemplars");
}

#[test]
fn a_value_on_a_bound_belongs_to_the_range_below_it() {
    table::CALL_QUEUE_WAIT.record(["demo.bound"], Duration::from_secs(1));
    let page = told(Format::Prometheus);
    let range =
        |end| format!("toolplane_call_queue_wait_seconds_bucket{{gen_ai_tool_name=\"demo.bound\",le=\"{end}\"}}");
    assert!(page.contains(&format!("{} 0", range("0.5"))) && page.contains(&format!("{} 1", range("1"))), "{page}");
}

#[test]
fn a_counter_is_called_as_each_format_wants_it() {
    table::LEASE_LOSSES.add(["worker_gone"], 3);
    let old = told(Format::Prometheus);
    assert!(old.contains("# TYPE toolplane_lease_losses_total counter"), "{old}");
    let new = told(Format::OpenMetrics);
    assert!(new.contains("# TYPE toolplane_lease_losses counter"), "{new}");
    assert!(new.contains("toolplane_lease_losses_total{reason=\"worker_gone\"} 3"), "{new}");
}

#[test]
fn names_beyond_the_bound_are_told_together() {
    static FEW: Names = Names::new(2);
    let shown: Vec<_> = ["a", "b", "c", "a"].iter().map(|name| FEW.name(name)).collect();
    assert_eq!(shown, ["a", "b", names::OTHER, "a"]);
    assert_eq!(FEW.name(""), names::OTHER);
    static WIDE: Names = Names::new(9);
    assert_eq!(WIDE.name(&"x".repeat(1000)), names::OTHER, "a long name is not kept");
    assert_eq!(WIDE.name("two\nlines"), names::OTHER, "nor one that could end a line");
}

#[test]
fn an_instrument_has_a_bounded_number_of_series_and_loses_nothing() {
    for number in 0..5000_u32 {
        let made_up: &'static str = Box::leak(format!("reason {number}").into());
        table::CALLS_REQUEUED.add(["demo.echo", made_up], 1);
    }
    let family = collect().into_iter().find(|family| family.about.name == "toolplane.calls.requeued").expect("told");
    assert_eq!(family.points.len(), 2001);
    let total: u64 =
        family.points.iter().map(|point| if let crate::Value::Count(count) = point.value { count } else { 0 }).sum();
    assert_eq!(total, 5000);
}

#[test]
fn levels_are_looked_up_when_they_are_read_and_what_is_gone_is_gone() {
    let observing = crate::before_collect(|| table::POOL_WORKERS.replace([(["default"], 1), (["default"], 2)]));
    assert!(told(Format::Prometheus).contains("toolplane_pool_workers{pool=\"default\"} 3"));
    drop(observing);
    table::POOL_WORKERS.replace([]);
    assert!(!told(Format::Prometheus).contains("toolplane_pool_workers"));
}

#[test]
fn what_a_label_says_cannot_end_it() {
    table::DECISIONS.add(["allow", "a \"quoted\\source", "false"], 1);
    assert!(told(Format::Prometheus).contains(r#"source="a \"quoted\\source""#));
}

#[test]
fn each_name_stands_for_one_instrument() {
    let names: std::collections::HashSet<_> = table::ALL.iter().map(|instrument| instrument.about().family()).collect();
    assert_eq!(names.len(), table::ALL.len());
    for instrument in table::ALL {
        let about = instrument.about();
        assert!(
            about.name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '.' || letter == '_'),
            "{about:?}"
        );
        assert!(about.help.ends_with('.') && !about.help.contains('|'), "{about:?}");
    }
}

#[test]
fn the_page_is_what_the_table_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/metrics.md");
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page::page(), "docs/metrics.md is not what the table says: run `cargo xtask gen`");
}
