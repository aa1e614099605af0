//! `cargo xtask bench growth`: what a cluster costs as it grows, and whether that stays within the bounds. Calls that wait, watchers
//! of one call, agents that are connected and idle, tools of a surface: each on a cluster of its own, all roles in one process.

use std::path::PathBuf;

use toolplane_testkit::Problem;

use super::stores::StoreName;
use figures::Figures;

mod agents;
mod bed;
mod figures;
mod hand;
mod surface;
mod waiting;
mod watchers;

/// How the bench runs.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The store under the cluster.
    #[arg(long, value_enum, default_value_t = StoreName::Embedded)]
    store: StoreName,
    /// Calls that wait.
    #[arg(long, default_value_t = 1_000_000)]
    calls: u64,
    /// Watchers of one call.
    #[arg(long, default_value_t = 10_000)]
    watchers: u64,
    /// Agents that are connected and idle.
    #[arg(long, default_value_t = 10_000)]
    agents: u64,
    /// Tools of a surface.
    #[arg(long, default_value_t = 30_000)]
    tools: usize,
    /// Only these parts.
    #[arg(long, value_enum)]
    only: Vec<Part>,
    /// Where the figures go.
    #[arg(long, default_value = "target/bench/growth.json")]
    out: PathBuf,
}

/// What grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Calls that wait.
    Calls,
    /// Watchers of one call.
    Watchers,
    /// Agents that are connected.
    Agents,
    /// Tools of a surface.
    Tools,
}

pub(crate) async fn run(args: &Args) -> Result<(), Problem> {
    let asked = |part| args.only.is_empty() || args.only.contains(&part);
    let mut figures = Figures::on(args.store.as_str());
    // Written after each part: the first one takes long, and what it found shall not be lost with a later one.
    if asked(Part::Calls) {
        waiting::run(args, &mut figures).await?;
        super::write(&args.out, &figures)?;
    }
    if asked(Part::Watchers) {
        watchers::run(args, &mut figures).await?;
        super::write(&args.out, &figures)?;
    }
    if asked(Part::Agents) {
        agents::run(args, &mut figures).await?;
        super::write(&args.out, &figures)?;
    }
    if asked(Part::Tools) {
        surface::run(args, &mut figures).await?;
        super::write(&args.out, &figures)?;
    }
    figures.show_missed();
    Ok(())
}
