//! Decompresses RTF in the format of Outlook: references into a ring of the latest 4,096 bytes, which is filled with
//! common words of RTF at first.

use crate::unreadable::{Limits, Unreadable};

const COMPRESSED: u32 = 0x7546_5a4c;
const UNCOMPRESSED: u32 = 0x414c_454d;
const HEADER_BYTES: usize = 16;
const RING_BYTES: usize = 4096;
const FILLING: &[u8] = b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \
    \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \
    \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx";

/// The RTF in a compressed property.
///
/// # Errors
/// If it is damaged, or unpacks to more than the limit.
pub(super) fn unpacked(bytes: &[u8], limits: &Limits) -> Result<Vec<u8>, Unreadable> {
    let damaged = || Unreadable::damaged("an e-mail");
    let (header, content) = bytes.split_at_checked(HEADER_BYTES).ok_or_else(damaged)?;
    let kind = header.get(8..12).and_then(|kind| kind.try_into().ok());
    match kind.map(u32::from_le_bytes) {
        Some(UNCOMPRESSED) => Ok(content.to_vec()),
        Some(COMPRESSED) => Ring::new().unpacked(content, limits),
        _ => Err(damaged()),
    }
}

struct Ring {
    bytes: [u8; RING_BYTES],
    at: usize,
    output: Vec<u8>,
}

impl Ring {
    fn new() -> Self {
        let mut bytes = [b' '; RING_BYTES];
        bytes[..FILLING.len()].copy_from_slice(FILLING);
        Self {
            bytes,
            at: FILLING.len(),
            output: Vec::new(),
        }
    }

    fn push(&mut self, byte: u8) {
        self.output.push(byte);
        self.bytes[self.at] = byte;
        self.at = (self.at + 1) % RING_BYTES;
    }

    /// Each control byte tells which of the next eight items are references, of two bytes: 12 bits of place and 4 of
    /// length. One to the current place is the end.
    fn unpacked(mut self, content: &[u8], limits: &Limits) -> Result<Vec<u8>, Unreadable> {
        let mut rest = content.iter().copied();
        while let Some(control) = rest.next() {
            for bit in 0..8 {
                let Some(first) = rest.next() else {
                    return Ok(self.output);
                };
                if control & (1 << bit) == 0 {
                    self.push(first);
                    continue;
                }
                let Some(second) = rest.next() else {
                    return Ok(self.output);
                };
                let place = usize::from(first) << 4 | usize::from(second >> 4);
                if place == self.at {
                    return Ok(self.output);
                }
                for offset in 0..usize::from(second & 15) + 2 {
                    self.push(self.bytes[(place + offset) % RING_BYTES]);
                }
            }
            if self.output.len() as u64 > limits.unpacked_bytes {
                return Err(Unreadable::UnpacksTooLarge {
                    limit_bytes: limits.unpacked_bytes,
                });
            }
        }
        Ok(self.output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first example in Microsoft's specification of the format, and one that refers to itself.
    #[test]
    fn references_are_followed() {
        let limits = Limits::default();
        let simple = b"\x2d\0\0\0\x2b\0\0\0LZFu\xf1\xc5\xc7\xa7\x03\x00\x0a\x00rcpg125\x42\x32\x0a\xf3 hel\x09\x00 \
            bw\x05\xb0ld}\x0a\x80\x0f\xa0";
        assert_eq!(
            unpacked(simple, &limits).unwrap(),
            b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"
        );
        let crossing =
            b"\x1a\0\0\0\x1c\0\0\0LZFu\xe2\xd4\x4b\x51\x41\x00\x04\x20WXYZ\x0dn}\x01\x0e\xb0";
        assert_eq!(
            unpacked(crossing, &limits).unwrap(),
            b"{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}"
        );
        assert_eq!(
            unpacked(b"\0\0\0\0\0\0\0\0MELA\0\0\0\0{\\rtf1}", &limits).unwrap(),
            b"{\\rtf1}"
        );
        assert!(unpacked(b"short", &limits).is_err() && unpacked(&[0; 20], &limits).is_err());
    }
}
