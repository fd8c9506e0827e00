//! Imports chats that other products export. An assistant's reasoning and tool calls are stored as the log of a run.

mod record;

use domain::ChatId;
use store::{Principal, StoreError};
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;
use wire::chat_exports::{
    self as there, Element, Elements, MAX_MESSAGES, Product, Skipped, Unreadable,
};

use self::record::Brought;
use super::{
    archive::Archive, chat::short, check_may_go_on, ids::Ids, media::Media, report::Report,
    spool::Pieces,
};
use crate::{app::App, error::ApiError, identity::auth::Caller, messages};

/// Maximum size of a chat, bytes: it can contain its images as text.
const CHAT_BYTES: usize = 64_000_000;
/// Chats below this size are parsed without changing the thread.
const SMALL_BYTES: usize = 10_000;
/// Maximum number of chats that are read.
const MAX_CHATS: u64 = 1_000_000;

/// Imports the chats of an uploaded file; of an object that contains them if it `is_wrapped`.
///
/// # Errors
/// If the database fails; what was imported before is kept.
pub(super) async fn run(
    app: &App,
    caller: &Caller,
    pieces: Pieces,
    is_wrapped: bool,
    ends: CancellationToken,
) -> Result<Report, ApiError> {
    let mut import = Import::new(app, caller, ends, None);
    import.take(pieces, is_wrapped).await?;
    Ok(import.report)
}

/// Imports the chats of an archive with the files that they mention.
///
/// # Errors
/// 400 if it holds no chats. If the database fails; what was imported before is kept.
pub(super) async fn run_archive(
    app: &App,
    caller: &Caller,
    file: std::fs::File,
    ends: CancellationToken,
) -> Result<Report, ApiError> {
    let limit_bytes = app.config.now().import_limit_bytes;
    let archive = Archive::open(file, limit_bytes).await?;
    let parts = archive.chats(limit_bytes);
    let mut import = Import::new(app, caller, ends, Some(archive));
    for part in parts {
        import.take(part, false).await?;
    }
    import.media.leave_rest(&mut import.report);
    Ok(import.report)
}

struct Import<'a> {
    app: &'a App,
    ids: Ids,
    /// Cancelled when the caller's access is revoked.
    ends: CancellationToken,
    report: Report,
    media: Media<'a>,
    /// The number of chats read so far, to report them by their number.
    number: u64,
    /// How many bytes may still be read: an archive can unpack to far more than was uploaded.
    left_bytes: u64,
    is_recognized: bool,
}

impl<'a> Import<'a> {
    fn new(
        app: &'a App,
        caller: &Caller,
        ends: CancellationToken,
        archive: Option<Archive>,
    ) -> Self {
        Self {
            app,
            ids: Ids(caller.id()),
            ends,
            report: Report::new(name_of(Product::OpenWebUi)),
            media: Media::new(app, caller.id(), archive),
            number: 0,
            left_bytes: app.config.now().import_limit_bytes,
            is_recognized: false,
        }
    }

    async fn take(&mut self, mut pieces: Pieces, is_wrapped: bool) -> Result<(), ApiError> {
        let mut elements = match is_wrapped {
            true => Elements::in_object(CHAT_BYTES),
            false => Elements::new(CHAT_BYTES),
        };
        while let Some(piece) = pieces.next().await? {
            let Some(left) = self.left_bytes.checked_sub(piece.len() as u64) else {
                break;
            };
            self.left_bytes = left;
            let mut ended = Vec::new();
            elements.feed(&piece, &mut ended);
            for element in ended {
                check_may_go_on(self.app, &self.ends)?;
                self.number += 1;
                if self.number > MAX_CHATS {
                    self.report
                        .leave("chat", "", messages::Imports::TooManyChats);
                    continue;
                }
                self.bring(element).await?;
            }
        }
        if !elements.is_over() {
            self.report
                .leave("line", "", messages::Imports::FileNotWhole);
        }
        Ok(())
    }

