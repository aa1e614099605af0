//! How long a chosen identifier may be: what is made from it must be an identifier too.

use super::{InvalidId, MAX_ID_LEN};

/// One way in which an identifier is made from another: put between two texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Derivation {
    /// What it is called, for tests and errors.
    pub name: &'static str,
    /// What comes before the other one.
    pub before: &'static str,
    /// Most bytes that come after it.
    pub after: usize,
}

/// Every identifier that is made from a chosen one. A new kind of derived identifier is added here.
pub const DERIVATIONS: &[Derivation] = &[
    Derivation { name: "result", before: "res_", after: 0 },
    Derivation { name: "persistence decision", before: "persist_", after: 0 },
    // The first digits of a digest.
    Derivation { name: "permission decision", before: "perm_", after: 1 + 16 },
    // The secret, and the tenant after it.
    Derivation { name: "lease", before: "lease_00000000000000000000000000000000@", after: 0 },
];

/// The longest identifier that may be chosen, in bytes.
pub const MAX_GIVEN_ID_LEN: usize = MAX_ID_LEN - most_around();

const fn most_around() -> usize {
    let (mut most, mut place) = (0, 0);
    while place < DERIVATIONS.len() {
        let around = DERIVATIONS[place].before.len() + DERIVATIONS[place].after;
        if around > most {
            most = around;
        }
        place += 1;
    }
    most
}

pub(super) fn check(text: &str) -> Result<(), InvalidId> {
    if text.len() > MAX_GIVEN_ID_LEN { Err(InvalidId::NoRoom(text.len())) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{InvocationId, check_id};

    #[test]
    fn what_is_made_from_the_longest_chosen_identifier_is_one() {
        let longest = "a/".repeat(MAX_GIVEN_ID_LEN)[..MAX_GIVEN_ID_LEN].to_owned();
        assert_eq!(InvocationId::given(&longest).map(|id| id.as_str().len()), Ok(MAX_GIVEN_ID_LEN));
        for derivation in DERIVATIONS {
            let made = format!("{}{longest}{}", derivation.before, "f".repeat(derivation.after));
            assert_eq!(check_id(&made), Ok(()), "{}", derivation.name);
        }
        let longer = format!("{longest}a");
        assert_eq!(InvocationId::given(&longer), Err(InvalidId::NoRoom(MAX_GIVEN_ID_LEN + 1)));
        // What was chosen before there was this bound is still read.
        assert!(InvocationId::parse(&longer).is_ok());
    }
}
