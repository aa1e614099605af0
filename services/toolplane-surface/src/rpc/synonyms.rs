//! What searches know of words: listing, adding and taking out those that mean the same, and forgetting what use has taught.

use prost::Message as _;
use tonic::Request;
use toolplane_proto::convert::field;
use toolplane_proto::v1;
use toolplane_proto::v1::forget_use_request::What;
use toolplane_records::codes;
use toolplane_records::ids::TenantId;
use toolplane_runtime::{ApiError, Caller, page};

use super::api::SurfaceApi;
use crate::error::{of_field, too_many};
use crate::synonyms::{Group, Refused, TakenOut, keys_of};

/// Most groups of one request.
const MAX_GROUPS: usize = 100;
/// Most words of a removal.
const MAX_WORDS: usize = 32;
/// Longest name of who adds them, in characters.
const MAX_BY_CHARS: usize = 1_000;

pub(super) fn list(
    api: &SurfaceApi,
    request: Request<v1::ListSynonymsRequest>,
) -> Result<v1::ListSynonymsResponse, ApiError> {
    let tenant = Caller::of(&request).tenant.clone();
    let request = request.into_inner();
    let size = page::size(request.page_size)?;
    let scope = ("ListSynonyms", &tenant, &request.word);
    let after = page::position(&scope, &request.page_token)?.map(|text| Place::read(&text)).transpose()?;
    let thesauri = api.parts.books.thesauri();
    let with_word = |words: &[String]| request.word.is_empty() || has_all(words, std::slice::from_ref(&request.word));
    let configured = |origin, groups: &[Vec<String>]| -> Vec<(Place, v1::SynonymGroup)> {
        let message = |words: &Vec<String>| v1::SynonymGroup { words: words.clone(), origin, ..Default::default() };
        (1..).zip(groups).map(|(number, words)| (Place { origin, number }, message(words))).collect()
    };
    let added = thesauri.added(&tenant);
    let all = configured(v1::SynonymOrigin::ConfiguredForAll.into(), thesauri.for_all()).into_iter();
    let all = all.chain(configured(v1::SynonymOrigin::Configured.into(), thesauri.for_tenant(&tenant)));
    let all = all.chain(added.groups().iter().map(|group| (Place::of(group), message(group))));
    let wanted = |(place, group): &(Place, v1::SynonymGroup)| {
        after.is_none_or(|after| *place > after) && with_word(&group.words)
    };
    let rest: Vec<_> = all.filter(wanted).collect();
    let told = page::fill(&rest, size, |(_, group)| group.encoded_len());
    let more = told.last().filter(|_| told.len() < rest.len());
    let next_page_token = more.map(|(place, _)| page::token(&scope, &place.text())).unwrap_or_default();
    let groups = told.into_iter().map(|(_, group)| group.clone()).collect();
    Ok(v1::ListSynonymsResponse { groups, next_page_token, starter_set: thesauri.has_starter() })
}

/// Where a group is in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    origin: i32,
    number: u64,
}

impl Place {
    fn of(group: &Group) -> Self {
        Self { origin: v1::SynonymOrigin::Added.into(), number: group.number }
    }

    fn text(self) -> String {
        format!("{} {}", self.origin, self.number)
    }

    fn read(text: &str) -> Result<Self, ApiError> {
        let parts =
            text.split_once(' ').and_then(|(origin, number)| Some((origin.parse().ok()?, number.parse().ok()?)));
        let (origin, number) =
            parts.ok_or_else(|| ApiError::invalid_argument("page_token", "is not a token of this list"))?;
        Ok(Self { origin, number })
    }
}

