//! Where a credential is put: a header, a query parameter, a cookie, a variable, a file, or requests that
//! pass a proxy. Pure; nothing is sent or written here.

mod proxy;
#[cfg(test)]
mod tests;

use http::header::{COOKIE, HeaderMap, HeaderName, HeaderValue};
use toolplane_records::codes::{self, Code};
use toolplane_records::credential::{CredentialPlacement, HeaderFault, check_header};
use url::{Url, form_urlencoded};

use crate::secret::Secret;

pub use self::proxy::ProxyHeader;

/// Longest name of a parameter, cookie, variable or file, and longest prefix of a header.
const MAX_NAME: usize = 128;

/// A credential at its place, for the adapter that puts it there. Printing it shows no secret.
#[derive(Clone, Debug)]
pub enum Injection {
    /// A header; its value is marked as sensitive.
    Header {
        /// Its name.
        name: HeaderName,
        /// Its value.
        value: HeaderValue,
    },
    /// A parameter of the query, not yet escaped.
    Query {
        /// Its name.
        name: String,
        /// Its value.
        value: Secret,
    },
    /// A cookie.
    Cookie {
        /// Its name.
        name: String,
        /// Its value.
        value: Secret,
    },
    /// A variable of the environment.
    Env {
        /// Its name.
        name: String,
        /// Its value.
        value: Secret,
    },
    /// A file that only its owner may read.
    File {
        /// Its name.
        name: String,
        /// What is in it.
        content: Secret,
    },
    /// A header that a proxy puts into requests to some hosts.
    Proxy(ProxyHeader),
}

/// Why a credential does not fit a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unfit {
    /// The place has no name that can be used.
    #[error("the place has no name that can be used there")]
    Name,
    /// The hosts of a proxy are none, too many, or not hosts.
    #[error("the hosts it is for are none, more than 32, or one of them is not a host")]
    Host,
    /// The header belongs to the connection.
    #[error("the header belongs to the connection, to the body or to cookies")]
    FramingHeader,
    /// The value holds a character that the place does not take.
    #[error("the value, or what stands before it, holds a character that cannot be there, like a line break")]
    Character,
    /// The credential has no such field.
    #[error("it has no such field")]
    NoField,
}

impl Unfit {
    pub(crate) fn code(self) -> Code {
        codes::CREDENTIAL_UNFIT
    }
}

impl Injection {
    /// A secret at its place. `prefix` stands before it where the place is a header.
    pub(crate) fn at(placement: &CredentialPlacement, prefix: &str, secret: Secret) -> Result<Self, Unfit> {
        match placement {
            CredentialPlacement::Header { name, .. } => {
                header(name, prefix, secret.reveal()).map(|(name, value)| Self::Header { name, value })
            }
            CredentialPlacement::Proxy { hosts, name, .. } => {
                let (name, value) = header(name, prefix, secret.reveal())?;
                ProxyHeader::new(hosts, name, value).map(Self::Proxy)
            }
            CredentialPlacement::Query { name } => query(name, secret),
            CredentialPlacement::Cookie { name } => cookie(name, secret),
            CredentialPlacement::Env { name } => variable(name, secret),
            CredentialPlacement::File { name } => file(name, secret),
        }
    }
}

fn header(name: &str, prefix: &str, secret: &[u8]) -> Result<(HeaderName, HeaderValue), Unfit> {
    check_header(name).map_err(|fault| match fault {
        HeaderFault::Name => Unfit::Name,
        HeaderFault::OfConnection => Unfit::FramingHeader,
    })?;
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| Unfit::Name)?;
    let bytes = [prefix.as_bytes(), secret].concat();
    let is_visible = bytes.iter().all(|byte| matches!(byte, b' '..=b'~'));
    if prefix.len() > MAX_NAME || !is_visible || bytes.first() == Some(&b' ') || bytes.last() == Some(&b' ') {
        return Err(Unfit::Character);
    }
    let mut value = HeaderValue::from_bytes(&bytes).map_err(|_| Unfit::Character)?;
    value.set_sensitive(true);
    Ok((name, value))
}

