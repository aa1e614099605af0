//! Several servers together: a Redis Cluster, and a master with a replica and sentinels.

use std::time::{Duration, Instant};

use super::{RedisOptions, RedisServer};
use crate::ports;
use crate::problem::Problem;

/// For how long servers are given to find each other or to elect a master.
const PATIENCE: Duration = Duration::from_secs(40);
/// How many slots a Redis Cluster has.
const SLOTS: usize = 16_384;

/// A Redis Cluster of three primaries without replicas, each with a third of the slots.
#[derive(Debug)]
pub struct RedisCluster {
    /// The primaries, in the order of their slots.
    pub nodes: Vec<RedisServer>,
}

impl RedisCluster {
    /// Starts three nodes and waits until all of them call the cluster healthy.
    pub async fn start(options: RedisOptions) -> Result<Self, Problem> {
        const NODES: usize = 3;
        let mut nodes = Vec::new();
        for _ in 0..NODES {
            let mut options = options.clone();
            options.settings.extend([
                ("cluster-enabled".to_owned(), "yes".to_owned()),
                // The default lies 10,000 above the port, where another program may listen.
                ("cluster-port".to_owned(), ports::free().to_string()),
                ("cluster-node-timeout".to_owned(), "2000".to_owned()),
            ]);
            nodes.push(RedisServer::start(options).await?);
        }
        for (at, node) in nodes.iter().enumerate() {
            let (first, last) = (SLOTS * at / NODES, SLOTS * (at + 1) / NODES - 1);
            node.command(&["CLUSTER", "ADDSLOTSRANGE", &first.to_string(), &last.to_string()])?;
            node.command(&["CLUSTER", "SET-CONFIG-EPOCH", &(at + 1).to_string()])?;
        }
        let (first, others) = (&nodes[0], &nodes[1..]);
        for other in others {
            let bus = bus_port(other)?;
            first.command(&["CLUSTER", "MEET", "127.0.0.1", &other.port().to_string(), &bus])?;
        }
        for node in &nodes {
            until("a healthy cluster", || {
                let info = node.command(&["CLUSTER", "INFO"])?;
                let known = format!("cluster_known_nodes:{NODES}");
                Ok(info.contains("cluster_state:ok") && info.contains(&known))
            })
            .await?;
        }
        Ok(Self { nodes })
    }

    /// The addresses of all nodes, as URLs.
    pub fn urls(&self) -> Vec<String> {
        self.nodes.iter().map(RedisServer::url).collect()
    }

    /// The node that holds `key`.
    pub fn owner(&self, key: &str) -> Result<usize, Problem> {
        let slot = self.nodes[0].command(&["CLUSTER", "KEYSLOT", key])?;
        let slot: usize = slot.parse().map_err(|_| Problem::Missing(format!("`{slot}` is no slot")))?;
        let count = self.nodes.len();
        Ok((0..count).find(|at| slot < SLOTS * (at + 1) / count).unwrap_or_default())
    }
}

/// A slot on its way from one node to another, as `redis-cli --cluster reshard` moves one.
#[derive(Debug)]
pub struct SlotMove<'a> {
    cluster: &'a RedisCluster,
    slot: String,
    from: usize,
    to: usize,
}

impl RedisCluster {
    /// Begins to move the slot of `key` from one node to another. What is there stays until it is moved.
    pub fn move_slot(&self, key: &str, from: usize, to: usize) -> Result<SlotMove<'_>, Problem> {
        let (source, target) = (&self.nodes[from], &self.nodes[to]);
        let slot = source.command(&["CLUSTER", "KEYSLOT", key])?;
        let (from_id, to_id) = (source.command(&["CLUSTER", "MYID"])?, target.command(&["CLUSTER", "MYID"])?);
        target.command(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &from_id])?;
        source.command(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", &to_id])?;
        Ok(SlotMove { cluster: self, slot, from, to })
    }
}

impl SlotMove<'_> {
    /// Moves at most `most` keys, and says how many it found.
    pub fn keys(&self, most: usize) -> Result<usize, Problem> {
        let (source, target) = (&self.cluster.nodes[self.from], &self.cluster.nodes[self.to]);
        let listed = source.typed(&format!("CLUSTER GETKEYSINSLOT {} {most}", self.slot))?;
        let keys: Vec<&str> = listed.lines().filter_map(|line| Some(&line[line.find('"')?..])).collect();
        if !keys.is_empty() {
            let keys = keys.join(" ");
            source.typed(&format!("MIGRATE 127.0.0.1 {} \"\" 0 5000 KEYS {keys}", target.port()))?;
        }
        Ok(keys.len())
    }

    /// Moves what is left and gives the slot to its new node; every node is told.
    pub fn finish(self) -> Result<(), Problem> {
        while self.keys(100)? > 0 {}
        let nodes = &self.cluster.nodes;
        let to_id = nodes[self.to].command(&["CLUSTER", "MYID"])?;
        let others = (0..nodes.len()).filter(|at| *at != self.to && *at != self.from);
        for at in [self.to, self.from].into_iter().chain(others) {
            nodes[at].command(&["CLUSTER", "SETSLOT", &self.slot, "NODE", &to_id])?;
        }
        Ok(())
    }
}

