//! Lists the messages of a folder.

use std::collections::{BTreeMap, BTreeSet};

use imap_proto::{AttributeValue, MailboxDatum, MessageSection, Response, SectionPath};
use mail_parser::MessageParser;

use super::{connection::Connection, id};
use crate::{
    Item, ItemMetadata, Listing, Readers, SourceLimits, SourceProblem, name, problem::malformed,
};

/// How many messages are asked for at a time.
const CHUNK: usize = 200;
/// Maximum size of the headers of a chunk, bytes.
const MAX_CHUNK_BYTES: usize = 16 << 20;
/// Maximum size of the list of numbers, bytes.
const MAX_SEARCH_BYTES: usize = 16 << 20;

/// Adds the messages of a folder. The connection is lost with an error.
pub(super) async fn add_folder(
    mut connection: Connection,
    folder: &str,
    since: Option<&str>,
    listing: &mut Listing,
    limits: SourceLimits,
) -> Result<Connection, SourceProblem> {
    let validity = connection.select(folder).await?;
    let criteria = match since {
        Some(day) => format!("UNDELETED SINCE {day}"),
        None => "UNDELETED".to_owned(),
    };
    let uids = search(&mut connection, &criteria).await?;
    if listing.items.len() + uids.len() > limits.items {
        return Err(SourceProblem::TooMany);
    }
    let uids: Vec<_> = uids.into_iter().collect();
    for chunk in uids.chunks(CHUNK) {
        let found = headers(&mut connection, chunk).await?;
        let missing = chunk.iter().filter(|uid| !found.contains_key(uid));
        let missing: Vec<_> = missing.copied().collect();
        for (uid, header) in found {
            listing.add(item(folder, validity, uid, &header), limits)?;
        }
        if !missing.is_empty() {
            // They were deleted meanwhile, or the server cannot read them.
            let criteria = format!("UNDELETED UID {}", set(&missing));
            for uid in search(&mut connection, &criteria).await? {
                let problem = malformed("the server does not show the message");
                listing.add_problem(&id(folder, validity, uid), problem);
            }
        }
    }
    Ok(connection)
}

/// The UIDs of the messages that meet the criteria.
async fn search(
    connection: &mut Connection,
    criteria: &str,
) -> Result<BTreeSet<u32>, SourceProblem> {
    let mut uids = BTreeSet::new();
    let mut is_answered = false;
    let command = format!("UID SEARCH {criteria}");
    let run = connection.run(&command, MAX_SEARCH_BYTES, |response| {
        if let Response::MailboxData(MailboxDatum::Search(found)) = response {
            uids.extend(found);
            is_answered = true;
        }
    });
    // What cannot be read may have been a part of the list.
    if run.await? && is_answered {
        Ok(uids)
    } else {
        Err(malformed("the server does not list the messages"))
    }
}

/// What is listed of a message.
#[derive(Debug, Default, PartialEq, Eq)]
struct Header {
    size_bytes: Option<u64>,
    arrived_ms: Option<i64>,
    /// The lines with its date and its subject.
    lines: Vec<u8>,
}

async fn headers(
    connection: &mut Connection,
    uids: &[u32],
) -> Result<BTreeMap<u32, Header>, SourceProblem> {
    let mut headers = BTreeMap::new();
    let command = format!(
        "UID FETCH {} (UID RFC822.SIZE INTERNALDATE BODY.PEEK[HEADER.FIELDS (DATE SUBJECT)])",
        set(uids)
    );
    let run = connection.run(&command, MAX_CHUNK_BYTES, |response| {
        if let Some((uid, header)) = read_header(response)
            && uids.binary_search(&uid).is_ok()
        {
            headers.insert(uid, header);
        }
    });
    // A message whose answer cannot be read is missing.
    run.await?;
    Ok(headers)
}

/// Reads an answer about a message; `None` if it says something else, such as a change of flags.
fn read_header(response: &Response<'_>) -> Option<(u32, Header)> {
    let Response::Fetch(_, attributes) = response else {
        return None;
    };
    let mut uid = None;
    let mut header = Header::default();
    for attribute in attributes {
        match attribute {
            AttributeValue::Uid(number) => uid = Some(*number),
            AttributeValue::Rfc822Size(size) => header.size_bytes = Some(u64::from(*size)),
            AttributeValue::InternalDate(date) => header.arrived_ms = arrival(date),
            AttributeValue::BodySection {
                section: Some(SectionPath::Full(MessageSection::Header)),
                data: Some(lines),
                ..
            } => header.lines = lines.to_vec(),
            _ => {}
        }
    }
    // Flags alone do not have a size.
    header.size_bytes?;
    Some((uid?, header))
}

