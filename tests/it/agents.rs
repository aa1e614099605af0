//! Sessions of agents that search, load and call while the tools are changed, retired and registered beside them.

use std::collections::{BTreeMap, BTreeSet};

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;
use toolplane_proto::v1;
use toolplane_proto::v1::load_outcome::Outcome;
use toolplane_proto::v1::{NotCallableKind, SurfaceToolChangeKind, SurfaceToolState};
use toolplane_testkit::clients::{Clients, payload, payload_bytes};
use toolplane_testkit::{Cluster, Options};

use crate::bed::{PATIENCE, RULES, register};
use crate::default_surface::echo;

const SESSIONS: u64 = 20;
const ROUNDS: usize = 8;
const TOOLS: usize = 12;

/// Numbers that look drawn and are the same in every run.
struct Drawn(u64);

impl Drawn {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % count as u64).unwrap()
    }
}

/// The tool of this number, declared for the `version`th time: every second one asks for another argument.
fn tool(number: usize, version: usize) -> v1::ToolRegistration {
    let asked = format!("a{}", version / 2);
    let schema = serde_json::json!({
        "type": "object", "properties": { &asked: { "type": "integer" } }, "required": [asked], "additionalProperties": false,
    });
    let mut tool = echo("work", &format!("t{number}"), &schema.to_string());
    tool.declaration.as_mut().unwrap().title = format!("Work, version {version}");
    tool
}

/// Registers, changes and retires tools until the agents are done; how often.
async fn change(clients: Clients, mut done: watch::Receiver<bool>) -> usize {
    let (mut drawn, mut versions) = (Drawn(99), vec![0; TOOLS]);
    let mut living: Vec<usize> = (0..TOOLS).collect();
    let mut count = 0;
    while !*done.borrow_and_update() {
        let place = drawn.below(living.len());
        let number = living[place];
        match count % 5 {
            4 => {
                let request = v1::RetireToolRequest { tool_id: format!("tool_work_t{number}"), ..Default::default() };
                clients.surfaces().retire_tool(request).await.unwrap();
                living.remove(place);
                living.push(versions.len());
                register(&clients, vec![tool(versions.len(), 0)]).await;
                versions.push(0);
            }
            _ => {
                versions[number] += 1;
                register(&clients, vec![tool(number, versions[number])]).await;
            }
        }
        count += 1;
    }
    count
}

/// What a session loaded: by which name, for which arguments, of which declaration.
#[derive(Clone)]
struct Known {
    name: String,
    arguments: String,
    digest: String,
}

/// One agent in a surface of its own, and somebody who follows that surface.
struct Session {
    clients: Clients,
    surface: String,
    drawn: Drawn,
    known: Vec<Known>,
    /// What was answered, other than what was asked for.
    surprises: BTreeMap<String, usize>,
    results: usize,
    follower: Follower,
}

impl Session {
    async fn open(clients: &Clients, number: u64) -> Self {
        let request = v1::CreateSurfaceRequest {
            namespaces: vec!["work".to_owned()],
            defer_policy: v1::DeferPolicy::All.into(),
            interaction_mode: v1::InteractionMode::Interactive.into(),
            role: "agent".to_owned(),
            ..Default::default()
        };
        let made = clients.surfaces().create_surface(request).await.unwrap().into_inner().surface.unwrap();
        let follower = Follower::of(clients, &made).await;
        let (clients, surface, known) = (clients.clone(), made.surface_id, Vec::new());
        Self { clients, surface, drawn: Drawn(number), known, surprises: BTreeMap::new(), results: 0, follower }
    }

    async fn work(&mut self) {
        for round in 0..ROUNDS {
            let Some(found) = self.search().await else { continue };
            let Some(loaded) = self.load(&found).await else { continue };
            // Every second time the call says by which declaration it was made; else the surface remembers that.
            self.call(&loaded, round % 2 == 0).await;
            // Loaded again, it is known by its new declaration alone.
            self.known.retain(|known| known.name != loaded.name);
            self.known.push(loaded);
            let old = self.known[self.drawn.below(self.known.len())].clone();
            self.call(&old, round % 2 == 1).await;
        }
    }

    /// The name of one of the tools that were found.
    async fn search(&mut self) -> Option<String> {
        let query = if self.drawn.below(2) == 0 { "work".to_owned() } else { format!("t{}", self.drawn.below(20)) };
        let request = v1::SearchToolsRequest { surface_id: self.surface.clone(), query, ..Default::default() };
        let answer = timeout(PATIENCE, self.clients.surfaces().search_tools(request)).await.unwrap().unwrap();
        let found = answer.into_inner().result.unwrap().found;
        if found.is_empty() {
            return None;
        }
        let one = &found[self.drawn.below(found.len())];
        assert!(["load_schema_then_call", "call"].contains(&one.next_action.as_str()), "{one:?}");
        Some(one.name.clone())
    }

    async fn load(&mut self, name: &str) -> Option<Known> {
        let request = v1::LoadToolsRequest {
            surface_id: self.surface.clone(),
            names: vec![name.to_owned()],
            ..Default::default()
        };
        let answer = timeout(PATIENCE, self.clients.surfaces().load_tools(request)).await.unwrap().unwrap();
        let [outcome] = <[_; 1]>::try_from(answer.into_inner().outcomes).unwrap();
        match outcome.outcome.unwrap() {
            Outcome::Loaded(loaded) => {
                let schema = payload_bytes(loaded.model_input_schema.as_ref());
                let schema: serde_json::Value = serde_json::from_slice(&schema).unwrap();
                let asked = schema["required"][0].as_str().unwrap();
                let arguments = serde_json::json!({ asked: 1 }).to_string();
                Some(Known { name: name.to_owned(), arguments, digest: loaded.digest })
            }
            Outcome::Failure(failure) => {
                assert_eq!(failure.kind(), NotCallableKind::Retired, "{failure:?}");
                self.surprised("load: retired");
                None
            }
        }
    }