fn query(name: &str, value: Secret) -> Result<Injection, Unfit> {
    check(is_short(name) && !name.chars().any(char::is_control), Unfit::Name)?;
    let is_line = value.reveal_text().is_some_and(|text| !text.chars().any(char::is_control));
    check(is_line, Unfit::Character)?;
    Ok(Injection::Query { name: name.to_owned(), value })
}

fn cookie(name: &str, value: Secret) -> Result<Injection, Unfit> {
    check(is_short(name) && name.bytes().all(is_token_char), Unfit::Name)?;
    check(value.reveal().iter().copied().all(is_cookie_octet), Unfit::Character)?;
    Ok(Injection::Cookie { name: name.to_owned(), value })
}

fn variable(name: &str, value: Secret) -> Result<Injection, Unfit> {
    let starts = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    check(is_short(name) && starts && is_name, Unfit::Name)?;
    check(!value.reveal().contains(&0), Unfit::Character)?;
    Ok(Injection::Env { name: name.to_owned(), value })
}

fn file(name: &str, content: Secret) -> Result<Injection, Unfit> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    check(is_short(name) && name.bytes().all(is_plain) && !name.starts_with('.'), Unfit::Name)?;
    Ok(Injection::File { name: name.to_owned(), content })
}

/// Puts headers, cookies and parameters into a request. What the request has under the same name gives way: a caller does not
/// choose the credential. Variables, files and what a proxy puts in are left out.
///
/// # Errors
///
/// [`Unfit::Character`] when the cookies of the request are not text.
pub fn put_into_request(injections: &[Injection], headers: &mut HeaderMap, url: &mut Url) -> Result<(), Unfit> {
    for injection in injections {
        match injection {
            Injection::Header { name, value } => {
                headers.insert(name, value.clone());
            }
            Injection::Cookie { name, value } => {
                let cookies = with_cookie(headers, name, value)?;
                headers.insert(COOKIE, cookies);
            }
            Injection::Query { name, value } => set_parameter(url, name, value),
            Injection::Env { .. } | Injection::File { .. } | Injection::Proxy(_) => {}
        }
    }
    Ok(())
}

/// The cookies of a request with this one in place of any of its name, as one header.
fn with_cookie(headers: &HeaderMap, name: &str, value: &Secret) -> Result<HeaderValue, Unfit> {
    let mut cookies = Vec::new();
    for header in headers.get_all(COOKIE) {
        let text = header.to_str().map_err(|_| Unfit::Character)?;
        let others = text.split(';').map(str::trim).filter(|cookie| !cookie.is_empty());
        cookies.extend(others.filter(|cookie| cookie.split('=').next().map(str::trim) != Some(name)));
    }
    let mut all = cookies.join("; ").into_bytes();
    if !all.is_empty() {
        all.extend_from_slice(b"; ");
    }
    all.extend_from_slice(name.as_bytes());
    all.push(b'=');
    all.extend_from_slice(value.reveal());
    let mut value = HeaderValue::from_bytes(&all).map_err(|_| Unfit::Character)?;
    value.set_sensitive(true);
    Ok(value)
}

/// Others stay as they are spelled: some servers look at that.
fn set_parameter(url: &mut Url, name: &str, value: &Secret) {
    let is_other = |pair: &&str| form_urlencoded::parse(pair.as_bytes()).next().is_some_and(|(key, _)| key != name);
    if let Some(query) = url.query() {
        let others: Vec<&str> = query.split('&').filter(is_other).collect();
        let others = others.join("&");
        url.set_query(Some(others.as_str()).filter(|others| !others.is_empty()));
    }
    url.query_pairs_mut().append_pair(name, value.reveal_text().unwrap_or_default());
}

fn check(holds: bool, otherwise: Unfit) -> Result<(), Unfit> {
    if holds { Ok(()) } else { Err(otherwise) }
}

fn is_short(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len())
}

/// A character of a token, RFC 9110, 5.6.2.
fn is_token_char(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// A character of a cookie's value, RFC 6265, 4.1.1.
fn is_cookie_octet(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'"' | b',' | b';' | b'\\')
}
