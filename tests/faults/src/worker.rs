//! The test's own worker: it speaks the public worker protocol, writes every effect to a ledger, and can be killed at any
//! moment. What it promises is what the protocol asks of any worker, and no more: it keeps no journal, so a call that must
//! not run twice ends as unknown when it dies in the middle.

use std::sync::Arc;

use crate::trouble::Trouble;

mod beat;
mod door;
mod execution;
mod held;
mod ledger;
mod session;
mod shared;

pub use shared::Options;

use held::Held;
use shared::Worker;

/// Runs until the process is killed.
pub fn main(options: &Options) -> Result<(), Trouble> {
    let folder = options.folder.join(&options.worker_id);
    std::fs::create_dir_all(&folder).map_err(Trouble::file(&folder))?;
    // Held to the end of the process: the worker that has it knows that no earlier start lives.
    let _lock = ledger::lock(&folder.join("lock"))?;
    let incarnation = uuid::Uuid::new_v4().simple().to_string();
    let ledger = ledger::Ledger::create(&folder.join(format!("{incarnation}.jsonl")))?;
    let worker = Arc::new(Worker { options: options.clone(), incarnation, held: Held::default(), ledger });
    // Leases are renewed by a thread of their own: however busy the tools are, they are not lost.
    let beating = worker.clone();
    std::thread::spawn(move || on_one_thread(beat::run(beating)));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.map_err(|error| Trouble::Said(format!("no runtime: {error}")))?.block_on(session::run(worker));
    Ok(())
}

fn on_one_thread(work: impl Future<Output = ()>) {
    if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() {
        runtime.block_on(work);
    }
}
