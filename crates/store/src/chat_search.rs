//! Full-text index of titles, messages and tool results. Tokenization is the caller's task: words are compared as
//! given.
//!
//! SQLite has them in a table of FTS5, PostgreSQL as `tsvector` with a GIN index. In SQLite each entry also has two
//! marker words: its owner and its chat; in PostgreSQL these are columns. So a query covers only entries that its
//! reader may see.

use std::collections::HashSet;

use domain::{ChatId, MessageId, Part, Role, RunId, UserId};

use crate::{
    SharedChat, Store, StoreError,
    db::Db,
    messages::read_role,
    query::{Row, Tx, readable, storable},
    sharing::{SHARED, read_shared},
};

/// Entries per moment; a moment is a millisecond.
const MOMENT: i64 = 1 << 20;
/// Maximum number of shared chats that are searched, the most recently shared ones.
const MAX_SHARED_CHATS: i64 = 200;
/// Maximum number of queries for one page, if most matches are not visible.
const MAX_QUERIES_PER_PAGE: usize = 20;
/// How many of the newest texts are scanned before the index of PostgreSQL is used.
const MAX_SCANNED: i64 = 2_000;
/// The marker of titles. No word begins with it.
const TITLE: &str = "§title";

/// An entry that is missing in the index, or outdated.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchDue {
    /// The chat.
    pub chat: ChatId,
    /// The owner.
    pub owner: UserId,
    /// Its title.
    pub title: String,
    /// The message, if it is not the title: its content, and the run of this chat that it comes from.
    pub message: Option<(MessageId, Vec<Part>, Option<RunId>)>,
    at: i64,
    turn: i64,
}

/// The words of a title, a message or a tool result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPiece {
    /// The event of the tool result in the message's run; 0 for the message itself.
    pub seq: u64,
    /// The distinct words.
    pub words: HashSet<String>,
}

/// A search term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchWord {
    /// The forms of the word; a text has at least one of them.
    pub forms: Vec<String>,
    /// A prefix that matches as well.
    pub start: Option<String>,
}

/// A search.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChatSearch {
    /// All of these words must match; nothing is found without any.
    pub words: Vec<SearchWord>,
    /// Search titles; otherwise all else.
    pub titles: bool,
    /// Include archived chats.
    pub archived: bool,
    /// Search only displayed branches.
    pub shown: bool,
    /// Only matches older than this position.
    pub before: Option<i64>,
    /// Maximum number of matches.
    pub limit: u32,
}

/// The matches, and the position to continue from, if there may be more.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// The matches, newest first.
    pub places: Vec<FoundPlace>,
    /// The position to continue from.
    pub next: Option<i64>,
}

/// A match.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundPlace {
    /// The chat and its owner.
    pub chat: SharedChat,
    /// The message, if it is not the title.
    pub message: Option<FoundMessage>,
}

/// The matching message.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundMessage {
    /// Its id.
    pub id: MessageId,
    /// The role.
    pub role: Role,
    /// The content.
    pub content: Vec<Part>,
    /// The time.
    pub created_at: i64,
    /// The run and event of the tool result, if that matches.
    pub answer: Option<(RunId, u64)>,
}

