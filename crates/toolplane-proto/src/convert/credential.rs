//! Which credential goes where.

use toolplane_records::credential as records;

use crate::convert::{ConvertError, field};
use crate::v1;
use crate::v1::credential_placement::Place;

impl From<&records::CredentialUse> for v1::CredentialUse {
    fn from(record: &records::CredentialUse) -> Self {
        Self {
            credential: record.credential.clone(),
            field: record.field.clone(),
            placement: Some((&record.placement).into()),
        }
    }
}

impl TryFrom<v1::CredentialUse> for records::CredentialUse {
    type Error = ConvertError;

    fn try_from(message: v1::CredentialUse) -> Result<Self, ConvertError> {
        Ok(Self {
            credential: message.credential,
            field: message.field,
            placement: field::required("placement", message.placement)?,
        })
    }
}

impl From<&records::CredentialPlacement> for v1::CredentialPlacement {
    fn from(record: &records::CredentialPlacement) -> Self {
        use records::CredentialPlacement as P;
        let named = |name: &String| v1::NamedPlacement { name: name.clone() };
        let place = match record {
            P::Header { name, prefix } => {
                Place::Header(v1::HeaderPlacement { name: name.clone(), prefix: prefix.clone() })
            }
            P::Query { name } => Place::Query(named(name)),
            P::Cookie { name } => Place::Cookie(named(name)),
            P::Env { name } => Place::Env(named(name)),
            P::File { name } => Place::File(named(name)),
            P::Proxy { hosts, name, prefix } => {
                let (hosts, name, prefix) = (hosts.clone(), name.clone(), prefix.clone());
                Place::Proxy(v1::ProxyPlacement { hosts, name, prefix })
            }
        };
        Self { place: Some(place) }
    }
}

impl TryFrom<v1::CredentialPlacement> for records::CredentialPlacement {
    type Error = ConvertError;

    fn try_from(message: v1::CredentialPlacement) -> Result<Self, ConvertError> {
        let missing = || ConvertError::missing("header, query, cookie, env, file or proxy");
        Ok(match message.place.ok_or_else(missing)? {
            Place::Header(header) => Self::Header { name: header.name, prefix: header.prefix },
            Place::Query(named) => Self::Query { name: named.name },
            Place::Cookie(named) => Self::Cookie { name: named.name },
            Place::Env(named) => Self::Env { name: named.name },
            Place::File(named) => Self::File { name: named.name },
            Place::Proxy(proxy) => Self::Proxy { hosts: proxy.hosts, name: proxy.name, prefix: proxy.prefix },
        })
    }
}
