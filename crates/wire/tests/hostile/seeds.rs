//! Valid seeds for each target: recorded traffic of servers and clients, or an example.

use std::{fs, path::Path};

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use provider::bedrock::FrameDecoder;
use serde_json::{Value, json};

/// Maximum length of a recorded frame.
const FRAME_LIMIT_BYTES: usize = 1 << 20;

const RUN: &str = "0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d";

/// The valid inputs for a target; empty if there is no such target.
pub(crate) fn of(name: &str) -> Vec<String> {
    let seeds: &[&str] = match name {
        "anthropic" | "bedrock" | "openai_responses" => return answers(name),
        "messages_request" => {
            return recorded("anthropic")
                .iter()
                .map(|exchange| exchange["request"].to_string())
                .collect();
        }
        "sse" => &[
            "id: 1\ndata: {\"a\":1}\n\nevent: x\r\ndata: b\r\ndata: c\r\n\r\n: keep-alive\n\ndata: [DONE]\n\n",
            "\u{FEFF}data: é✓\r\rdata\n\nid: n\0\ndata: last",
            "data: abcd\ndata: efgh\ndata: ijkl",
        ],
        "openai_chunk" => &[
            r#"{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"H\u00e9"},"finish_reason":null}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"ls","arguments":""}},{"index":1,"function":{"arguments":{"path":"/"}}}]}}]}"#,
            r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"text":"hm"}]},{"type":"text","text":"ok"}],"reasoning":"a\nb"},"finish_reason":"stop","usage":{"prompt_tokens":1}}]}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":12.0,"completion_tokens":3},"x_groq":{"usage":{"input_tokens":1}}}"#,
            r#"{"object":"error","message":"too long","error":{"message":"no","code":429}}"#,
            r#"{"type":"status","data":{"description":"a\nb","done":true,"hidden":false},"event":{"type":"status","data":{"hidden":true}},"choices":[]}"#,
        ],
        "gemini" => &[
            r#"{"candidates":[{"content":{"parts":[{"text":"hm","thought":true,"thoughtSignature":"s"},{"text":"a"},{"functionCall":{"name":"ls","args":{"a":[1]}},"thoughtSignature":"t"}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":2,"thoughtsTokenCount":3},"responseId":"r"}"#,
            r#"[{"candidates":[{"content":{"parts":[{"functionCall":{"name":"ls","willContinue":true,"partialArgs":[{"jsonPath":"$.a[0].b","stringValue":"x"}]}},{"functionCall":{"partialArgs":[{"jsonPath":"$.a[1]","numberValue":2}]}},{"executableCode":{"code":"1"}}]},"groundingMetadata":{"webSearchQueries":["q"]}}]},{"candidates":[{"finishReason":"SAFETY","finishMessage":"m"}]}]"#,
            r#"{"error":{"code":429,"message":"later","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"3.5s"}]}}"#,
            r#"{"models":[{"name":"models/gemini-2.5-flash","inputTokenLimit":1048576,"supportedGenerationMethods":["generateContent"],"thinking":true}],"nextPageToken":"n"}"#,
            r#"{"embeddings":[{"values":[1,2]},{"values":[3,4]}],"usageMetadata":{"promptTokenCount":7}}"#,
            r##"{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#/$defs/A"},{"type":"null"}],"description":"d"},"b":{"type":["string","integer"],"exclusiveMinimum":1,"enum":["x",1,null]}},"required":["a"],"$defs":{"A":{"allOf":[{"$ref":"#"}],"properties":{"c":{"$ref":"#/$defs/A"}}}}}"##,
        ],
        "tool_schema" => &[
            r##"{"$schema":"http://json-schema.org/draft-04/schema#","id":"http://x.example/a.json","type":["object"],"properties":{"n":{"type":"int","minimum":0,"exclusiveMinimum":true,"required":true},"t":{"items":[{"type":"string"},{"$ref":"#/definitions/My%20Type"}],"additionalItems":false}},"definitions":{"My Type":{"id":"#named","properties":[]}}}"##,
            r##"{"$id":"root.json","$ref":"#args","$defs":{"args":{"$anchor":"args","properties":{"a":{"$ref":"root.json#/$defs/args","description":null},"é":{"pattern":"^(?!x)\:","nullable":true}},"patternProperties":{"^(.*)$":true},"anyOf":[{"required":["a"]},null]}}}"##,
            r#"{"allOf":[{"properties":{"a":false},"required":["a"]}],"not":{},"enum":[],"dependencies":{"a":["b"],"c":{}},"if":true}"#,
            r#"{"error":{"message":"Invalid schema for function 'a': In context=('properties', 'a'), array schema missing items.","param":"tools[0].function.parameters"}}"#,
        ],
        "upstream_error" => &[
            r#"{"error":{"message":"no","type":"auth","code":"bad_key"}}"#,
            r#"[{"error":{"detail":"no","code":429}}]"#,
            r#"{"object":"error","message":"too long","code":400}"#,
            r#"{"detail":[{"loc":["body"],"msg":"required"}]}"#,
        ],
        "usage_watch" => &[
            "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n",
            r#"{"object":"chat.completion","choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":7,"completion_tokens":2}}"#,
        ],
        "export_line" => &[
            r#"{"glasshouse_export":{"format":1,"version":"0.1.0","made_at":5}}"#,
            r#"{"chat":{"id":"chat_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d","title":"T","current":null,"created_at":1,"updated_at":2,"unread":true,"owner_id":"x"}}"#,
            r#"{"message":{"id":"msg_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d","chat":"chat_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d","role":"user","content":[{"type":"text","text":"Hi"},{"type":"image","url":"data:image/png;base64,AA=="}],"created_at":1}}"#,
            r#"{"log":{"run":"run_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d","events":[{"run":"run_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d","seq":2,"at":1,"agent":["a1"],"body":{"type":"text_delta","item":"t","delta":"H"}}]}}"#,
            r#"{"file":{"workspace":"w","path":"/a","version":1,"changed_at":1,"base64":"AA=="}}"#,
            r#"{"end":{"lines":7}}"#,
        ],
        "chat_exports" => &[
            r#"[{"id":"c1","title":"T","created_at":1700000000,"updated_at":1700000001,"chat":{"models":["m"],"history":{"currentId":"b","messages":{"b":{"id":"b","parentId":"a","childrenIds":[],"role":"assistant","content":"<details type=\"reasoning\" done=\"true\" duration=\"3\">\n<summary>Thought</summary>\n> hm &lt;\n</details>\nYes.","model":"m","timestamp":1700000001,"info":{"usage":{"prompt_tokens":3}}},"a":{"id":"a","parentId":null,"childrenIds":["b"],"role":"user","content":"Hi","timestamp":1700000000,"files":[{"type":"image","url":"data:image/png;base64,AA=="}]}}}}}]"#,
            r#"[{"title":"Old","messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Yes","error":{"content":"no"}}],"timestamp":1700000000000},{"chat":{"history":{"messages":{"a":{"role":"user","content":"x","parentId":"b"},"b":{"role":"user","content":"y","parentId":"a"}}}}}]"#,
            r#"{"title":"One","history":{"currentId":"a","messages":{"a":{"role":"assistant","output":[{"type":"reasoning","content":[{"text":"hm"}],"duration":1.5},{"type":"function_call","call_id":"c1","name":"ls","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"a"}]},{"type":"message","content":[{"type":"output_text","text":"Yes"}]}],"sources":[{"source":{"name":"T","url":"https://example.org"},"document":["d"],"metadata":[{"source":"s"}]}],"usage":{"prompt_tokens":1,"completion_tokens":2}}}}}"#,
            r#"[{"chat":{"history":{"messages":{"a":{"role":"assistant","content":"<details type=\"tool_calls\" name=\"ls\" arguments=\"&quot;{}&quot;\" result=\"&quot;a&quot;\">\n<summary>x</summary></details> ok <details>"}}}}}]"#,
            r#"[{"title":"T","create_time":1700000000.5,"conversation_id":"c","current_node":"b","default_model_slug":"gpt-5","mapping":{"r":{"id":"r","message":null,"parent":null,"children":["a"]},"a":{"parent":"r","message":{"author":{"role":"user"},"create_time":1700000000.5,"content":{"content_type":"multimodal_text","parts":[{"content_type":"image_asset_pointer","asset_pointer":"sediment://file_1"},"Hi"]},"metadata":{"attachments":[{"id":"file_1","name":"a.png"}]}}},"t":{"parent":"a","message":{"author":{"role":"assistant"},"recipient":"python","content":{"content_type":"code","text":"1"}}},"o":{"parent":"t","message":{"author":{"role":"tool","name":"python"},"content":{"content_type":"execution_output","text":"1"}}},"b":{"parent":"o","message":{"author":{"role":"assistant"},"content":{"content_type":"text","parts":["Yes \ue200cite\ue202turn0search0\ue201 【4†s】"]},"metadata":{"model_slug":"gpt-5","content_references":[{"matched_text":"\ue200cite\ue202turn0search0\ue201","items":[{"title":"A","url":"https://a.example"}]}],"citations":[{"metadata":{"title":"B","url":"https://b.example","extra":{"cited_message_idx":4}}}]}}}}}]"#,
            r#"[{"uuid":"c","name":"T","created_at":"2025-12-08T17:00:00Z","chat_messages":[{"uuid":"1","sender":"human","text":"Hi","parent_message_uuid":"00000000-0000-4000-8000-000000000000","attachments":[{"file_name":"a","extracted_content":"x"}],"files":[{"file_name":"b"}]},{"uuid":"2","sender":"assistant","parent_message_uuid":"1","content":[{"type":"thinking","thinking":"hm"},{"type":"tool_use","id":"t","name":"ls","input":{}},{"type":"tool_result","tool_use_id":"t","name":"ls","content":[{"type":"knowledge","title":"A","url":"https://a.example"}]},{"type":"text","text":"Yes","citations":[]}]}]}]"#,
            r#"{"conversationId":"c","title":"T","options":{"model":"m"},"messagesTree":[{"messageId":"1","isCreatedByUser":true,"text":"Hi","createdAt":"2024-05-28T18:08:55.014Z","children":[{"messageId":"2","isCreatedByUser":false,"content":[{"type":"think","think":"hm"},{"type":"tool_call","tool_call":{"name":"ls","args":"{}","output":"a"}},{"type":"text","text":{"value":"Yes"}}],"tokenCount":3,"children":[]}]}]}"#,
        ],
        "embeddings" => &[
            r#"{"data":[{"index":1,"embedding":[3,-4.5e-3]},{"index":0,"embedding":[1,2]}],"usage":{"prompt_tokens":7}}"#,
            r#"{"data":[{"embedding":[1]}],"usage":{"total_tokens":7}}"#,
        ],
        "rerank" => &[
            r#"{"results":[{"index":2,"relevance_score":0.9},{"index":0,"score":-3}],"usage":{"total_tokens":9}}"#,
        ],
        "transcription" => &[
            r#"{"text":" Hi.","duration":"8.2","segments":[{"start":0.0,"end":8.2,"text":" Hi.","speaker":"A"}],"usage":{"type":"duration","seconds":9}}"#,
            r#"{"text":"Hi","usage":{"type":"tokens","input_tokens":14,"input_token_details":{"audio_tokens":10},"output_tokens":5}}"#,
        ],
        "group_list" => &[
            r#"{"value":["fee2c45b","59265b4a"],"@odata.nextLink":"https://graph.microsoft.com/v1.0/me/x?$skiptoken=1"}"#,
            r#"{"value":[{"displayName":"All","id":"45b7d2e7"}],"@odata.nextLink":null}"#,
            r#"{"realm":{"groups":["a","b"]}}"#,
        ],
        "redact" => &[
            r#"{"api_key":"abc","text":"Authorization: Bearer a1b2c3d4e5f6","nested":[{"password":7}],"name":"token","value":"a1b2c3"}"#,
            "DB_PASSWORD='correct horse' postgres://ada:hunter2@db/x?sslmode=require token=a1b2c3d4 Cookie: a=b",
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- sk-1234567890abcdef Basic YWRhOnBhc3M=",
            "{\\\"secret\\\":\\\"x\\\"} https://a.example/?sig=abc&key=a1b2c3d4 eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3",
        ],
        "model_list" => &[
            r#"{"object":"list","data":[{"id":"a"},{"id":"b","object":"model"}]}"#,
            r#"{"models":[{"name":"a"},{"model":"b"},"c"]}"#,
            r#"{"data":[{"id":"a\ud83d","context_length":9,"supported_parameters":["tools"],"architecture":{"input_modalities":["image"]},"top_provider":{"max_completion_tokens":5}},{"id":"b","capabilities":{"vision":true,"effort":{"low":{"supported":true}}}},{"id":"c","capabilities":["tool_use"],"meta":{"n_ctx_train":8}}]}"#,
        ],
        "chat_stream_request" => &[
            r#"{"messages":[{"role":"system","content":"Be short."},{"role":"user","content":[{"type":"text","text":"Hi"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]}],"stream":true,"model":"m","mode":"research","chat_id":"c","metadata":{"a":[1.5]},"events":["tool_args_delta"]}"#,
            r#"{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"a"}]}"#,
        ],
        "debug_chat_request" => &[
            r#"{"message":"Hi","conversationId":"c","parentMessageId":"msg_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2f","model":"m"}"#,
            r#"{"message":[{"type":"text","text":"Hi"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}},{"type":"input_audio","input_audio":{"data":"AA=="}}],"messages":[{"role":"system","content":"Be short."},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"a"}]}"#,
        ],
        "completion_request" => &[
            r#"{"model":"glasshouse/agent","messages":[{"role":"user","content":"<research_request>\nTides"}],"stream":true,"stream_options":{"include_usage":true,"include_status":true},"temperature":0.2,"n":1}"#,
            r#"{"model":"m","messages":[{"role":"user","content":"Hi"}],"tools":[{"type":"function","function":{"name":"weather","description":"d","parameters":{"type":"object"}}}],"tool_choice":"auto","response_format":{"type":"text"}}"#,
        ],
        "passing_request" => &[
            r#"{"model":"m","messages":[{"role":"user","content":"Hi"}],"stream":true,"unknown":{"model":"x"}}"#,
            r#" {"stream" : false , "model" : "a\u00e9\"b" } "#,
        ],
        "response_request" => &[
            r#"{"model":"m","input":"Hi","instructions":"Be short.","stream":true,"store":false,"temperature":1,"max_output_tokens":64,"metadata":{"a":"b"}}"#,
            r#"{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"Hi"},{"type":"input_image","image_url":"data:image/png;base64,AA=="}]},{"type":"function_call","call_id":"c1","name":"ls","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"a"},{"type":"reasoning","summary":[]}],"tools":[{"type":"function","name":"ls","parameters":{"type":"object"}}],"tool_choice":"auto","text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"}}},"background":true,"previous_response_id":"resp_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d"}"#,
        ],
        "ag_ui_input" => &[
            r#"{"threadId":"t","runId":"r","protocolVersion":"1.0.0","messages":[{"id":"u","role":"user","content":"Hi"}],"tools":[{"name":"n","description":"d","parameters":{"type":"object"}}],"context":[{"description":"page","value":"home"}],"state":{"colour":"red"},"forwardedProps":{"model":"m","onDisconnect":"stop"}}"#,
            r#"{"threadId":"t","runId":"r","messages":[{"id":"u","role":"user","content":[{"type":"text","text":"Hi"},{"type":"image","source":{"type":"data","value":"AA==","mimeType":"image/png"}}]},{"id":"a","role":"assistant","toolCalls":[{"id":"0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d-c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"id":"x","role":"tool","toolCallId":"0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d-c1","content":"a"}],"resume":[{"interruptId":"0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d-p1-7","status":"resolved","payload":{"approved":true}}]}"#,
        ],
        "ag_ui_interrupt" => {
            return vec![
                format!("{RUN}-p1-7"),
                format!("{RUN}-a1.q-3-18446744073709551615"),
            ];
        }
        "ui_message_request" => &[
            r#"{"id":"chat","model":"m","trigger":"submit-message","messages":[{"id":"u","role":"user","parts":[{"type":"text","text":"Hi"},{"type":"file","mediaType":"image/png","url":"data:image/png;base64,AA=="}]}]}"#,
            r#"{"messages":[{"role":"user","parts":[{"type":"text","text":"Hi"}]},{"id":"run_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d","role":"assistant","parts":[{"type":"step-start"},{"type":"dynamic-tool","toolName":"ls","toolCallId":"c1","state":"approval-responded","input":{"path":"/"},"approval":{"id":"run_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d:p1","approved":true,"reason":"r"}},{"type":"dynamic-tool","toolName":"ls","toolCallId":"c2","state":"output-available","input":{},"output":"a"},{"type":"text","text":"Done."}]}]}"#,
        ],
        "event_lines" => &[
            r#"{"run":"run_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d","seq":7,"at":1763760000123,"agent":["a1"],"body":{"type":"tool_finished","call":"c1","name":"ls","arguments":{"a":[0.1,"\u2028"]},"result":"a\nb","error":false,"truncated":false,"duration_ms":1}}"#,
            r#"{"run":"run_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d","seq":9,"at":1,"body":{"type":"run_finished","outcome":"failed","problem":{"code":"model_failed","message":"m"},"usage":{"input_tokens":1,"output_tokens":2}}}"#,
        ],
        _ => &[],
    };
    seeds.iter().map(|seed| (*seed).to_owned()).collect()
}

