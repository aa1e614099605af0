//! Hosts: names and addresses in one spelling, patterns of them, and which addresses are on the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::Host;

/// Which hosts are meant: one name or address, or with `*.` in front the names beneath one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HostPattern {
    /// That host, in its one spelling, and as an address when it is one.
    Exactly(String, Option<IpAddr>),
    /// Names that end so; begins with a dot.
    Beneath(String),
}

/// A text that is no pattern of hosts, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidHost(pub &'static str);

impl HostPattern {
    /// Reads a host name, `*.` and a host name, or an address (with or without brackets).
    ///
    /// # Errors
    ///
    /// [`InvalidHost`] when the text is not a host name or address, and when an address follows `*.`.
    pub fn parse(text: &str) -> Result<Self, InvalidHost> {
        let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
        if let Ok(address) = bare.parse::<IpAddr>() {
            return Ok(Self::Exactly(address.to_string(), Some(address)));
        }
        let (beneath, name) = text.strip_prefix("*.").map_or((false, text), |name| (true, name));
        let (name, address) = one_spelling(name).ok_or(InvalidHost("is not a host name or address"))?;
        Self::of(beneath, name, address)
    }

    /// The pattern of a host that is in its one spelling, or of the names beneath it.
    pub(crate) fn of(beneath: bool, name: String, address: Option<IpAddr>) -> Result<Self, InvalidHost> {
        match (beneath, address) {
            (true, Some(_)) => Err(InvalidHost("an address has no subdomains")),
            (true, None) => Ok(Self::Beneath(format!(".{name}"))),
            (false, address) => Ok(Self::Exactly(name, address)),
        }
    }

    /// Whether a host is meant that is in its one spelling, and is that address when it is one.
    pub fn is_match(&self, host: &str, address: Option<IpAddr>) -> bool {
        match self {
            Self::Exactly(name, _) => name == host,
            Self::Beneath(suffix) => address.is_none() && host.len() > suffix.len() && host.ends_with(suffix.as_str()),
        }
    }

    /// Whether every host that `other` means is meant.
    pub fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (_, Self::Exactly(name, address)) => self.is_match(name, *address),
            (Self::Beneath(own), Self::Beneath(beneath)) => beneath.ends_with(own.as_str()),
            (Self::Exactly(..), Self::Beneath(_)) => false,
        }
    }

    /// The address that is meant, when it is one.
    pub fn address(&self) -> Option<IpAddr> {
        match self {
            Self::Exactly(_, address) => *address,
            Self::Beneath(_) => None,
        }
    }
}

/// A host in its one spelling, lower case, without a dot at its end and with names of other alphabets as they are sent, and as an
/// address however that was spelt; none when it is no host.
pub fn one_spelling(host: &str) -> Option<(String, Option<IpAddr>)> {
    match Host::parse(host.trim_end_matches('.')) {
        Ok(Host::Domain(name)) if !name.is_empty() => Some((name, None)),
        Ok(Host::Ipv4(address)) => Some((address.to_string(), Some(IpAddr::V4(address)))),
        Ok(Host::Ipv6(address)) => Some((address.to_string(), Some(IpAddr::V6(address)))),
        _ => None,
    }
}

/// Ranges of IPv4 that the registries set aside: first address and length of the prefix.
const V4_SET_ASIDE: &[([u8; 4], u32)] = &[
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 31, 196, 0], 24),
    ([192, 52, 193, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([192, 175, 48, 0], 24),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 3),
];

/// Ranges of IPv6 set aside within 2000::/3, the only part that is given out.
const V6_SET_ASIDE: &[([u16; 3], u32)] =
    &[([0x2001, 0, 0], 23), ([0x2001, 0xdb8, 0], 32), ([0x2620, 0x4f, 0x8000], 48), ([0x3fff, 0, 0], 20)];

/// Whether all of the internet reaches the same machine by this address. An IPv6 address that carries an IPv4 one is as
/// public as that one.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => carried(address).map_or_else(|| is_public_v6(address), is_public_v4),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let bits = u32::from(address);
    let within = |(first, length): &([u8; 4], u32)| (bits ^ u32::from(Ipv4Addr::from(*first))) >> (32 - length) == 0;
    !V4_SET_ASIDE.iter().any(within)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let bits = u128::from(address);
    let within = |([a, b, c], length): &([u16; 3], u32)| {
        let first = u128::from(Ipv6Addr::new(*a, *b, *c, 0, 0, 0, 0, 0));
        (bits ^ first) >> (128 - length) == 0
    };
    bits >> 125 == 1 && !V6_SET_ASIDE.iter().any(within)
}

/// The IPv4 address inside an IPv6 one: compatible, mapped, translated, 6to4. A NAT64 prefix for local use may stand for any
/// address, so it counts as the unspecified one.
fn carried(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let s = address.segments();
    let from = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match (&s[..6], s[6], s[7]) {
        ([0, 0, 0, 0, 0, 0 | 0xffff] | [0, 0, 0, 0, 0xffff, 0] | [0x64, 0xff9b, 0, 0, 0, 0], high, low) => {
            Some(from(high, low))
        }
        ([0x64, 0xff9b, 1, ..], ..) => Some(Ipv4Addr::UNSPECIFIED),
        ([0x2002, high, low, ..], ..) => Some(from(*high, *low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_covers_what_it_means() {
        for (pattern, other, covers) in [
            ("a.example", "A.example.", true),
            ("a.example", "b.example", false),
            ("a.example", "*.a.example", false),
            ("*.example", "a.example", true),
            ("*.example", "a.b.example", true),
            ("*.example", "example", false),
            ("*.example", "*.example", true),
            ("*.example", "*.a.example", true),
            ("*.a.example", "*.example", false),
            ("*.a.example", "*.ba.example", false),
            ("127.0.0.1", "127.0.0.1", true),
            ("[::1]", "::1", true),
            ("*.1", "127.0.0.1", false),
        ] {
            let parsed = |text: &str| HostPattern::parse(text).ok();
            let found = parsed(pattern).zip(parsed(other)).is_some_and(|(pattern, other)| pattern.covers(&other));
            assert_eq!(found, covers, "{pattern} {other}");
        }
    }
}