impl Store {
    /// The next entries to index, newest first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn search_due(&self, limit: u32) -> Result<Vec<SearchDue>, StoreError> {
        // Selected before their content is read: SQLite would otherwise read and sort everything that is due.
        let sql = "SELECT search_due.chat, search_due.message, at, turn, chats.owner, chats.title, messages.content, \
                   (SELECT runs.id FROM runs WHERE runs.id = messages.run AND runs.chat = search_due.chat) AS run \
                   FROM (SELECT * FROM search_due ORDER BY at DESC LIMIT $1) AS search_due \
                   JOIN chats ON chats.id = search_due.chat \
                   LEFT JOIN messages ON messages.id = search_due.message AND messages.chat = search_due.chat \
                   ORDER BY at DESC";
        Ok(readable(
            &self
                .db()
                .read(sql)
                .bind(i64::from(limit))
                .fetch_all()
                .await?,
            read_due,
        ))
    }

    /// Indexes an entry as it was when it became due; it stays due if it has changed since.
    ///
    /// # Errors
    /// `Conflict` if another server did so at the same time: then nothing was done.
    pub async fn make_searchable(
        &self,
        known: &[(SearchDue, Vec<SearchPiece>)],
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        let mut known: Vec<&(SearchDue, Vec<SearchPiece>)> = known.iter().collect();
        // Adding in the order of the numbers is fast.
        known.sort_by_key(|(due, _)| due.at);
        for (due, pieces) in known {
            let message = due
                .message
                .as_ref()
                .map_or_else(String::new, |(id, ..)| id.to_string());
            let sql = "DELETE FROM search_due WHERE chat = $1 AND message = $2 AND turn = $3";
            let is_as_it_was = tx
                .query(sql)
                .id(due.chat)
                .text(&message)
                .bind(due.turn)
                .execute()
                .await?
                > 0;
            if !is_as_it_was {
                continue;
            }
            let sql = "DELETE FROM search_pieces WHERE chat = $1 AND message = $2";
            tx.query(sql).id(due.chat).text(&message).execute().await?;
            for piece in pieces.iter().filter(|piece| !piece.words.is_empty()) {
                add_piece(&mut tx, due, &message, piece).await?;
            }
        }
        tx.commit().await
    }

    /// Searches the chats that `reader` may see: their own and those shared with them by name.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn search_chats(
        &self,
        reader: UserId,
        search: &ChatSearch,
    ) -> Result<Found, StoreError> {
        let mut found = Found::default();
        if search.words.is_empty() || search.limit == 0 {
            return Ok(found);
        }
        let sql = "SELECT chat FROM chat_readers WHERE reader = $1 ORDER BY since DESC LIMIT $2";
        let shared = self
            .db()
            .read(sql)
            .id(reader)
            .bind(MAX_SHARED_CHATS)
            .fetch_all()
            .await?;
        let shared: Vec<String> = shared
            .iter()
            .map(|row| row.get("chat"))
            .collect::<Result<_, _>>()?;
        let question = Question::new(self.db(), reader, shared, search);
        let limit = search.limit as usize;
        let mut before = search.before.unwrap_or(i64::MAX);
        for _ in 0..MAX_QUERIES_PER_PAGE {
            // One more than requested tells whether there are more.
            let places = self.places(&question, before, limit + 1).await?;
            for (place, at) in self.at(reader, &places, search).await? {
                if found.places.len() == limit {
                    found.next = Some(before);
                    return Ok(found);
                }
                before = place;
                found.places.push(at);
            }
            match places.last() {
                Some(last) if places.len() > limit => before = *last,
                _ => return Ok(found),
            }
        }
        found.next = Some(before);
        Ok(found)
    }

    /// The numbers of the matching entries, newest first.
    async fn places(
        &self,
        question: &Question,
        before: i64,
        limit: usize,
    ) -> Result<Vec<i64>, StoreError> {
        let Question {
            text,
            reader,
            shared,
        } = question;
        let ask = |sql| {
            self.db()
                .read(sql)
                .text(text)
                .bind(before)
                .number(limit as u64)
        };
        let read = |rows: Vec<Row>| rows.iter().map(|row| row.get("place")).collect();
        if matches!(self.db(), Db::Sqlite { .. }) {
            let sql = "SELECT rowid AS place FROM search_words WHERE search_words MATCH $1 AND rowid < $2 \
                       ORDER BY rowid DESC LIMIT $3";
            return read(ask(sql).fetch_all().await?);
        }
        // PostgreSQL cannot estimate the number and position of matches: for words in most texts, scanning the newest
        // texts is fastest, for all others the index.
        if shared.is_empty() {
            let sql = "SELECT id AS place FROM (SELECT id, words FROM search_pieces WHERE owner = $4 AND id < $2 \
                       ORDER BY id DESC LIMIT $5) AS newest \
                       WHERE words @@ CAST($1 AS tsquery) ORDER BY id DESC LIMIT $3";
            let rows = ask(sql).id(reader).bind(MAX_SCANNED).fetch_all().await?;
            if rows.len() >= limit {
                return read(rows);
            }
        }
        let sql = "WITH answers AS MATERIALIZED (SELECT id FROM search_pieces \
                   WHERE words @@ CAST($1 AS tsquery) AND id < $2 \
                   AND (owner = $4 OR chat = ANY (string_to_array($5, ',')))) \
                   SELECT id AS place FROM answers ORDER BY id DESC LIMIT $3";
        read(
            ask(sql)
                .id(reader)
                .text(&shared.join(","))
                .fetch_all()
                .await?,
        )
    }

    /// The visible matches at these positions, newest first.
    async fn at(
        &self,
        reader: UserId,
        places: &[i64],
        search: &ChatSearch,
    ) -> Result<Vec<(i64, FoundPlace)>, StoreError> {
        let list = places
            .iter()
            .map(i64::to_string)
            .collect::<Vec<_>>()
            .join(",");
        let chosen = match self.db() {
            Db::Sqlite { .. } => "IN (SELECT value FROM json_each('[' || $1 || ']'))",
            Db::Postgres { .. } => "= ANY (CAST(string_to_array($1, ',') AS BIGINT[]))",
        };
        // The markers already guarantee this; it also holds if one was wrong.
        let readable = "(chats.owner = $2 AND chats.person IS NULL AND chats.expires_at IS NULL AND ($3 OR NOT archived) \
                        OR EXISTS \
                        (SELECT 1 FROM chat_readers WHERE chat_readers.chat = chats.id AND reader = $2))";
        let shown = match search.shown && !search.titles {
            false => "",
            true => {
                "AND search_pieces.message IN (WITH RECURSIVE shown (id, parent) AS \
                 (SELECT leaf.id, leaf.parent FROM messages AS leaf WHERE leaf.id = chats.current_message \
                  UNION SELECT above.id, above.parent FROM messages AS above JOIN shown ON above.id = shown.parent) \
                 SELECT id FROM shown)"
            }
        };
        let sql = format!(
            "SELECT {SHARED}, FALSE AS may_reply, search_pieces.id AS place, search_pieces.message, search_pieces.seq, messages.role, \
             messages.content, messages.run, messages.created_at AS said_at \
             FROM search_pieces JOIN chats ON chats.id = search_pieces.chat JOIN users ON users.id = chats.owner \
             LEFT JOIN messages ON messages.id = search_pieces.message \
             WHERE search_pieces.id {chosen} AND {readable} {shown} ORDER BY search_pieces.id DESC"
        );
        let query = self
            .db()
            .built_to_read(sql)
            .text(&list)
            .id(reader)
            .bind(search.archived);
        query
            .fetch_all()
            .await?
            .iter()
            .map(|row| Ok((row.get("place")?, read_place(row)?)))
            .collect()
    }

    /// The line of one event of a run; `None` if it is gone.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn event(&self, run: RunId, seq: u64) -> Result<Option<String>, StoreError> {
        let found = self.events_after(run, seq.saturating_sub(1), 1).await?;
        let segment = found
            .into_iter()
            .next()
            .filter(|segment| segment.first_seq <= seq);
        Ok(segment.and_then(|segment| {
            let at = usize::try_from(seq - segment.first_seq).ok()?;
            segment.lines.lines().nth(at).map(str::to_owned)
        }))
    }
}

