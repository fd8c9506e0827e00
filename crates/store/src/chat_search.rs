//! The words of titles, messages and what tools have answered, and where they stand. What the words are is the caller's
//! affair: here they are compared as they come.
//!
//! SQLite has them in a table of FTS5, PostgreSQL as `tsvector` with a GIN index. In SQLite each piece also has two marks that are
//! no words: whose it is, and which chat it is in; in PostgreSQL these are columns. So a question goes only over what its asker
//! may read.

use std::collections::HashSet;

use domain::{ChatId, MessageId, Part, Role, RunId, UserId};

use crate::{
    SharedChat, Store, StoreError,
    db::Db,
    messages::read_role,
    query::{Row, Tx, readable, storable},
    sharing::{SHARED, read_shared},
};

/// Pieces of one moment; a moment is a millisecond.
const MOMENT: i64 = 1 << 20;
/// Chats of others that are searched, those that were shared last.
const MOST_SHARED: i64 = 200;
/// Places that are looked at for one page, where most of them are not to be shown.
const MOST_LOOKS: usize = 20;
/// So many of the newest texts are looked into before the index of PostgreSQL is asked.
const NEWEST: i64 = 2_000;
/// The mark of titles. No word begins like it.
const TITLE: &str = "§title";

/// Something that the search does not know yet, or not as it is now.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchDue {
    /// The chat.
    pub chat: ChatId,
    /// Whose it is.
    pub owner: UserId,
    /// Its title.
    pub title: String,
    /// The message, where it is not the title: what it says, and the run of this chat that it comes from.
    pub message: Option<(MessageId, Vec<Part>, Option<RunId>)>,
    at: i64,
    turn: i64,
}

/// The words of a title, a message or of what a tool has answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPiece {
    /// The event of the message's run that has the answer; 0 for what is said.
    pub seq: u64,
    /// The words, each once.
    pub words: HashSet<String>,
}

/// A word that is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchWord {
    /// The word.
    pub word: String,
    /// Also words that begin with this.
    pub start: Option<String>,
}

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChatSearch {
    /// All of these words have to be there; nothing is found where there are none.
    pub words: Vec<SearchWord>,
    /// In titles; otherwise in all else.
    pub titles: bool,
    /// Also in what is put away.
    pub archived: bool,
    /// Only in the branches that are shown.
    pub shown: bool,
    /// Only what is older than this place.
    pub before: Option<i64>,
    /// At most so many.
    pub limit: u32,
}

/// What was found, and from where to look on, where there may be more.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// The places, newest first.
    pub places: Vec<FoundPlace>,
    /// The place to look on from.
    pub next: Option<i64>,
}

/// Where the words stand.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundPlace {
    /// The chat, and whose it is.
    pub chat: SharedChat,
    /// The message, where it is not the title.
    pub message: Option<FoundMessage>,
}

/// The message that the words stand in.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundMessage {
    /// Its id.
    pub id: MessageId,
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: Vec<Part>,
    /// When.
    pub created_at: i64,
    /// The run, and the event of it that has what a tool has answered, where that is it.
    pub answer: Option<(RunId, u64)>,
}

impl Store {
    /// What the search is to know next, the newest first.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn search_due(&self, limit: u32) -> Result<Vec<SearchDue>, StoreError> {
        // Chosen before what they say is read: SQLite would otherwise read all that is due, sort it and take the first.
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

    /// Makes the search know something as it was when it was due; the same as before where it has changed again since.
    ///
    /// # Errors
    /// `Conflict` where another server did so at the same time: then nothing was done.
    pub async fn make_searchable(
        &self,
        known: &[(SearchDue, Vec<SearchPiece>)],
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        let mut known: Vec<&(SearchDue, Vec<SearchPiece>)> = known.iter().collect();
        // What comes in the order of its number is quick to add.
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

    /// Looks for words in what `reader` may read: their own chats and those that are shared with them by name.
    ///
    /// # Errors
    /// Only those of the database.
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
            .bind(MOST_SHARED)
            .fetch_all()
            .await?;
        let shared: Vec<String> = shared
            .iter()
            .map(|row| row.get("chat"))
            .collect::<Result<_, _>>()?;
        let question = Question::new(self.db(), reader, shared, search);
        let limit = search.limit as usize;
        let mut before = search.before.unwrap_or(i64::MAX);
        for _ in 0..MOST_LOOKS {
            // One more than wanted tells whether there are more.
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

    /// The numbers of the pieces that answer the question, newest first.
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
        // PostgreSQL would have to guess how many answers there are, and where: for words that most texts have, the newest
        // texts are quickest, for all others the index.
        if shared.is_empty() {
            let sql = "SELECT id AS place FROM (SELECT id, words FROM search_pieces WHERE owner = $4 AND id < $2 \
                       ORDER BY id DESC LIMIT $5) AS newest \
                       WHERE words @@ CAST($1 AS tsquery) ORDER BY id DESC LIMIT $3";
            let rows = ask(sql).id(reader).bind(NEWEST).fetch_all().await?;
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

    /// What is at these places, newest first, of what is to be shown to the reader.
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
            Db::Postgres(..) => "= ANY (CAST(string_to_array($1, ',') AS BIGINT[]))",
        };
        // The marks have said so already; this would also hold where one was wrong.
        let readable = "(chats.owner = $2 AND chats.person IS NULL AND ($3 OR NOT archived) OR EXISTS \
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
            "SELECT {SHARED}, search_pieces.id AS place, search_pieces.message, search_pieces.seq, messages.role, \
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

    /// The line of one event of a run; nothing where it is gone.
    ///
    /// # Errors
    /// Only those of the database.
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
            let (owner, chat) = (mark(&due.owner.to_string()), mark(&due.chat.to_string()));
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

/// SQLite cuts at what stands between the letters of an id.
fn mark(id: &str) -> String {
    format!("§{}", id.replace('_', ""))
}

/// A question in the language of the database.
struct Question {
    text: String,
    reader: UserId,
    /// The chats of others that the reader may read.
    shared: Vec<String>,
}

impl Question {
    /// All words; in SQLite, in what may be read.
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
        let word = |SearchWord { word, start }: &SearchWord| match start {
            Some(start) => format!("({}{or}{})", quoted(word), beginning(start)),
            None => quoted(word),
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
        // A message that is gone has nothing to say.
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
            let (run, seq) = (row.optional_id("run")?, row.number("seq")?);
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
