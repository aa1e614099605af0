//! Which tools a surface has, and what each of them is called here.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tonic::Status;
use toolplane_proto::v1;
use toolplane_proto::v1::surface_tool::Tool;

use crate::mcp::names;
use crate::upstream::Upstream;

/// Tools asked for at a time.
const PAGE: i32 = 1000;
/// How long a list is taken for the surface as it is. Names of calls that are not in it are looked for anew.
const FRESH: Duration = Duration::from_secs(1);
/// How long a list serves to understand names in.
const KNOWN: Duration = Duration::from_secs(60);
/// Most lists that are kept.
const KEPT: usize = 256;

/// One tool of a surface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// What it is called here.
    pub(crate) name: String,
    pub(crate) full_name: String,
    pub(crate) tool_id: String,
    /// Of its registration; empty where the surface does not say.
    pub(crate) digest: String,
    /// Whether it can be called without being loaded first.
    pub(crate) loaded: bool,
}

/// The tools of a surface that can be called or loaded, by the names they have here.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// In the order of names.
    pub(crate) entries: Vec<Entry>,
    by_name: HashMap<String, usize>,
    by_full_name: HashMap<String, usize>,
    /// The moment of the surface it is of.
    pub(crate) moment: String,
}

impl Listing {
    fn of((found, moment): (Vec<Entry>, String), short: bool) -> Self {
        let names = names::all(found.iter().map(|entry| (entry.full_name.as_str(), entry.tool_id.as_str())), short);
        let mut entries: Vec<Entry> =
            found.into_iter().zip(names).map(|(entry, name)| Entry { name, ..entry }).collect();
        entries.sort_by(|a, b| (&a.name, &a.tool_id).cmp(&(&b.name, &b.tool_id)));
        let index =
            |key: fn(&Entry) -> &str| entries.iter().enumerate().map(|(at, one)| (key(one).to_owned(), at)).collect();
        Self { by_name: index(|entry| &entry.name), by_full_name: index(|entry| &entry.full_name), entries, moment }
    }

    /// The tool that is called this here.
    pub(crate) fn named(&self, name: &str) -> Option<&Entry> {
        self.by_name.get(name).and_then(|at| self.entries.get(*at))
    }

    /// The tool with this full name.
    pub(crate) fn full(&self, full_name: &str) -> Option<&Entry> {
        self.by_full_name.get(full_name).and_then(|at| self.entries.get(*at))
    }

    /// The tool with this id.
    pub(crate) fn of_tool(&self, tool_id: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.tool_id == tool_id)
    }

    /// What a tool is called here by its full name, which it keeps where it is not listed.
    pub(crate) fn name_of<'a>(&'a self, full_name: &'a str) -> &'a str {
        self.full(full_name).map_or(full_name, |entry| &entry.name)
    }

    /// How many tools can be called at once, and how many have to be loaded first.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let loaded = self.entries.iter().filter(|entry| entry.loaded).count();
        (loaded, self.entries.len() - loaded)
    }
}

/// A list, and when it was found.
type Found = (Instant, Arc<Listing>);

/// Lists as they were found last, by who may see them and surface.
#[derive(Debug)]
pub(crate) struct Listings {
    kept: Mutex<HashMap<(String, String), Found>>,
    short: bool,
}

impl Listings {
    /// Tools have `short` names, or names with their namespace.
    pub(crate) fn new(short: bool) -> Self {
        Self { kept: Mutex::default(), short }
    }

    /// The tools of a surface as they are now.
    pub(crate) async fn now(&self, upstream: &Upstream, surface: &str) -> Result<Arc<Listing>, Status> {
        self.within(upstream, surface, FRESH).await
    }

    /// The tools of a surface have changed: what is known of them is from before.
    pub(crate) fn forget(&self, upstream: &Upstream, surface: &str) {
        self.kept.lock().remove(&(upstream.principal(), surface.to_owned()));
    }

    /// The full name of a tool that was called by `name`: by what it is called here, else as it is, for the surface to resolve.
    pub(crate) async fn understood(&self, upstream: &Upstream, surface: &str, name: &str) -> Result<String, Status> {
        for age in [KNOWN, FRESH] {
            let listing = self.within(upstream, surface, age).await?;
            if let Some(entry) = listing.named(name).or_else(|| listing.full(name)) {
                return Ok(entry.full_name.clone());
            }
        }
        Ok(name.to_owned())
    }

    async fn within(&self, upstream: &Upstream, surface: &str, age: Duration) -> Result<Arc<Listing>, Status> {
        let key = (upstream.principal(), surface.to_owned());
        if let Some((at, listing)) = self.kept.lock().get(&key)
            && at.elapsed() < age
        {
            return Ok(Arc::clone(listing));
        }
        let at = Instant::now();
        let listing = Arc::new(Listing::of(found(upstream, surface).await?, self.short));
        let mut kept = self.kept.lock();
        if kept.len() >= KEPT {
            kept.retain(|_, (at, _)| at.elapsed() < FRESH);
        }
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(key, (at, Arc::clone(&listing)));
        Ok(listing)
    }
}

/// Every tool of a surface that can be called or loaded, and the moment of the surface at the first of them: what changes while the pages are
/// read is later than that.
async fn found(upstream: &Upstream, surface: &str) -> Result<(Vec<Entry>, String), Status> {
    let mut found = Vec::new();
    let (mut page_token, mut moment) = (String::new(), String::new());
    let mut tries = 0;
    loop {
        let request = v1::ListSurfaceToolsRequest {
            surface_id: surface.to_owned(),
            page_size: PAGE,
            page_token: page_token.clone(),
        };
        let page = match upstream.surfaces().list_surface_tools(request).await {
            Ok(page) => page.into_inner(),
            // A page token is good for one revision: a surface that changes meanwhile is read from its start.
            Err(status) if !page_token.is_empty() && status.code() == tonic::Code::InvalidArgument && tries < 5 => {
                tries += 1;
                found.clear();
                page_token.clear();
                moment.clear();
                continue;
            }
            Err(status) => return Err(status),
        };
        if moment.is_empty() {
            moment.clone_from(&page.moment);
        }
        for tool in page.tools {
            match tool.tool {
                Some(Tool::Loaded(loaded)) => found.push(Entry {
                    name: String::new(),
                    full_name: loaded.name,
                    tool_id: loaded.tool_id,
                    digest: loaded.digest,
                    // What changed since has to be loaded again.
                    loaded: loaded.changed.is_empty(),
                }),
                Some(Tool::Deferred(deferred)) => found.push(Entry {
                    name: String::new(),
                    full_name: deferred.name,
                    tool_id: deferred.tool_id,
                    digest: String::new(),
                    loaded: false,
                }),
                // Those that may not be used come last.
                Some(Tool::Blocked(_) | Tool::Excluded(_)) | None => return Ok((found, moment)),
            }
        }
        if page.next_page_token.is_empty() {
            return Ok((found, moment));
        }
        page_token = page.next_page_token;
    }
}
