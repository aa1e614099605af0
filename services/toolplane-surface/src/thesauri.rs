//! Words that mean the same, by tenant.

use std::collections::BTreeMap;
use std::sync::Arc;

use toolplane_catalog::Thesaurus;
use toolplane_records::ids::TenantId;

use crate::error::SurfaceError;
use crate::options::Synonyms;

/// The thesaurus of each tenant: the starter set where it is wanted, what is said for all, and what is said for that tenant.
#[derive(Clone, Debug)]
pub(crate) struct Thesauri {
    of_all: Arc<Thesaurus>,
    by_tenant: Arc<BTreeMap<TenantId, Arc<Thesaurus>>>,
}

impl Thesauri {
    /// From the configuration. Words that cannot be used are refused with their place there.
    pub(crate) fn of(synonyms: &[Synonyms], starter: bool) -> Result<Self, SurfaceError> {
        let mut groups: BTreeMap<Option<&str>, Vec<(usize, Vec<String>)>> = BTreeMap::new();
        for (index, group) in synonyms.iter().enumerate() {
            groups.entry(group.tenant.as_deref()).or_default().push((index, group.words.clone()));
        }
        let base = if starter { Thesaurus::starter() } else { Arc::default() };
        let of_all = Arc::new(joined(&base, groups.remove(&None).unwrap_or_default())?);
        let mut by_tenant = BTreeMap::new();
        for (tenant, groups) in groups {
            let index = groups.first().map_or(0, |(index, _)| *index);
            let id = TenantId::parse(tenant.unwrap_or_default())
                .map_err(|invalid| SurfaceError::Synonyms { index, reason: format!("`tenant` {invalid}") })?;
            by_tenant.insert(id, Arc::new(joined(&of_all, groups)?));
        }
        Ok(Self { of_all, by_tenant: Arc::new(by_tenant) })
    }

    /// The one of a tenant.
    pub(crate) fn of_tenant(&self, tenant: &TenantId) -> &Thesaurus {
        self.by_tenant.get(tenant).unwrap_or(&self.of_all)
    }
}

fn joined(base: &Thesaurus, groups: Vec<(usize, Vec<String>)>) -> Result<Thesaurus, SurfaceError> {
    let (places, words): (Vec<usize>, Vec<Vec<String>>) = groups.into_iter().unzip();
    base.with(&words).map_err(|bad| SurfaceError::Synonyms {
        index: places.get(bad.index).or(places.last()).copied().unwrap_or_default(),
        reason: format!("`words` {}", bad.rule),
    })
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
