//! What was decided about a call, what hooks did and what changed its inputs: every page of it.

use toolplane_proto::v1;

use crate::cli::connection::Connection;
use crate::cli::failure::Failure;
use crate::cli::output::Output;

/// Rows asked for at once.
const PAGE: i32 = 1000;

/// Every decision of a call that is kept, as one answer.
pub(crate) async fn decisions(
    invocation_id: String,
    view: v1::RecordView,
    connection: &Connection,
) -> Result<v1::ListDecisionsResponse, Failure> {
    let mut request =
        v1::ListDecisionsRequest { invocation_id, view: view.into(), page_size: PAGE, ..Default::default() };
    let mut all = v1::ListDecisionsResponse::default();
    loop {
        let page = connection.invocations().list_decisions(request.clone()).await?.into_inner();
        all.decisions.extend(page.decisions);
        all.jsons.extend(page.jsons);
        all.left_out = page.left_out;
        if page.next_page_token.is_empty() {
            return Ok(all);
        }
        request.page_token = page.next_page_token;
    }
}

/// Every hook record of a call that is kept, as one answer.
pub(crate) async fn hooks(invocation_id: String, connection: &Connection) -> Result<v1::ListHooksResponse, Failure> {
    let mut request = v1::ListHooksRequest { invocation_id, page_size: PAGE, ..Default::default() };
    let mut all = v1::ListHooksResponse::default();
    loop {
        let page = connection.invocations().list_hooks(request.clone()).await?.into_inner();
        all.hooks.extend(page.hooks);
        all.left_out = page.left_out;
        if page.next_page_token.is_empty() {
            return Ok(all);
        }
        request.page_token = page.next_page_token;
    }
}

/// Every change of the inputs of a call, as one answer.
pub(crate) async fn mutations(
    invocation_id: String,
    view: v1::RecordView,
    connection: &Connection,
) -> Result<v1::ListMutationsResponse, Failure> {
    let mut request =
        v1::ListMutationsRequest { invocation_id, view: view.into(), page_size: PAGE, ..Default::default() };
    let mut all = v1::ListMutationsResponse::default();
    loop {
        let page = connection.invocations().list_mutations(request.clone()).await?.into_inner();
        all.mutations.extend(page.mutations);
        all.jsons.extend(page.jsons);
        if page.next_page_token.is_empty() {
            return Ok(all);
        }
        request.page_token = page.next_page_token;
    }
}

/// Says how many records between the first and the newest are no longer kept, to people.
pub(crate) fn left_out(kind: &str, count: u64, out: &mut Output) -> Result<(), Failure> {
    match count {
        0 => Ok(()),
        count => {
            out.note(&format!("{count} {kind} between the first and the newest are no longer kept; the log names them"))
        }
    }
}
