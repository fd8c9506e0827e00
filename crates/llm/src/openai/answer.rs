//! Turns the bytes of an answer into model events, whatever a server makes of the protocol. No I/O.

use std::collections::VecDeque;

use domain::{ProblemCode, Sentence, Usage};
use wire::{
    openai::{Chunk, DONE, UpstreamError},
    sse,
};

use super::{
    Target,
    calls::Calls,
    fault::{self, Fault},
    rescue::Piece,
    text_reader::TextReader,
    thinking::{Split, Thinking},
};
use crate::{FinishReason, ModelEvent};

/// No honest event is larger.
const EVENT_LIMIT_BYTES: usize = 8 << 20;

/// No honest answer is longer on its way, where each token is an event of some hundred bytes.
const RECEIVED_LIMIT_BYTES: usize = 128 << 20;

/// No honest answer says more, which is about a million tokens: text, reasoning and arguments of calls. All of it is held
/// until it ends.
const ANSWER_LIMIT_BYTES: usize = 4 << 20;

/// Ollama's: it puts a text that is to be continued into the model's template, as if somebody had said it.
const ANSWERS_TEXTS: &str = "fp_ollama";

/// An answer being read.
#[derive(Debug)]
pub(crate) struct Answer {
    form: Form,
    thinking: Thinking,
    text: TextReader,
    calls: Calls,
    events: VecDeque<ModelEvent>,
    finish: Option<FinishReason>,
    usage: Option<Usage>,
    received_bytes: usize,
    /// Text, reasoning and arguments of calls.
    written_bytes: usize,
    /// An event was made, so the request must not be sent again.
    begun: bool,
    over: bool,
}

/// What the server answers with.
#[derive(Debug)]
enum Form {
    /// Only white space so far.
    Unknown,
    Stream(sse::Decoder),
    /// One JSON object: the server does not stream.
    Whole(Vec<u8>),
    WebPage,
}

impl Answer {
    pub(crate) fn new(text: TextReader) -> Self {
        Self {
            form: Form::Unknown,
            thinking: Thinking::default(),
            text,
            calls: Calls::default(),
            events: VecDeque::new(),
            finish: None,
            usage: None,
            received_bytes: 0,
            written_bytes: 0,
            begun: false,
            over: false,
        }
    }

    /// The next event that is ready.
    pub(crate) fn pop(&mut self) -> Option<ModelEvent> {
        self.events.pop_front()
    }

