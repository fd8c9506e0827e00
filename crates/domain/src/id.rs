//! Typed ids: a prefix for the kind of object, and a time-ordered UUID.

use std::{borrow::Cow, fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

/// The text is not an id of the expected kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a valid {kind} id")]
pub struct InvalidId {
    /// The expected kind, for example `run`.
    pub kind: &'static str,
}

fn parse(text: &str, kind: &'static str) -> Result<Uuid, InvalidId> {
    let hex = text
        .strip_prefix(kind)
        .and_then(|rest| rest.strip_prefix('_'))
        .ok_or(InvalidId { kind })?;
    // Only our own spelling is accepted, so that ids can be compared as text.
    if hex.len() != 32 || hex.bytes().any(|b| !matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
        return Err(InvalidId { kind });
    }
    Uuid::try_parse(hex).map_err(|_| InvalidId { kind })
}

/// Declares one id type; each is `prefix_` followed by 32 hexadecimal digits.
macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(as = "String"))]
        pub struct $name(Uuid);

        impl $name {
            /// A new id; later ids sort after earlier ones.
            #[expect(clippy::disallowed_methods, reason = "this is the one place ids are made")]
            #[must_use]
            pub fn generate() -> Self {
                Self(Uuid::now_v7())
            }

            /// As a number: in the same order, and more compact.
            #[must_use]
            pub const fn as_u128(self) -> u128 {
                self.0.as_u128()
            }

            /// The id for this object after an import by `brought_by`: deterministic, with the same time and order, and
            /// different for every importer. `brought_by` is a hash of the importer and of this id.
            #[must_use]
            pub fn brought(self, brought_by: [u8; 4]) -> Self {
                let mut bytes = *self.0.as_bytes();
                bytes[12..].copy_from_slice(&brought_by);
                Self(Uuid::from_bytes(bytes))
            }

            /// The id of a foreign object without one of ours, created at `at_ms`: deterministic for the same `hash`.
            /// Objects of one time are ordered by `place`.
            #[must_use]
            pub fn of_elsewhere(at_ms: i64, place: u16, hash: [u8; 8]) -> Self {
                let at_ms = u64::try_from(at_ms).unwrap_or(0);
                let random = u128::from(u64::from_be_bytes(hash));
                // 48 bits of time, the version, 12 bits and the variant, 62 bits; the place is the first 16 of those
                // 74.
                let high = u128::from(place >> 4);
                let low = u128::from(place & 15);
                let time = u128::from(at_ms & 0xffff_ffff_ffff) << 80;
                let number = time | 7 << 76 | high << 64 | 2 << 62 | low << 58 | random >> 6;
                Self(Uuid::from_u128(number))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "_{}"), self.0.simple())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                parse(text, $prefix).map(Self)
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                String::json_schema(generator)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

id!(
    /// A person's account.
    UserId, "user"
);
id!(
    /// A signed-in browser.
    SessionId, "session"
);
id!(
    /// A passkey.
    PasskeyId, "passkey"
);
id!(
    /// An invitation link.
    InvitationId, "inv"
);
id!(
    /// A group of people.
    GroupId, "group"
);
id!(
    /// A line of the audit log.
    AuditEntryId, "audit"
);
id!(
    /// An API key.
    ApiKeyId, "key"
);
id!(
    /// A configured model server.
    ConnectionId, "conn"
);
id!(
    /// A key of a model server.
    ConnectionKeyId, "ckey"
);
id!(
    /// A conversation: a tree of messages.
    ChatId, "chat"
);
id!(
    /// One message in a chat's tree.
    MessageId, "msg"
);
id!(
    /// A request without an id from its caller.
    RequestId, "req"
);
id!(
    /// One run of an agent, and the name of its log.
    RunId, "run"
);
id!(
    /// A standing approval of tool calls.
    AllowedCallId, "allow"
);
id!(
    /// A memory of an agent.
    MemoryId, "mem"
);
id!(
    /// A learned fact about a person.
    FactId, "fact"
);
id!(
    /// A schedule of an agent.
    ScheduleId, "sched"
);
id!(
    /// A webhook.
    WebhookId, "hook"
);
id!(
    /// A browser that gets push notifications.
    PushSubscriptionId, "push"
);