async fn add_piece(
    tx: &mut Tx,
    due: &SearchDue,
    message: &str,
    piece: &SearchPiece,
) -> Result<(), StoreError> {
    let first = due.at.clamp(0, i64::MAX / MOMENT - 1) * MOMENT;
    let sql =
        "SELECT COALESCE(max(id) + 1, $1) AS place FROM search_pieces WHERE id >= $1 AND id < $2";
    let place: i64 = tx
        .query(sql)
        .bind(first)
        .bind(first + MOMENT)
        .fetch_one()
        .await?
        .get("place")?;
    let mut words: Vec<&str> = piece.words.iter().map(String::as_str).collect();
    words.extend(due.message.is_none().then_some(TITLE));
    match tx {
        Tx::Sqlite(_) => {
            let sql = "INSERT INTO search_pieces (id, chat, message, seq) VALUES ($1, $2, $3, $4)";
            let query = tx
                .query(sql)
                .bind(place)
                .id(due.chat)
                .text(message)
                .number(piece.seq);
            query.execute().await?;
            let owner = mark(&due.owner.to_string());
            let chat = mark(&due.chat.to_string());
            words.extend([owner.as_str(), chat.as_str()]);
            let sql = "INSERT INTO search_words (rowid, words) VALUES ($1, $2)";
            tx.query(sql)
                .bind(place)
                .text(&words.join(" "))
                .execute()
                .await
                .map(drop)
        }
        Tx::Postgres(_) => {
            let sql = "INSERT INTO search_pieces (id, owner, chat, message, seq, words) \
                       VALUES ($1, $2, $3, $4, $5, array_to_tsvector(string_to_array($6, ' ')))";
            let query = tx
                .query(sql)
                .bind(place)
                .id(due.owner)
                .id(due.chat)
                .text(message);
            query
                .number(piece.seq)
                .text(&words.join(" "))
                .execute()
                .await
                .map(drop)
        }
    }
}

