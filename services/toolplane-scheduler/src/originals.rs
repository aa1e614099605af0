//! The unmasked original of a cleaned output, where policy has it kept: sealed, for a while, and for readers who are named.
//!
//! Nothing is kept unless a rule says so. What is kept is sealed with a key of the operator's before it leaves this process; without the key
//! nothing is kept, and the record of the call says so. Who may read is said by the rules as they are when somebody asks.

mod keep;
mod stored;
mod vault;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolplane_matching::glob::{InvalidGlob, TextGlob};
use toolplane_records::ids::TenantId;
use toolplane_records::invocation::Invocation;
use toolplane_records::result::Cleaned;
use toolplane_runtime::{Caller, Role};

pub(crate) use keep::{Unsealed, Whose, forget};
pub(crate) use stored::{Keeping, KeptOriginal, was_kept};
use vault::{KeyRing, SHORTEST};

/// Whose originals are kept, for how long and for whom.
#[derive(Clone, Debug, Default)]
pub(crate) struct OriginalRule {
    /// Of this tenant; of all where it is empty.
    pub(crate) tenant: String,
    /// Of tools whose full name fits this pattern; of all where it is empty.
    pub(crate) tool: String,
    /// Only where one of these classes or rules had something taken out; whatever it was where this is empty.
    pub(crate) found: Vec<String>,
    /// Who may read it: `role:<role>`, or the name of a caller.
    pub(crate) readers: Vec<String>,
    /// For how long.
    pub(crate) keep_ms: i64,
}

/// Keeps originals, and says who may read them. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Originals(Arc<OriginalParts>);

#[derive(Debug)]
struct OriginalParts {
    /// Files of keys, one a line: the first key seals, each opens.
    key_files: Vec<PathBuf>,
    /// The first that fits a call applies.
    rules: Vec<(Option<TextGlob>, OriginalRule)>,
}

impl Originals {
    /// By these rules, sealed with the keys of these files. Returns an error on the first malformed pattern.
    pub(crate) fn new(key_files: &[PathBuf], rules: &[OriginalRule]) -> Result<Self, InvalidGlob> {
        let ready = |rule: &OriginalRule| {
            let tool = Some(rule.tool.as_str()).filter(|tool| !tool.is_empty()).map(TextGlob::parse).transpose()?;
            Ok((tool, rule.clone()))
        };
        let rules: Vec<_> = rules.iter().map(ready).collect::<Result<_, InvalidGlob>>()?;
        let originals = Self(Arc::new(OriginalParts { key_files: key_files.to_vec(), rules }));
        if !originals.0.rules.is_empty() {
            // Said at the start too: until there is a key, what is to be kept is not.
            originals.keys();
        }
        Ok(originals)
    }

    /// Keeps nothing.
    pub(crate) fn none() -> Self {
        Self(Arc::new(OriginalParts { key_files: Vec::new(), rules: Vec::new() }))
    }

    /// The rule for originals of `record`.
    fn rule(&self, record: &Invocation) -> Option<&OriginalRule> {
        let fits = |(tool, rule): &&(Option<TextGlob>, OriginalRule)| {
            let tenant = rule.tenant.is_empty() || TenantId::from_trusted(&rule.tenant) == record.tenant;
            tenant && tool.as_ref().is_none_or(|tool| tool.is_match(&record.tool_name))
        };
        self.0.rules.iter().find(fits).map(|(_, rule)| rule)
    }

    /// Whether an original of `record` may have to be kept.
    pub(crate) fn is_wanted(&self, record: &Invocation) -> bool {
        self.rule(record).is_some()
    }

    /// Whether a rule has an original of `record` kept for what was `found`.
    pub(crate) fn is_wanted_for(&self, record: &Invocation, found: &[Cleaned]) -> bool {
        self.rule(record).is_some_and(|rule| rule.is_about(found))
    }

    /// Whether `caller` is one of the readers of originals of `record`.
    pub(crate) fn may_read(&self, caller: &Caller, record: &Invocation) -> bool {
        let is_reader = |reader: &String| match reader.strip_prefix("role:") {
            Some(role) => role.parse::<Role>().is_ok_and(|role| caller.is(role)),
            None => caller.authenticated && caller.doer("") == reader,
        };
        self.rule(record).is_some_and(|rule| rule.readers.iter().any(is_reader))
    }

    /// The keys there are now: files are read each time, so that a key that comes or changes needs no restart.
    fn keys(&self) -> KeyRing {
        let mut secrets = Vec::new();
        for file in &self.0.key_files {
            match read_keys(file) {
                Ok(found) => secrets.extend(found),
                Err(reason) => {
                    tracing::warn!(file = %file.display(), reason, "a key of originals is not there; what it would seal is not kept");
                }
            }
        }
        KeyRing::of(secrets.iter().map(|secret| secret.as_slice()))
    }
}

impl OriginalRule {
    /// Whether something that was taken out is to have its original kept.
    fn is_about(&self, found: &[Cleaned]) -> bool {
        let replaced = |one: &&Cleaned| !matches!(one.treatment.as_str(), "mark" | "keep");
        let named = |one: &Cleaned| self.found.iter().any(|name| one.class == *name || one.rule == *name);
        found.iter().filter(replaced).any(|one| self.found.is_empty() || named(one))
    }
}

/// The keys in a file, one a line. One that others may read is none.
fn read_keys(file: &Path) -> Result<Vec<zeroize::Zeroizing<Vec<u8>>>, String> {
    use std::os::unix::fs::MetadataExt as _;
    let exposed = std::fs::metadata(file).map_err(|error| error.to_string())?.mode() & 0o077 != 0;
    if exposed {
        return Err("others may read it; take their rights away (`chmod 600`)".to_owned());
    }
    let text = zeroize::Zeroizing::new(std::fs::read(file).map_err(|error| error.to_string())?);
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let keys: Vec<_> = lines
        .filter(|line| !line.is_empty() && !line.starts_with(b"#"))
        .map(|line| zeroize::Zeroizing::new(line.to_vec()))
        .collect();
    if keys.is_empty() || keys.iter().any(|key| key.len() < SHORTEST) {
        return Err(format!("it has to hold keys of at least {SHORTEST} characters, one a line"));
    }
    Ok(keys)
}
