//! Imports the JSON Lines that Glasshouse exports.

use agent::{
    learning::{MAX_FACT_CHARS, MAX_FACTS},
    memory::MAX_BLOCKS,
};
use domain::{LocalizedText, MemoryId};
use store::{Fact, MemoryChange, StoreError};
use tokio_util::sync::CancellationToken;
use wire::export::{self, FORMAT, Line};

use super::{
    chat, check_may_go_on,
    collections::Documents,
    ids::Ids,
    report::Report,
    spool::{Found, Lines},
    survey::Survey,
};
use crate::{
    app::App,
    error::ApiError,
    http::{memories, schedules},
    identity::auth::Caller,
    messages,
};

/// Maximum number of memories, facts and schedules that are read; far fewer can be stored.
const MAX_SMALL: u64 = 10_000;

/// An import in progress.
pub(super) struct Own<'a> {
    app: &'a App,
    caller: &'a Caller,
    ids: Ids,
    lines: Lines,
    /// Cancelled when the caller's access is revoked.
    ends: CancellationToken,
    report: Report,
    /// The number of lines read so far, to report lines by their number.
    number: u64,
    /// The number of memories, facts and schedules read so far.
    small: u64,
    documents: Documents,
}

impl<'a> Own<'a> {
    pub(super) fn new(
        app: &'a App,
        caller: &'a Caller,
        lines: Lines,
        ends: CancellationToken,
    ) -> Self {
        let ids = Ids(caller.id());
        let report = Report::new("glasshouse");
        Self {
            app,
            caller,
            ids,
            lines,
            ends,
            report,
            number: 0,
            small: 0,
            documents: Documents::default(),
        }
    }

    /// Imports the whole file.
    ///
    /// # Errors
    /// 400 if the format is newer. If the database fails; what was imported before is kept.
    pub(super) async fn run(mut self) -> Result<Report, ApiError> {
        self.head().await?;
        loop {
            check_may_go_on(self.app, &self.ends)?;
            let Some(found) = self.next().await? else {
                self.documents.end(&mut self.report);
                self.report
                    .leave("line", "", messages::Imports::FileNotWhole);
                break;
            };
            let line = match read(&found) {
                Ok(Line::DocumentPart(part)) => {
                    self.documents
                        .part(self.app, self.caller, &part, &mut self.report)
                        .await?;
                    continue;
                }
                Ok(line) => line,
                Err(why) => {
                    self.report.leave("line", &self.number.to_string(), why);
                    continue;
                }
            };
            self.documents.end(&mut self.report);
            match line {
                Line::End(_) => break,
                Line::Chat(chat) => self.chat(found.at, chat).await?,
                Line::Memory(_) | Line::Fact(_) | Line::Schedule(_) if self.small == MAX_SMALL => {
                    self.report
                        .leave("line", "", messages::Imports::TooManySmall);
                }
                Line::Memory(memory) => self.memory(memory).await?,
                Line::Fact(fact) => self.fact(fact).await?,
                Line::Schedule(schedule) => self.schedule(schedule).await?,
                Line::Collection(collection) => {
                    let caller = self.caller;
                    let ids = self.ids;
                    self.documents
                        .collection(self.app, caller, ids, collection, &mut self.report)
                        .await?;
                }
                Line::Source(source) => {
                    self.documents
                        .source(self.app, self.caller, self.ids, source, &mut self.report)
                        .await?;
                }
                Line::Document(document) => {
                    self.documents
                        .document(self.app, self.ids, document, &mut self.report)
                        .await?;
                }
                Line::Run(_) => {
                    self.report.leave("run", "", messages::Imports::RunsOutside);
                }
                Line::Key(_) => {
                    self.report.leave("key", "", messages::Imports::KeysStay);
                }
                Line::Agent(agent) => {
                    self.report
                        .leave("agent", &agent.name, messages::Imports::AgentsStay);
                }
                Line::Message(_) => self
                    .report
                    .leave("message", "", messages::Imports::OfNoChat),
                Line::Damaged(damaged) => {
                    self.report
                        .leave("line", &damaged.of, messages::Imports::Damaged)
                }
                // Not imported, or part of a run or document that was skipped.
                Line::Profile(_)
                | Line::Log(_)
                | Line::File(_)
                | Line::GlasshouseExport(_)
                | Line::DocumentPart(_) => {}
            }
        }
        Ok(self.report)
    }

    async fn next(&mut self) -> Result<Option<Found>, ApiError> {
        self.number += 1;
        self.lines.next().await
    }

    async fn head(&mut self) -> Result<(), ApiError> {
        let first = self.next().await?;
        match first.as_ref().map(read) {
            Some(Ok(Line::GlasshouseExport(head))) if head.format == FORMAT => Ok(()),
            Some(Ok(Line::GlasshouseExport(head))) => {
                Err(ApiError::invalid(messages::Chats::OtherFormat {
                    format: head.format.into(),
                    known: FORMAT.into(),
                }))
            }
            _ => Err(ApiError::invalid(messages::Chats::FormatUnsaid)),
        }
    }