    /// Whether anything of the answer has come.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun
    }

    /// Whether the end has been read: what follows does not matter.
    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    /// Whether the model said that it is done, even if the stream goes on.
    pub(crate) fn is_complete(&self) -> bool {
        self.finish.is_some()
    }

    /// Reads the next bytes.
    pub(crate) fn feed(&mut self, bytes: &[u8], target: &Target) -> Result<(), Fault> {
        self.received_bytes = self.received_bytes.saturating_add(bytes.len());
        if self.received_bytes > RECEIVED_LIMIT_BYTES {
            return Err(too_long(RECEIVED_LIMIT_BYTES));
        }
        if matches!(self.form, Form::Unknown) {
            let first =
                bytes.iter().find(|byte| !byte.is_ascii_whitespace() && !b"\xEF\xBB\xBF".contains(byte));
            self.form = match first {
                None => return Ok(()),
                Some(b'{' | b'[') => Form::Whole(Vec::new()),
                Some(b'<') => Form::WebPage,
                Some(_) => Form::Stream(sse::Decoder::new(EVENT_LIMIT_BYTES)),
            };
        }
        match &mut self.form {
            Form::Unknown => Ok(()),
            Form::WebPage => Err(fault::web_page(target)),
            Form::Whole(body) if body.len() + bytes.len() > EVENT_LIMIT_BYTES => Err(too_large()),
            Form::Whole(body) => {
                body.extend_from_slice(bytes);
                Ok(())
            }
            Form::Stream(decoder) => {
                decoder.feed(bytes);
                self.read_events(target)
            }
        }
    }

    /// The server sent all it has to send.
    pub(crate) fn end(&mut self, target: &Target) -> Result<(), Fault> {
        match std::mem::replace(&mut self.form, Form::Unknown) {
            Form::Unknown if self.received_bytes == 0 => Err(Fault::truncated()),
            Form::Unknown | Form::WebPage => Err(fault::web_page(target)),
            Form::Whole(body) => self.read_whole(&body, target),
            Form::Stream(mut decoder) => {
                if let Some(event) = decoder.finish() {
                    let data = event.data.into_owned();
                    self.read_data(&data, target)?;
                }
                match (self.over, self.finish) {
                    (true, _) => Ok(()),
                    (false, Some(_)) => self.finish(),
                    (false, None) => Err(Fault::truncated()),
                }
            }
        }
    }

    /// Makes the last events.
    pub(crate) fn finish(&mut self) -> Result<(), Fault> {
        self.over = true;
        self.calls.finish()?;
        let split = self.thinking.finish();
        self.add_split(split)?;
        let is_cut = matches!(self.finish, Some(FinishReason::Length | FinishReason::ContentFilter));
        let pieces = self.text.finish(is_cut);
        self.add_pieces(pieces)?;
        let reason = match (self.finish, self.calls.count()) {
            (Some(reason @ (FinishReason::Length | FinishReason::ContentFilter)), _) => reason,
            // Some servers say “stop” after calls, others “tool_calls” without any.
            (_, 1..) => FinishReason::ToolCalls,
            (_, 0) if self.text.calls_nothing() => FinishReason::CallsNothing,
            (_, 0) => FinishReason::Stop,
        };
        self.events.push_back(ModelEvent::Finished { reason, usage: self.usage });
        Ok(())
    }

    /// The answer is cut off: text that was held back is given out, calls that are not whole are not.
    pub(crate) fn break_off(&mut self) {
        let Split { reasoning, answer } = self.thinking.finish();
        self.add_reasoning(reasoning);
        let mut pieces = if answer.is_empty() { Vec::new() } else { self.text.push(answer) };
        pieces.extend(self.text.finish(true));
        for piece in pieces {
            if let Piece::Text(text) = piece {
                self.events.push_back(ModelEvent::TextDelta(text));
            }
        }
    }

    fn read_events(&mut self, target: &Target) -> Result<(), Fault> {
        // The decoder leaves while its events are read, which borrow from it.
        let Form::Stream(mut decoder) = std::mem::replace(&mut self.form, Form::Unknown) else {
            return Ok(());
        };
        while let Some(event) = decoder.next() {
            let event = event.map_err(|_| too_large())?;
            if event.name == Some("error") {
                let error = UpstreamError::decode(&event.data);
                let error =
                    error.unwrap_or_else(|| UpstreamError { message: event.data.into_owned(), kind: None });
                return Err(fault::in_stream(&error, target));
            }
            self.read_data(&event.data, target)?;
            if self.over {
                break;
            }
        }
        self.form = Form::Stream(decoder);
        Ok(())
    }

    fn read_data(&mut self, data: &str, target: &Target) -> Result<(), Fault> {
        let data = data.trim();
        if data.is_empty() || self.over {
            return Ok(());
        }
        if data == DONE {
            return self.finish();
        }
        let chunk = Chunk::decode(data).map_err(|_| not_a_chunk(data, target))?;
        self.read_chunk(chunk, target)?;
        // Nobody pays for what a model makes up.
        if self.text.is_done() { self.finish() } else { Ok(()) }
    }

    fn read_whole(&mut self, body: &[u8], target: &Target) -> Result<(), Fault> {
        let body = String::from_utf8_lossy(body);
        let body = body.trim_start_matches('\u{FEFF}');
        let chunk = Chunk::decode(body).map_err(|_| match UpstreamError::decode(body) {
            Some(error) => fault::in_stream(&error, target),
            None => not_a_chunk(body, target),
        })?;
        let answers = chunk.finish_reason.is_some() || !chunk.content.is_empty() || !chunk.calls.is_empty();
        if chunk.error.is_none() && !answers {
            return Err(match UpstreamError::decode(body) {
                Some(error) => fault::in_stream(&error, target),
                None => not_a_chunk(body, target),
            });
        }
        self.read_chunk(chunk, target)?;
        self.finish()
    }

    fn read_chunk(&mut self, chunk: Chunk<'_>, target: &Target) -> Result<(), Fault> {
        if let Some(error) = &chunk.error {
            return Err(fault::in_stream(error, target));
        }
        if matches!(self.text, TextReader::Continuing) && chunk.fingerprint.as_deref() == Some(ANSWERS_TEXTS)
        {
            return Err(Fault::new(ProblemCode::ModelRejected, Sentence::AnswersTexts));
        }
        let arguments: usize = chunk.calls.iter().map(|call| call.arguments.len()).sum();
        self.written_bytes += chunk.reasoning.len() + chunk.content.len() + arguments;
        if self.written_bytes > ANSWER_LIMIT_BYTES {
            return Err(too_long(ANSWER_LIMIT_BYTES));
        }
        self.add_reasoning(chunk.reasoning.into_owned());
        if !chunk.content.is_empty() {
            self.begun = true;
            let split = self.thinking.push(&chunk.content);
            self.add_split(split)?;
        }
        for piece in chunk.calls {
            self.begun = true;
            self.calls.push(piece, &mut self.events)?;
        }
        self.usage = chunk.usage.or(self.usage);
        if let Some(reason) = chunk.finish_reason {
            self.finish = Some(finish_reason(&reason)?);
        }
        Ok(())
    }

    fn add_reasoning(&mut self, reasoning: String) {
        if !reasoning.is_empty() {
            self.begun = true;
            self.events.push_back(ModelEvent::ReasoningDelta(reasoning));
        }
    }

    fn add_split(&mut self, split: Split) -> Result<(), Fault> {
        self.add_reasoning(split.reasoning);
        if split.answer.is_empty() {
            return Ok(());
        }
        let pieces = self.text.push(split.answer);
        self.add_pieces(pieces)
    }

    fn add_pieces(&mut self, pieces: Vec<Piece>) -> Result<(), Fault> {
        for piece in pieces {
            match piece {
                Piece::Text(text) => self.events.push_back(ModelEvent::TextDelta(text)),
                Piece::Call { name, arguments } => self.calls.add(&name, arguments, &mut self.events)?,
            }
        }
        Ok(())
    }
}

