//! The JSON objects of a chunk.

use std::borrow::Cow;

use serde::de::{DeserializeSeed, Error, MapAccess};
use serde_json::value::RawValue;

use super::{
    CallDelta, Halves,
    fields::{Each, Fields, Place, skip},
    text::some_text,
};

pub(super) fn is_list_or_object(raw: &RawValue) -> bool {
    raw.get().starts_with(['[', '{'])
}

/// Whether it is a text, list or object that is not empty.
pub(super) fn says_something(raw: &RawValue) -> bool {
    raw.get().len() > 2 && raw.get().starts_with(['"', '[', '{'])
}

#[derive(Default)]
pub(super) struct WireChunk<'a> {
    pub(super) object: Option<&'a RawValue>,
    pub(super) choice: WireChoice<'a>,
    pub(super) usage: Option<&'a RawValue>,
    pub(super) x_groq: Groq<'a>,
    pub(super) error: Option<&'a RawValue>,
    pub(super) message: Option<&'a RawValue>,
    pub(super) system_fingerprint: Option<&'a RawValue>,
    pub(super) kind: Option<&'a RawValue>,
    pub(super) data: Option<&'a RawValue>,
    pub(super) event: Option<&'a RawValue>,
    pub(super) citations: Option<&'a RawValue>,
    pub(super) search_results: Option<&'a RawValue>,
}

impl<'a> WireChunk<'a> {
    pub(super) fn parse(&mut self, data: &'a str) -> Result<(), serde_json::Error> {
        if !data.trim_start().starts_with('{') {
            return Err(Error::custom("not a JSON object"));
        }
        let mut deserializer = serde_json::Deserializer::from_str(data);
        Place(self).deserialize(&mut deserializer)?;
        deserializer.end()
    }
}

impl<'a> Fields<'a> for WireChunk<'a> {
    fn read<M: MapAccess<'a>>(&mut self, name: &str, map: &mut M) -> Result<(), M::Error> {
        match name {
            "choices" => map.next_value_seed(Place(&mut self.choice))?,
            "object" => self.object = map.next_value()?,
            "usage" => self.usage = map.next_value()?,
            "x_groq" => map.next_value_seed(Place(&mut self.x_groq))?,
            "error" => self.error = map.next_value()?,
            "message" => self.message = map.next_value()?,
            "system_fingerprint" => self.system_fingerprint = map.next_value()?,
            "type" => self.kind = map.next_value()?,
            "data" => self.data = map.next_value()?,
            "event" => self.event = map.next_value()?,
            "citations" => self.citations = map.next_value()?,
            "search_results" => self.search_results = map.next_value()?,
            _ => skip(map)?,
        }
        Ok(())
    }

    fn is_wanted(&self) -> bool {
        true
    }
}

#[derive(Default)]
pub(super) struct Groq<'a> {
    pub(super) usage: Option<&'a RawValue>,
}

impl<'a> Fields<'a> for Groq<'a> {
    fn read<M: MapAccess<'a>>(&mut self, name: &str, map: &mut M) -> Result<(), M::Error> {
        match name {
            "usage" => self.usage = map.next_value()?,
            _ => skip(map)?,
        }
        Ok(())
    }

    fn is_wanted(&self) -> bool {
        true
    }
}

#[derive(Default)]
pub(super) struct WireChoice<'a> {
    pub(super) index: Option<u64>,
    /// The delta, or the message of an unstreamed answer.
    pub(super) delta: WireDelta<'a>,
    pub(super) text: Option<&'a RawValue>,
    pub(super) finish_reason: Option<&'a RawValue>,
    pub(super) usage: Option<&'a RawValue>,
    pub(super) is_object: bool,
}

impl<'a> Fields<'a> for WireChoice<'a> {
    fn read<M: MapAccess<'a>>(&mut self, name: &str, map: &mut M) -> Result<(), M::Error> {
        self.is_object = true;
        match name {
            "index" => self.index = index(map.next_value()?),
            "delta" | "message" => map.next_value_seed(Place(&mut self.delta))?,
            "text" => self.text = map.next_value()?,
            "finish_reason" => self.finish_reason = map.next_value()?,
            "usage" => self.usage = map.next_value()?,
            _ => skip(map)?,
        }
        Ok(())
    }

    /// Only the first choice is read.
    fn is_wanted(&self) -> bool {
        self.is_object && self.index.unwrap_or(0) == 0
    }
}