    /// Imports a chat whose first line, at offset `from`, has been read.
    async fn chat(&mut self, from: u64, chat: export::Chat) -> Result<(), ApiError> {
        let id = chat.id;
        let title = chat.title.clone();
        let has_directory = chat.directory.is_some();
        // If a chat is skipped, nothing inside it is reported.
        let mut inside = Report::new("");
        let mut survey = Survey::new(chat);
        while let Some(found) = self.next().await? {
            match read(&found) {
                Ok(line) if survey.has(&line) => {
                    survey.push(line, found.line.map_or(0, |line| line.len()), &mut inside);
                }
                Err(why) => survey.refuse(messages::Imports::InLine {
                    line: self.number,
                    why,
                }),
                Ok(_) => {
                    self.lines.put_back(found);
                    self.number -= 1;
                    break;
                }
            }
        }
        let to = self.lines.place();
        for here in [id, self.ids.chat(id)] {
            match self.app.store.chat(&self.caller.principal(), here).await {
                Ok(_) => {
                    self.report.here().chats += 1;
                    return Ok(());
                }
                Err(StoreError::NotFound) => {}
                Err(error) => return Err(error.into()),
            }
        }
        if let Some(why) = survey.finish(&mut inside) {
            self.report.leave("chat", &title, why);
            return Ok(());
        }
        self.lines.seek(from).await?;
        let brought = chat::bring(
            self.app,
            self.ids,
            &survey,
            &mut self.lines,
            to,
            &mut self.report,
        );
        if brought.await? {
            self.report.take(inside);
            if has_directory {
                self.report
                    .leave("file", &title, messages::Imports::DirectoryStays);
            }
        } else {
            self.report
                .leave("chat", &title, messages::Imports::IdTaken);
            self.lines.seek(to).await?;
        }
        Ok(())
    }

    async fn memory(&mut self, memory: export::Memory) -> Result<(), ApiError> {
        self.small += 1;
        let name = memory.name.clone();
        let content = match memories::checked(memory) {
            Ok(content) => content,
            Err(refused) => {
                self.report
                    .leave("memory", &name, refused.problem().clone().words());
                return Ok(());
            }
        };
        let owner = self.caller.id();
        let change = MemoryChange::Create {
            id: MemoryId::generate(),
            content: content.clone(),
            max: MAX_BLOCKS,
        };
        let make = || {
            self.app
                .store
                .change_memory(owner, &change, None, self.app.clock.now_ms())
        };
        match self.app.runs.tell_memory_update(owner, make).await {
            Ok(_) => self.report.made().memories += 1,
            Err(StoreError::Conflict("name")) => {
                let all = self.app.store.memories(owner).await?;
                if all.iter().any(|memory| memory.content == content) {
                    self.report.here().memories += 1;
                } else {
                    self.report
                        .leave("memory", &name, messages::Imports::MemoryNameHere);
                }
            }
            Err(StoreError::Conflict("limit")) => {
                let why = messages::Imports::MemoriesFull {
                    count: MAX_BLOCKS.into(),
                };
                self.report.leave("memory", &name, why);
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    async fn fact(&mut self, fact: export::Fact) -> Result<(), ApiError> {
        self.small += 1;
        let text = fact.text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() || text.chars().count() > MAX_FACT_CHARS {
            let why = messages::Chats::BadFact {
                limit: MAX_FACT_CHARS as u64,
            };
            self.report.leave("fact", &text, why);
            return Ok(());
        }
        let now = self.app.clock.now_ms().max(0);
        let brought = Fact {
            id: self.ids.fact(fact.id),
            text,
            chat: fact.chat.map(|chat| self.ids.chat(chat)),
            message: fact.message.map(|message| self.ids.message(message)),
            learned_at: fact.learned_at.clamp(0, now),
            corrected: fact.corrected,
        };
        let owner = self.caller.id();
        let known = self.app.store.facts(owner).await?;
        if known
            .iter()
            .any(|known| known.id == fact.id || known.id == brought.id)
        {
            self.report.here().facts += 1;
            return Ok(());
        }
        let import = || {
            self.app
                .store
                .import_fact(owner, &brought, MAX_FACTS as u32)
        };
        if self.app.runs.tell_memory_update(owner, import).await? {
            self.report.made().facts += 1;
        } else {
            let why = messages::Imports::FactsFull {
                count: MAX_FACTS as u64,
            };
            self.report.leave("fact", &brought.text, why);
        }
        Ok(())
    }

    async fn schedule(&mut self, schedule: export::Schedule) -> Result<(), ApiError> {
        self.small += 1;
        let name = schedule.name.clone();
        let id = self.ids.schedule(schedule.id);
        let owner = self.caller.id();
        let all = self.app.store.schedules(owner).await?;
        if all.iter().any(|it| it.id == schedule.id || it.id == id) {
            self.report.here().schedules += 1;
            return Ok(());
        }
        match schedules::brought(self.app, self.caller, id, schedule) {
            Ok(new) => match self
                .app
                .store
                .create_schedule(&new, schedules::MAX_SCHEDULES)
                .await
            {
                Ok(()) => self.report.made().schedules += 1,
                Err(StoreError::Conflict(_)) => {
                    let why = messages::Imports::SchedulesFull {
                        count: schedules::MAX_SCHEDULES.into(),
                    };
                    self.report.leave("schedule", &name, why);
                }
                Err(error) => return Err(error.into()),
            },
            Err(refused) if refused.is_ours() => return Err(refused),
            Err(refused) => self
                .report
                .leave("schedule", &name, refused.problem().clone().words()),
        }
        Ok(())
    }
}

fn read(found: &Found) -> Result<Line, LocalizedText> {
    match &found.line {
        // The message of the JSON parser.
        Some(line) => Line::read(line).map_err(LocalizedText::from),
        None => Err(messages::Imports::TooLong.into()),
    }
}
