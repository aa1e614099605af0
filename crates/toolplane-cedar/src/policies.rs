//! The policies in force.

use std::collections::HashMap;

use cedar_policy::{Authorizer, Entity, EntityUid};
use toolplane_policy::PolicySettings;
use toolplane_records::payload::{Digest, JsonPayload};

use crate::fault::{PolicyFault, PolicyText};
use crate::load;
use crate::slices::Slices;
use crate::wanted::Wanted;

/// What a policy is for, beside what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Meaning {
    pub(crate) forbids: bool,
    /// A person is to be asked, for this reason.
    pub(crate) ask: Option<String>,
    /// Why it is there.
    pub(crate) reason: String,
}

/// The organisation's policies, parsed, checked and ready. Never changed in place: other texts are another value with
/// another digest.
#[derive(Debug)]
pub struct CedarPolicies {
    pub(crate) authorizer: Authorizer,
    pub(crate) slices: Slices,
    pub(crate) meanings: HashMap<String, Meaning>,
    /// Every action of the schema, with itself and what it is in where it is in anything.
    pub(crate) actions: HashMap<EntityUid, Vec<Entity>>,
    pub(crate) wanted: Wanted,
    pub(crate) settings: PolicySettings,
    warnings: Vec<PolicyFault>,
    digest: Digest,
}

impl CedarPolicies {
    /// Reads and checks policies against `schema`, or against [`crate::SCHEMA`] when there is none.
    ///
    /// Known annotations are `@id`, `@ask`, `@reason`, `@description` and `@owner`; a policy without `@id` is named by
    /// its text and place in it, e.g. `base.cedar#3`.
    ///
    /// # Errors
    ///
    /// Refuses the whole set with every fault found: syntax, a schema that lacks what calls are made of, attributes
    /// that do not exist or are used without `has`, policies that can never apply, templates, unknown annotations, an
    /// `@ask` or `@reason` of more than 400 characters, an `@id` that is no identifier, ids given twice, more than
    /// 10,000 policies in all texts together, or a text over 1 MiB. When the schema is wrong, only its faults are
    /// returned: the policies are not read.
    pub fn load(
        policies: &[PolicyText],
        schema: Option<&PolicyText>,
        settings: &PolicySettings,
    ) -> Result<Self, Vec<PolicyFault>> {
        let (schema, schema_source) = load::schema(schema)?;
        let checked = load::policies(policies, &schema)?;
        let texts: Vec<(&str, &str)> =
            policies.iter().map(|source| (source.name.as_str(), source.text.as_str())).collect();
        let digest = JsonPayload::of(&(texts, &schema_source.text, settings.digest())).digest();
        Ok(Self {
            authorizer: Authorizer::new(),
            actions: load::actions(&schema).map_err(|fault| vec![schema_source.fault(fault)])?,
            wanted: Wanted::of(&checked.policies),
            slices: Slices::new(checked.policies).map_err(|error| vec![schema_source.fault(error.to_string())])?,
            meanings: checked.meanings,
            settings: settings.clone(),
            warnings: checked.warnings,
            digest,
        })
    }

    /// What looks strange in the policies and is in force nevertheless, e.g. texts of mixed scripts.
    pub fn warnings(&self) -> &[PolicyFault] {
        &self.warnings
    }

    /// How many policies there are.
    pub fn len(&self) -> usize {
        self.meanings.len()
    }

    /// Whether there are none, so that there is never an opinion.
    pub fn is_empty(&self) -> bool {
        self.meanings.is_empty()
    }

    pub(crate) fn digest_of_all(&self) -> Digest {
        self.digest
    }
}
