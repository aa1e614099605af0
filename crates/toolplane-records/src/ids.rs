//! Identifiers: opaque, printable strings, one type per noun.

mod given;
mod key;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use given::{DERIVATIONS, Derivation, MAX_GIVEN_ID_LEN};
pub use key::InvocationKey;

/// The longest identifier there is, in bytes: those that are made from others included.
pub const MAX_ID_LEN: usize = 256;

/// Why a text is not an identifier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidId {
    /// Empty text.
    #[error("must not be empty")]
    Empty,
    /// Longer than [`MAX_ID_LEN`] bytes.
    #[error("is {0} bytes long; at most {MAX_ID_LEN} are allowed")]
    TooLong(usize),
    /// Chosen by a caller or an operator, and longer than [`MAX_GIVEN_ID_LEN`] bytes: no room for the identifiers made
    /// from it.
    #[error("is {0} bytes long; at most {MAX_GIVEN_ID_LEN} are allowed")]
    NoRoom(usize),
    /// A character outside `A-Z a-z 0-9 . _ : / @ + -`.
    #[error("contains {0:?}; only letters, digits and `._:/@+-` are allowed")]
    Character(char),
}

/// Checks the shared identifier rule: 1 to [`MAX_ID_LEN`] bytes of `A-Z a-z 0-9 . _ : / @ + -`. Text that breaks it is
/// refused with the [`InvalidId`] that says how.
pub fn check_id(text: &str) -> Result<(), InvalidId> {
    check_up_to(MAX_ID_LEN, text)
}

fn check_up_to(most: usize, text: &str) -> Result<(), InvalidId> {
    if text.len() > most {
        return Err(InvalidId::TooLong(text.len()));
    }
    if text.is_empty() {
        return Err(InvalidId::Empty);
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':' | '/' | '@' | '+' | '-');
    match text.chars().find(|c| !allowed(*c)) {
        Some(character) => Err(InvalidId::Character(character)),
        None => Ok(()),
    }
}

/// Longest text of [`path_segment`]; a file name may have 255 bytes on common file systems.
pub const MAX_PATH_SEGMENT: usize = 120;

/// The identifier that [`path_segment`] made `segment` of; nothing where that was too long, or it made it of none.
pub fn of_path_segment(segment: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::with_capacity(segment.len()), segment.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        if *first != b'=' {
            bytes.push(*first);
            rest = after;
            continue;
        }
        let hex = std::str::from_utf8(after.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(hex, 16).ok()?);
        rest = &after[2..];
    }
    let id = String::from_utf8(bytes).ok()?;
    (path_segment(&id) == segment).then_some(id)
}

/// One identifier as one path segment of `A-Z a-z 0-9 _ - =`: no separator, no dot, never empty, bounded in length.
///
/// Other bytes become `=xx`. What would be too long keeps its start and gets the identifier's SHA-256 (`=h…`, which no
/// encoded byte can look like), so two identifiers never share a segment.
pub fn path_segment(id: &str) -> String {
    let mut text = String::with_capacity(id.len());
    for byte in id.bytes() {
        if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("={byte:02x}"));
        }
    }
    if text.is_empty() || text.len() > MAX_PATH_SEGMENT {
        text.truncate(MAX_PATH_SEGMENT - 66);
        text.push_str("=h");
        text.push_str(&crate::payload::Digest::of(id.as_bytes()).hex());
    }
    text
}

/// Longest decision id that is read from a store: before there was room for what is made from an id, some grew beyond
/// [`MAX_ID_LEN`].
const MAX_STORED_DECISION_ID_LEN: usize = 2 * MAX_ID_LEN;

