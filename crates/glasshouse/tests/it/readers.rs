//! Readers of one run in all protocols, early, late, and coming and going: each sees the same text, calls and ending.

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    harness::Server,
    runs::{events, start_tour},
    sse::Event,
};

const FORMATS: [&str; 6] = [
    "native",
    "chat",
    "openai",
    "responses",
    "ag_ui",
    "ui_message_stream",
];

/// What a person sees of the main agent.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    /// Without white space: formats put different gaps between two texts.
    text: String,
    calls: Vec<Call>,
    ending: String,
}

#[derive(Debug, Default, PartialEq)]
struct Call {
    id: String,
    name: String,
    result: String,
    of_sub_agent: bool,
}

impl Seen {
    fn write(&mut self, text: &Value) {
        self.text
            .extend(text.as_str().unwrap_or_default().split_whitespace());
    }

    /// The call with this id, which is noted where it is new.
    fn call(&mut self, id: &Value) -> &mut Call {
        // AG-UI's and the Responses' ids begin with the run.
        let id = id.as_str().unwrap().rsplit(['-', '_']).next().unwrap();
        let at = self
            .calls
            .iter()
            .position(|call| call.id == id)
            .unwrap_or_else(|| {
                self.calls.push(Call {
                    id: id.to_owned(),
                    ..Call::default()
                });
                self.calls.len() - 1
            });
        &mut self.calls[at]
    }

    fn name(&mut self, id: &Value, name: &Value) {
        let call = self.call(id);
        assert_eq!(call.name, "", "the call {} begins once", call.id);
        name.as_str().unwrap().clone_into(&mut call.name);
    }

    fn result(&mut self, id: &Value, result: &Value) {
        let call = self.call(id);
        assert_eq!(call.result, "", "the call {} ends once", call.id);
        result.as_str().unwrap().clone_into(&mut call.result);
    }

    fn end(&mut self, ending: &str) {
        assert_eq!(self.ending, "", "the run ends once");
        ending.clone_into(&mut self.ending);
    }

    fn of(format: &str, events: &[Event]) -> Self {
        let mut seen = Self::default();
        for event in events.iter().filter(|event| event.data != "[DONE]") {
            let event = event.json();
            match format {
                "native" => seen.native(&event),
                "chat" => seen.chat(&event),
                "openai" => seen.openai(&event),
                "responses" => seen.response(&event),
                "ag_ui" => seen.ag_ui(&event),
                _ => seen.ui_message(&event),
            }
        }
        seen.calls.retain(|call| !call.of_sub_agent);
        seen
    }

    fn native(&mut self, event: &Value) {
        let body = &event["body"];
        let of_sub_agent = event["agent"].is_array();
        match body["type"].as_str().unwrap() {
            "text_delta" if !of_sub_agent => self.write(&body["delta"]),
            "tool_requested" if !of_sub_agent => self.name(&body["call"], &body["name"]),
            "tool_finished" if !of_sub_agent => self.result(&body["call"], &body["result"]),
            "run_finished" => self.end(body["outcome"].as_str().unwrap()),
            _ => {}
        }
    }

    fn chat(&mut self, event: &Value) {
        let data = &event["data"];
        let of_main = data["agent_depth"] == 0;
        match event["type"].as_str().unwrap() {
            "token" if of_main => self.write(&data["content"]),
            "tool_start" if of_main => self.name(&data["tool_id"], &data["name"]),
            "tool_end" if of_main => self.result(&data["tool_id"], &data["result"]),
            "done" => self.end(data["outcome"].as_str().unwrap()),
            _ => {}
        }
    }

    /// This format has no word for a stopped run, and its rows of tools are for one client only.
    fn openai(&mut self, event: &Value) {
        let choice = &event["choices"][0];
        self.write(&choice["delta"]["content"]);
        if let Some(reason) = choice["finish_reason"].as_str() {
            self.end(reason);
        }
    }

    fn response(&mut self, event: &Value) {
        let item = &event["item"];
        match event["type"].as_str().unwrap() {
            "response.output_text.delta" => self.write(&event["delta"]),
            // In the order of their beginnings, as elsewhere: of two at a time either can end first.
            "response.output_item.added" if item["type"] == "mcp_call" => {
                self.call(&item["id"]);
            }
            "response.output_item.done" if item["type"] == "mcp_call" => {
                self.name(&item["id"], &item["name"]);
                let error = &item["error"]["content"][0]["text"];
                self.result(
                    &item["id"],
                    if error.is_string() {
                        error
                    } else {
                        &item["output"]
                    },
                );
            }
            "response.completed" | "response.incomplete" => {
                self.end(event["response"]["status"].as_str().unwrap());
            }
            _ => {}
        }
    }