pub(super) async fn add(
    api: &SurfaceApi,
    request: Request<v1::AddSynonymsRequest>,
) -> Result<v1::AddSynonymsResponse, ApiError> {
    let caller = Caller::of(&request);
    let tenant = caller.tenant.clone();
    let request = request.into_inner();
    if request.groups.is_empty() || request.groups.len() > MAX_GROUPS {
        let rule = format!("has {} groups; 1 to {MAX_GROUPS} are allowed", request.groups.len());
        return Err(ApiError::invalid_argument("groups", rule));
    }
    if request.by.chars().nth(MAX_BY_CHARS).is_some() {
        return Err(ApiError::invalid_argument("by", format!("may have at most {MAX_BY_CHARS} characters")));
    }
    let by = caller.doer(&request.by).to_owned();
    let groups: Vec<Vec<String>> = request.groups.into_iter().map(|group| group.words).collect();
    let now = api.parts.registry.now().await?;
    let of = tenant.clone();
    let added = api.parts.books.change(tenant, move |book| {
        let added = book.add(&groups, &by, now).map_err(|why| refused(&of, why))?;
        let changes = !added.is_empty();
        Ok((added, changes))
    });
    Ok(v1::AddSynonymsResponse { added: added.await?.iter().map(message).collect() })
}

fn refused(tenant: &TenantId, why: Refused) -> ApiError {
    match why {
        Refused::Group { index, rule } => ApiError::invalid_argument(format!("groups[{index}].words"), rule),
        Refused::TooMany(message) => too_many(tenant, message),
    }
}

pub(super) async fn remove(
    api: &SurfaceApi,
    request: Request<v1::RemoveSynonymsRequest>,
) -> Result<v1::RemoveSynonymsResponse, ApiError> {
    let tenant = Caller::of(&request).tenant.clone();
    let words = request.into_inner().words;
    if words.is_empty() || words.len() > MAX_WORDS {
        let rule = format!("has {} words; 1 to {MAX_WORDS} are allowed", words.len());
        return Err(ApiError::invalid_argument("words", rule));
    }
    if let Some(at) = words.iter().position(|word| keys_of(std::slice::from_ref(word)).contains("")) {
        return Err(ApiError::invalid_argument(format!("words[{at}]"), "has no letters and digits"));
    }
    let thesauri = api.parts.books.thesauri().clone();
    let of = tenant.clone();
    let taken_out = api.parts.books.change(tenant, move |book| {
        let taken_out = book.remove(&words);
        if taken_out.before.is_empty() {
            let mut configured = thesauri.for_all().iter().chain(thesauri.for_tenant(&of));
            return Err(not_added(&words, configured.any(|group| has_all(group, &words))));
        }
        Ok((taken_out, true))
    });
    let TakenOut { before, after } = taken_out.await?;
    let messages = |groups: Vec<Group>| groups.iter().map(message).collect();
    Ok(v1::RemoveSynonymsResponse { before: messages(before), after: messages(after) })
}

fn not_added(words: &[String], configured: bool) -> ApiError {
    let told = toolplane_records::visible::excerpt(&words.join(", "), 200);
    if !configured {
        return ApiError::not_found("group of synonyms", told);
    }
    ApiError::FailedPrecondition {
        reason: codes::SYNONYMS_CONFIGURED,
        message: format!("`{told}` are synonyms of the configuration; take them out there"),
        subject: format!("synonyms/{told}"),
    }
}

pub(super) async fn forget_use(
    api: &SurfaceApi,
    request: Request<v1::ForgetUseRequest>,
) -> Result<v1::ForgetUseResponse, ApiError> {
    let tenant = Caller::of(&request).tenant.clone();
    let entry = match request.into_inner().what {
        Some(What::ToolId(id)) => {
            Some(api.parts.registry.tool(&tenant, &field::id("tool_id", &id).map_err(of_field)?)?)
        }
        Some(What::Name(name)) => Some(api.parts.registry.tool_named(&tenant, &name)?),
        Some(What::Everything(true)) => None,
        Some(What::Everything(false)) | None => {
            return Err(ApiError::invalid_argument("tool_id", "is required, or `name`, or `everything`"));
        }
    };
    let tool = entry.map(|entry| entry.tool_id().clone());
    let forgotten = api.parts.learning.forget(&api.parts.registry, tenant, tool).await?;
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    Ok(v1::ForgetUseResponse { tools: count(forgotten.tools), words: count(forgotten.words) })
}

fn has_all(group: &[String], words: &[String]) -> bool {
    keys_of(group).is_superset(&keys_of(words))
}

fn message(group: &Group) -> v1::SynonymGroup {
    v1::SynonymGroup {
        words: group.words.clone(),
        origin: v1::SynonymOrigin::Added.into(),
        added_at: field::instant(group.at),
        added_by: group.by.clone(),
    }
}
