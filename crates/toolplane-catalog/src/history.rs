//! What a tool was declared as before: enough to tell an agent that knows an older declaration what of its schema
//! changed.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolplane_records::payload::{Digest, JsonPayload};

use crate::catalog::CatalogEntry;
use crate::registration::Registration;
use crate::schema::differences;
use crate::traits::Traits;

/// Most declarations that are remembered.
const MAX_VERSIONS: usize = 32;
/// Most declarations with the schema, the name and the traits of a later one that are remembered with it.
const MAX_ALIKE: usize = 256;
/// Most bytes of schemas that are remembered; of older ones only the digest is.
const MAX_SCHEMA_BYTES: u64 = 64 * 1024;

/// The declarations a tool had, the latest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct History(Vec<Version>);

/// One declaration a tool had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Version {
    /// Of the whole registration.
    digest: Digest,
    /// Of the model schema, whatever the order of its keys.
    schema_digest: Digest,
    /// The model schema; absent when the tool took no arguments, or when it is too long ago.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    schema: Option<JsonPayload>,
    /// The tool took no arguments.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    no_arguments: bool,
    /// The full name the tool had; empty in what was stored before that was kept.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    name: String,
    /// The revision of the catalog it came at; 0 where older versions stored it, which is before every surface that asks.
    #[serde(default)]
    from: u64,
    /// What surfaces looked at then, where it is not what they look at in the declaration after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    traits: Option<Box<Traits>>,
    /// Declarations before it that say the same of what agents and surfaces look at, as where a description changed: the digest of each, and
    /// the revision it came at; the latest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    alike: Vec<(Digest, u64)>,
}

/// A declaration a tool had.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Past<'h> {
    /// Of the whole registration.
    pub(crate) digest: Digest,
    /// The full name it had then; empty where that is not known.
    pub(crate) name: &'h str,
    /// What surfaces looked at, where that is known to be something else than now.
    pub(crate) traits: Option<&'h Traits>,
}

/// At which revisions of its catalog a tool changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Since {
    /// When the tool was created; 0 where older versions stored it.
    #[serde(default)]
    pub created: u64,
    /// When its present declaration came.
    #[serde(default)]
    pub declared: u64,
    /// When it became what it is to surfaces, its [`Traits`].
    #[serde(default)]
    pub traits: u64,
}

impl Since {
    /// A tool that is created at a revision.
    pub(crate) fn created(at: u64) -> Self {
        Self { created: at, declared: at, traits: at }
    }

    /// The tool after it was declared anew at a revision.
    pub(crate) fn declared(self, at: u64, before: &Traits, after: &Traits) -> Self {
        let traits = if before == after { self.traits } else { at };
        Self { declared: at, traits, ..self }
    }
}

/// What happened to a tool's schema since a declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drift {
    /// The schema is what it was, whatever else changed.
    None,
    /// The schema changed; the differences in words, none when they are too long ago to be known.
    Changed(Vec<String>),
    /// No declaration of this tool that is remembered has that digest.
    Forgotten,
}

impl Drift {
    /// What there is to say, in words; `None` when nothing changed.
    pub fn words(&self) -> Option<String> {
        match self {
            Self::None => None,
            Self::Changed(differences) if differences.is_empty() => Some("its schema is another one".to_owned()),
            Self::Changed(differences) => Some(differences.join("; ")),
            Self::Forgotten => Some("the declaration that is asked about is no longer stored".to_owned()),
        }
    }
}

impl History {
    /// The history after `before` was replaced by a declaration of these traits.
    pub(crate) fn after(&self, before: &CatalogEntry, traits: &Traits) -> Self {
        let (registration, digest) = (before.tool.registration(), before.tool.digest());
        let schema = registration.model_schema();
        let mut latest = Version {
            digest,
            schema_digest: schema_digest(schema),
            schema: schema.cloned(),
            no_arguments: schema.is_none(),
            name: registration.declaration.full_name(),
            from: before.since.declared,
            traits: (*before.traits != *traits).then(|| Box::new(Traits::clone(&before.traits))),
            alike: Vec::new(),
        };
        let older = match self.0.split_first() {
            Some((one, older)) if one.says_the_same(&latest) => {
                let alike = std::iter::once((one.digest, one.from)).chain(one.alike.iter().copied());
                latest.alike = alike.take(MAX_ALIKE).collect();
                older
            }
            _ => &self.0[..],
        };
        // A declaration that comes back is found by its latest time alone, so its schema is kept once.
        let older = older.iter().map(|version| match version.digest == digest {
            true => Version { schema: None, ..version.clone() },
            false => version.clone(),
        });
        let mut versions: Vec<Version> = std::iter::once(latest).chain(older).take(MAX_VERSIONS).collect();
        let mut left = MAX_SCHEMA_BYTES;
        for version in &mut versions {
            match version.schema.as_ref().map_or(0, JsonPayload::size) {
                size if size <= left => left -= size,
                _ => version.schema = None,
            }
        }
        Self(versions)
    }

    /// The full names the tool had, as far as they are remembered, the latest first.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|version| version.name.as_str()).filter(|name| !name.is_empty())
    }

    /// The declaration before the present one that was in force at a revision of the catalog; nothing when that is too long
    /// ago.
    pub(crate) fn at(&self, revision: u64) -> Option<Past<'_>> {
        let mut traits = None;
        for version in &self.0 {
            traits = version.traits.as_deref().or(traits);
            if version.from <= revision {
                return Some(Past { digest: version.digest, name: &version.name, traits });
            }
            if let Some((digest, _)) = version.alike.iter().find(|(_, from)| *from <= revision) {
                return Some(Past { digest: *digest, name: &version.name, traits });
            }
        }
        None
    }

    /// What happened between the declaration `known` and `now`, whose digest is `digest`.
    pub(crate) fn since(&self, known: &Digest, now: &Registration, digest: &Digest) -> Drift {
        if known == digest {
            return Drift::None;
        }
        let Some(version) = self.0.iter().find(|version| version.is_known_as(known)) else { return Drift::Forgotten };
        let schema = now.model_schema();
        if version.schema_digest == schema_digest(schema) {
            return Drift::None;
        }
        if version.schema.is_none() && !version.no_arguments {
            return Drift::Changed(Vec::new());
        }
        let before = version.schema.as_ref().map(JsonPayload::to_value);
        Drift::Changed(differences(before.as_ref(), schema.map(JsonPayload::to_value).as_ref()))
    }
}

impl Version {
    /// Whether who knew this one would notice nothing of the one right after it.
    fn says_the_same(&self, after: &Self) -> bool {
        self.traits.is_none() && (self.schema_digest, &self.name) == (after.schema_digest, &after.name)
    }

    fn is_known_as(&self, digest: &Digest) -> bool {
        self.digest == *digest || self.alike.iter().any(|(alike, _)| alike == digest)
    }
}

fn schema_digest(schema: Option<&JsonPayload>) -> Digest {
    let mut value = schema.map_or(Value::Null, JsonPayload::to_value);
    value.sort_all_objects();
    JsonPayload::of(&value).digest()
}
