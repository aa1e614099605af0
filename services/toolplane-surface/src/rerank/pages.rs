//! Pages of a list whose head was put into another order. What is behind the head stays in the order it has.

use toolplane_catalog::search::{Answer, Position, Question, next_action};
use toolplane_records::ids::{SurfaceId, TenantId, ToolId};
use toolplane_records::search::SearchResult;
use toolplane_runtime::ApiError;

use super::{Begun, Ordered, Reranker};
use crate::surfaces::SurfaceSearch;

/// Where a page of such a list begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Within the head, whose order is known.
    Head(Begun),
    /// Behind the head.
    Behind(Position),
}

/// A page.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) result: SearchResult,
    /// Where the next one begins, when there is one.
    pub(crate) next: Option<Place>,
}

/// What came of asking for the first page.
#[derive(Debug)]
pub(crate) enum First {
    /// The page, in the order the service wants.
    Page(Box<Page>),
    /// The service does not answer.
    Away,
    /// There is nothing to put into order.
    Nothing,
}

impl Reranker {
    /// The first page of a question. The service is asked for it alone: the other pages go on in the order it wanted then.
    pub(crate) async fn first(
        &self,
        tools: &SurfaceSearch,
        whose: (&TenantId, &SurfaceId),
        question: &Question<'_>,
        text: &str,
    ) -> Result<First, ApiError> {
        let head = Question { limit: self.top(), after: None, ..*question };
        let Answer { result: mut head, next: behind } = tools.look(whose.0, whose.1, &head).await?;
        let hint = |id: &ToolId| tools.hint(whose.0, id);
        match self.put_in_order(whose.0, text, &mut head, &hint).await {
            Ordered::Yes => {
                let begun = begin(&mut head, question.limit);
                let page = fill(tools, whose, question, head, (begun, behind)).await?;
                Ok(First::Page(Box::new(page)))
            }
            Ordered::Away => Ok(First::Away),
            Ordered::Nothing => Ok(First::Nothing),
        }
    }
}

/// A later page, in the order the service wanted for the first one.
pub(crate) async fn go_on(
    tools: &SurfaceSearch,
    whose: (&TenantId, &SurfaceId),
    question: &Question<'_>,
    place: &Place,
) -> Result<Page, ApiError> {
    let begun = match place {
        Place::Behind(position) => {
            let rest = Question { after: Some(position), ..*question };
            let Answer { result, next } = tools.look(whose.0, whose.1, &rest).await?;
            return Ok(Page { result, next: next.map(Place::Behind) });
        }
        Place::Head(begun) => begun,
    };
    let head = Question { limit: begun.len(), after: None, ..*question };
    let Answer { result: mut head, next: behind } = tools.look(whose.0, whose.1, &head).await?;
    let begun = go_through(&mut head, begun, question.limit);
    fill(tools, whose, question, head, (begun, behind)).await
}

/// Fills a page with what is behind the head, when that has been told.
async fn fill(
    tools: &SurfaceSearch,
    whose: (&TenantId, &SurfaceId),
    question: &Question<'_>,
    mut result: SearchResult,
    (begun, behind): (Option<Begun>, Option<Position>),
) -> Result<Page, ApiError> {
    let room = question.limit.saturating_sub(result.found.len());
    let next = match (begun, behind) {
        (Some(begun), _) => Some(Place::Head(begun)),
        (None, Some(behind)) if room > 0 => {
            let rest = Question { limit: room, after: Some(&behind), ..*question };
            let Answer { result: rest, next } = tools.look(whose.0, whose.1, &rest).await?;
            result.matches.extend(rest.matches);
            result.found.extend(rest.found);
            result.refs.extend(rest.refs);
            next.map(Place::Behind)
        }
        (None, behind) => behind.map(Place::Behind),
    };
    result.next_action = next_action(&result).to_owned();
    Ok(Page { result, next })
}

fn ids(head: &SearchResult) -> Vec<&ToolId> {
    head.found.iter().map(|tool| &tool.tool_id).collect()
}

/// Leaves the first page of the head; says what is left of it.
fn begin(head: &mut SearchResult, limit: usize) -> Option<Begun> {
    let begun = (head.found.len() > limit).then(|| Begun::of(ids(head), limit));
    let told: Vec<usize> = (0..head.found.len().min(limit)).collect();
    pick(head, &told);
    begun
}

/// Leaves the next page of a head that was begun; says what is left of it.
fn go_through(head: &mut SearchResult, begun: &Begun, limit: usize) -> Option<Begun> {
    let found = ids(head);
    let left = begun.left(&found);
    let next = (left.len() > limit).then(|| begun.after(&found, &left, limit));
    let told: Vec<usize> = left.into_iter().take(limit).collect();
    pick(head, &told);
    next
}

/// Leaves what is at these places, in this order.
pub(super) fn pick(head: &mut SearchResult, places: &[usize]) {
    fn picked<T: Clone>(all: &[T], places: &[usize]) -> Vec<T> {
        places.iter().filter_map(|place| all.get(*place).cloned()).collect()
    }
    head.matches = picked(&head.matches, places);
    head.found = picked(&head.found, places);
    head.refs = picked(&head.refs, places);
}
