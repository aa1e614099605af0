//! Words that mean the same, by tenant, as searches look at them.

use std::collections::BTreeMap;
use std::sync::Arc;

use dashmap::DashMap;
use toolplane_catalog::Thesaurus;
use toolplane_catalog::search::check_group;
use toolplane_records::ids::TenantId;

use super::book::Book;
use crate::error::SurfaceError;
use crate::options::Synonyms;

/// The thesaurus of each tenant: the starter set where it is wanted, what is configured for all and for that tenant, and what was
/// added to it. Cheap to clone; clones are the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Thesauri(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    starter: bool,
    for_all: Configured,
    by_tenant: BTreeMap<TenantId, Configured>,
    added: DashMap<TenantId, Added>,
}

/// What is configured.
#[derive(Debug, Default)]
struct Configured {
    groups: Vec<Vec<String>>,
    thesaurus: Arc<Thesaurus>,
}

/// What was added to a tenant, as it was stored last.
#[derive(Debug)]
struct Added {
    version: u64,
    book: Arc<Book>,
    thesaurus: Arc<Thesaurus>,
}

impl Thesauri {
    /// From the configuration. Words that cannot be used are refused with their place there.
    pub(crate) fn of(synonyms: &[Synonyms], starter: bool) -> Result<Self, SurfaceError> {
        let mut groups: BTreeMap<Option<&str>, Vec<(usize, Vec<String>)>> = BTreeMap::new();
        for (index, group) in synonyms.iter().enumerate() {
            groups.entry(group.tenant.as_deref()).or_default().push((index, group.words.clone()));
        }
        let base = if starter { Thesaurus::starter() } else { Arc::default() };
        let for_all = joined(&base, groups.remove(&None).unwrap_or_default())?;
        let mut by_tenant = BTreeMap::new();
        for (tenant, groups) in groups {
            let index = groups.first().map_or(0, |(index, _)| *index);
            let id = TenantId::parse(tenant.unwrap_or_default())
                .map_err(|invalid| SurfaceError::Synonyms { index, reason: format!("`tenant` {invalid}") })?;
            by_tenant.insert(id, joined(&for_all.thesaurus, groups)?);
        }
        Ok(Self(Arc::new(Inner { starter, for_all, by_tenant, added: DashMap::default() })))
    }

    /// The one of a tenant.
    pub(crate) fn of_tenant(&self, tenant: &TenantId) -> Arc<Thesaurus> {
        match self.0.added.get(tenant) {
            Some(added) => Arc::clone(&added.thesaurus),
            None => Arc::clone(self.configured(tenant)),
        }
    }

    fn configured(&self, tenant: &TenantId) -> &Arc<Thesaurus> {
        &self.0.by_tenant.get(tenant).unwrap_or(&self.0.for_all).thesaurus
    }

    /// Whether the starter set counts.
    pub(crate) fn has_starter(&self) -> bool {
        self.0.starter
    }

    /// The groups that are configured for all.
    pub(crate) fn for_all(&self) -> &[Vec<String>] {
        &self.0.for_all.groups
    }

    /// The groups that are configured for a tenant alone.
    pub(crate) fn for_tenant(&self, tenant: &TenantId) -> &[Vec<String>] {
        self.0.by_tenant.get(tenant).map_or(&[], |configured| configured.groups.as_slice())
    }

    /// The groups that were added to a tenant.
    pub(crate) fn added(&self, tenant: &TenantId) -> Arc<Book> {
        self.0.added.get(tenant).map(|added| Arc::clone(&added.book)).unwrap_or_default()
    }

    /// Takes in what was added to a tenant, as it is stored at `version`, unless something newer is known.
    pub(super) fn put(&self, tenant: &TenantId, version: u64, book: Book) {
        if self.0.added.get(tenant).is_some_and(|known| known.version >= version) {
            return;
        }
        // What a process of another version took may be nothing here.
        let usable = book.groups().iter().filter(|group| check_group(&group.words).is_ok());
        let groups: Vec<Vec<String>> = usable.map(|group| group.words.clone()).collect();
        match self.configured(tenant).with(&groups) {
            Ok(thesaurus) => {
                let (book, thesaurus) = (Arc::new(book), Arc::new(thesaurus));
                self.0.added.insert(tenant.clone(), Added { version, book, thesaurus });
            }
            Err(bad) => tracing::warn!(%tenant, rule = bad.rule, "synonyms that were added cannot be used"),
        }
    }

    /// What was added to a tenant is not there any more.
    pub(super) fn forget(&self, tenant: &TenantId) {
        self.0.added.remove(tenant);
    }
}

fn joined(base: &Arc<Thesaurus>, groups: Vec<(usize, Vec<String>)>) -> Result<Configured, SurfaceError> {
    let (places, groups): (Vec<usize>, Vec<Vec<String>>) = groups.into_iter().unzip();
    let thesaurus = base.with(&groups).map_err(|bad| SurfaceError::Synonyms {
        index: places.get(bad.index).or(places.last()).copied().unwrap_or_default(),
        reason: format!("`words` {}", bad.rule),
    })?;
    Ok(Configured { groups, thesaurus: Arc::new(thesaurus) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn synonyms(tenant: Option<&str>, words: &[&str]) -> Synonyms {
        Synonyms { tenant: tenant.map(str::to_owned), words: words.iter().map(|word| (*word).to_owned()).collect() }
    }

    #[test]
    fn what_cannot_be_used_is_refused_with_its_place() {
        let check = |all: &[Synonyms], told: &str| {
            assert_eq!(Thesauri::of(all, true).unwrap_err().to_string(), told);
        };
        let good = synonyms(None, &["a", "b"]);
        assert!(Thesauri::of(&[good.clone(), synonyms(Some("acme"), &["c", "d"])], true).is_ok());
        check(
            &[good.clone(), synonyms(Some("acme"), &["alone"])],
            "`surface.synonyms[1]`: `words` has 1 words; 2 to 32 are allowed",
        );
        assert!(
            Thesauri::of(&[good, synonyms(Some("a b"), &["c", "d"])], true)
                .unwrap_err()
                .to_string()
                .contains("[1]`: `tenant`")
        );
    }
}
