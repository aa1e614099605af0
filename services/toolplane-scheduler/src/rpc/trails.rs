//! What was decided about one call, what hooks did about it, and what changed its inputs: pages, oldest first.
//!
//! Rows have numbers that stay theirs, so a reader gets each row once although new ones come and old ones are left out meanwhile.

use prost::Message;
use serde::Serialize;
use toolplane_proto::v1;
use toolplane_records::trail;
use toolplane_runtime::{Caller, page};

use super::encode;
use super::find;
use crate::calls::Calls;
use crate::error::CallError;

/// Records read from the store at once: a page of large ones ends before many are read without use.
const READ_AT_ONCE: usize = 16;

/// A page in the making.
struct Rows<M> {
    messages: Vec<M>,
    jsons: Vec<v1::JsonPayload>,
    view: v1::RecordView,
    size: usize,
    bytes: usize,
    /// The number of the last row that was looked at.
    last: u64,
}

impl<M: Message> Rows<M> {
    /// Goes on after row `last`.
    fn after(last: u64, page_size: i32, view: v1::RecordView) -> Result<Self, CallError> {
        let size = page::size(page_size)?;
        Ok(Self { messages: Vec::new(), jsons: Vec::new(), view, size, bytes: 0, last })
    }

    fn is_full(&self) -> bool {
        self.messages.len() >= self.size || self.bytes >= page::FULL_BYTES
    }

    /// Takes a row; nothing happens once the page is full.
    fn take<'a, R: Serialize>(&mut self, number: u64, row: &'a R)
    where
        M: From<&'a R>,
    {
        if self.is_full() {
            return;
        }
        let (message, json) = (M::from(row), encode::json(self.view, row));
        self.bytes += message.encoded_len() + json.as_ref().map_or(0, Message::encoded_len);
        self.messages.push(message);
        self.jsons.extend(json);
        self.last = number;
    }

    /// Takes those of `rows` that fit; a row whose record is not there any more is passed by.
    fn take_each<R: Serialize>(&mut self, rows: &[(u64, Option<R>)])
    where
        M: for<'a> From<&'a R>,
    {
        for (number, row) in rows {
            match row {
                Some(row) => self.take(*number, row),
                None if !self.is_full() => self.last = *number,
                None => {}
            }
        }
    }

    /// The token for going on, when there are rows up to the number `newest`.
    fn next(&self, scope: &impl std::fmt::Debug, newest: u64) -> String {
        if self.last < newest { page::token(scope, &self.last.to_string()) } else { String::new() }
    }
}

/// The number of the last row of the page before.
fn read_number(scope: &impl std::fmt::Debug, token: &str) -> Result<u64, CallError> {
    Ok(page::position(scope, token)?.and_then(|number| number.parse().ok()).unwrap_or(0))
}

/// The handlers that list what happened around one call.
#[derive(Clone, Debug)]
pub(super) struct Trails {
    pub(super) calls: Calls,
}

impl Trails {
    /// One page of the permission decisions of a call.
    pub(super) async fn decisions(
        &self,
        caller: &Caller,
        request: v1::ListDecisionsRequest,
    ) -> Result<v1::ListDecisionsResponse, CallError> {
        let record = find::call(&self.calls, caller, &request.invocation_id).await?;
        let scope = ("decisions", &request.invocation_id);
        let mut rows = Rows::after(read_number(&scope, &request.page_token)?, request.page_size, request.view())?;
        while !rows.is_full() {
            let found = self.calls.records().decisions_after(&record, rows.last, READ_AT_ONCE).await?;
            if found.is_empty() {
                break;
            }
            rows.take_each(&found);
        }
        let newest = trail::DECISIONS.newest_number(record.permission_decision_refs.len(), record.decisions_left_out);
        Ok(v1::ListDecisionsResponse {
            next_page_token: rows.next(&scope, newest),
            decisions: rows.messages,
            jsons: rows.jsons,
            left_out: record.decisions_left_out,
        })
    }

    /// One page of what hooks did about a call.
    pub(super) async fn hooks(
        &self,
        caller: &Caller,
        request: v1::ListHooksRequest,
    ) -> Result<v1::ListHooksResponse, CallError> {
        let record = find::call(&self.calls, caller, &request.invocation_id).await?;
        let scope = ("hooks", &request.invocation_id);
        let last = read_number(&scope, &request.page_token)?;
        let mut rows = Rows::after(last, request.page_size, request.view())?;
        while !rows.is_full() {
            let found = self.calls.records().hooks_after(&record, rows.last, READ_AT_ONCE).await?;
            if found.is_empty() {
                break;
            }
            rows.take_each(&found);
        }
        let newest = trail::HOOKS.newest_number(record.hook_refs.len(), record.hooks_left_out);
        Ok(v1::ListHooksResponse {
            next_page_token: rows.next(&scope, newest),
            hooks: rows.messages,
            jsons: rows.jsons,
            left_out: record.hooks_left_out,
        })
    }

    /// One page of the changes of a call's inputs.
    pub(super) async fn mutations(
        &self,
        caller: &Caller,
        request: v1::ListMutationsRequest,
    ) -> Result<v1::ListMutationsResponse, CallError> {
        let record = find::call(&self.calls, caller, &request.invocation_id).await?;
        let all = self.calls.records().mutations(&record).await?;
        let scope = ("mutations", &request.invocation_id);
        let first = read_number(&scope, &request.page_token)?;
        let mut rows = Rows::after(first, request.page_size, request.view())?;
        for (number, mutation) in (1..).zip(&all).skip(usize::try_from(first).unwrap_or(usize::MAX)) {
            rows.take(number, mutation);
        }
        Ok(v1::ListMutationsResponse {
            next_page_token: rows.next(&scope, all.len() as u64),
            mutations: rows.messages,
            jsons: rows.jsons,
        })
    }
}
