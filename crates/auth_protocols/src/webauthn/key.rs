//! The public key of an authenticator in COSE format (RFC 9052 and 9053), and verification of its signatures.

use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey,
};

use super::cbor::{Malformed, Reader, Value};

/// The accepted algorithms, most preferred first, by their COSE numbers.
pub const ALGORITHMS: [i64; 3] = [ED_DSA, ES256, RS256];

const ES256: i64 = -7;
const ED_DSA: i64 = -8;
const RS256: i64 = -257;

/// The labels of a key's parameters: a key has at most five of them, and few authenticators send more.
const LABELS: [i64; 5] = [1, 3, -1, -2, -3];
const MAX_PAIRS: u64 = 10;

/// A public key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Key<'a> {
    Es256 { x: &'a [u8], y: &'a [u8] },
    EdDsa { x: &'a [u8] },
    Rs256 { n: &'a [u8], e: &'a [u8] },
}

impl<'a> Key<'a> {
    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        let mut parts = [None; LABELS.len()];
        let pairs = reader.map()?;
        if pairs > MAX_PAIRS {
            return Err(Malformed);
        }
        for _ in 0..pairs {
            let label = reader.integer()?;
            match LABELS
                .iter()
                .position(|known| *known == label)
                .and_then(|at| parts.get_mut(at))
            {
                Some(Some(_)) => return Err(Malformed),
                Some(part) => *part = Some(reader.value()?),
                None => reader.skip()?,
            }
        }
        use Value::{Bytes, Integer};
        match parts {
            [
                Some(Integer(2)),
                Some(Integer(ES256)),
                Some(Integer(1)),
                Some(Bytes(x)),
                Some(Bytes(y)),
            ] if x.len() == 32 && y.len() == 32 => Ok(Self::Es256 { x, y }),
            [
                Some(Integer(1)),
                Some(Integer(ED_DSA)),
                Some(Integer(6)),
                Some(Bytes(x)),
                None,
            ] if x.len() == 32 => Ok(Self::EdDsa { x }),
            [
                Some(Integer(3)),
                Some(Integer(RS256)),
                Some(Bytes(n)),
                Some(Bytes(e)),
                None,
            ] if (256..=1024).contains(&n.len()) && (1..=4).contains(&e.len()) => {
                Ok(Self::Rs256 { n, e })
            }
            _ => Err(Malformed),
        }
    }

    /// Whether the signature of `signed` is valid.
    pub(super) fn verifies(&self, signed: &[u8], signature: &[u8]) -> bool {
        match *self {
            Self::Es256 { x, y } => {
                let point = [&[4][..], x, y].concat();
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, point)
                    .verify(signed, signature)
                    .is_ok()
            }
            Self::EdDsa { x } => UnparsedPublicKey::new(&ED25519, x)
                .verify(signed, signature)
                .is_ok(),
            Self::Rs256 { n, e } => RsaPublicKeyComponents { n, e }
                .verify(&RSA_PKCS1_2048_8192_SHA256, signed, signature)
                .is_ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Option<&'static str> {
        Key::read(&mut Reader::new(bytes))
            .ok()
            .map(|key| match key {
                Key::Es256 { .. } => "ES256",
                Key::EdDsa { .. } => "EdDSA",
                Key::Rs256 { .. } => "RS256",
            })
    }

    fn bytes(length: usize) -> Vec<u8> {
        let head = match length {
            0..24 => vec![0x40 | u8::try_from(length).unwrap()],
            24..256 => vec![0x58, u8::try_from(length).unwrap()],
            _ => [&[0x59][..], &u16::try_from(length).unwrap().to_be_bytes()].concat(),
        };
        [head, vec![7; length]].concat()
    }

    fn map(pairs: &[(u8, Vec<u8>)]) -> Vec<u8> {
        let pairs_of = pairs
            .iter()
            .flat_map(|(label, value)| [vec![*label], value.clone()].concat());
        [
            vec![0xa0 | u8::try_from(pairs.len()).unwrap()],
            pairs_of.collect(),
        ]
        .concat()
    }

    #[test]
    fn keys_are_whole_and_of_a_kind_that_we_know() {
        let es256 = vec![0x26];
        let ed_dsa = vec![0x27];
        let rs256 = vec![0x39, 1, 0];
        let point = |x, y| {
            map(&[
                (1, vec![2]),
                (3, es256.clone()),
                (0x20, vec![1]),
                (0x21, bytes(x)),
                (0x22, bytes(y)),
            ])
        };
        let edwards = |curve| {
            map(&[
                (1, vec![1]),
                (3, ed_dsa.clone()),
                (0x20, vec![curve]),
                (0x21, bytes(32)),
            ])
        };
        let rsa = |n, e| {
            map(&[
                (1, vec![3]),
                (3, rs256.clone()),
                (0x20, bytes(n)),
                (0x21, bytes(e)),
            ])
        };
        let twice = map(&[
            (1, vec![1]),
            (1, vec![1]),
            (3, ed_dsa.clone()),
            (0x20, vec![6]),
            (0x21, bytes(32)),
        ]);
        let more = map(&[
            (1, vec![1]),
            (4, vec![0x81, 2]),
            (3, ed_dsa.clone()),
            (0x20, vec![6]),
            (0x21, bytes(32)),
        ]);
        for (key, expected) in [
            (point(32, 32), Some("ES256")),
            (point(31, 32), None),
            (point(32, 33), None),
            (edwards(6), Some("EdDSA")),
            (edwards(7), None),
            (rsa(256, 3), Some("RS256")),
            (rsa(255, 3), None),
            (rsa(1025, 3), None),
            (rsa(256, 5), None),
            (twice, None),
            (more, Some("EdDSA")),
            (vec![0xa0], None),
            (vec![0xbb, 255, 255, 255, 255, 255, 255, 255, 255], None),
        ] {
            assert_eq!(read(&key), expected, "{key:?}");
            for end in 0..key.len() {
                assert_eq!(read(&key[..end]), None, "cut off at {end}: {key:?}");
            }
        }
    }

    /// A key that was generated for this test and discarded.
    const RSA_KEY: &str = concat!(
        "vzoOhwVZHioOvnei0GeqjKEbBtWSwnItn-wCfzgYUXS8YEYhmMFKP9aETeZ7yVYby0IJpSBgrKKjCOWGyzw3-PI8M_SaP-YbptsV",
        "tM0g0imMuXraywQuU4p-FeeCHTjYy1MJxxzbyMqGgrNoFM2GHY1sfT_QUjfuKO4r6qUFu94m_laEG5xGxU0IU8i9EGUK2RFI5PS8",
        "fOoP3nXg7rRbtr75H5pzztu0QbR88-yD0dwAVEw1If2VRx3KsBn6MmBwfxtILC325xWIZ2PCElJkFm0cYnzj8U3SFImNdGGyzLcg",
        "mfePSeSyVqNusJDU3kpYlkuYMkmiOp8Hq4XlST4Xxw",
    );
    /// Its signature of “signed”.
    const RSA_SIGNATURE: &str = concat!(
        "Lph3o8oFEe8cTcRU4IxTYXaW_VU3CLkrxi0AzUjtJjyybs7okw5xhpkvxChZw7GGfDxLbcdytyFvs7wDqAnTxGKbbUvu6Tsm9osZ",
        "2VTiKzQom-Tx1RkFqOzxG8TPbUxzbwXFd8qsH4f_g2EzfBNd2Q42aMurhpcKqW3g2mF4SfA84DX7UMq8qlOmwSEbIqFW_PuqxWjE",
        "62JHggOfZA7Y-_uL40IU1eNSzcm4CNrG1J2zzOhl6DVp72tBjjPy6XTkjWPazlkjVM8I64F7zELR-XLDiEfDvAPYRxBGCVinLOM1",
        "6sKHE6Cx3CgCrw3CwI83RoDXaMyxkCUsaZrmunT-vw",
    );

    #[test]
    fn rsa_signatures_are_checked() {
        use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
        let decode = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
        let n = decode(RSA_KEY);
        let mut signature = decode(RSA_SIGNATURE);
        let key = Key::Rs256 {
            n: &n,
            e: &[1, 0, 1],
        };
        assert!(key.verifies(b"signed", &signature));
        assert!(!key.verifies(b"signeD", &signature));
        assert!(!(Key::Rs256 { n: &n, e: &[3] }).verifies(b"signed", &signature));
        signature[9] ^= 1;
        assert!(!key.verifies(b"signed", &signature) && !key.verifies(b"signed", &[]));
    }
}