fn finish_reason(reason: &str) -> Result<FinishReason, Fault> {
    Ok(match reason {
        "tool_calls" | "tool_use" | "function_call" => FinishReason::ToolCalls,
        "length" | "max_tokens" => FinishReason::Length,
        "content_filter" => FinishReason::ContentFilter,
        "error" => return Err(Fault::new(ProblemCode::ModelFailed, Sentence::GaveUpInAnswer)),
        _ => FinishReason::Stop,
    })
}

fn too_long(limit_bytes: usize) -> Fault {
    Fault::protocol(Sentence::AnswerTooLong { limit: (limit_bytes >> 20) as u64 })
}

fn too_large() -> Fault {
    Fault::protocol(Sentence::EventTooLong { limit: (EVENT_LIMIT_BYTES >> 20) as u64 })
}

fn not_a_chunk(data: &str, target: &Target) -> Fault {
    let (server, quote) = (target.shown(), fault::quote(data, target));
    Fault::protocol(Sentence::NotTheProtocol { server, quote })
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use domain::ProblemCode;
    use proptest::prelude::*;

    use super::*;
    use crate::openai::rescue::Rescue;
    use crate::{BaseUrl, HttpClient, OpenAiSettings, Secret, openai::Reach};

    fn target() -> &'static Target {
        static TARGET: LazyLock<Target> = LazyLock::new(new_target);
        &TARGET
    }

    fn new_target() -> Target {
        let base_url = BaseUrl::parse("http://127.0.0.1:1/v1").expect("valid");
        let settings = OpenAiSettings::new(base_url, Some(Secret::new("sk-secret")), "m");
        Reach::new(settings, &HttpClient::new().expect("set up"), "chat/completions").any()
    }

    fn read(chunks: &[&[u8]], text: TextReader, target: &Target) -> (Vec<ModelEvent>, Option<Fault>) {
        let mut answer = Answer::new(text);
        let fed = chunks.iter().try_for_each(|chunk| answer.feed(chunk, target));
        let fault = fed.and_then(|()| answer.end(target)).err();
        (std::iter::from_fn(|| answer.pop()).collect(), fault)
    }

    /// Reads a body that must be refused.
    fn refused(body: &str) -> (ProblemCode, String) {
        let (_, fault) = read(&[body.as_bytes()], TextReader::Plain, target());
        let error = fault.expect("refused").error;
        (error.code, error.message)
    }

    fn finished(reason: FinishReason) -> ModelEvent {
        ModelEvent::Finished { reason, usage: None }
    }

    fn check(body: &str, expected: &[ModelEvent]) {
        let (events, fault) = read(&[body.as_bytes()], TextReader::Plain, target());
        assert!(fault.is_none(), "{body}: {fault:?}");
        assert_eq!(events, expected, "{body}");
    }

    #[test]
    fn every_way_to_end() {
        let text = || ModelEvent::TextDelta("Hi".into());
        let delta = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
        let stop = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
        let expected = [text(), finished(FinishReason::Stop)];
        check(&format!("{delta}{stop}data: [DONE]\n\n"), &expected);
        check(&format!("{delta}data: [DONE]"), &expected);
        check(&format!("{delta}{stop}"), &expected);
        check(&format!("{delta}data: [DONE]\n\n{delta}"), &expected);
        check(&format!("\u{FEFF}: hello\r\n\r\n{delta}{stop}"), &expected);
        check(r#"{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}"#, &expected);
        let length = delta.replace("}}]", "},\"finish_reason\":\"length\"}]");
        check(&length, &[text(), finished(FinishReason::Length)]);
        check("data: [DONE]\n\n", &[finished(FinishReason::Stop)]);
    }

    #[test]
    fn everything_that_is_not_the_protocol() {
        let delta = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
        for (body, code, words) in [
            ("", ProblemCode::ModelProtocol, "in the middle"),
            (delta, ProblemCode::ModelProtocol, "in the middle"),
            ("data: {\"choices\":[{\"del", ProblemCode::ModelProtocol, "not the OpenAI protocol"),
            ("data: sk-secret\n\n", ProblemCode::ModelProtocol, "protocol: [key]"),
            ("<!doctype html><h1>Hi</h1>", ProblemCode::ModelProtocol, "web page"),
            ("{\"x\":1}", ProblemCode::ModelProtocol, "not the OpenAI protocol"),
            ("{\"error\":{\"message\":\"overloaded\"}}", ProblemCode::ModelFailed, "overloaded"),
            ("{\"detail\":\"no\"}", ProblemCode::ModelFailed, "no"),
            (
                "data: {\"error\":{\"message\":\"slow down\",\"code\":429}}\n\n",
                ProblemCode::ModelRateLimited,
                "slow down",
            ),
            ("event: error\ndata: broken\n\n", ProblemCode::ModelFailed, "broken"),
            (
                "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"error\"}]}\n\n",
                ProblemCode::ModelFailed,
                "gave up",
            ),
        ] {
            let (got, message) = refused(body);
            assert_eq!(got, code, "{body}: {message}");
            assert!(message.contains(words), "{message:?} should say {words:?}");
        }
    }

    #[test]
    fn long_words_of_others_are_cut() {
        let body = format!("data: {}\n\n", "é ".repeat(10_000));
        let (_, message) = refused(&body);
        assert!(message.chars().count() < 420 && message.ends_with('…'), "{message}");
    }

    #[test]
    fn endless_answers_are_refused() {
        let target = target();
        let mut answer = Answer::new(TextReader::Plain);
        let block = [b'x'; 1 << 20];
        let fed = (0..64).take_while(|_| answer.feed(&block, target).is_ok()).count();
        assert_eq!(fed, 8, "a line may be 8 MB");
    }

    /// Finding F12 of issue 32: what is held of an answer is bounded, however it is cut and whatever it is.
    #[test]
    fn an_answer_that_never_ends_is_refused_by_what_it_says() {
        let text = "x".repeat(64 << 10);
        for delta in [
            format!(r#"{{"content":"{text}"}}"#),
            format!(r#"{{"reasoning":"{text}"}}"#),
            format!(
                r#"{{"tool_calls":[{{"index":0,"id":"c","function":{{"name":"f","arguments":"{text}"}}}}]}}"#
            ),
        ] {
            let event = format!("data: {{\"choices\":[{{\"delta\":{delta}}}]}}\n\n");
            let mut answer = Answer::new(TextReader::Plain);
            let mut held = 0;
            let fault = loop {
                if let Err(fault) = answer.feed(event.as_bytes(), target()) {
                    break fault;
                }
                held += text.len();
                while answer.pop().is_some() {}
                assert!(held <= ANSWER_LIMIT_BYTES, "{delta:.20}");
            };
            assert!(fault.error.message.contains("4 MB"), "{}", fault.error.message);
            assert_eq!(held, ANSWER_LIMIT_BYTES);
        }
    }

    /// Pieces of streams, good and bad.
    fn body() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just(
                &b"data: {\"choices\":[{\"delta\":{\"content\":\"```json\\n{\\\"name\\\":\\\"ls\\\"}\"}}]}"[..]
            ),
            Just(
                &b"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":4000000000,\"id\":\"\"}]}}]}"[..]
            ),
            Just(&b"data: {\"choices\":[{\"delta\":{\"reasoning\":\"\xC3\xA9\"}}]}"[..]),
            Just(&b"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}"[..]),
            Just(&b"data: [DONE]"[..]),
            Just(&b"\n\n"[..]),
            Just(&b"\r\n\r\n"[..]),
            Just(&b"\xFF\xFE"[..]),
            Just(&b"{"[..]),
            Just(&b"<"[..]),
        ];
        proptest::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn chunking_changes_nothing(body in body(), size in 1usize..9) {
            let target = target();
            let rescue = || TextReader::Rescue(Rescue::new(["ls"]));
            let chunks: Vec<&[u8]> = body.chunks(size).collect();
            let (whole, cut) = (read(&[&body], rescue(), target), read(&chunks, rescue(), target));
            let code = |fault: &Option<Fault>| fault.as_ref().map(|fault| fault.error.clone());
            prop_assert_eq!(code(&whole.1), code(&cut.1));
            if whole.1.is_none() {
                prop_assert_eq!(whole.0, cut.0);
            }
        }
    }
}
