//! The tools of a server.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{ServerInfo, Session};
use crate::ask::{Ask, Clock};
use crate::definition::{self, RefusedTool, ToolDefinition};
use crate::failure::Failure;
use crate::message;
use crate::meta::{Meta, PageParams};
use crate::watch::Unwatched;

/// Longest cursor that is given back to a server.
const CURSOR: usize = 4 * 1024;

/// What a server has. Its JSON form is the structured content of a call that asks a server for its tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolList {
    /// What the server said of itself.
    pub server: ServerInfo,
    /// The tools that can be used, in the order of the server.
    pub tools: Vec<ToolDefinition>,
    /// Those that cannot, each with its reason.
    #[serde(default)]
    pub refused: Vec<RefusedTool>,
    /// What was left out, and why the list ends where it ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The list was cut: there may be more tools than are here. Tools that are missing are not gone.
    #[serde(default)]
    pub cut: bool,
}

impl ToolList {
    fn empty(server: ServerInfo) -> Self {
        Self { server, tools: Vec::new(), refused: Vec::new(), notes: Vec::new(), cut: false }
    }
}

#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
    #[serde(rename = "nextCursor", default)]
    next: Option<String>,
}

impl Session {
    /// All tools of the server, page by page. Fails when a page does not come, or is not a page; what is wrong with one tool is said
    /// in the list.
    pub async fn list_tools(&self, cancel: &CancellationToken) -> Result<ToolList, Failure> {
        let limits = &self.inner.core.limits;
        let mut list = ToolList::empty(self.server().clone());
        let mut cursors: Vec<String> = Vec::new();
        let mut bytes = 0;
        loop {
            let page = self.page(cursors.last().map(String::as_str), cancel).await?;
            bytes += page.len();
            let read: Page<'_> = serde_json::from_slice(&page).map_err(|error| unreadable(&error))?;
            for raw in read.tools {
                if list.tools.len() + list.refused.len() >= limits.list_tools {
                    return Ok(cut(list, format!("more than {} tools", limits.list_tools)));
                }
                add(&mut list, &page.slice_ref(raw.get().as_bytes()), self);
            }
            let Some(next) = read.next else { return Ok(list) };
            if next.len() > CURSOR {
                return Ok(cut(list, format!("a cursor of more than {CURSOR} bytes")));
            }
            if cursors.contains(&next) {
                return Ok(cut(list, "a cursor that was there before".to_owned()));
            }
            if cursors.len() + 1 >= limits.list_pages {
                return Ok(cut(list, format!("more than {} pages", limits.list_pages)));
            }
            if bytes > limits.list_bytes {
                return Ok(cut(list, format!("more than {} bytes", limits.list_bytes)));
            }
            cursors.push(next);
        }
    }

    async fn page(&self, cursor: Option<&str>, cancel: &CancellationToken) -> Result<Bytes, Failure> {
        let inner = &self.inner;
        let meta = Meta::new(inner.era(), &inner.options.client, inner.options.answers);
        let body = |id| message::write(Some(id), "tools/list", PageParams { cursor, meta });
        let heading = inner.heading("tools/list", None);
        let request = Ask { body: &body, heading, call: false, cancel, watch: &Unwatched };
        inner.ask(request, &mut Clock::until(Instant::now() + inner.core.limits.list)).await
    }
}

/// The first tool of a name is the one that is called by it.
fn add(list: &mut ToolList, tool: &Bytes, session: &Session) {
    match definition::read(tool, &session.inner.core.limits) {
        Ok(tool) if list.tools.iter().any(|known| known.name == tool.name) => {
            let reason = "an earlier tool of the server has this name".to_owned();
            list.refused.push(RefusedTool { name: Some(tool.name), reason });
        }
        Ok(tool) => list.tools.push(tool),
        Err(refused) => list.refused.push(refused),
    }
}

fn cut(mut list: ToolList, why: String) -> ToolList {
    list.notes.push(format!("the list ends here: {why}"));
    list.cut = true;
    list
}

fn unreadable(error: &serde_json::Error) -> Failure {
    Failure::Unreadable(format!("not a page of tools: {error}"))
}
