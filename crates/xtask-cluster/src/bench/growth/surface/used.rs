//! What it costs to make surfaces of so many tools, to load into them, to read them, and to have one more tool in them.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use toolplane_proto::v1;
use toolplane_proto::v1::load_outcome::Outcome;
use toolplane_testkit::Problem;

use super::NOOP;
use crate::bench::growth::bed::{self, Bed};
use crate::bench::growth::figures::Figures;
use crate::bench::load::{self, Measured};

/// How often each is done.
const TIMES: usize = 30;
/// Milliseconds that making a surface, loading a tool, and one more tool may take at the median.
const MAKE: f64 = 5.0;
const LOAD: f64 = 2.0;
const ONE_MORE: f64 = 10.0;
/// Clients that search at once, and how long each number of them does.
const CLIENTS: usize = 16;
const SEARCHED: Duration = Duration::from_secs(3);
/// Tools of a page.
const PAGE: i32 = 1_000;

/// Measures it; `numbers` are those of the tools that were registered for this, all of which are deferred.
pub(super) async fn measure(bed: &Bed, numbers: Range<usize>, figures: &mut Figures) -> Result<(), Problem> {
    let count = numbers.end;
    let mut surfaces = bed.cluster.clients().surfaces();
    let (begin, mut times) = (Instant::now(), Vec::new());
    let mut surface_id = String::new();
    for _ in 0..TIMES {
        let asked = Instant::now();
        let request = v1::CreateSurfaceRequest { load: vec![NOOP.to_owned()], ..Default::default() };
        let made = surfaces.create_surface(request).await?.into_inner().surface.unwrap_or_default();
        times.push(asked.elapsed());
        surface_id = made.surface_id;
    }
    tell(figures, count, "making one", &Measured::of(times, begin.elapsed()), Some(MAKE));

    let (begin, mut times) = (Instant::now(), Vec::new());
    for number in numbers.take(TIMES) {
        let names = vec![format!("bench.tool_{number}")];
        let asked = Instant::now();
        surfaces
            .load_tools(v1::LoadToolsRequest { surface_id: surface_id.clone(), names, ..Default::default() })
            .await?;
        times.push(asked.elapsed());
    }
    tell(figures, count, "loading a tool", &Measured::of(times, begin.elapsed()), Some(LOAD));

    search(bed, &surface_id, count, figures).await?;

    let pages = read(bed, &surface_id).await?;
    tell(figures, count, &format!("a page of {PAGE} tools"), &pages, None);

    let (begin, mut times) = (Instant::now(), Vec::new());
    for number in 0..TIMES {
        let later = format!("bench.later_{number}");
        let request = v1::RegisterToolsRequest { tools: vec![bed::held(&later)?], validate_only: false };
        let asked = Instant::now();
        surfaces.register_tools(request).await?;
        let request =
            v1::LoadToolsRequest { surface_id: surface_id.clone(), names: vec![later.clone()], ..Default::default() };
        let loaded = surfaces.load_tools(request).await?.into_inner();
        times.push(asked.elapsed());
        let is_loaded = |outcome: &v1::LoadOutcome| matches!(outcome.outcome, Some(Outcome::Loaded(_)));
        if !loaded.outcomes.iter().all(is_loaded) {
            figures.note(format!("`{later}`, registered later, is not in a surface that was there"));
            return Ok(());
        }
    }
    tell(figures, count, "one more tool, there and loaded", &Measured::of(times, begin.elapsed()), Some(ONE_MORE));
    Ok(())
}

/// Searches for tools by their names, alone and with many clients at once.
async fn search(bed: &Bed, surface_id: &str, count: usize, figures: &mut Figures) -> Result<(), Problem> {
    let mut per_second = Vec::new();
    for clients in [1, CLIENTS] {
        let (to, surface_id, asked) =
            (bed.cluster.clients().clone(), Arc::<str>::from(surface_id), Arc::<AtomicUsize>::default());
        let measured = load::run(clients, SEARCHED, move || {
            let number = asked.fetch_add(7919, Ordering::Relaxed) % count;
            let (to, query, surface_id) = (to.clone(), format!("tool_{number}"), surface_id.to_string());
            async move {
                let request = v1::SearchToolsRequest { surface_id, query, limit: 10, ..Default::default() };
                to.surfaces().search_tools(request).await?;
                Ok(())
            }
        });
        let measured = measured.await?;
        tell(figures, count, &format!("a search, {clients} at once"), &measured, None);
        per_second.push(measured.per_second());
    }
    if let [alone, at_once] = per_second[..] {
        let times = at_once / alone.max(1.0);
        figures.add(
            format!("a surface of {count} tools: searches per second, {CLIENTS} at once beside one"),
            times,
            "times",
        );
    }
    Ok(())
}

/// Reads the tools of the surface from the first one to the last.
async fn read(bed: &Bed, surface_id: &str) -> Result<Measured, Problem> {
    let (begin, mut times) = (Instant::now(), Vec::<Duration>::new());
    let mut page_token = String::new();
    loop {
        let surface_id = surface_id.to_owned();
        let request = v1::ListSurfaceToolsRequest { surface_id, page_size: PAGE, page_token };
        let asked = Instant::now();
        let page = bed.cluster.clients().surfaces().list_surface_tools(request).await?.into_inner();
        times.push(asked.elapsed());
        if page.next_page_token.is_empty() {
            return Ok(Measured::of(times, begin.elapsed()));
        }
        page_token = page.next_page_token;
    }
}

fn tell(figures: &mut Figures, count: usize, what: &str, measured: &Measured, most: Option<f64>) {
    let [half, last] = [50, 99].map(|percent| measured.percentile(percent) as f64 / 1_000.0);
    let named = |name: &str| format!("a surface of {count} tools: {what}, {name}");
    match most {
        Some(most) => figures.bounded(named("p50"), half, "ms", most),
        None => figures.add(named("p50"), half, "ms"),
    }
    figures.add(named("p99"), last, "ms");
}
