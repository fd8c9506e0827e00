//! The parts of an answer besides text, reasoning and calls: provider data, citations, and pictures that code has made.

use domain::{
    EventBody,
    event::{ProviderData, ToolFile},
};
use llm::{Citation, DataPart, IMAGE_GENERATION, ServerTool, is_of_whole_answer};
use serde_json::Value;

use super::{Step, TextIs, Writing};
use crate::{
    cited::EndedText,
    code::picture_link,
    made_pictures::{has_pictures, keep_pictures},
    research::nearest,
};

impl Step<'_> {
    /// Stores data that the provider wants back, under the item it belongs to.
    pub(super) async fn add_data(&mut self, part: DataPart, mut data: Value) {
        if part == DataPart::Other && has_pictures(&data) {
            self.close().await;
            let made = keep_pictures(self.agent, &mut data).await;
            self.server_calls.add_files(made.files);
            if !made.is_whole {
                return;
            }
        }
        let item = match (part, &self.writing) {
            (DataPart::Reasoning, Writing::Reasoning { item, .. })
            | (DataPart::Text, Writing::Text { item, .. }) => Some(item.clone()),
            (DataPart::Call(index), _) => self
                .answer
                .calls
                .iter()
                .find(|call| call.index == index)
                .map(|call| call.id.clone()),
            _ => None,
        };
        // A text is shown as one, wherever its provider parts it.
        let at = match &self.writing {
            Writing::Text { bytes, .. } if part == DataPart::Text => Some(*bytes as u64),
            _ if is_of_whole_answer(&data) => None,
            _ => {
                self.close().await;
                None
            }
        };
        let provider = self.model.model().provider().to_owned();
        let reasoning = item.is_none() && part == DataPart::Reasoning;
        let body = EventBody::ProviderData(ProviderData {
            item,
            reasoning,
            at,
            provider,
            data,
        });
        self.answer.blocks.push(&body);
        self.agent.emitter.emit(body).await;
    }

    /// Emits a call of a tool that the provider runs.
    pub(super) async fn add_server_tool(&mut self, news: ServerTool) {
        match &news {
            // Its pictures are part of the answer.
            ServerTool::Started { name, .. } if name == IMAGE_GENERATION => self.close().await,
            ServerTool::Started { .. } => self.settle(TextIs::Commentary).await,
            ServerTool::Finished { .. } => self.close().await,
        }
        let made = self.server_calls.push(self.agent, news).await;
        self.show_made(&made).await;
    }

    /// Shows pictures that the model has made at their place in the answer.
    async fn show_made(&mut self, files: &[ToolFile]) {
        for file in files {
            self.agent.code.note_picture(&file.path);
            if self.agent.answer_form().is_some() {
                continue;
            }
            let link = picture_link(&file.path);
            if self.held.is_some() {
                self.write_text(format!("\n\n{link}\n\n")).await;
                continue;
            }
            // A separate text: the offsets of the provider's citations do not include it.
            let ended_chars = self.ended_chars;
            self.write_text(link).await;
            self.close().await;
            self.ended_chars = ended_chars;
        }
    }

    /// Adds the pictures that code has made to an answer that does not show them itself.
    pub(super) async fn show_pictures(&mut self) {
        let left_out = self
            .with_text(|text| self.agent.code.pictures_beside(text))
            .unwrap_or_default();
        if !left_out.is_empty() && self.agent.answer_form().is_none() {
            self.write_text(left_out).await;
        }
    }

    /// Adds the numbers of the sources that say the same to an answer that cites none.
    pub(super) async fn cite_nearest(&mut self) {
        let marks = self
            .with_text(|text| nearest(text, self.proofs))
            .unwrap_or_default();
        if !marks.is_empty() {
            self.write_text(format!(" {marks}")).await;
        }
    }

    /// Keeps the provider's citations. A research report has its own sources.
    pub(super) fn cite(&mut self, citations: Vec<Citation>) {
        if self.proofs.is_empty() {
            self.cited.push(citations);
        }
    }

    /// Emits the sources cited so far.
    pub(super) async fn tell_cited(&mut self, text: Option<EndedText<'_>>) {
        // Removing citations from a text shifts the positions in it.
        let text = text.filter(|_| self.citations.is_none());
        let sources = self
            .agent
            .emitter
            .with_source_numbers(|numbers| self.cited.take(numbers, text));
        if !sources.is_empty() {
            self.agent
                .emitter
                .emit(EventBody::SourcesFound { sources })
                .await;
        }
    }
}
