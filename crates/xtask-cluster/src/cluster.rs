//! `cargo xtask cluster`: a cluster of many processes that outlives the command, to look at, to kill parts of, and to call.

use toolplane_testkit::Problem;

mod folder;
mod running;
mod state;
mod status;
mod up;

use folder::{folder, say};

use state::State;

/// What is done.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Start the cluster, or what does not run of it.
    Up(up::Args),
    /// Show every process, its health and what the store promises.
    Status,
    /// SIGKILL one process by name.
    Kill {
        /// Its name, as `status` shows it.
        name: String,
        /// Start it again at once.
        #[arg(long)]
        restart: bool,
    },
    /// Stop every process in order, within their bounds; state stays on disk until the next `up`.
    Down,
}

pub(crate) async fn run(command: Command) -> Result<(), Problem> {
    match command {
        Command::Up(args) => up::run(&args).await,
        Command::Status => {
            say(&status::table(&State::expect()?).await);
            Ok(())
        }
        Command::Kill { name, restart } => kill(&name, restart).await,
        Command::Down => down().await,
    }
}

async fn kill(name: &str, restart: bool) -> Result<(), Problem> {
    let mut state = State::expect()?;
    let seat = state.seat(name)?;
    let killed = match seat.running.take() {
        Some(running) => running.kill().await,
        None => false,
    };
    println!("{name} {}", if killed { "was killed" } else { "did not run" });
    state.write()?;
    if restart {
        up::start_missing(&mut state, |seat| seat.name() == name).await?;
        println!("{name} runs again");
    }
    Ok(())
}

async fn down() -> Result<(), Problem> {
    let mut state = State::expect()?;
    // A service that asks goes before the one it asks; the store goes last.
    for seat in state.seats.iter_mut().rev() {
        if let Some(running) = seat.running.take() {
            let how = if running.stop().await { "ended in order" } else { "did not end in time and was killed" };
            println!("{:<12} {how}", seat.name());
        }
    }
    State::forget()
}