/// A master, one replica of it, and three sentinels that watch them and promote the replica when the master is gone.
#[derive(Debug)]
pub struct RedisSentinel {
    /// The first master and its replica.
    pub servers: Vec<RedisServer>,
    /// The sentinels.
    pub sentinels: Vec<RedisServer>,
}

impl RedisSentinel {
    /// What the sentinels call the master.
    pub const MASTER: &'static str = "toolplane";

    /// Starts all of them and waits until the replica follows and the sentinels know each other.
    pub async fn start(options: RedisOptions) -> Result<Self, Problem> {
        const SENTINELS: usize = 3;
        let master = RedisServer::start(options.clone()).await?;
        let mut following = options;
        following.settings.push(("replicaof".to_owned(), format!("127.0.0.1 {}", master.port())));
        let servers = vec![master, RedisServer::start(following).await?];
        until("a replica that follows", || {
            Ok(servers[1].command(&["INFO", "replication"])?.contains("master_link_status:up"))
        })
        .await?;

        let mut sentinels = Vec::new();
        for _ in 0..SENTINELS {
            sentinels.push(RedisServer::start_as(watching(servers[0].port()), true).await?);
        }
        for sentinel in &sentinels {
            until("sentinels that know each other", || {
                let known = sentinel.command(&["SENTINEL", "MASTER", Self::MASTER])?;
                let fields: Vec<_> = known.lines().collect();
                let is = |name: &str, value: &str| fields.windows(2).any(|pair| pair == [name, value]);
                Ok(is("num-other-sentinels", "2") && is("num-slaves", "1") && is("flags", "master"))
            })
            .await?;
        }
        Ok(Self { servers, sentinels })
    }

    /// The addresses of the sentinels, as URLs.
    pub fn urls(&self) -> Vec<String> {
        self.sentinels.iter().map(RedisServer::url).collect()
    }

    /// Waits until the sentinels name the server at `port` as the master and it takes writes.
    pub async fn promoted(&self, port: u16) -> Result<(), Problem> {
        let server = self.servers.iter().find(|server| server.port() == port);
        let server = server.ok_or_else(|| Problem::Missing(format!("no server listens on {port}")))?;
        // A sentinel cuts connections while it promotes: a question that gets no answer is put again.
        let is_master = || server.command(&["ROLE"]).is_ok_and(|role| role.starts_with("master"));
        until("a promoted replica", || Ok(is_master())).await?;
        for sentinel in &self.sentinels {
            until("a new master's name", || {
                let named = sentinel.command(&["SENTINEL", "GET-MASTER-ADDR-BY-NAME", Self::MASTER])?;
                Ok(named.ends_with(&port.to_string()))
            })
            .await?;
        }
        Ok(())
    }
}

fn watching(port: u16) -> RedisOptions {
    let name = RedisSentinel::MASTER;
    let settings = [
        ("sentinel monitor", format!("{name} 127.0.0.1 {port} 2")),
        ("sentinel down-after-milliseconds", format!("{name} 700")),
        ("sentinel failover-timeout", format!("{name} 5000")),
        ("sentinel parallel-syncs", format!("{name} 1")),
    ];
    let settings = settings.into_iter().map(|(setting, value)| (setting.to_owned(), value)).collect();
    RedisOptions { settings, ..RedisOptions::default() }
}

fn bus_port(node: &RedisServer) -> Result<String, Problem> {
    let said = node.command(&["CONFIG", "GET", "cluster-port"])?;
    said.lines().last().map(str::to_owned).ok_or_else(|| Problem::Missing("a node has no bus port".to_owned()))
}

async fn until(what: &str, mut is_so: impl FnMut() -> Result<bool, Problem>) -> Result<(), Problem> {
    let start = Instant::now();
    while !is_so()? {
        if start.elapsed() > PATIENCE {
            let said = String::new();
            return Err(Problem::TooLate { what: what.to_owned(), millis: PATIENCE.as_millis(), said });
        }
        toolplane_wait::look_again().await;
    }
    Ok(())
}
