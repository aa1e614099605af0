//! A cluster of many processes as a plan: which roles, how many of each, on which store, and how each is started.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};
use toolplane_records::cluster::ClusterRole;

use crate::problem::Problem;
use crate::redis::RedisOptions;
use crate::{binary, ports};

/// What a cluster of many processes consists of.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Schedulers; more than one need a shared store.
    pub schedulers: usize,
    /// Executors, each a worker of its own.
    pub executors: usize,
    /// Surface processes; more than one need a shared store.
    pub surfaces: usize,
    /// Permission processes; more than one need a shared store.
    pub permissions: usize,
    /// Gateways, which answer HTTP.
    pub gateways: usize,
    /// Where schedulers keep calls.
    pub store: Store,
    /// How a Redis server of the cluster's own is started.
    pub redis: RedisOptions,
    /// The configuration of every process as TOML, without listeners, folders, peers and store, which the kit chooses.
    pub config: String,
    /// Further environment of every process, e.g. overrides of the configuration.
    pub environment: Vec<(String, String)>,
    /// Where the cluster keeps everything; a temporary folder that is removed at the end when absent.
    pub folder: Option<PathBuf>,
    /// What clients show, where processes ask: a bearer token or an API key of an operator.
    pub token: Option<String>,
}

/// Where schedulers keep calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Store {
    /// Inside the one scheduler.
    Embedded,
    /// In a Redis server of the cluster's own, started as [`Layout::redis`] says.
    Redis,
    /// In the Redis server at this URL, e.g. `redis://127.0.0.1:6400`.
    RedisAt(String),
}

/// One process of a cluster: everything needed to start it, again and again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Its name: `surface`, `permission` (of several, `surface-1`, ...), `scheduler-1`, `executor-2`, ... An executor's is also its worker's id.
    pub name: String,
    /// What it does.
    pub role: ClusterRole,
    /// Where it listens on the loopback address: a gateway with HTTP, the others with gRPC. Executors do not.
    pub port: Option<u16>,
    /// Where a gateway answers health checks, as it has no gRPC listener.
    pub health: Option<u16>,
    /// Its folder: state and log.
    pub folder: PathBuf,
    /// Its configuration file.
    pub config: PathBuf,
    /// Its environment beyond that of the caller.
    pub environment: Vec<(String, String)>,
}

impl Member {
    /// Where it listens, as a URL.
    pub fn endpoint(&self) -> Option<String> {
        self.port.map(url)
    }

    /// Everything it wrote so far, over all starts.
    pub fn log_file(&self) -> PathBuf {
        self.folder.join("toolplane.log")
    }

    /// The command that starts it.
    pub fn command(&self) -> Result<Command, Problem> {
        let mut command = Command::new(binary::toolplane()?);
        command.current_dir(&self.folder).arg("serve").args(["--role", self.role.as_str()]);
        command.arg("--config").arg(&self.config);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        Ok(command)
    }
}

fn url(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}

impl Layout {
    /// A surface, a permission service, and so many schedulers and executors, with this configuration, on the embedded
    /// store.
    pub fn new(schedulers: usize, executors: usize, config: impl Into<String>) -> Self {
        Self {
            schedulers,
            executors,
            surfaces: 1,
            permissions: 1,
            gateways: 0,
            store: Store::Embedded,
            redis: RedisOptions::default(),
            config: config.into(),
            environment: Vec::new(),
            folder: None,
            token: None,
        }
    }

    /// The same for processes that ask who calls.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// The same on another store.
    #[must_use]
    pub fn on(mut self, store: Store) -> Self {
        self.store = store;
        self
    }

    /// The same with a variable more in the environment of every process.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// The same with so many surface and permission processes. One of a role keeps its state in its folder, several in the
    /// store of the schedulers.
    #[must_use]
    pub fn with_services(mut self, surfaces: usize, permissions: usize) -> Self {
        (self.surfaces, self.permissions) = (surfaces, permissions);
        self
    }

    /// The same with so many gateways.
    #[must_use]
    pub fn with_gateways(mut self, gateways: usize) -> Self {
        self.gateways = gateways;
        self
    }

