//! From the configuration of Redis to the options of its store.

use toolplane_runtime::config::{RedisConfig, RedisMode};
use toolplane_store_redis::{RedisOptions, Secret, Servers, TlsFiles};

use crate::{BackendError, Keeper};

/// The options of each shard of `keeper`, in their order. Only the scheduler's records are spread: what the other roles keep is
/// small, and counted as one.
pub(crate) fn shards(config: &RedisConfig, keeper: Keeper) -> Result<Vec<RedisOptions>, BackendError> {
    let count = if keeper == Keeper::Scheduler { config.shards } else { 1 };
    (0..count).map(|number| options(config, keeper, number)).collect()
}

/// The options of shard `number` of `keeper`.
fn options(config: &RedisConfig, keeper: Keeper, number: usize) -> Result<RedisOptions, BackendError> {
    let urls = config.endpoints();
    let servers = match config.mode {
        RedisMode::Standalone => {
            Servers::Standalone { url: urls.iter().cycle().nth(number).cloned().unwrap_or_default() }
        }
        RedisMode::Sentinel => Servers::Sentinel { master: config.sentinel_master.clone().unwrap_or_default(), urls },
        RedisMode::Cluster => Servers::Cluster { urls },
    };
    let mut options = RedisOptions::new(servers);
    options.username.clone_from(&config.username);
    options.password = password(config)?.map(Secret::new);
    let client = config.client_cert_file.clone().zip(config.client_key_file.clone());
    options.tls = TlsFiles { ca: config.ca_file.clone(), client };
    options.namespace = keeper.namespace(&config.namespace);
    options.replicas = config.replicas;
    options.refuse_buffered = !config.accept_buffered;
    Ok(options)
}

fn password(config: &RedisConfig) -> Result<Option<String>, BackendError> {
    let refuse = |place: String, reason: String| BackendError::Password { place, reason };
    if let Some(file) = &config.password_file {
        let place = format!("`{}`", file.display());
        let text = std::fs::read_to_string(file).map_err(|error| refuse(place, error.to_string()))?;
        return Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()));
    }
    let Some(variable) = &config.password_env else { return Ok(None) };
    let place = format!("the environment variable `{variable}`");
    std::env::var(variable).map(Some).map_err(|error| refuse(place, error.to_string()))
}
