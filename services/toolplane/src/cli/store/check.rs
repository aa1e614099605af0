//! Holding everything stored to its checksum.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;
use toolplane_backend::{Backend, Keeper};
use toolplane_results::PayloadKey;
use toolplane_runtime::Config;
use toolplane_runtime::config::StoreBackend;
use toolplane_store::Damage;
use toolplane_store_embedded::{Idle, Options};

use super::super::output::Output;
use super::super::{Ending, Failure};
use super::{files, local, present};

/// What was looked at, and what is wrong with it.
#[derive(Debug, Serialize)]
struct Report {
    sound: bool,
    stores: Vec<Part>,
    objects: Objects,
}

/// One role's store.
#[derive(Debug, Serialize)]
struct Part {
    role: &'static str,
    place: String,
    records: u64,
    entries: u64,
    events: u64,
    /// Set aside, or read from elsewhere: the store opens without it.
    damaged: Vec<Named>,
    /// Why the store does not open.
    #[serde(skip_serializing_if = "Option::is_none")]
    fatal: Option<String>,
}

/// Something damaged.
#[derive(Debug, Serialize)]
struct Named {
    kind: String,
    name: String,
    reason: String,
}

/// The payloads.
#[derive(Debug, Default, Serialize)]
struct Objects {
    files: u64,
    /// Files whose bytes are not those they are named after.
    damaged: Vec<String>,
}

impl From<&Damage> for Named {
    fn from(damage: &Damage) -> Self {
        let (kind, name) = (damage.place.kind().to_owned(), damage.place.name().to_owned());
        Self { kind, name, reason: damage.reason.clone() }
    }
}

pub(super) async fn run(config: &Config, out: &mut Output) -> Result<Ending, Failure> {
    let mut stores = Vec::new();
    for (role, path) in present(config) {
        stores.push(embedded(role, &path)?);
    }
    if config.store.backend == StoreBackend::Redis {
        for keeper in [Keeper::Scheduler, Keeper::Permission] {
            stores.push(redis(config, keeper).await?);
        }
    }
    let objects = objects(&config.objects_dir())?;
    let good = |part: &Part| part.damaged.is_empty() && part.fatal.is_none();
    let sound = stores.iter().all(good) && objects.damaged.is_empty();
    let report = Report { sound, stores, objects };
    if out.json() {
        out.serialized(&report)?;
    } else {
        print(&report, out)?;
    }
    Ok(if sound { Ending::Done } else { Ending::ToolFailed })
}

fn embedded(role: &'static str, path: &Path) -> Result<Part, Failure> {
    let found = Idle::hold(path).map_err(|error| local(path, error))?.check(&Options::default());
    Ok(Part {
        role,
        place: path.display().to_string(),
        records: found.records,
        entries: found.entries,
        events: found.event_rows,
        damaged: found.damage.iter().map(Named::from).collect(),
        fatal: found.fatal,
    })
}

async fn redis(config: &Config, keeper: Keeper) -> Result<Part, Failure> {
    let unusable = |error: String| Failure::Local(format!("the store of the {} role: {error}", keeper.as_str()));
    let backend = Backend::open(config, keeper).await.map_err(|error| unusable(error.to_string()))?;
    let Backend::Redis(store) = &backend else { return Err(unusable("it is not in Redis".to_owned())) };
    let found = store.prove().await.map_err(|error| unusable(error.to_string()))?;
    Ok(Part {
        role: keeper.as_str(),
        place: format!("Redis, namespace `{}`", keeper.namespace(&config.store.redis.namespace)),
        records: found.records,
        entries: 0,
        events: found.events,
        damaged: found.damage.iter().map(Named::from).collect(),
        fatal: None,
    })
}

/// Holds every payload to the digest in its name.
fn objects(directory: &Path) -> Result<Objects, Failure> {
    let mut found = Objects::default();
    for name in files::below(directory)? {
        let text = name.display().to_string();
        let address = format!("{}{text}", toolplane_results::payload::key::URI_PREFIX);
        // Proofs of starts and archives have no digest in their names.
        let Some(digest) = address.parse::<PayloadKey>().ok().and_then(|key| key.digest()) else { continue };
        found.files += 1;
        if files::read(&directory.join(&name), |_| Ok(()))? != digest.hex() {
            found.damaged.push(text);
        }
    }
    Ok(found)
}

fn print(report: &Report, out: &mut Output) -> Result<(), Failure> {
    for part in &report.stores {
        out.line(format!(
            "{}  {}: {} records, {} index entries, {} events",
            part.role, part.place, part.records, part.entries, part.events
        ))?;
        for Named { kind, name, reason } in &part.damaged {
            out.line(format!("  damaged  {kind} {name}: {reason}"))?;
        }
        if let Some(fatal) = &part.fatal {
            out.line(format!("  does not open: {fatal}"))?;
        }
    }
    out.line(format!("payloads: {} files", report.objects.files))?;
    for name in &report.objects.damaged {
        out.line(format!("  damaged  {name}"))?;
    }
    let roles: BTreeSet<_> = report.stores.iter().filter(|part| part.fatal.is_some()).map(|part| part.role).collect();
    match (report.sound, roles.is_empty()) {
        (true, _) => out.line("everything is as it was written"),
        (false, true) => out.note("what is damaged is set aside and refused; everything else works. `toolplane store restore` brings a backup back"),
        (false, false) => out.note("a store does not open: bring a backup back with `toolplane store restore`"),
    }
}