#[derive(Default)]
pub(super) struct WireDelta<'a> {
    pub(super) content: Option<&'a RawValue>,
    pub(super) reasoning_content: Option<&'a RawValue>,
    pub(super) reasoning: Option<&'a RawValue>,
    pub(super) thinking: Option<&'a RawValue>,
    pub(super) reasoning_details: Option<&'a RawValue>,
    pub(super) refusal: Option<&'a RawValue>,
    pub(super) audio: Audio<'a>,
    pub(super) calls: Vec<WireCall<'a>>,
    pub(super) function_call: WireFunction<'a>,
    /// The delta is a bare text.
    pub(super) text: Option<Cow<'a, str>>,
    pub(super) annotations: Option<&'a RawValue>,
    pub(super) images: Option<&'a RawValue>,
}

impl<'a> Fields<'a> for WireDelta<'a> {
    fn read<M: MapAccess<'a>>(&mut self, name: &str, map: &mut M) -> Result<(), M::Error> {
        match name {
            "content" => self.content = map.next_value()?,
            "reasoning_content" => self.reasoning_content = map.next_value()?,
            "reasoning" => self.reasoning = map.next_value()?,
            "thinking" => self.thinking = map.next_value()?,
            "reasoning_details" => self.reasoning_details = map.next_value()?,
            "refusal" => self.refusal = map.next_value()?,
            "audio" => map.next_value_seed(Place(&mut self.audio))?,
            "tool_calls" => {
                self.calls.clear();
                map.next_value_seed(Each::new(|call| self.calls.push(call)))?;
            }
            "function_call" => map.next_value_seed(Place(&mut self.function_call))?,
            "annotations" => self.annotations = map.next_value()?,
            "images" => self.images = map.next_value()?,
            _ => skip(map)?,
        }
        Ok(())
    }

    fn read_text(&mut self, text: Cow<'a, str>) {
        self.text = Some(text);
    }

    fn is_wanted(&self) -> bool {
        true
    }
}

#[derive(Default)]
pub(super) struct Audio<'a> {
    pub(super) transcript: Option<&'a RawValue>,
}

impl<'a> Fields<'a> for Audio<'a> {
    fn read<M: MapAccess<'a>>(&mut self, name: &str, map: &mut M) -> Result<(), M::Error> {
        match name {
            "transcript" => self.transcript = map.next_value()?,
            _ => skip(map)?,
        }
        Ok(())
    }

    fn is_wanted(&self) -> bool {
        true
    }
}

#[derive(Default)]
pub(super) struct WireCall<'a> {
    pub(super) index: Option<u64>,
    pub(super) id: Option<&'a RawValue>,
    /// Its fields may also be next to the id.
    pub(super) function: WireFunction<'a>,
    pub(super) extra_content: Option<&'a RawValue>,
    pub(super) is_object: bool,
}

impl<'a> Fields<'a> for WireCall<'a> {
    fn read<M: MapAccess<'a>>(&mut self, name: &str, map: &mut M) -> Result<(), M::Error> {
        self.is_object = true;
        match name {
            "index" => self.index = index(map.next_value()?),
            "id" => self.id = map.next_value()?,
            "function" => map.next_value_seed(Place(&mut self.function))?,
            "extra_content" => self.extra_content = map.next_value()?,
            _ => self.function.read(name, map)?,
        }
        Ok(())
    }

    fn is_wanted(&self) -> bool {
        self.is_object
    }
}

impl<'a> WireCall<'a> {
    pub(super) fn read(&self, halves: &mut Halves) -> CallDelta<'a> {
        let WireFunction { name, arguments } = self.function;
        CallDelta {
            index: self.index,
            id: some_text(self.id).or_else(|| number(self.id).map(Cow::Borrowed)),
            name: some_text(name),
            arguments: match arguments.map(RawValue::get) {
                None => Cow::Borrowed(""),
                Some(text) if text.starts_with('"') => halves.arguments.text(arguments),
                // Some servers send the arguments as an object instead of text.
                Some(value) => Cow::Borrowed(value),
            },
            extra_content: self
                .extra_content
                .filter(|raw| raw.get().starts_with('{') && says_something(raw))
                .map(|raw| Cow::Borrowed(raw.get())),
        }
    }
}

