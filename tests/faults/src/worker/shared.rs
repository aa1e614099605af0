//! What all parts of the worker share.

use std::path::PathBuf;

use super::held::Held;
use super::ledger::Ledger;

/// How a worker is started.
#[derive(Clone, Debug, clap::Parser)]
#[command(name = "ledger-worker")]
pub struct Options {
    /// Its name, stable over restarts.
    #[arg(long)]
    pub worker_id: String,
    /// Schedulers it may connect to, e.g. `http://127.0.0.1:7420`; the next one when one goes away.
    #[arg(long, value_delimiter = ',', required = true)]
    pub schedulers: Vec<String>,
    /// Where its lock and its ledgers are.
    #[arg(long)]
    pub folder: PathBuf,
    /// Address of the guarded resource.
    #[arg(long)]
    pub register: String,
    /// Calls it runs at once.
    #[arg(long, default_value_t = 16)]
    pub slots: u32,
    /// Goes on with what was taken from it, and reports it all the same.
    #[arg(long)]
    pub deaf: bool,
}

/// What all parts of the worker share.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) options: Options,
    /// This start of it.
    pub(crate) incarnation: String,
    pub(crate) held: Held,
    pub(crate) ledger: Ledger,
}