    /// The same in this folder, which stays.
    #[must_use]
    pub fn within(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Writes the configuration below `folder`, makes the folders, chooses free ports, and says which processes there
    /// are: a service that is asked comes before those that ask it. A Redis server of the cluster's own must have
    /// become a [`Store::RedisAt`] by now.
    pub fn members(&self, folder: &Path) -> Result<Vec<Member>, Problem> {
        if self.schedulers.max(self.surfaces).max(self.permissions) > 1 && self.store == Store::Embedded {
            return Err(Problem::Missing("a shared store: several of a role cannot use the embedded one".to_owned()));
        }
        if self.store == Store::Redis {
            return Err(Problem::Missing("the address of the Redis server".to_owned()));
        }
        let config = folder.join("toolplane.toml");
        for shared in [folder.to_owned(), folder.join("objects"), folder.join("workspace")] {
            std::fs::create_dir_all(&shared).map_err(Problem::file(&shared))?;
        }
        std::fs::write(&config, &self.config).map_err(Problem::file(&config))?;
        let mut members = Vec::new();
        for (role, count) in [(ClusterRole::Surface, self.surfaces), (ClusterRole::Permission, self.permissions)] {
            let numbered = (1..=count).map(|number| format!("{}-{number}", role.as_str()));
            let names = if count == 1 { vec![role.as_str().to_owned()] } else { numbered.collect() };
            members.extend(names.iter().map(|name| self.member(folder, name, role)));
        }
        for number in 1..=self.schedulers {
            members.push(self.member(folder, &format!("scheduler-{number}"), ClusterRole::Scheduler));
        }
        for number in 1..=self.executors {
            members.push(self.member(folder, &format!("executor-{number}"), ClusterRole::Executor));
        }
        for number in 1..=self.gateways {
            members.push(self.member(folder, &format!("gateway-{number}"), ClusterRole::Gateway));
        }
        let peers = peers(&members);
        for member in &mut members {
            std::fs::create_dir_all(&member.folder).map_err(Problem::file(&member.folder))?;
            member.environment.extend(peers.clone());
            member.environment.extend(self.environment.clone());
        }
        Ok(members)
    }

    fn member(&self, folder: &Path, name: &str, role: ClusterRole) -> Member {
        let own = folder.join(name);
        let port = (role != ClusterRole::Executor).then(ports::free);
        let text = |path: PathBuf| path.display().to_string();
        let mut environment = vec![
            ("TOOLPLANE__SERVER__DATA_DIR".to_owned(), text(own.clone())),
            ("TOOLPLANE__OBJECTS__PATH".to_owned(), text(folder.join("objects"))),
            ("TOOLPLANE__EXECUTOR__WORKSPACE".to_owned(), text(folder.join("workspace"))),
            ("TOOLPLANE__EXECUTOR__WORKER_ID".to_owned(), name.to_owned()),
        ];
        let health = (role == ClusterRole::Gateway).then(ports::free);
        let listener = if role == ClusterRole::Gateway { "GATEWAY__LISTEN" } else { "SERVER__LISTEN" };
        for (name, port) in [(listener, port), ("SERVER__HEALTH_LISTEN", health)] {
            environment.extend(port.map(|port| (format!("TOOLPLANE__{name}"), format!("127.0.0.1:{port}"))));
        }
        let shares = match role {
            ClusterRole::Surface => self.surfaces > 1,
            ClusterRole::Permission => self.permissions > 1,
            ClusterRole::Scheduler => true,
            ClusterRole::Executor | ClusterRole::Gateway => false,
        };
        if let (true, Store::RedisAt(url)) = (shares, &self.store) {
            environment.push(("TOOLPLANE__STORE__BACKEND".to_owned(), "redis".to_owned()));
            environment.push(("TOOLPLANE__STORE__REDIS__URL".to_owned(), url.clone()));
        }
        let config = folder.join("toolplane.toml");
        Member { name: name.to_owned(), role, port, health, folder: own, config, environment }
    }
}

/// Where the processes find each other.
fn peers(members: &[Member]) -> Vec<(String, String)> {
    let of = |role: ClusterRole| {
        let urls = members.iter().filter(|member| member.role == role).filter_map(Member::endpoint);
        let quoted: Vec<String> = urls.map(|url| format!("\"{url}\"")).collect();
        (format!("TOOLPLANE__PEERS__{}", role.as_str().to_uppercase()), format!("[{}]", quoted.join(",")))
    };
    [ClusterRole::Surface, ClusterRole::Permission, ClusterRole::Scheduler].map(of).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_knows_everybody_and_has_a_place_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::RedisAt("redis://127.0.0.1:1".to_owned());
        let members = Layout::new(2, 2, "").on(store).env("X", "1").members(folder.path()).unwrap();
        let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
        assert_eq!(names, ["surface", "permission", "scheduler-1", "scheduler-2", "executor-1", "executor-2"]);
        let value = |member: &Member, name: &str| {
            member.environment.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone())
        };
        let schedulers = format!("[\"{}\",\"{}\"]", members[2].endpoint().unwrap(), members[3].endpoint().unwrap());
        for member in &members {
            assert_eq!(value(member, "TOOLPLANE__PEERS__SCHEDULER"), Some(schedulers.clone()), "{}", member.name);
            assert_eq!(value(member, "X").as_deref(), Some("1"));
            assert_eq!(member.port.is_some(), member.role != ClusterRole::Executor);
            let on_redis = value(member, "TOOLPLANE__STORE__BACKEND").is_some();
            assert_eq!(on_redis, member.role == ClusterRole::Scheduler, "only schedulers know the store");
            assert!(member.folder.is_dir());
        }
        assert_eq!(value(&members[4], "TOOLPLANE__EXECUTOR__WORKER_ID").as_deref(), Some("executor-1"));
        let with_gateway = Layout::new(1, 0, "").with_gateways(1).members(folder.path()).unwrap();
        let gateway = with_gateway.last().unwrap();
        let address = |port: Option<u16>| Some(format!("127.0.0.1:{}", port.unwrap()));
        assert_eq!(value(gateway, "TOOLPLANE__GATEWAY__LISTEN"), address(gateway.port));
        assert_eq!(value(gateway, "TOOLPLANE__SERVER__HEALTH_LISTEN"), address(gateway.health));
        assert_eq!(value(gateway, "TOOLPLANE__SERVER__LISTEN"), None, "it answers no gRPC");
    }

    #[test]
    fn several_of_a_role_need_a_shared_store() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Layout::new(2, 1, "").members(folder.path()).is_err());
        assert!(Layout::new(1, 1, "").with_services(2, 1).members(folder.path()).is_err());
        let store = Store::RedisAt("redis://127.0.0.1:1".to_owned());
        let members = Layout::new(1, 0, "").on(store).with_services(2, 1).members(folder.path()).unwrap();
        let on_redis = |member: &Member| member.environment.iter().any(|(name, _)| name == "TOOLPLANE__STORE__BACKEND");
        let found: Vec<_> = members.iter().map(|member| (member.name.as_str(), on_redis(member))).collect();
        assert_eq!(found, [("surface-1", true), ("surface-2", true), ("permission", false), ("scheduler-1", true)]);
    }
}