#[derive(Default, Clone, Copy)]
pub(super) struct WireFunction<'a> {
    pub(super) name: Option<&'a RawValue>,
    pub(super) arguments: Option<&'a RawValue>,
}

impl<'a> Fields<'a> for WireFunction<'a> {
    fn read<M: MapAccess<'a>>(&mut self, name: &str, map: &mut M) -> Result<(), M::Error> {
        match name {
            "name" => self.name = map.next_value()?,
            "arguments" => self.arguments = map.next_value()?,
            _ => skip(map)?,
        }
        Ok(())
    }

    fn is_wanted(&self) -> bool {
        self.name.or(self.arguments).is_some()
    }
}

/// The parts of a content list, which may include thinking.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) text: String,
    pub(super) reasoning: String,
}

impl Parts {
    pub(super) fn read(list: &RawValue) -> Self {
        let mut parts = Self::default();
        let each = Each::new(|part: Part<'_>| {
            let is_reasoning = part.kind.is_some_and(|kind| kind.get() == "\"reasoning\"");
            let of_text = if is_reasoning {
                &mut parts.reasoning
            } else {
                &mut parts.text
            };
            let texts = [part.text.or(part.refusal), part.summary]
                .into_iter()
                .flatten();
            texts.for_each(|text| of_text.push_str(&all_text(text)));
            of_text.push_str(&part.bare);
            parts
                .reasoning
                .push_str(&part.thinking.map(all_text).unwrap_or_default());
        });
        // It was already parsed as valid JSON.
        let _ = each.deserialize(&mut serde_json::Deserializer::from_str(list.get()));
        parts
    }
}

/// A text, or all texts of a list of parts.
fn all_text(raw: &RawValue) -> String {
    if is_list_or_object(raw) {
        let parts = Parts::read(raw);
        parts.reasoning + &parts.text
    } else {
        some_text(Some(raw)).unwrap_or_default().into_owned()
    }
}

#[derive(Default)]
pub(super) struct Part<'a> {
    pub(super) kind: Option<&'a RawValue>,
    pub(super) text: Option<&'a RawValue>,
    pub(super) thinking: Option<&'a RawValue>,
    pub(super) refusal: Option<&'a RawValue>,
    pub(super) summary: Option<&'a RawValue>,
    pub(super) bare: Cow<'a, str>,
}

impl<'a> Fields<'a> for Part<'a> {
    fn read<M: MapAccess<'a>>(&mut self, name: &str, map: &mut M) -> Result<(), M::Error> {
        match name {
            "text" => self.text = map.next_value()?,
            "thinking" => self.thinking = map.next_value()?,
            "type" => self.kind = map.next_value()?,
            "refusal" => self.refusal = map.next_value()?,
            "summary" => self.summary = map.next_value()?,
            _ => skip(map)?,
        }
        Ok(())
    }

    fn read_text(&mut self, text: Cow<'a, str>) {
        self.bare = text;
    }

    fn is_wanted(&self) -> bool {
        true
    }
}

/// The text of a number, which some servers put in quotes.
fn unquoted(raw: &RawValue) -> &str {
    let text = raw.get();
    text.strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .unwrap_or(text)
}

fn number(raw: Option<&RawValue>) -> Option<&str> {
    raw.map(RawValue::get)
        .filter(|text| text.starts_with(|c: char| c == '-' || c.is_ascii_digit()))
}

/// An index in any form: `0`, `0.0`, `"0"`, or `-1`, which is a number like others.
fn index(raw: Option<&RawValue>) -> Option<u64> {
    let text = unquoted(raw?);
    if let Ok(index) = text.parse() {
        return Some(index);
    }
    let whole = text.split_once('.').map_or(text, |(whole, _)| whole);
    whole.parse::<i64>().ok().map(i64::cast_unsigned)
}