    async fn call(&mut self, known: &Known, by_digest: bool) {
        let spec = v1::InvocationSpec {
            surface_id: self.surface.clone(),
            tool_name: known.name.clone(),
            model_input: Some(payload(known.arguments.clone())),
            declaration_digest: if by_digest { known.digest.clone() } else { String::new() },
            ..Default::default()
        };
        let request = v1::CallRequest { spec: Some(spec), wait_ms: 60_000, ..Default::default() };
        let answer = timeout(PATIENCE, self.clients.invocations().call(request)).await.unwrap().unwrap();
        let result = answer.into_inner().result.expect("a result");
        match &result.error {
            None => self.results += 1,
            Some(error) => self.surprised(&error.error_code),
        }
    }

    fn surprised(&mut self, by: &str) {
        *self.surprises.entry(by.to_owned()).or_default() += 1;
    }

    /// Whoever follows the surface, who reads it and who calls in it all say the same.
    async fn agrees(&mut self) {
        let request = v1::GetSurfaceRequest { surface_id: self.surface.clone(), ..Default::default() };
        let read = self.clients.surfaces().get_surface(request).await.unwrap().into_inner().surface.unwrap();
        self.follower.come_to(&read.moment).await;
        let shown = |state| self.follower.shown.iter().filter(move |(_, known)| **known == state);
        let of = |state| shown(state).map(|(id, _)| id.as_str()).collect::<BTreeSet<_>>();
        let loaded: BTreeSet<_> = read.loaded_tools.iter().map(|tool| tool.tool_id.as_str()).collect();
        let deferred: BTreeSet<_> = read.deferred_tools.iter().map(|tool| tool.tool_id.as_str()).collect();
        assert_eq!((of(SurfaceToolState::Loaded), of(SurfaceToolState::Deferred)), (loaded, deferred));
        assert_eq!(read.loaded_tools.len() + read.deferred_tools.len(), TOOLS, "{read:?}");
        for Known { name, arguments, digest } in std::mem::take(&mut self.known) {
            let before = (self.results, self.surprises.clone());
            self.call(&Known { name: name.clone(), arguments, digest }, false).await;
            let told = match read.loaded_tools.iter().find(|tool| tool.name == name) {
                Some(tool) if tool.changed.is_empty() => None,
                Some(_) => Some("surface.schema_changed"),
                None => Some("surface.retired"),
            };
            let (results, mut surprises) = before;
            if let Some(code) = told {
                *surprises.entry(code.to_owned()).or_default() += 1;
            }
            assert_eq!((self.results, &self.surprises), (results + usize::from(told.is_none()), &surprises), "{name}");
        }
    }
}

/// What somebody knows of a surface who only hears of changes.
struct Follower {
    stream: tonic::Streaming<v1::WatchSurfaceResponse>,
    moment: String,
    shown: BTreeMap<String, SurfaceToolState>,
}

impl Follower {
    async fn of(clients: &Clients, made: &v1::ToolSurface) -> Self {
        let (surface_id, from_moment) = (made.surface_id.clone(), made.moment.clone());
        let request = v1::WatchSurfaceRequest { surface_id, from_moment, ..Default::default() };
        let stream = clients.surfaces().watch_surface(request).await.unwrap().into_inner();
        let deferred = made.deferred_tools.iter().map(|tool| (tool.tool_id.clone(), SurfaceToolState::Deferred));
        Self { stream, moment: String::new(), shown: deferred.collect() }
    }

    async fn come_to(&mut self, moment: &str) {
        while self.moment != moment {
            let told = timeout(PATIENCE, self.stream.message()).await.unwrap().unwrap().expect("more to be told");
            if told.anew {
                self.shown.clear();
            }
            for change in told.changes {
                match change.kind() {
                    SurfaceToolChangeKind::Removed => drop(self.shown.remove(&change.tool_id)),
                    _ => drop(self.shown.insert(change.tool_id.clone(), change.state())),
                }
            }
            self.moment = told.moment;
        }
    }
}

#[tokio::test]
async fn agents_go_on_while_their_tools_change() {
    let cluster = Cluster::start(Options::new(RULES)).await.unwrap();
    let clients = cluster.clients();
    register(clients, (0..TOOLS).map(|number| tool(number, 0)).collect()).await;
    let mut working = JoinSet::new();
    for number in 0..SESSIONS {
        let mut session = Session::open(clients, number).await;
        working.spawn(async move {
            session.work().await;
            session
        });
    }
    let (done, told) = watch::channel(false);
    let working = async {
        let sessions = working.join_all().await;
        done.send_replace(true);
        sessions
    };
    let (changes, sessions) = tokio::join!(change(clients.clone(), told), working);

    let mut surprises: BTreeMap<String, usize> = BTreeMap::new();
    for session in &sessions {
        session.surprises.iter().for_each(|(by, count)| *surprises.entry(by.clone()).or_default() += count);
    }
    let results: usize = sessions.iter().map(|session| session.results).sum();
    let typed = ["load: retired", "surface.retired", "surface.schema_changed"];
    assert!(surprises.keys().all(|by| typed.contains(&by.as_str())), "{surprises:?}");
    assert!(changes >= 10 && results > 100 && !surprises.is_empty(), "{changes} changes, {results}, {surprises:?}");
    let mut agreeing = JoinSet::new();
    for mut session in sessions {
        agreeing.spawn(async move { session.agrees().await });
    }
    agreeing.join_all().await;
    let log = std::fs::read_to_string(cluster.log_file()).unwrap();
    assert!(!log.contains("panicked") && !log.contains("ERROR"), "{log}");
}
