//! What surfaces cost as the catalog grows:
//! `cargo run --release -p toolplane-catalog --example surfaces [-- TOOLS ...]`. With 3,000, 30,000 and 300,000 tools unless
//! told otherwise it prints, in microseconds, the middle of some runs: making a surface, loading a tool into it and writing its
//! record, telling the first 1,000 tools and 1,000 from the middle, registering one more tool that all surfaces show; and
//! how many bytes its record and a tool of the catalog take; then the same of a surface that loads what fits into a budget, and what telling
//! of that costs; then of a surface that is within three others.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use serde_json::json;
use toolplane_catalog::{
    Amount, Budget, Catalog, CatalogLimits, Counting, DeferPolicy, IndexedSurface, LiveSurface, Registration, Shut,
    SurfaceRequest, SurfaceTool, load, resolve,
};
use toolplane_records::ids::{SurfaceId, TenantId, ToolId};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::SurfaceScope;

const NAMESPACES: usize = 300;
const RUNS: usize = 9;
const PAGE: usize = 1_000;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn tool(number: usize) -> Outcome<Registration> {
    Ok(serde_json::from_value(json!({ "declaration": {
        "schema_version": "0.2.0",
        "tool_id": format!("tool_{number}"),
        "namespace": format!("space{}", number % NAMESPACES),
        "name": format!("action{number}"),
        "description": "Reads one thing and says what it is.",
        "search_hint": "read things",
        "lifecycle": "available",
        "tool_kind": "function",
        "input_contract": { "model_input_schema": {
            "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] } },
    } }))?)
}

fn register(catalog: &mut Catalog, tools: &[Registration]) -> Outcome<()> {
    let changes = catalog.plan_register(tools).map_err(|faults| format!("{faults:?}"))?;
    changes.into_iter().for_each(|change| catalog.apply(change));
    Ok(())
}

/// The middle of the times, in microseconds, and what came out last.
fn timed<T>(mut run: impl FnMut(usize) -> Outcome<T>) -> Outcome<(u128, T)> {
    let mut times = Vec::new();
    let mut last = None;
    for number in 0..RUNS {
        let started = Instant::now();
        last = Some(run(number)?);
        times.push(started.elapsed().as_micros());
    }
    times.sort_unstable();
    Ok((times[RUNS / 2], last.ok_or("no run")?))
}

fn memory() -> Outcome<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse::<u64>()? * 1024)
}

fn make(catalog: &Catalog) -> Outcome<IndexedSurface> {
    let request = SurfaceRequest::new(TenantId::unauthenticated(), SurfaceScope::Session);
    let made = LiveSurface::make(catalog, &request, SurfaceId::from_trusted("s"), Timestamp::default());
    Ok(made.map_err(|misnamed| format!("{misnamed:?}"))?.into())
}

/// One within three others.
fn make_lowest(catalog: &Catalog) -> Outcome<IndexedSurface> {
    let request = SurfaceRequest::new(TenantId::unauthenticated(), SurfaceScope::Session);
    let mut above = make(catalog)?;
    for _ in 0..3 {
        let (id, parent) = (SurfaceId::from_trusted("s"), Some(Arc::new(above)));
        let made = LiveSurface::make_within(catalog, &request, id, Timestamp::default(), parent, Shut::NOTHING);
        above = made.map_err(|misnamed| format!("{misnamed:?}"))?.into();
    }
    Ok(above)
}

/// Every tool takes as much as its description has.
const COUNTING: Counting<'static> = Counting {
    size: &|entry| Amount::of_tool(20, entry.tool.registration().declaration.description.len() as u64),
    used: &|_| None,
    shut: Shut::NOTHING,
};

/// One that loads all it can.
fn make_within(catalog: &Catalog) -> Outcome<IndexedSurface> {
    let mut request = SurfaceRequest::new(TenantId::unauthenticated(), SurfaceScope::Session);
    request.defer = DeferPolicy::None;
    request.budget = Budget { max_tools: 200, max_schema_tokens: 3_000, max_schema_bytes: 0 };
    let made = LiveSurface::make(catalog, &request, SurfaceId::from_trusted("s"), Timestamp::default());
    let made = made.map_err(|misnamed| format!("{misnamed:?}"))?;
    Ok(made.loaded_within_budget(catalog, &COUNTING).into())
}

