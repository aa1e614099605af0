//! What a request chooses tools by, beside their names.

use toolplane_catalog::{AskedFor, Criteria, FilterKind, IndexedSurface, Selection, Unmatched};
use toolplane_proto::v1;
use toolplane_records::ids::TenantId;
use toolplane_runtime::ApiError;

use super::api::SurfaceApi;

/// Most words of one list.
const MAX_WORDS: usize = 100;
/// Most tools that an answer says of why they are not shown, or not loaded.
pub(super) const MAX_WARNED: usize = 20;

/// The words of a request, as they were given.
#[derive(Debug)]
pub(super) struct Asked {
    namespaces: Vec<String>,
    words: [(FilterKind, &'static str, Vec<String>); 5],
}

impl From<&v1::CreateSurfaceRequest> for Asked {
    fn from(request: &v1::CreateSurfaceRequest) -> Self {
        let v1::CreateSurfaceRequest { namespaces, tags, capabilities, providers, risk_levels, kinds, .. } = request;
        Self::of(namespaces, [tags, capabilities, providers, risk_levels, kinds])
    }
}

impl From<&v1::ExtendSurfaceRequest> for Asked {
    fn from(request: &v1::ExtendSurfaceRequest) -> Self {
        let v1::ExtendSurfaceRequest { namespaces, tags, capabilities, providers, risk_levels, kinds, .. } = request;
        Self::of(namespaces, [tags, capabilities, providers, risk_levels, kinds])
    }
}

impl Asked {
    fn of(namespaces: &[String], [tags, capabilities, providers, risks, kinds]: [&Vec<String>; 5]) -> Self {
        Self {
            namespaces: namespaces.to_vec(),
            words: [
                (FilterKind::Tag, "tags", tags.clone()),
                (FilterKind::Capability, "capabilities", capabilities.clone()),
                (FilterKind::Provider, "providers", providers.clone()),
                (FilterKind::Risk, "risk_levels", risks.clone()),
                (FilterKind::Kind, "kinds", kinds.clone()),
            ],
        }
    }

    /// How many namespaces and words there are.
    pub(super) fn len(&self) -> usize {
        self.namespaces.len() + self.words.iter().map(|(_, _, words)| words.len()).sum::<usize>()
    }

    /// What the tools are to be.
    pub(super) fn criteria(&self) -> Result<Criteria, ApiError> {
        let mut criteria = Criteria::default();
        for (by, field, words) in &self.words {
            if words.len() > MAX_WORDS {
                let rule = format!("has {} values; at most {MAX_WORDS} are allowed", words.len());
                return Err(ApiError::invalid_argument(*field, rule));
            }
            for (index, word) in words.iter().enumerate() {
                let refused = |why| ApiError::invalid_argument(format!("{field}[{index}]"), why);
                criteria.also(*by, word).map_err(|fault| refused(fault.message))?;
            }
        }
        Ok(criteria)
    }

    /// What of it no tool fits now, and none that those above the surface show.
    pub(super) fn warnings(
        &self,
        api: &SurfaceApi,
        tenant: &TenantId,
        surface: &IndexedSurface,
        selection: &Selection,
    ) -> Vec<v1::SelectionWarning> {
        let mut asked: Vec<AskedFor<'_>> = vec![(FilterKind::Namespace, "namespaces", self.namespaces.as_slice())];
        asked.extend(self.words.iter().map(|(by, field, words)| (*by, *field, words.as_slice())));
        let unmatched = api.parts.shown.unmatched(tenant, surface, &asked, selection);
        unmatched.into_iter().map(warning).collect()
    }
}

/// The names in these fields of a request that lead to tools that the surface does not show now, with why: a rule that denies them to everybody,
/// what those above it show, or whatever else.
pub(super) fn names_not_shown(
    api: &SurfaceApi,
    tenant: &TenantId,
    surface: &IndexedSurface,
    fields: &[(&str, &[String])],
) -> Vec<v1::SelectionWarning> {
    let told = fields.iter().flat_map(|(field, names)| api.parts.shown.not_shown(tenant, surface, field, names));
    told.take(MAX_WARNED).map(warning).collect()
}

/// One warning, as an answer has it.
pub(super) fn warning(one: Unmatched) -> v1::SelectionWarning {
    v1::SelectionWarning { field: one.field, message: one.message, similar: one.similar }
}
