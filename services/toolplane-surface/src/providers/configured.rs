//! Providers of the configuration: put when the role starts, and again on SIGHUP and when the file has changed.
//!
//! An entry is the record of a provider, with `id` for its name. The namespace is the name when absent, and the document of an
//! OpenAPI provider may be a text: an address, or a file here. What is no longer there is taken out of use.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use serde_json::{Map, Value, json};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use toolplane_providers::check;
use toolplane_records::ids::TenantId;
use toolplane_records::payload::Digest;
use toolplane_records::provider::Provider;
use toolplane_runtime::{ApiError, Config};

use super::{Documents, Providers};
use crate::error::SurfaceError;

/// Who makes providers that are configured.
const BY: &str = "configuration";
/// How often the file is looked at.
const LOOK: Duration = Duration::from_secs(3);
/// Keys of an entry.
const KEYS: [&str; 11] = [
    "id",
    "tenant",
    "namespace",
    "title",
    "source",
    "reach",
    "credentials",
    "scheme_credentials",
    "trust",
    "sessions",
    "refresh_interval_ms",
];

/// A configured provider, and its document when that is a file here.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    provider: Provider,
    document: Option<Bytes>,
}

/// Reads every entry; the first that is wrong is told.
pub(crate) fn read(tables: &[toml::Table]) -> Result<Vec<Entry>, SurfaceError> {
    tables
        .iter()
        .enumerate()
        .map(|(index, table)| entry(table).map_err(|reason| SurfaceError::Providers { index, reason }))
        .collect()
}

fn entry(table: &toml::Table) -> Result<Entry, String> {
    if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(format!("has the unknown key `{key}`; known are {}", KEYS.join(", ")));
    }
    let Value::Object(mut members) = serde_json::to_value(table).map_err(|error| error.to_string())? else {
        return Err("is no table".to_owned());
    };
    let id = members.remove("id").ok_or("has no `id`")?;
    members.entry("namespace").or_insert_with(|| id.clone());
    members.entry("tenant").or_insert_with(|| json!(TenantId::unauthenticated()));
    members.insert("provider_id".to_owned(), id);
    let document = document(&mut members)?;
    let provider: Provider = serde_json::from_value(Value::Object(members)).map_err(|error| error.to_string())?;
    match check::check(&provider).first() {
        Some(fault) => Err(format!("`{}` {}", fault.field, fault.description)),
        None => Ok(Entry { provider, document }),
    }
}

/// Turns a document that is a text into what the record says, with its bytes when it is a file here.
fn document(members: &mut Map<String, Value>) -> Result<Option<Bytes>, String> {
    let place = members.get_mut("source").and_then(|source| source.get_mut("document"));
    let Some(place) = place else { return Ok(None) };
    let Some(text) = place.as_str().map(str::to_owned) else { return Ok(None) };
    if text.contains("://") {
        *place = json!({ "from": "url", "url": text });
        return Ok(None);
    }
    let bytes = std::fs::read(&text).map_err(|error| format!("the document `{text}` cannot be read: {error}"))?;
    *place = json!({ "from": "uploaded", "digest": Digest::of(&bytes) });
    Ok(Some(bytes.into()))
}

/// The providers of one configuration file.
#[derive(Clone, Debug)]
pub(crate) struct Configured {
    providers: Providers,
    documents: Documents,
    file: Option<PathBuf>,
    tables: Vec<toml::Table>,
}

impl Configured {
    pub(crate) fn new(providers: Providers, documents: Documents, config: &Config) -> Self {
        Self { providers, documents, file: config.file.clone(), tables: config.providers.clone() }
    }

    /// Puts what is configured, now and whenever that changes, until `stop`.
    pub(crate) async fn follow(mut self, stop: CancellationToken) {
        let mut hangups = signal(SignalKind::hangup()).ok();
        let mut seen = self.file.as_deref().and_then(stamp);
        let mut is_put = false;
        loop {
            if !is_put {
                is_put = self.put().await;
            }
            let hangup = async {
                match &mut hangups {
                    Some(hangups) => hangups.recv().await,
                    None => std::future::pending().await,
                }
            };
            let must = tokio::select! {
                () = stop.cancelled() => return,
                _ = hangup => true,
                () = tokio::time::sleep(LOOK) => false,
            };
            let now = self.file.as_deref().and_then(stamp);
            if must || now != seen {
                seen = now;
                if let Some(tables) = self.read_again().await {
                    self.tables = tables;
                    is_put = false;
                }
            }
        }
    }