    fn ag_ui(&mut self, event: &Value) {
        let of_main = event.get("subagentRunId").is_none();
        match event["type"].as_str().unwrap() {
            "TEXT_MESSAGE_CONTENT" if of_main => self.write(&event["delta"]),
            "TOOL_CALL_START" if of_main => self.name(&event["toolCallId"], &event["toolCallName"]),
            "TOOL_CALL_RESULT" if of_main => {
                // The format has no other place to say that it is one.
                let result = event["content"].as_str().unwrap();
                self.result(
                    &event["toolCallId"],
                    &json!(result.trim_start_matches("Error: ")),
                );
            }
            "RUN_FINISHED" => self.end(event["outcome"]["type"].as_str().unwrap_or("completed")),
            _ => {}
        }
    }

    fn ui_message(&mut self, part: &Value) {
        let id = &part["toolCallId"];
        match part["type"].as_str().unwrap() {
            "text-delta" => self.write(&part["delta"]),
            "tool-input-start" => self.name(id, &part["toolName"]),
            "tool-input-available" => {
                self.call(id).of_sub_agent = part["providerMetadata"].is_object()
            }
            "tool-output-available" => self.result(id, &part["output"]),
            "tool-output-error" | "tool-input-error" => self.result(id, &part["errorText"]),
            "finish" => self.end(part["messageMetadata"]["outcome"].as_str().unwrap()),
            "abort" => self.end("cancelled"),
            _ => {}
        }
    }
}

/// Reads to the end; leaves after about `visit` events and comes back at the last one it has whole.
async fn read(server: &Server, cookie: &str, run: &str, format: &str, visit: usize) -> Vec<Event> {
    let (mut all, mut after) = (Vec::<Event>::new(), 0);
    loop {
        let path = format!("/runs/{run}/events?format={format}&after={after}");
        let mut stream = events(server, cookie, &path).await;
        let mut news = Vec::new();
        let is_over = loop {
            let Some(event) = stream.next().await else {
                break true;
            };
            let has_more = event.id.is_some_and(|id| id > after);
            after = event.id.unwrap_or(after).max(after);
            news.push(event);
            if has_more && news.len() >= visit {
                break false;
            }
        };
        // Whoever leaves between two frames of one event gets the first one again, under the same number.
        let again = (1..=news.len().min(all.len()))
            .rev()
            .find(|size| all.ends_with(&news[..*size]));
        all.extend(news.into_iter().skip(again.unwrap_or(0)));
        if is_over {
            return all;
        }
    }
}

/// Plays the tour with readers in every protocol. All of them must have seen what stands in the log.
async fn check(decide: &str, ending: &str) {
    let (server, cookie) = Server::start_signed_in().await;
    let (_, run) = start_tour(&server, &cookie).await;
    let asked = CancellationToken::new();
    let deciding = async {
        let mut stream = events(&server, &cookie, &format!("/runs/{run}/events")).await;
        let event = stream
            .until(|event| event["body"]["type"] == "approval_asked")
            .await;
        asked.cancel();
        let approval = event["body"]["approval"].as_str().unwrap();
        let (path, body) = match decide {
            "stop" => (format!("/runs/{run}/cancel"), json!({})),
            decision => (
                format!("/runs/{run}/approvals/{approval}"),
                json!({"decision": decision}),
            ),
        };
        server.post(&path, &cookie, &body).await.expect(204);
    };
    let staying = read(&server, &cookie, &run, "native", usize::MAX);
    let coming_and_going = join_all(
        FORMATS
            .into_iter()
            .zip(171..)
            .map(|(format, visit)| read(&server, &cookie, &run, format, visit)),
    );
    let late = async {
        asked.cancelled().await;
        join_all(FORMATS.map(|format| read(&server, &cookie, &run, format, 297))).await
    };
    let ((), staying, coming_and_going, late) =
        tokio::join!(deciding, staying, coming_and_going, late);
    let truth = Seen::of("native", &staying);
    assert_eq!(truth.ending, ending);
    assert!(truth.calls.len() > 5 && truth.text.len() > 100, "{truth:?}");
    for (at, format) in FORMATS.into_iter().enumerate() {
        for (how, frames) in [("coming and going", &coming_and_going), ("late", &late)] {
            let seen = Seen::of(format, &frames[at]);
            assert_eq!(seen.text, truth.text, "{format}, {how}");
            if format == "openai" {
                assert_eq!(seen.ending, "stop", "{how}");
                continue;
            }
            assert_eq!(seen.ending, truth.ending, "{format}, {how}");
            assert_eq!(seen.calls.len(), truth.calls.len(), "{format}, {how}");
            for (call, expected) in seen.calls.iter().zip(&truth.calls) {
                assert_eq!(call, expected, "{format}, {how}");
            }
        }
    }
}

#[tokio::test]
async fn all_protocols_show_the_same_run() {
    check("allow", "completed").await;
}

#[tokio::test]
async fn all_protocols_show_the_same_stopped_run() {
    check("stop", "cancelled").await;
}
