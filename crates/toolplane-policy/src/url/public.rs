//! Which addresses are on the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

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

/// Whether everybody on the internet reaches the same machine by this address. An IPv6 address that carries an IPv4 one is
/// as public as that one.
pub(super) fn is_public(address: IpAddr) -> bool {
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