id!(
    /// A background model call for a chat.
    PipelineCallId, "pcall"
);
id!(
    /// An entity of a knowledge graph.
    EntityId, "ent"
);
id!(
    /// A folder of chats.
    FolderId, "fold"
);
id!(
    /// A collection of documents.
    CollectionId, "coll"
);
id!(
    /// A document.
    DocumentId, "doc"
);
id!(
    /// A space of comparable embeddings.
    EmbeddingSpaceId, "space"
);
id!(
    /// A snapshot of a web page.
    PageId, "page"
);
id!(
    /// A crawl.
    CrawlId, "crawl"
);
id!(
    /// A source of documents.
    SourceId, "source"
);
id!(
    /// A synchronization with a source.
    SyncId, "sync"
);

impl RunId {
    /// Like [`Self::brought`], for logs: keeps the end of the id, which is part of the handles of agents in texts.
    #[must_use]
    pub fn brought_with_its_end(self, brought_by: [u8; 4]) -> Self {
        let mut bytes = *self.0.as_bytes();
        bytes[8..12].copy_from_slice(&brought_by);
        // The variant bits of the UUID.
        bytes[8] = (bytes[8] & 0x3f) | 0x80;
        Self(Uuid::from_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imported_ids_keep_their_order() {
        let ids: Vec<MessageId> = (0..100).map(|_| MessageId::generate()).collect();
        let brought: Vec<MessageId> = ids.iter().map(|id| id.brought([9; 4])).collect();
        assert!(brought.is_sorted() && ids.iter().all(|id| !brought.contains(id)));
        assert_eq!(ids[0].brought([9; 4]), brought[0]);
        assert_ne!(ids[0].brought([8; 4]), brought[0]);
        let run = RunId::generate();
        let here = run.brought_with_its_end([255; 4]);
        assert_ne!(here, run);
        assert_eq!(here.to_string()[28..], run.to_string()[28..]);
        assert_eq!(here.to_string().parse(), Ok(here));

        let of = |at, place, hash| ChatId::of_elsewhere(at, place, [hash; 8]);
        let all = [
            of(-5, 0, 255),
            of(7, 0, 255),
            of(7, 1, 0),
            of(7, u16::MAX, 0),
            of(8, 0, 0),
            of(i64::MAX, 0, 0),
        ];
        assert!(all[..5].is_sorted(), "{all:?}");
        assert!(all.iter().all(|id| id.to_string().parse() == Ok(*id)));
    }

    #[test]
    fn prints_and_parses_back() {
        let id = RunId::generate();
        assert_eq!(id.to_string().parse::<RunId>(), Ok(id));
        assert_eq!(
            serde_json::from_str::<RunId>(&serde_json::to_string(&id).unwrap()).unwrap(),
            id
        );
    }

    #[test]
    fn later_ids_sort_after_earlier_ones() {
        let ids: Vec<String> = (0..100).map(|_| ChatId::generate().to_string()).collect();
        assert!(ids.is_sorted());
    }

    #[test]
    fn refuses_other_kinds_and_other_spellings() {
        let chat = ChatId::generate().to_string();
        for bad in [
            chat.as_str(),
            "",
            "run_",
            "run_0",
            "run_00000000-0000-0000-0000-000000000000",
            "run_0192F0C1D2E3F4A5B6C7D8E9FA0B1C2D",
            "run_é192f0c1d2e3f4a5b6c7d8e9fa0b1c2",
        ] {
            assert_eq!(
                bad.parse::<RunId>(),
                Err(InvalidId { kind: "run" }),
                "{bad}"
            );
        }
    }
}
