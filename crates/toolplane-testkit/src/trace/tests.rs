use super::*;

fn span(id: &str, parent: &str, name: &str, start_ns: u64) -> Span {
    Span {
        trace_id: "t".to_owned(),
        span_id: id.to_owned(),
        parent_span_id: parent.to_owned(),
        name: name.to_owned(),
        kind: SpanKind::Internal,
        service: "s".to_owned(),
        start_ns,
        end_ns: start_ns + 1_000_000,
        attributes: BTreeMap::new(),
        links: Vec::new(),
        error: false,
    }
}

#[test]
fn spans_become_a_tree_whatever_order_they_came_in() {
    let trace = Trace::new(vec![span("c", "b", "tool", 3), span("a", "remote", "call", 1), span("b", "a", "work", 2)]);
    let tool = trace.named("tool")[0];
    assert_eq!(trace.ancestors(tool), ["work", "call"]);
    assert_eq!(trace.roots().len(), 1);
    let rendered = trace.render();
    let lines: Vec<&str> = rendered.lines().collect();
    assert!(lines[0].starts_with("call ") && lines[1].starts_with("  work ") && lines[2].starts_with("    tool "));
}

/// Broken exporters must not hang a test.
#[test]
fn a_cycle_ends() {
    let trace = Trace::new(vec![span("a", "b", "x", 1), span("b", "a", "y", 2)]);
    assert!(trace.ancestors(&trace.spans()[0]).len() <= 2);
}
