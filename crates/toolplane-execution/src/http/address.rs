//! Which addresses belong to the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether anybody on the internet would reach the same machine by this address. Everything the registries set aside is
/// not, and neither is an IPv6 address that carries such an IPv4 address inside.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !matches!(
        (a, b, c),
        (0 | 10 | 127, _, _)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 168, _)
            | (192, 0, 0 | 2)
            | (192, 31, 196)
            | (192, 52, 193)
            | (192, 88, 99)
            | (192, 175, 48)
            | (198, 18 | 19, _)
            | (198, 51, 100)
            | (203, 0, 113)
            | (224..=255, _, _)
    )
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let s = address.segments();
    if let Some(inner) = carried_v4(address) {
        return is_public_v4(inner);
    }
    // Only 2000::/3 is given out at all.
    if s[0] & 0xe000 != 0x2000 {
        return false;
    }
    // Set aside inside it: 2001::/23 (protocols, Teredo, ORCHID), documentation twice, and AS112.
    !matches!((s[0], s[1], s[2]), (0x2001, 0..=0x01ff | 0x0db8, _) | (0x3fff, 0..=0x0fff, _) | (0x2620, 0x004f, 0x8000))
}

/// The IPv4 address an IPv6 address stands for: mapped, compatible, NAT64, 6to4.
fn carried_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let s = address.segments();
    let last = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        Ipv4Addr::new(a, b, c, d)
    };
    match s {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] => Some(last(high, low)),
        [0, 0, 0, 0, 0xffff, 0, high, low] => Some(last(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(last(high, low)),
        // NAT64 prefixes for local use stand for whatever the network says.
        [0x64, 0xff9b, 1, ..] => Some(Ipv4Addr::UNSPECIFIED),
        [0x2002, high, low, ..] => Some(last(high, low)),
        _ => None,
    }
}