fn measure(tools: usize) -> Outcome<()> {
    let before = memory()?;
    let mut catalog = Catalog::new(CatalogLimits::default());
    for first in (0..tools).step_by(1_000) {
        let batch = (first..tools.min(first + 1_000)).map(tool).collect::<Outcome<Vec<_>>>()?;
        register(&mut catalog, &batch)?;
    }
    let each = memory()?.saturating_sub(before) / tools as u64;
    let (create, (surface, _)) = timed(|_| {
        let made = make(&catalog)?;
        let written = made.write()?;
        Ok((made, written))
    })?;
    let (loading, written) = timed(|number| {
        let names = [format!("space{}.action{number}", number % NAMESPACES)];
        let loading = load(&surface, &catalog, &names, Timestamp::default(), &Counting::tools_alone());
        Ok(surface.after_loading(&loading).write()?)
    })?;
    let (within, bounded) = timed(|_| make_within(&catalog))?;
    let (evicting, _) = timed(|number| {
        let names = [format!("space{}.action{number}", number % NAMESPACES)];
        let loading = load(&bounded, &catalog, &names, Timestamp::default(), &COUNTING);
        Ok(bounded.after_loading(&loading).write()?)
    })?;
    let (telling, budget) = timed(|_| bounded.budget(&catalog, Shut::NOTHING).ok_or_else(|| "no budget".into()))?;
    let (first, told) = timed(|_| {
        surface.counts(&catalog, Shut::NOTHING);
        Ok(surface.tools(&catalog, Shut::NOTHING, None).take(PAGE).collect::<Vec<_>>())
    })?;
    let lowest = make_lowest(&catalog)?;
    let (below, _) = timed(|number| {
        let names = [format!("space{}.action{number}", number % NAMESPACES)];
        let loading = load(&lowest, &catalog, &names, Timestamp::default(), &Counting::tools_alone());
        Ok(lowest.after_loading(&loading).write()?)
    })?;
    let (below_first, _) = timed(|_| {
        lowest.counts(&catalog, Shut::NOTHING);
        Ok(lowest.tools(&catalog, Shut::NOTHING, None).take(PAGE).count())
    })?;
    let middle = surface.tools(&catalog, Shut::NOTHING, None).nth(tools / 2).ok_or("fewer tools")?.position();
    let (later, _) = timed(|_| Ok(surface.tools(&catalog, Shut::NOTHING, Some(&middle)).take(PAGE).count()))?;
    let (adding, _) = timed(|number| {
        register(&mut catalog, &[tool(tools + number)?])?;
        let id = ToolId::parse(&format!("tool_{}", tools + number))?;
        let entry = catalog.get(&id).ok_or("not there")?;
        resolve(&surface, &catalog, id.as_str(), None);
        if surface.shows(entry) { Ok(()) } else { Err("not shown".into()) }
    })?;
    let deferred = told.iter().filter(|tool| matches!(tool, SurfaceTool::Deferred(_))).count();
    println!(
        "{tools:>7} tools: make {create} us, load {loading} us, first {PAGE} {first} us, {PAGE} from the middle {later} us, \
         one more tool {adding} us; record {} bytes, {each} bytes a tool ({deferred} deferred told); within a budget make {within} us, \
         load {evicting} us, tell the budget {telling} us ({} loaded, {} deferred for it); within three others load {below} us, first {PAGE} \
         {below_first} us",
        written.len(),
        budget.tools,
        budget.deferred,
    );
    Ok(())
}

fn main() -> Outcome<()> {
    let given: Vec<usize> = std::env::args().skip(1).map(|text| text.parse()).collect::<Result<_, _>>()?;
    let counts = if given.is_empty() { vec![3_000, 30_000, 300_000] } else { given };
    counts.into_iter().try_for_each(measure)
}
