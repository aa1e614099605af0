use toolplane_catalog::values::Egress;

use super::*;

#[test]
fn a_name_may_stand_only_for_public_or_listed_addresses() {
    let policy = Egress::of_places(&["a.test", "localhost", "10.0.0.7"].map(str::to_owned), &[]);
    for (name, address, allowed) in [
        ("a.test", "8.8.8.8", true),
        ("a.test", "127.0.0.1", false),
        ("a.test", "10.0.0.7", true),
        ("a.test", "10.0.0.8", false),
        ("localhost", "127.0.0.1", true),
        ("localhost", "::1", true),
        ("localhost", "10.0.0.8", false),
    ] {
        assert_eq!(allows_address(&policy, name, address.parse().unwrap()), allowed, "{name} {address}");
    }
}
