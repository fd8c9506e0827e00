//! Vectors quantized to one byte per dimension, and their cosine similarity with a query. All vectors are compared, so
//! the search is exact.

/// The vectors of a document's chunks.
#[derive(Debug, Default)]
pub(crate) struct Vectors {
    /// Number of dimensions of all vectors of the document; 0 if there are none.
    dimensions: usize,
    codes: Vec<i8>,
    /// The factor from a code to a number; 0 for a chunk without a vector.
    scales: Vec<f32>,
}

/// A query vector, prepared for comparison.
#[derive(Debug)]
pub(crate) struct PreparedVector {
    codes: Vec<i16>,
    scale: f32,
}

/// Twelve bits, so that products with chunk codes can be summed over thousands of dimensions without overflow.
const QUERY_RANGE: f32 = 2047.0;
const CODE_RANGE: f32 = 127.0;

/// Encodes a chunk's vector: its scale in four bytes, little-endian, and one byte per dimension. Only its direction is
/// kept. `None` if it has none: it is empty, all zeros, or contains values that are not numbers.
#[must_use]
pub fn encode_vector(vector: &[f32]) -> Option<Vec<u8>> {
    let (unit, largest) = unit(vector)?;
    let scale = largest / CODE_RANGE;
    #[expect(clippy::cast_possible_truncation, reason = "the range fits")]
    let codes = unit
        .iter()
        .map(|value| (value / largest * CODE_RANGE).round() as i8);
    Some(
        scale
            .to_le_bytes()
            .into_iter()
            .chain(codes.map(i8::cast_unsigned))
            .collect(),
    )
}

/// Decodes a vector encoded by [`encode_vector`], with a length of about 1. `None` if it is empty or invalid.
#[must_use]
pub fn decode_vector(encoded: &[u8]) -> Option<Vec<f32>> {
    let (scale, codes) = decoded(encoded)?;
    Some(
        codes
            .iter()
            .map(|code| f32::from(code.cast_signed()) * scale)
            .collect(),
    )
}

/// The scale and the codes of an encoded vector; `None` if it is invalid.
fn decoded(encoded: &[u8]) -> Option<(f32, &[u8])> {
    let (scale, codes) = encoded.split_first_chunk::<4>()?;
    let scale = f32::from_le_bytes(*scale);
    (scale.is_normal() && scale > 0.0 && !codes.is_empty()).then_some((scale, codes))
}

impl PreparedVector {
    /// Accepts any length; `None` if the vector has no direction.
    pub(crate) fn new(vector: &[f32]) -> Option<Self> {
        let (unit, largest) = unit(vector)?;
        #[expect(clippy::cast_possible_truncation, reason = "the range fits")]
        let codes = unit
            .iter()
            .map(|value| (value / largest * QUERY_RANGE).round() as i16)
            .collect();
        Some(Self {
            codes,
            scale: largest / QUERY_RANGE,
        })
    }
}

impl Vectors {
    /// The encoded vectors of a document's chunks; `None` if no chunk has one. Vectors with another dimension than the
    /// first are left out.
    pub(super) fn of<'a>(chunks: impl Iterator<Item = Option<&'a [u8]>>) -> Option<Self> {
        let mut vectors = Self::default();
        chunks.for_each(|vector| vectors.push(vector));
        vectors.codes.shrink_to_fit();
        vectors.scales.shrink_to_fit();
        (vectors.dimensions > 0).then_some(vectors)
    }

    fn push(&mut self, vector: Option<&[u8]>) {
        let vector = vector.and_then(decoded);
        if let Some((_, codes)) = vector
            && self.dimensions == 0
        {
            self.dimensions = codes.len();
            self.codes = vec![0; codes.len() * self.scales.len()];
        }
        match vector.filter(|(_, codes)| codes.len() == self.dimensions) {
            Some((scale, codes)) => {
                self.codes
                    .extend(codes.iter().map(|code| code.cast_signed()));
                self.scales.push(scale);
            }
            None => {
                self.codes.extend(std::iter::repeat_n(0, self.dimensions));
                self.scales.push(0.0);
            }
        }
    }

    fn codes_of(&self, chunk: usize) -> &[i8] {
        &self.codes[chunk * self.dimensions..(chunk + 1) * self.dimensions]
    }

    /// The cosine similarity of a chunk's vector with the query's; `None` if they cannot be compared.
    pub(crate) fn cosine(&self, chunk: usize, query: &PreparedVector) -> Option<f32> {
        let scale = self
            .scales
            .get(chunk)
            .copied()
            .filter(|scale| *scale > 0.0)?;
        if query.codes.len() != self.dimensions {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "seven digits are enough")]
        let product = dot(self.codes_of(chunk), &query.codes) as f32;
        Some(product * scale * query.scale)
    }

    pub(super) fn size_bytes(&self) -> usize {
        size_of::<Self>() + self.codes.capacity() + self.scales.capacity() * 4
    }
}

