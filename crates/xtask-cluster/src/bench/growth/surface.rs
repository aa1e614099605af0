//! Tools of a surface: what so many of them cost a call of one, and who makes, reads and changes surfaces.

mod used;

use toolplane_proto::v1;
use toolplane_testkit::Problem;

use super::Args;
use super::bed::{self, Bed, NOOP};
use super::figures::Figures;

/// Tools that are registered at a time; the server takes no more.
const AT_A_TIME: usize = 1_000;

pub(super) async fn run(args: &Args, figures: &mut Figures) -> Result<(), Problem> {
    let mut bed = Bed::start(args.store, "tools").await?;
    let few = bed.calls_beside().await?;
    let before = bed.memory()?;
    // Those of the bed count too.
    let mut count = tools(&bed).await?;
    let first = count;
    let numbers: Vec<usize> = (count..args.tools).collect();
    for numbers in numbers.chunks(AT_A_TIME) {
        let tools =
            numbers.iter().map(|number| bed::held(&format!("bench.tool_{number}"))).collect::<Result<_, _>>()?;
        let request = v1::RegisterToolsRequest { tools, validate_only: false };
        if let Err(status) = bed.cluster.clients().surfaces().register_tools(request).await {
            figures.note(format!("{count} of {} tools are registered: {}", args.tools, status.message()));
            break;
        }
        count += numbers.len();
    }
    let request = v1::CreateSurfaceRequest { load: vec![NOOP.to_owned()], ..Default::default() };
    let made = match bed.cluster.clients().surfaces().create_surface(request).await {
        Ok(answer) => answer.into_inner().surface.unwrap_or_default(),
        Err(status) => {
            figures.note(format!("no surface of {count} tools can be made: {}", status.message()));
            return Ok(());
        }
    };
    let each = bed.memory()?.saturating_sub(before) as f64 / count.max(1) as f64;
    figures.add(format!("{count} tools in a surface: memory of the process for each"), each, "bytes");
    let many = bed.calls_in(&made.surface_id).await?;
    for (percent, name) in [(50, "p50"), (99, "p99")] {
        figures.add(format!("a call in a surface of 2 tools, {name}"), few.percentile(percent) as f64, "us");
        figures.add(format!("a call in a surface of {count} tools, {name}"), many.percentile(percent) as f64, "us");
    }
    used::measure(&bed, first..count, figures).await
}

/// How many tools are registered.
async fn tools(bed: &Bed) -> Result<usize, Problem> {
    let request = v1::ListToolsRequest { page_size: 1_000, ..Default::default() };
    Ok(bed.cluster.clients().surfaces().list_tools(request).await?.into_inner().tools.len())
}