    /// Imports one chat. If it cannot be read, it is reported by its number.
    async fn bring(&mut self, element: Element) -> Result<(), ApiError> {
        let number = self.number.to_string();
        let Some(json) = element else {
            let limit = CHAT_BYTES as u64 / 1_000_000;
            self.report
                .leave("chat", &number, messages::Imports::MoreThanMb { limit });
            return Ok(());
        };
        let size_bytes = json.len();
        let ids = self.ids;
        let read = move || {
            let chat = there::Chat::read(&json)?;
            let name = name_hash(ids, &chat, &json);
            Ok::<_, Unreadable>((chat, name))
        };
        let read = match size_bytes < SMALL_BYTES {
            true => read(),
            false => spawn_blocking(read).await.map_err(ApiError::internal)?,
        };
        match read {
            Ok((chat, name)) => {
                if !self.is_recognized {
                    self.report.set_format(name_of(chat.product));
                    self.is_recognized = true;
                }
                self.chat(chat, name).await
            }
            Err(why) => {
                // Products export a chat for each time a user only looked.
                let name = match why {
                    Unreadable::NoMessages => "",
                    _ => &number,
                };
                self.report.leave("chat", name, reason(&why));
                Ok(())
            }
        }
    }

    async fn chat(&mut self, chat: there::Chat, name: [u8; 8]) -> Result<(), ApiError> {
        let title = short(&chat.title.split_whitespace().collect::<Vec<_>>().join(" "));
        // The first message of the same LibreChat conversation differs, depending on the branch that was exported.
        let id_time = match chat.product {
            Product::LibreChat => 0,
            _ => past(chat.created_at, self.app.clock.now_ms()),
        };
        let id = ChatId::of_elsewhere(id_time, 0, name);
        let owner = Principal::of_account(self.ids.0);
        match self.app.store.chat(&owner, id).await {
            Ok(_) => {
                self.report.here().chats += 1;
                return Ok(());
            }
            Err(StoreError::NotFound) => {}
            Err(error) => return Err(error.into()),
        }
        // If the chat is skipped, nothing inside it is reported.
        let mut inside = Report::new("");
        let prepared = self.media.prepare(&chat, &title, &mut inside).await?;
        let now = self.app.clock.now_ms();
        let brought = Brought::new(&chat, self.ids, id, &title, &prepared, now)?;
        if let Err(error) = brought.keep(self.app, &prepared).await {
            self.media.discard(&prepared).await?;
            let StoreError::Conflict(_) = error else {
                return Err(error.into());
            };
            self.report
                .leave("chat", &title, messages::Imports::IdTaken);
            return Ok(());
        }
        self.report.made().chats += 1;
        self.report.made().messages += brought.messages.len() as u64;
        self.report.made().runs += brought.runs.len() as u64;
        self.report.made().files += prepared.files.len() as u64;
        self.report.take(inside);
        for (skipped, count) in &chat.skipped {
            leave_skipped(skipped, &title, *count, &mut self.report);
        }
        Ok(())
    }
}

/// Identifies a chat by its id there, or by its whole content if it has none.
fn name_hash(ids: Ids, chat: &there::Chat, json: &[u8]) -> [u8; 8] {
    match (chat.product, chat.id.as_str()) {
        (_, "") => ids.hash(&String::from_utf8_lossy(json)),
        // As it always was.
        (Product::OpenWebUi, id) => ids.hash(id),
        (product, id) => ids.hash(&format!("{} {id}", name_of(product))),
    }
}

/// The name of a product in the report, and of its model if the file has none.
fn name_of(product: Product) -> &'static str {
    match product {
        Product::OpenWebUi => "open_webui",
        Product::ChatGpt => "chatgpt",
        Product::Claude => "claude",
        Product::LibreChat => "librechat",
    }
}

fn reason(why: &Unreadable) -> messages::Imports {
    use messages::Imports;
    match why {
        Unreadable::NotAChat => Imports::NotAChat,
        Unreadable::TooManyValues => Imports::TooManyValues,
        Unreadable::TooManyMessages => Imports::MoreMessagesThan {
            count: MAX_MESSAGES as u64,
        },
        Unreadable::NoMessages => Imports::ChatWithoutMessages,
        Unreadable::SingleMessage => Imports::SingleMessage,
    }
}

fn leave_skipped(skipped: &Skipped, title: &str, count: u64, report: &mut Report) {
    use messages::Imports;
    let (what, name, why) = match skipped {
        Skipped::File => ("file", title, Imports::OnlyName),
        Skipped::Message => ("message", title, Imports::OtherRole),
        // Nearly all chats have some.
        Skipped::Hidden => ("message", "", Imports::HiddenThere),
        Skipped::Recording => ("file", "", Imports::RecordingsStay),
        Skipped::Content(kind) => (
            "message",
            title,
            Imports::OtherContent { kind: kind.clone() },
        ),
        Skipped::Steps => ("message", title, Imports::TooManySteps),
    };
    report.leave_some(what, name, why, count);
}

fn past(at: i64, now: i64) -> i64 {
    at.clamp(0, now.max(0))
}
