//! What registering tools, making surfaces, loading and a new start cost, by the number of tools; all in memory, without a store.

use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolplane_catalog::catalog::{CatalogEntry, PreparedTools};
use toolplane_catalog::{
    Catalog, CatalogChange, CatalogLimits, ChangeKind, Counting, Findings, History, IndexedSurface, LiveSurface,
    Registration, Since, SurfaceRequest, load, resolve, validate_stored,
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
    // Beside the schemas themselves, which are as long as their owners make them.
    let schemas: usize = catalog
        .entries()
        .map(|entry| entry.tool.registration().model_schema().map_or(0, |schema| schema.bytes().len()))
        .sum();
    let bytes = (resident().saturating_sub(before) - schemas as u64) / tools as u64;
    let next = |from: usize, at: usize| tools + from * RUNS + at;
    let mut times = timed(|at| register(&mut catalog, next(0, at)..next(0, at) + 1));
    tell(rows, "register", tools, &mut times, Some(bytes));
    let mut times = timed(|_| drop(surface(&catalog).write()));
    tell(rows, "create_surface", tools, &mut times, None);
    let open: Vec<IndexedSurface> = (0..OPEN).map(|_| surface(&catalog)).collect();
    let mut times = timed(|at| {
        let names = [format!("tool_{}", at % tools)];
        let loading = load(&open[0], &catalog, &names, Timestamp::default(), &Counting::tools_alone());
        drop(open[0].after_loading(&loading).write());
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

/// A tool as a store keeps it.
#[derive(Serialize, Deserialize)]
struct Stored {
    registration: Registration,
    findings: Findings,
    revision: u64,
    history: History,
    since: Since,
}

impl Stored {
    fn write(entry: &CatalogEntry) -> Vec<u8> {
        let registration = Registration::clone(entry.tool.registration());
        let (findings, history) = (entry.tool.findings(), History::clone(&entry.history));
        let stored = Self { registration, findings, revision: entry.revision, history, since: entry.since };
        serde_json::to_vec(&stored).expect("JSON")
    }

    fn read(bytes: &[u8]) -> CatalogChange {
        let stored: Self = serde_json::from_slice(bytes).expect("what was written");
        let tool = validate_stored(Arc::new(stored.registration), Some(&stored.findings), &CatalogLimits::default());
        let (tool, history) = (Arc::new(tool.expect("a tool that was taken before")), Arc::new(stored.history));
        let kind = ChangeKind::Updated;
        CatalogChange { kind, tool, revision: stored.revision, history, since: stored.since }
    }
}

/// Brings every tool of a catalog back into a new one, as a new process does behind its store: as many threads as there are work the
/// tools out, one puts them together.
fn restart(catalog: &Catalog) -> Duration {
    const PAGE: usize = 500;
    let stored: Vec<Vec<u8>> = catalog.entries().map(Stored::write).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let began = Instant::now();
    let again = std::thread::scope(|scope| {
        let work = |thread: usize| {
            let (done, pages) = sync_channel::<PreparedTools>(1);
            let mine = stored.chunks(PAGE).skip(thread).step_by(threads);
            scope.spawn(move || {
                for page in mine {
                    let page = PreparedTools::of(page.iter().map(|bytes| Stored::read(bytes)).collect());
                    if done.send(page).is_err() {
                        return;
                    }
                }
            });
            pages
        };
        let pages: Vec<_> = (0..threads).map(work).collect();
        let pages = pages.iter().cycle().map_while(|turn| turn.recv().ok());
        let empty = Catalog::new(CatalogLimits::default());
        pages.fold(empty, |catalog, page| catalog.restored(page).expect("names of their own"))
    });
    assert_eq!(again.len(), catalog.len());
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