macro_rules! ids {
    (@most) => { MAX_ID_LEN };
    (@most $most:expr) => { $most };
    ($($(#[$doc:meta])* $name:ident $(($most:expr))?),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Parses an identifier, refusing text outside the shared rule ([`check_id`]).
            pub fn parse(text: &str) -> Result<Self, InvalidId> {
                check_id(text)?;
                Ok(Self(Arc::from(text)))
            }

            /// Parses an identifier that a caller or an operator chooses for something new: it leaves room for the
            /// identifiers that are made from it ([`MAX_GIVEN_ID_LEN`]). Longer text is refused with
            /// [`InvalidId::NoRoom`], other wrong text as by [`parse`](Self::parse).
            pub fn given(text: &str) -> Result<Self, InvalidId> {
                given::check(text)?;
                Self::parse(text)
            }

            /// Wraps text this program made itself and knows to be an identifier.
            pub fn from_trusted(text: impl AsRef<str>) -> Self {
                debug_assert!(check_id(text.as_ref()).is_ok(), "not an id: {}", text.as_ref());
                Self(Arc::from(text.as_ref()))
            }

            /// The identifier's text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                Self::parse(text)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let most = ids!(@most $($most)?);
                schemars::json_schema!({
                    "type": "string", "minLength": 1, "maxLength": most, "pattern": "^[A-Za-z0-9._:/@+-]+$"
                })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                check_up_to(ids!(@most $($most)?), &text).map_err(serde::de::Error::custom)?;
                Ok(Self(Arc::from(&*text)))
            }
        }
    )*};
}

ids! {
    /// A tenant; `default` without authentication.
    TenantId,
    /// A tool declaration, stable per producer.
    ToolId,
    /// A tool interface.
    InterfaceId,
    /// A tool surface.
    SurfaceId,
    /// An execution or permission profile.
    ProfileId,
    /// One tool call.
    InvocationId,
    /// One terminal result.
    ResultId,
    /// A permission or persistence decision.
    DecisionId(MAX_STORED_DECISION_ID_LEN),
    /// A parked question to a human.
    ApprovalId,
    /// A worker process, stable across its restarts.
    WorkerId,
    /// One lease of one invocation by one worker.
    LeaseId,
    /// Calls that were accepted together.
    BatchId,
    /// A provider of tools.
    ProviderId,
}

/// The id of the default surface of every tenant.
pub const DEFAULT_SURFACE: &str = "default";

impl SurfaceId {
    /// The tenant's default surface: every tool as it is declared now. There is no record of it.
    pub fn default_surface() -> Self {
        Self::from_trusted(DEFAULT_SURFACE)
    }

    /// Whether it is the tenant's default surface.
    pub fn is_default(&self) -> bool {
        self.as_str() == DEFAULT_SURFACE
    }

    /// The surface that a repeatable request makes: known before it is made. `request_id` is a UUID, as UUIDs are written.
    pub fn of_request(request_id: &str) -> Self {
        Self::from_trusted(format!("surf_{}", request_id.replace('-', "")))
    }

    /// The surface a request names: the default one where it names none. Fails like [`parse`](Self::parse).
    pub fn named(text: &str) -> Result<Self, InvalidId> {
        if text.is_empty() { Ok(Self::default_surface()) } else { Self::parse(text) }
    }
}

/// The text of the tenant of unauthenticated callers.
const UNAUTHENTICATED: &str = "default";

impl TenantId {
    /// The tenant of unauthenticated loopback callers.
    pub fn unauthenticated() -> Self {
        Self::from_trusted(UNAUTHENTICATED)
    }
}

impl LeaseId {
    /// A lease of a call of `tenant` with this secret. It names the tenant, because the lease is all that its holder
    /// says when it reports, and an invocation id means something within its tenant only.
    pub fn of(tenant: &TenantId, secret: &uuid::Uuid) -> Self {
        let secret = secret.simple();
        match tenant.is_unauthenticated() {
            true => Self::from_trusted(format!("lease_{secret}")),
            false => Self::from_trusted(format!("lease_{secret}@{tenant}")),
        }
    }

    /// The tenant the lease names. One that was given before leases named any is of the unauthenticated tenant, or of
    /// no tenant.
    pub fn tenant(&self) -> TenantId {
        let named = self.0.split_once('@').and_then(|(_, tenant)| TenantId::parse(tenant).ok());
        named.unwrap_or_else(TenantId::unauthenticated)
    }
}
