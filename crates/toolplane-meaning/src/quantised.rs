//! Vectors in a quarter of their room.

/// Largest number a code may be.
const MOST: f32 = 127.0;
/// Bytes of what codes are multiplied by.
const SCALE_BYTES: usize = 4;

/// A vector of length 1, each of its numbers in one byte. Two of them tell how near their texts are within about 0.01.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantised {
    pub(crate) scale: f32,
    pub(crate) codes: Box<[i8]>,
}

impl Quantised {
    /// The vector with length 1, in bytes; `None` for one without a direction: all zeros, or with what is no number.
    pub fn of(vector: &[f32]) -> Option<Self> {
        let length = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
        let largest = vector.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
        if !length.is_finite() || length <= f64::from(f32::MIN_POSITIVE) || largest <= 0.0 {
            return None;
        }
        let codes = vector.iter().map(|x| (x / largest * MOST).round() as i8).collect();
        Some(Self { scale: (f64::from(largest) / length) as f32 / MOST, codes })
    }

    /// How many numbers it has.
    pub fn dimension(&self) -> usize {
        self.codes.len()
    }

    /// How near two texts are: 1 for the same, about 0 for those that have nothing to do with each other. 0 for vectors of different
    /// dimensions.
    pub fn similarity(&self, other: &Self) -> f32 {
        if self.codes.len() != other.codes.len() {
            return 0.0;
        }
        dot(&self.codes, &other.codes) as f32 * self.scale * other.scale
    }

    /// As it is stored.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(SCALE_BYTES + self.codes.len());
        bytes.extend_from_slice(&self.scale.to_le_bytes());
        bytes.extend(self.codes.iter().map(|code| code.cast_unsigned()));
        bytes
    }

    /// What was stored; `None` for bytes that are no vector.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (scale, codes) = bytes.split_first_chunk::<SCALE_BYTES>()?;
        let scale = f32::from_le_bytes(*scale);
        (scale.is_finite() && scale > 0.0 && !codes.is_empty())
            .then(|| Self { scale, codes: codes.iter().map(|code| code.cast_signed()).collect() })
    }
}

/// The sum of products. Numbers of 16 bits are what processors multiply and add many of at once.
pub(crate) fn dot(a: &[i8], b: &[i8]) -> i32 {
    const LANES: usize = 16;
    let (heads, rest) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sum = 0_i32;
    for (a, b) in heads.0.iter().zip(rest.0) {
        sum += (0..LANES).map(|at| i32::from(i16::from(a[at]) * i16::from(b[at]))).sum::<i32>();
    }
    let tail = heads.1.iter().zip(rest.1).map(|(a, b)| i32::from(*a) * i32::from(*b));
    sum + tail.sum::<i32>()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_has_no_direction_is_no_vector() {
        for vector in [vec![], vec![0.0; 4], vec![1.0, f32::NAN], vec![f32::INFINITY, 1.0]] {
            assert_eq!(Quantised::of(&vector), None, "{vector:?}");
        }
        assert_eq!(Quantised::from_bytes(&[0, 0]), None);
        assert_eq!(Quantised::from_bytes(&[0, 0, 0, 0, 1]), None, "a scale of 0");
    }

    proptest! {
        #[test]
        fn nearness_survives_and_bytes_come_back(
            a in proptest::collection::vec(-1.0_f32..1.0, 100..101),
            b in proptest::collection::vec(-1.0_f32..1.0, 100..101),
        ) {
            let length = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
            let exact = a.iter().zip(&b).map(|(a, b)| a * b).sum::<f32>() / length(&a) / length(&b);
            let (one, other) = (Quantised::of(&a).unwrap(), Quantised::of(&b).unwrap());
            prop_assert!((one.similarity(&other) - exact).abs() < 0.02, "{} {exact}", one.similarity(&other));
            prop_assert!((one.similarity(&one) - 1.0).abs() < 0.01);
            prop_assert_eq!(Quantised::from_bytes(&one.to_bytes()), Some(one));
        }
    }
}