/// The recorded exchanges with a provider.
fn recorded(provider: &str) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../provider/tests/recordings")
        .join(provider);
    let files = fs::read_dir(folder)
        .expect("the recordings")
        .map(|entry| entry.expect("a file").path());
    let mut files: Vec<_> = files
        .filter(|file| file.extension().is_some_and(|it| it == "json"))
        .collect();
    files.sort();
    let read =
        |file| serde_json::from_slice(&fs::read(file).expect("a recording")).expect("a list");
    files
        .into_iter()
        .flat_map(|file| -> Vec<Value> { read(file) })
        .collect()
}

/// The recorded answers of a provider: whole ones, and streams as they came and as a list of their events.
fn answers(provider: &str) -> Vec<String> {
    let of = |exchange: Value| -> Vec<String> {
        let answer = exchange.get("stream").unwrap_or(&exchange["response"]);
        match (answer.as_str(), answer["base64"].as_str()) {
            (Some(stream), _) => vec![stream.to_owned(), server_sent(stream).to_string()],
            (None, Some(frames)) => {
                vec![framed(&BASE64.decode(frames).expect("base64")).to_string()]
            }
            (None, None) => vec![answer.to_string()],
        }
    };
    recorded(provider).into_iter().flat_map(of).collect()
}

fn server_sent(stream: &str) -> Value {
    let mut decoder = sse::Decoder::new(FRAME_LIMIT_BYTES);
    let mut events: Vec<Value> = Vec::new();
    decoder.feed(stream.as_bytes());
    while let Some(Ok(event)) = decoder.next() {
        events.extend(serde_json::from_str(&event.data));
    }
    events.into()
}

fn framed(bytes: &[u8]) -> Value {
    let mut decoder = FrameDecoder::new(FRAME_LIMIT_BYTES);
    let mut events = Vec::new();
    decoder.feed(bytes);
    while let Some(Ok(frame)) = decoder.next() {
        let data: Value = serde_json::from_str(&frame.data).expect("JSON in a recorded frame");
        events.push(json!({ frame.name: data }));
    }
    events.into()
}
