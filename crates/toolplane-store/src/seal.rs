//! The checksum of what lies at rest: one form for every backend.
//!
//! A sum covers what kind of thing it is, its name and its bytes, so neither a flipped bit nor a value that turns up under
//! another name passes for what was written. It is CRC-32C: it finds every error of up to three bits and every burst of
//! up to 32, and all but one in four billion of the rest. It is a guard against damage, not against people.

/// What a sum is of. The numbers are stored, in effect: they are part of every sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Sealed {
    /// A record with its name.
    Record = 1,
    /// An entry of an index, by its place.
    Entry = 2,
    /// The score of a member.
    Score = 3,
    /// How many members an index has.
    Length = 4,
    /// Where a row of events lies in its stream.
    EventsPlace = 5,
    /// The events of such a row.
    Events = 6,
    /// One event with its stream and sequence.
    Event = 7,
    /// Operation ids that were applied.
    Operations = 8,
    /// A number the store keeps about itself.
    Number = 9,
    /// Bytes that others are told by.
    Pattern = 10,
}

impl Sealed {
    /// The sum over `pieces`, each with its length: moving a byte from one to the next changes it.
    pub fn sum(self, pieces: &[&[u8]]) -> u32 {
        let start = crc32c::crc32c(&[self as u8]);
        pieces.iter().fold(start, |sum, piece| {
            let sum = crc32c::crc32c_append(sum, &(piece.len() as u64).to_le_bytes());
            crc32c::crc32c_append(sum, piece)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Sealed;

    #[test]
    fn stored_sums_stay_as_they_are() {
        // Stores on disk depend on each of them.
        let known = [Sealed::Record, Sealed::Entry, Sealed::Event].map(|kind| kind.sum(&[b"name", b"value"]));
        assert_eq!(known, KNOWN);
    }

    const KNOWN: [u32; 3] = [3_200_399_209, 3_358_702_456, 1_394_945_867];

    #[test]
    fn kind_name_and_value_all_count() {
        let sum = Sealed::Record.sum(&[b"name", b"value"]);
        for other in [
            Sealed::Event.sum(&[b"name", b"value"]),
            Sealed::Record.sum(&[b"namev", b"alue"]),
            Sealed::Record.sum(&[b"name", b"value", b""]),
            Sealed::Record.sum(&[b"value", b"name"]),
        ] {
            assert_ne!(other, sum);
        }
        for bit in 0..40 {
            let mut value = *b"value";
            value[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(Sealed::Record.sum(&[b"name", &value]), sum, "bit {bit}");
        }
    }
}