    /// The entries as the file has them now; nothing when it cannot be used, and then what was before stays.
    async fn read_again(&self) -> Option<Vec<toml::Table>> {
        let file = self.file.clone()?;
        let load = move || Config::load(Some(&file), std::env::vars_os());
        match tokio::task::spawn_blocking(load).await.ok()? {
            Ok(config) => match read(&config.providers) {
                Ok(_) => Some(config.providers),
                Err(error) => {
                    tracing::error!(%error, code = error.code(), "the providers before stay");
                    None
                }
            },
            Err(error) => {
                tracing::error!(%error, "the configuration cannot be read again; the providers before stay");
                None
            }
        }
    }

    /// Puts every entry, and takes out of use what was configured before; false when some of it has to be tried again.
    async fn put(&self) -> bool {
        let entries = match read(&self.tables) {
            Ok(entries) => entries,
            Err(error) => {
                tracing::error!(%error, code = error.code(), "providers of the configuration are not put");
                return true;
            }
        };
        let mut done = true;
        for entry in &entries {
            let id = &entry.provider.provider_id;
            if let Some(by) = self.made_otherwise(&entry.provider) {
                tracing::error!(provider_id = %id, made_by = by, "an entry of the configuration is not taken: a provider of its \
                    name was not made by the configuration; remove it, or give the entry another name");
                continue;
            }
            if let Err(error) = self.put_one(entry).await {
                tracing::error!(provider_id = %id, %error, "a provider of the configuration cannot be put");
                done &= !matches!(error, ApiError::Unavailable { .. } | ApiError::Conflict { .. });
            }
        }
        for held in self.providers.shelf().all() {
            let own = &held.provider;
            let is_there = |entry: &Entry| {
                (&entry.provider.tenant, &entry.provider.provider_id) == (&own.tenant, &own.provider_id)
            };
            if own.created_by == BY && !held.is_retired() && !entries.iter().any(is_there) {
                let (tenant, id) = (own.tenant.clone(), own.provider_id.clone());
                let reason = "no longer in the configuration".to_owned();
                if let Err(error) = self.providers.remove(tenant, id, BY.to_owned(), reason).await {
                    tracing::error!(provider_id = %own.provider_id, %error, "a provider cannot be taken out of use now");
                    done = false;
                }
            }
        }
        done
    }

    /// Who made the provider in use that has the name of an entry, when that was not the configuration.
    fn made_otherwise(&self, wanted: &Provider) -> Option<String> {
        let held = self.providers.shelf().get(&wanted.tenant, &wanted.provider_id)?;
        (!held.is_retired() && held.provider.created_by != BY).then(|| held.provider.created_by.clone())
    }

    async fn put_one(&self, entry: &Entry) -> Result<(), ApiError> {
        let provider = entry.provider.clone();
        if let Some(document) = &entry.document
            && !self.documents.has(&provider.tenant, &Digest::of(document)).await?
        {
            self.documents.keep(&provider.tenant, document).await?;
        }
        self.providers.put(provider, BY.to_owned(), false).await.map(drop)
    }
}

/// What tells whether a file was written.
fn stamp(file: &Path) -> Option<(SystemTime, u64)> {
    let data = std::fs::metadata(file).ok()?;
    Some((data.modified().ok()?, data.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, &str>) {
        let table: toml::Table = text.parse().unwrap();
        let tables: Vec<toml::Table> =
            table["providers"].as_array().unwrap().iter().map(|one| one.as_table().unwrap().clone()).collect();
        match (read(&tables), expected) {
            (Ok(entries), Ok(namespace)) => assert_eq!(entries[0].provider.namespace, namespace),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (found, _) => panic!("{text}: {found:?}"),
        }
    }

    #[test]
    fn entries_are_records_with_short_forms() {
        check("[[providers]]\nid = \"git\"\nsource = { kind = \"mcp_stdio\", argv = [\"git-server\"] }", Ok("git"));
        let document =
            "[[providers]]\nid = \"p\"\nsource = { kind = \"openapi\", document = \"https://a.org/d.json\" }";
        check(document, Ok("p"));
        check("[[providers]]\nid = \"w\"\nsource = { kind = \"worker\", native_prefix = \"acme.\" }", Ok("w"));
        check(
            "[[providers]]\nid = \"w\"\nsource = { kind = \"worker\", native_prefix = \"files.\" }",
            Err("native_prefix"),
        );
        check("[[providers]]\nsource = { kind = \"mcp_http\", url = \"https://a.org\" }", Err("has no `id`"));
        check("[[providers]]\nid = \"x\"\nurl = \"y\"", Err("unknown key `url`"));
        check("[[providers]]\nid = \"x\"\nsource = { kind = \"mcp_http\", url = \"ftp://a\" }", Err("source.url"));
        check("[[providers]]\nid = \"x\"\nsource = { kind = \"openapi\", document = \"/no/such\" }", Err("/no/such"));
    }
}
