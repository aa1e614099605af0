//! The header `Range`, as far as one part of bytes is asked for.

/// The part that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// From this byte on, at most so many; to the end when 0.
    From(u64, u64),
    /// So many at the end.
    Last(u64),
}

/// Reads the header. Nothing where it is not understood, or asks for several parts: then it counts as not there.
pub(super) fn read(text: &str) -> Option<Wanted> {
    let (first, last) = text.trim().strip_prefix("bytes=")?.split_once('-')?;
    let number = |text: &str| -> Option<u64> {
        let digits = text.trim();
        (!digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())).then(|| digits.parse().ok())?
    };
    match (first.trim(), last.trim()) {
        ("", last) => number(last).map(Wanted::Last),
        (first, "") => number(first).map(|first| Wanted::From(first, 0)),
        (first, last) => {
            let (first, last) = (number(first)?, number(last)?);
            Some(Wanted::From(first, last.checked_sub(first)?.saturating_add(1)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_part_is_understood() {
        assert_eq!(read("bytes=0-99"), Some(Wanted::From(0, 100)));
        assert_eq!(read("bytes=5-"), Some(Wanted::From(5, 0)));
        assert_eq!(read(" bytes=-7 "), Some(Wanted::Last(7)));
        assert_eq!(read("bytes=7-7"), Some(Wanted::From(7, 1)));
        for other in ["", "bytes=", "bytes=-", "bytes=9-3", "bytes=0-1,5-6", "lines=1-2", "bytes=a-b", "bytes=+1-2"] {
            assert_eq!(read(other), None, "{other}");
        }
        assert_eq!(read(&format!("bytes=0-{}", u64::MAX)), Some(Wanted::From(0, u64::MAX)));
    }
}
