//! Seals messages with a key that only the servers have: other clients of the bus can neither read nor forge them.
//!
//! A sealed message is the sender's random name, the number of the message, and the ciphertext. Each sender has a key of
//! its own, derived from its name, so that the number can be the nonce.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use bytes::Bytes;
use data_encoding::HEXLOWER;
use ring::{
    aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    hmac,
    rand::{SecureRandom, SystemRandom},
};

use crate::{BusError, KEY_BYTES};

const SENDER_BYTES: usize = 16;
const NUMBER_BYTES: usize = 8;
/// Known senders; more than there are servers, and forged names leave nothing behind.
const MAX_SENDERS: usize = 4096;

type SenderName = [u8; SENDER_BYTES];

/// What the names of channels begin with, so that servers with another key hear nothing of these.
pub(crate) fn prefix(key: &[u8; KEY_BYTES]) -> String {
    let name = hmac::sign(&root(key), b"channels");
    format!("glasshouse:{}", HEXLOWER.encode(&name.as_ref()[..8]))
}

fn root(key: &[u8; KEY_BYTES]) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, key)
}

fn key_of(root: &hmac::Key, sender: SenderName) -> Option<LessSafeKey> {
    let key = hmac::sign(root, &[b"sender".as_slice(), &sender].concat());
    let key = UnboundKey::new(&CHACHA20_POLY1305, key.as_ref()).ok()?;
    Some(LessSafeKey::new(key))
}

fn nonce(number: u64) -> Nonce {
    let mut nonce = [0; NONCE_LEN];
    nonce[NONCE_LEN - NUMBER_BYTES..].copy_from_slice(&number.to_be_bytes());
    Nonce::assume_unique_for_key(nonce)
}

/// Seals the messages of this process.
pub(crate) struct Sealer {
    name: SenderName,
    key: LessSafeKey,
    next: AtomicU64,
}

impl Sealer {
    pub(crate) fn new(key: &[u8; KEY_BYTES]) -> Result<Self, BusError> {
        let mut name = [0; SENDER_BYTES];
        let filled = SystemRandom::new().fill(&mut name);
        filled.map_err(|_| BusError::NoRandomness)?;
        Ok(Self {
            name,
            key: key_of(&root(key), name).ok_or(BusError::NoRandomness)?,
            next: AtomicU64::new(1),
        })
    }

    /// Seals a message, which opens only as one of this channel. Messages are to be sent in the order of their sealing.
    pub(crate) fn seal(&self, channel: &str, content: &[u8]) -> Vec<u8> {
        let number = self.next.fetch_add(1, Relaxed);
        let mut text = Vec::with_capacity(content.len() + CHACHA20_POLY1305.tag_len());
        text.extend_from_slice(content);
        let aad = Aad::from(channel.as_bytes());
        if self
            .key
            .seal_in_place_append_tag(nonce(number), aad, &mut text)
            .is_err()
        {
            // Only beyond the length that the cipher allows. What remains does not open.
            text.clear();
        }
        [&self.name[..], &number.to_be_bytes(), &text].concat()
    }

    /// Whether this process has sealed the message.
    pub(crate) fn is_ours(&self, sealed: &[u8]) -> bool {
        sealed.starts_with(&self.name)
    }
}

/// Opens the messages of all servers.
pub(crate) struct Opener {
    root: hmac::Key,
    senders: HashMap<SenderName, Sender>,
}

struct Sender {
    key: LessSafeKey,
    /// The number of its last message.
    last: u64,
}

impl Opener {
    pub(crate) fn new(key: &[u8; KEY_BYTES]) -> Self {
        Self {
            root: root(key),
            senders: HashMap::new(),
        }
    }

    /// The content of a message; `None` if it is forged, damaged, of another channel, or a repetition.
    pub(crate) fn open(&mut self, channel: &str, sealed: &[u8]) -> Option<Bytes> {
        let (name, rest) = sealed.split_first_chunk::<SENDER_BYTES>()?;
        let (number, text) = rest.split_first_chunk::<NUMBER_BYTES>()?;
        let number = u64::from_be_bytes(*number);
        let known = self.senders.get_mut(name);
        if known.as_ref().is_some_and(|sender| number <= sender.last) {
            return None;
        }
        let mut text = text.to_vec();
        let aad = Aad::from(channel.as_bytes());
        if let Some(sender) = known {
            let length = open(&sender.key, number, aad, &mut text)?;
            sender.last = number;
            text.truncate(length);
            return Some(text.into());
        }
        let key = key_of(&self.root, *name)?;
        let length = open(&key, number, aad, &mut text)?;
        if self.senders.len() >= MAX_SENDERS {
            self.senders.clear();
        }
        self.senders.insert(*name, Sender { key, last: number });
        text.truncate(length);
        Some(text.into())
    }
}

fn open(key: &LessSafeKey, number: u64, aad: Aad<&[u8]>, text: &mut [u8]) -> Option<usize> {
    let opened = key.open_in_place(nonce(number), aad, text).ok()?;
    Some(opened.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [u8; KEY_BYTES] = [7; KEY_BYTES];

    #[test]
    fn only_unchanged_messages_of_servers_with_the_key_open_once_and_in_order() {
        let sealer = Sealer::new(&KEY).unwrap();
        let mut opener = Opener::new(&KEY);
        let first = sealer.seal("a", b"1");
        let second = sealer.seal("a", b"2");
        assert_eq!(opener.open("b", &first), None, "another channel");
        assert_eq!(opener.open("a", &first).unwrap(), "1");
        assert_eq!(opener.open("a", &first), None, "a repetition");
        for at in 0..second.len() {
            let mut changed = second.clone();
            changed[at] ^= 1;
            assert_eq!(opener.open("a", &changed), None, "byte {at}");
            assert_eq!(opener.open("a", &second[..at]), None, "only {at} bytes");
        }
        assert_eq!(opener.open("a", &second).unwrap(), "2");
        let other = Sealer::new(&[8; KEY_BYTES]).unwrap();
        assert_eq!(opener.open("a", &other.seal("a", b"3")), None);
        assert_eq!(opener.open("a", &[]), None);
        assert_eq!(opener.senders.len(), 1, "forged names leave nothing behind");
        assert_ne!(prefix(&KEY), prefix(&[8; KEY_BYTES]));
    }
}