/// Simple enough for the compiler to vectorize to eight lanes.
fn dot(codes: &[i8], query: &[i16]) -> i32 {
    codes
        .iter()
        .zip(query)
        .map(|(code, query)| i32::from(i16::from(*code)) * i32::from(*query))
        .sum()
}

/// The vector normalized to length 1, and its largest value.
fn unit(vector: &[f32]) -> Option<(Vec<f32>, f32)> {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    let unit: Vec<f32> = vector.iter().map(|value| value / length).collect();
    let largest = unit
        .iter()
        .fold(0.0_f32, |largest, value| largest.max(value.abs()));
    (length.is_normal() && largest.is_normal()).then_some((unit, largest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn exact(a: &[f32], b: &[f32]) -> f32 {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
    }

    proptest! {
        #[test]
        fn cosines_are_near_the_exact_ones(
            a in prop::collection::vec(-1.0_f32..1.0, 64),
            b in prop::collection::vec(-1.0_f32..1.0, 64),
        ) {
            let vectors = Vectors::of([encode_vector(&a).as_deref()].into_iter()).unwrap();
            let cosine = vectors.cosine(0, &PreparedVector::new(&b).unwrap()).unwrap();
            prop_assert!((cosine - exact(&a, &b)).abs() < 0.01, "{cosine}");
            let decoded = decode_vector(&encode_vector(&a).unwrap()).unwrap();
            prop_assert!(exact(&decoded, &a) > 0.999);
        }
    }

    #[test]
    fn what_is_no_vector_is_left_out() {
        let short = encode_vector(&[1.0, 0.0]);
        let long = encode_vector(&[1.0, 0.0, 0.0]);
        for nothing in [&[f32::NAN, 0.0][..], &[0.0, 0.0], &[]] {
            assert!(encode_vector(nothing).is_none());
            assert!(decode_vector(&[0; 9]).is_none() && decode_vector(&[1]).is_none());
        }
        let broken: [Option<&[u8]>; 2] = [Some(&[0, 0, 0xc0, 0x7f, 1, 1]), Some(&[0, 0])];
        let all = [
            None,
            short.as_deref(),
            long.as_deref(),
            broken[0],
            broken[1],
        ];
        let vectors = Vectors::of(all.into_iter()).unwrap();
        let query = PreparedVector::new(&[3.0, 0.0]).unwrap();
        let found: Vec<bool> = (0..5)
            .map(|chunk| vectors.cosine(chunk, &query).is_some())
            .collect();
        assert_eq!(found, [false, true, false, false, false]);
        assert!(
            PreparedVector::new(&[0.0]).is_none()
                && PreparedVector::new(&[f32::INFINITY]).is_none()
        );
        assert!(vectors.cosine(5, &query).is_none());
        assert!(Vectors::of([None, broken[0], broken[1]].into_iter()).is_none());
        assert!(
            vectors
                .cosine(1, &PreparedVector::new(&[1.0, 0.0, 0.0]).unwrap())
                .is_none()
        );
    }
}
