//! Names of payloads: `results/<tenant>/<yyyymmdd>/<invocation>/<lease_no>-<sha256>`.

use std::fmt;
use std::str::FromStr;

use object_store::path::Path;
use toolplane_records::ids::{InvocationId, InvocationKey, MAX_PATH_SEGMENT, TenantId, of_path_segment, path_segment};
use toolplane_records::payload::{Digest, PayloadRef};
use toolplane_records::time::Timestamp;

use super::error::PayloadError;
use super::origin::PayloadOrigin;

/// What every payload address starts with.
pub const URI_PREFIX: &str = "toolplane://payloads/";

pub(super) const ROOT: &str = "results";
pub(super) const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;

/// The name of one payload. It can only be made by this crate's rule, so it never leaves its tenant's place in the store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PayloadKey {
    path: Path,
}

impl PayloadKey {
    /// The name of the payload with this origin and digest.
    pub fn new(origin: &PayloadOrigin, digest: Digest) -> Self {
        let parts = [
            ROOT.to_owned(),
            path_segment(origin.tenant.as_str()),
            day(origin.made_at),
            path_segment(origin.invocation_id.as_str()),
            format!("{}-{}", origin.lease_no, digest.hex()),
        ];
        Self { path: Path::from_iter(parts) }
    }

    /// The address of the payload.
    pub fn uri(&self) -> String {
        format!("{URI_PREFIX}{}", self.path)
    }

    /// Whether the payload belongs to `tenant`. Callers must ask before they hand out bytes.
    pub fn belongs_to(&self, tenant: &TenantId) -> bool {
        self.path.parts().nth(1).is_some_and(|part| part.as_ref() == path_segment(tenant.as_str()))
    }

    /// The call that made it; nothing where its name is too long to be told from this one.
    pub fn call(&self) -> Option<InvocationKey> {
        let mut parts = self.path.parts().skip(1);
        let (tenant, invocation) = (parts.next()?, parts.nth(1)?);
        let tenant = TenantId::from_trusted(of_path_segment(tenant.as_ref())?);
        Some(InvocationKey::new(&tenant, &InvocationId::from_trusted(of_path_segment(invocation.as_ref())?)))
    }

    /// Whether the payload was made under this lease of this call.
    pub fn is_of(&self, tenant: &TenantId, invocation: &InvocationId, lease_no: u32) -> bool {
        let by_lease = |name: &str| name.split_once('-').is_some_and(|(lease, _)| lease == lease_no.to_string());
        self.belongs_to(tenant)
            && self.path.parts().nth(3).is_some_and(|part| part.as_ref() == path_segment(invocation.as_str()))
            && self.path.filename().is_some_and(by_lease)
    }

    /// The call the payload was made by, where its id is written as it is.
    pub fn invocation_id(&self) -> Option<InvocationId> {
        InvocationId::parse(self.path.parts().nth(3)?.as_ref()).ok()
    }

    /// The digest the bytes must have.
    pub fn digest(&self) -> Option<Digest> {
        self.path.filename().and_then(|name| name.split_once('-')).and_then(|(_, hex)| hex.parse().ok())
    }

    /// The name an object has already.
    pub(super) fn at(path: &Path) -> Result<Self, PayloadError> {
        format!("{URI_PREFIX}{path}").parse()
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn describe(&self, origin: &PayloadOrigin, digest: Digest, size_bytes: u64) -> PayloadRef {
        PayloadRef { uri: self.uri().into(), media_type: origin.media_type.as_str().into(), digest, size_bytes }
    }

    /// Whether the payload was made more than `days` days before the day of `now`.
    pub fn is_older_than(&self, days: u32, now: Timestamp) -> bool {
        self.path.parts().nth(2).is_some_and(|part| is_past(part.as_ref(), days, now))
    }
}

impl fmt::Display for PayloadKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{URI_PREFIX}{}", self.path)
    }
}

impl FromStr for PayloadKey {
    type Err = PayloadError;

    /// Reads an address (`toolplane://payloads/results/...`). Only the exact form this crate writes is taken.
    fn from_str(text: &str) -> Result<Self, PayloadError> {
        let refuse = |rule| PayloadError::InvalidAddress { text: text.chars().take(120).collect(), rule };
        let Some(rest) = text.strip_prefix(URI_PREFIX) else {
            return Err(refuse("it does not start with `toolplane://payloads/`"));
        };
        let parts: Vec<&str> = rest.split('/').collect();
        let &[root, tenant, day, invocation, name] = parts.as_slice() else {
            return Err(refuse("it does not have five parts"));
        };
        let is_day = day.len() == 8 && day.bytes().all(|byte| byte.is_ascii_digit());
        let is_name = name.split_once('-').is_some_and(|(lease, digest)| {
            lease.parse::<u32>().is_ok_and(|number| number.to_string() == lease)
                && digest.len() == 64
                && digest.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
        });
        if root != ROOT || !is_segment(tenant) || !is_day || !is_segment(invocation) || !is_name {
            return Err(refuse("a part of it is malformed"));
        }
        Ok(Self { path: Path::from_iter(parts) })
    }
}

/// Whether a day directory lies more than `days` days before `now`.
pub(super) fn is_past(day_text: &str, days: u32, now: Timestamp) -> bool {
    day_text < day(now.plus_millis(-i64::from(days).saturating_mul(DAY_MILLIS))).as_str()
}

/// `yyyymmdd` in UTC; instants before 1970 count as 1970.
pub(super) fn day(at: Timestamp) -> String {
    let at = Timestamp::from_millis(at.as_millis().max(0));
    at.to_string().chars().take_while(|c| *c != 'T').filter(char::is_ascii_digit).collect()
}

fn is_segment(text: &str) -> bool {
    (1..=MAX_PATH_SEGMENT).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'='))
}