/// SQLite tokenizes ids at their punctuation.
fn mark(id: &str) -> String {
    format!("§{}", id.replace('_', ""))
}

/// A query in the dialect of the database.
struct Question {
    text: String,
    reader: UserId,
    /// The shared chats that the reader may see.
    shared: Vec<String>,
}

impl Question {
    /// All words; in SQLite, restricted to visible entries.
    fn new(db: &Db, reader: UserId, shared: Vec<String>, search: &ChatSearch) -> Self {
        let is_sqlite = matches!(db, Db::Sqlite { .. });
        let (and, or, not) = if is_sqlite {
            (" AND ", " OR ", " NOT ")
        } else {
            (" & ", " | ", " & !")
        };
        let quoted = |word: &str| match is_sqlite {
            true => format!("\"{}\"", storable(word).replace('"', "\"\"")),
            false => format!(
                "'{}'",
                storable(word).replace('\\', "\\\\").replace('\'', "''")
            ),
        };
        let beginning =
            |start: &str| format!("{}{}", quoted(start), if is_sqlite { " *" } else { ":*" });
        let word = |SearchWord { forms, start }: &SearchWord| {
            let forms = forms.iter().map(|form| quoted(form));
            let all: Vec<String> = forms.chain(start.as_deref().map(beginning)).collect();
            format!("({})", all.join(or))
        };
        let mut all: Vec<String> = search.words.iter().map(word).collect();
        if is_sqlite {
            let mut places = vec![quoted(&mark(&reader.to_string()))];
            places.extend(shared.iter().map(|chat| quoted(&mark(chat))));
            all.push(format!("({})", places.join(or)));
        }
        if search.titles {
            all.push(quoted(TITLE));
        }
        let all = all.join(and);
        let text = if search.titles {
            all
        } else {
            format!("({all}){not}{}", quoted(TITLE))
        };
        Self {
            text,
            reader,
            shared,
        }
    }
}

fn read_due(row: &Row) -> Result<SearchDue, StoreError> {
    let message = match row.get::<String>("message")?.as_str() {
        "" => None,
        // A deleted message has no content.
        _ => Some((
            row.id("message")?,
            row.optional_json("content")?.unwrap_or_default(),
            row.optional_id("run")?,
        )),
    };
    Ok(SearchDue {
        chat: row.id("chat")?,
        owner: row.id("owner")?,
        title: row.get("title")?,
        message,
        at: row.get("at")?,
        turn: row.get("turn")?,
    })
}

fn read_place(row: &Row) -> Result<FoundPlace, StoreError> {
    let chat = read_shared(row)?;
    let role: Option<String> = row.get("role")?;
    let message = match role {
        None => None,
        Some(_) => {
            let run = row.optional_id("run")?;
            let seq = row.number("seq")?;
            Some(FoundMessage {
                id: row.id("message")?,
                role: read_role(row)?,
                content: row.json("content")?,
                created_at: row.get("said_at")?,
                answer: run.filter(|_| seq > 0).map(|run| (run, seq)),
            })
        }
    };
    Ok(FoundPlace { chat, message })
}
