//! What registering tools, making surfaces, loading and a new start cost, by the number of tools; all in memory, without a store.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolplane_catalog::{
    Catalog, CatalogLimits, History, IndexedSurface, LiveSurface, Registration, SurfaceRequest, load, resolve,
};
use toolplane_records::ids::{SurfaceId, TenantId};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::SurfaceScope;

use crate::made;
use crate::speed::{resident, tell};

const RUNS: usize = 300;
/// Surfaces that are open while a tool is added.
const OPEN: usize = 20;

/// Measures with that number of tools.
pub(crate) fn measure(tools: usize, rows: &mut Vec<Value>) {
    let before = resident();
    let mut catalog = Catalog::new(CatalogLimits::default());
    for first in (0..tools).step_by(1_000) {
        register(&mut catalog, first..tools.min(first + 1_000));
    }
    let bytes = resident().saturating_sub(before) / tools as u64;
    let next = |from: usize, at: usize| tools + from * RUNS + at;
    let mut times = timed(|at| register(&mut catalog, next(0, at)..next(0, at) + 1));
    tell(rows, "register", tools, &mut times, Some(bytes));
    let mut times = timed(|_| drop(surface(&catalog).write()));
    tell(rows, "create_surface", tools, &mut times, None);
    let open: Vec<IndexedSurface> = (0..OPEN).map(|_| surface(&catalog)).collect();
    let mut times = timed(|at| {
        let (fresh, _) = load(&open[0], &catalog, &[format!("tool_{}", at % tools)], Timestamp::default());
        drop(open[0].after_loading(fresh).write());
    });
    tell(rows, "load", tools, &mut times, None);
    let mut times = timed(|at| {
        register(&mut catalog, next(1, at)..next(1, at) + 1);
        let name = format!("tool_{}", next(1, at));
        open.iter().for_each(|surface| drop(resolve(surface, &catalog, &name, None)));
    });
    tell(rows, "add_visible", tools, &mut times, None);
    tell(rows, "restart", tools, &mut [restart(&catalog)], None);
}

/// Brings every tool of a catalog back into a new one, as a new process does behind its store.
fn restart(catalog: &Catalog) -> Duration {
    let stored: Vec<_> = catalog.entries().collect();
    let began = Instant::now();
    let mut again = Catalog::new(CatalogLimits::default());
    for entry in stored {
        let history = History::clone(&entry.history);
        again
            .restore(entry.tool.registration(), entry.revision, history, entry.since)
            .expect("a tool that was taken before");
    }
    began.elapsed()
}

fn register(catalog: &mut Catalog, numbers: std::ops::Range<usize>) {
    let tool = |number| serde_json::from_value(json!({ "declaration": made::tool(number) })).expect("a registration");
    let tools: Vec<Registration> = numbers.map(tool).collect();
    let changes = catalog.plan_register(&tools).expect("tools that can be registered");
    changes.into_iter().for_each(|change| catalog.apply(change));
}

fn surface(catalog: &Catalog) -> IndexedSurface {
    let request = SurfaceRequest::new(TenantId::unauthenticated(), SurfaceScope::Session);
    let made = LiveSurface::make(catalog, &request, SurfaceId::from_trusted("s"), Timestamp::default());
    made.expect("a surface of every tool").into()
}

fn timed(mut run: impl FnMut(usize)) -> Vec<Duration> {
    let time = |at| {
        let began = Instant::now();
        run(at);
        began.elapsed()
    };
    (0..RUNS).map(time).collect()
}