/// Reads a date such as `17-Jul-1996 02:44:25 -0700`.
fn arrival(date: &str) -> Option<i64> {
    let at = jiff::Timestamp::strptime("%d-%b-%Y %H:%M:%S %z", date.trim()).ok()?;
    Some(at.as_millisecond())
}

fn item(folder: &str, validity: u32, uid: u32, header: &Header) -> Item {
    let parsed = MessageParser::default().parse_headers(&*header.lines);
    let sent = parsed.as_ref().and_then(|message| message.date());
    let sent_ms = sent
        .filter(|date| date.is_valid())
        .and_then(|date| date.to_timestamp().checked_mul(1_000));
    let subject = parsed.as_ref().and_then(|message| message.subject());
    let date = sent_ms.or(header.arrived_ms);
    let name = name::of_title(date, subject.unwrap_or_default(), &uid.to_string(), "eml");
    let folders = folder.split('/').filter(|part| !part.trim().is_empty());
    let id = id(folder, validity, uid);
    Item {
        version: id.clone(),
        id,
        name: name::path(folders, &name),
        size_bytes: header.size_bytes,
        modified_ms: header.arrived_ms.or(sent_ms),
        url: None,
        readers: Readers::All,
        metadata: ItemMetadata::default(),
    }
}

/// A set of ascending numbers, such as `1:3,7`.
fn set(numbers: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, end)) if end.checked_add(1) == Some(*number) => *end = *number,
            _ => ranges.push((*number, *number)),
        }
    }
    let ranges = ranges.into_iter().map(|(start, end)| {
        if start == end {
            start.to_string()
        } else {
            format!("{start}:{end}")
        }
    });
    ranges.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_short() {
        for (numbers, expected) in [
            (&[1, 2, 3, 7][..], "1:3,7"),
            (&[5], "5"),
            (&[1, 3, 5, 6], "1,3,5:6"),
            (&[u32::MAX - 1, u32::MAX], "4294967294:4294967295"),
            (&[], ""),
        ] {
            assert_eq!(set(numbers), expected);
        }
    }

    fn read(answer: &[u8]) -> Option<(u32, Header)> {
        let (_, response) = Response::parse(answer).unwrap();
        read_header(&response)
    }

    /// In the form of Dovecot.
    #[test]
    fn messages_have_a_name() {
        let lines = "Date: Sat, 31 Oct 2026 23:30:00 +0000\r\nSubject: =?utf-8?B?w5xiZXI=?=\r\n \
                     =?iso-8859-1?Q?blick=FC?=: a/b\r\n\r\n";
        let answer = format!(
            "* 1 FETCH (UID 41 RFC822.SIZE 1234 INTERNALDATE \" 1-Nov-2026 11:00:00 +0100\" \
             BODY[HEADER.FIELDS (DATE SUBJECT)] {{{}}}\r\n{lines})\r\n",
            lines.len()
        );
        let (uid, header) = read(answer.as_bytes()).unwrap();
        let item = item("INBOX/R&D: x", 7, uid, &header);
        assert_eq!(item.name, "INBOX/R&D x/2026-10-31 Überblickü a b 41.eml");
        assert_eq!(item.id, "INBOX/R&D: x/7/41");
        assert_eq!(item.size_bytes, Some(1234));
        assert_eq!(item.modified_ms, Some(1_793_527_200_000));
    }

    #[test]
    fn messages_without_headers_are_listed() {
        let (uid, header) = read(
            b"* 1 FETCH (UID 5 RFC822.SIZE 3 BODY[HEADER.FIELDS (DATE SUBJECT)] {2}\r\n\r\n)\r\n",
        )
        .unwrap();
        let item = item("A", 1, uid, &header);
        assert_eq!((&*item.name, item.modified_ms), ("A/untitled 5.eml", None));
    }

    #[test]
    fn changes_of_flags_are_no_messages() {
        assert_eq!(read(b"* 1 FETCH (UID 5 FLAGS (\\Seen))\r\n"), None);
        assert_eq!(read(b"* 5 EXPUNGE\r\n"), None);
    }
}
