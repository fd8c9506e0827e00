//! Documents that other services read: recordings by a model that transcribes, and files by an external document reader.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
};

use axum::{
    Json, Router,
    extract::Request,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post, put},
};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    faults::until,
    harness::{Answer, Server, serve_other},
    knowledge::KNOWLEDGE,
    openai::connect,
};

const MODEL: (&str, &str) = ("GLASSHOUSE_KNOWLEDGE_TRANSCRIPTION_MODEL", "whisper-1");
/// The first bytes of an MP3 file.
const MP3: &[u8] = b"ID3\x04\0\0\0\0\0\x23TSSE\0\0\0\x0f\0\0\x03Lavf59";
/// The beginning of a drawing of AutoCAD, a format that only others read.
const DRAWING: &[u8] = b"AC1027\0\0\0\0\0\0\x03\xa2\0\0\x80\x1e\0\0\xff\xfe\0\x01walruses";
const SHEET_BY_TIKA: &str =
    include_str!("../../../knowledge/tests/data/converted/tika-walruses.json");
const PAGES_BY_TIKA: &str =
    include_str!("../../../knowledge/tests/data/converted/tika-three-pages.json");

/// The path, the headers and the body of a request.
type Asked = (String, String, Vec<u8>);

/// Requests as they came.
#[derive(Clone, Default)]
struct Received(Arc<Mutex<Vec<Asked>>>);

impl Received {
    async fn note(&self, request: Request) {
        let path = request.uri().to_string();
        let headers = format!("{:?}", request.headers());
        let body = axum::body::to_bytes(request.into_body(), 10_000_000)
            .await
            .unwrap();
        self.0.lock().unwrap().push((path, headers, body.to_vec()));
    }

    fn all(&self) -> Vec<Asked> {
        self.0.lock().unwrap().clone()
    }

    fn bodies(&self) -> Vec<String> {
        let all = self.all().into_iter();
        all.map(|(.., body)| String::from_utf8_lossy(&body).into_owned())
            .collect()
    }
}

/// A server whose model transcribes; `answer` gets the body of each request.
fn transcribing(
    received: &Received,
    answer: impl Fn(&str) -> (StatusCode, Value) + Clone + Send + Sync + 'static,
) -> Router {
    let received = received.clone();
    let models = json!({"object": "list", "data": [{"id": "whisper-1", "object": "model"}]});
    Router::new()
        .route("/v1/models", get(async move || Json(models)))
        .route(
            "/v1/audio/transcriptions",
            post(async move |request: Request| {
                received.note(request).await;
                let (status, answer) = answer(&received.bodies().pop().unwrap_or_default());
                (status, Json(answer))
            }),
        )
}

fn segments() -> Value {
    json!({
        "task": "transcribe", "language": "english", "duration": 731.4,
        "text": "Good morning. The walrus sleeps until noon.",
        "segments": [
            {"id": 0, "start": 0.0, "end": 2.5, "text": " Good morning."},
            {"id": 1, "start": 725.3, "end": 731.4, "text": " The walrus sleeps until noon."},
        ],
    })
}

async fn text_of(server: &Server, who: &str, collection: &str, document: &Value) -> Value {
    let id = document["id"].as_str().unwrap();
    let path = format!("{KNOWLEDGE}/{collection}/documents/{id}");
    server.get(&path, who).await.json()
}

async fn do_with(server: &Server, who: &str, collection: &str, id: &Value, what: &str) -> Answer {
    let id = id.as_str().unwrap();
    let path = format!("{KNOWLEDGE}/{collection}/documents/{id}/{what}");
    Answer::of(server.request(Method::POST, &path, who)).await
}

#[tokio::test]
async fn what_is_said_in_a_recording_is_found_with_its_time() {
    let received = Received::default();
    let routes = transcribing(&received, |_| (StatusCode::OK, segments()));
    let (address, _running) = serve_other(routes).await;
    let server = Server::start_with(&[MODEL]).await;
    let ada = server.set_up().await;
    connect(&server, &ada, "Up", &format!("http://{address}/v1")).await;
    let work = server.collection(&ada, "Work").await;
    let read = server
        .read_file(&ada, &work, "Board%20meeting.mp3", MP3)
        .await;
    assert_eq!(
        (&read["state"], &read["problem"], &read["remote"]),
        (&json!("ready"), &Value::Null, &json!(false)),
        "{read}"
    );
    let document = text_of(&server, &ada, &work, &read).await;
    assert_eq!(
        document["text"],
        "[0:00] Good morning.\n\n[12:05] The walrus sleeps until noon."
    );
    assert_eq!(
        document["structure"]["times"][1],
        json!({"seconds": 725, "start": 22})
    );
    let found = server.find(&ada, "walrus noon").await;
    assert_eq!(
        (&found[0]["time"], &found[0]["page"]),
        (&json!(0), &Value::Null)
    );
    // The seconds of sound are on the account of the owner, and the name of the file is no business of the provider.
    let used = server.get("/api/v1/usage", &ada).await.text;
    assert!(used.contains("\"input_tokens\":732"), "{used}");
    let bodies = received.bodies();
    assert_eq!(bodies.len(), 1);
    for part in [
        "name=\"model\"\r\n\r\nwhisper-1\r\n",
        "name=\"response_format\"\r\n\r\nverbose_json\r\n",
        "name=\"file\"; filename=\"recording.mp3\"\r\nContent-Type: audio/mpeg\r\n\r\nID3",
    ] {
        assert!(bodies[0].contains(part), "{}", bodies[0]);
    }
    assert!(!bodies[0].contains("Board"));
    assert!(received.all()[0].1.contains("sk-upstream"));
}

#[tokio::test]
async fn a_model_without_times_is_asked_for_text() {
    let received = Received::default();
    let routes = transcribing(&received, |body| match body.contains("verbose_json") {
        true => (
            StatusCode::BAD_REQUEST,
            json!({"error": {"message": "response_format 'verbose_json' is not compatible with model 'gpt-4o-transcribe'.",
                "param": "response_format", "code": "unsupported_value"}}),
        ),
        false => (
            StatusCode::OK,
            json!({"text": "A seal sings.", "usage": {"type": "tokens", "input_tokens": 14, "output_tokens": 45,
                "input_token_details": {"text_tokens": 0, "audio_tokens": 14}, "total_tokens": 59}}),
        ),
    });
    let (address, _running) = serve_other(routes).await;
    let server = Server::start_with(&[MODEL]).await;
    let ada = server.set_up().await;
    connect(&server, &ada, "Up", &format!("http://{address}/v1")).await;
    // Attachments of messages are documents, too.
    let request = server.request(Method::POST, "/api/v1/attachments?name=a.ogg", &ada);
    let attached = Answer::of(request.body(&b"OggS\0\x02\0\0"[..])).await;
    attached.expect(202);
    let attached = attached.json();
    let of = attached["collection"].as_str().unwrap();
    let read = server.settled(&ada, of, &attached["id"]).await;
    assert_eq!(read["state"], "ready", "{read}");
    let document = text_of(&server, &ada, of, &read).await;
    assert_eq!(document["text"], "A seal sings.");
    // The next time it is asked for text at once.
    let work = server.collection(&ada, "Work").await;
    server.read_file(&ada, &work, "b.mp3", MP3).await;
    let formats: Vec<bool> = received
        .bodies()
        .iter()
        .map(|body| body.contains("verbose_json"))
        .collect();
    assert_eq!(formats, [true, false, false]);
    let used = server.get("/api/v1/usage", &ada).await.text;
    assert!(
        used.contains("\"input_tokens\":28") && used.contains("\"output_tokens\":90"),
        "{used}"
    );
}

#[tokio::test]
async fn a_recording_that_is_not_transcribed_says_why_and_is_tried_again() {
    let received = Received::default();
    let works = Arc::new(AtomicBool::new(false));
    let routes = transcribing(&received, {
        let works = Arc::clone(&works);
        move |_| match works.load(SeqCst) {
            true => (StatusCode::OK, segments()),
            false => (
                StatusCode::BAD_REQUEST,
                json!({"error": {"message": "audio duration 1600 seconds is longer than 1400 seconds"}}),
            ),
        }
    });
    let (address, _running) = serve_other(routes).await;
    let server = Server::start_with(&[("GLASSHOUSE_KNOWLEDGE_FILE_MB", "2")]).await;
    let ada = server.set_up().await;
    connect(&server, &ada, "Up", &format!("http://{address}/v1")).await;
    let work = server.collection(&ada, "Work").await;
    let read = server.read_file(&ada, &work, "talk.mp3", MP3).await;
    assert_eq!(
        (&read["state"], &read["problem"]["code"]),
        (&json!("failed"), &json!("recording"))
    );
    let message = read["problem"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("No model for transcription is named"),
        "{message}"
    );
    // An administrator names one.
    let change =
        json!({"knowledge.transcription_model": "whisper-1", "knowledge.transcription_mb": 1});
    let changed = server.request(Method::PATCH, "/api/v1/settings", &ada);
    Answer::of(changed.json(&json!({ "values": change })))
        .await
        .expect(200);
    do_with(&server, &ada, &work, &read["id"], "retry")
        .await
        .expect(204);
    let read = server.settled(&ada, &work, &read["id"]).await;
    assert_eq!(read["problem"]["code"], "transcription_failed", "{read}");
    let message = read["problem"]["message"].as_str().unwrap();
    assert!(message.contains("longer than 1400 seconds"), "{message}");
    works.store(true, SeqCst);
    do_with(&server, &ada, &work, &read["id"], "retry")
        .await
        .expect(204);
    let read = server.settled(&ada, &work, &read["id"]).await;
    assert_eq!(read["state"], "ready", "{read}");
    let asked = received.all().len();
    let long = [MP3, &[0; 1_100_000]].concat();
    let read = server.read_file(&ada, &work, "long.mp3", &long).await;
    assert_eq!(
        (
            &read["problem"]["code"],
            &read["problem"]["sentence"]["params"]
        ),
        (&json!("recording_too_large"), &json!({"limit": 1})),
        "{read}"
    );
    assert_eq!(received.all().len(), asked, "it is not sent");
}

/// Settings of an external document reader.
fn reader<'a>(url: &'a str, kind: &'a str, files: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("GLASSHOUSE_KNOWLEDGE_READER_URL", url),
        ("GLASSHOUSE_KNOWLEDGE_READER_KIND", kind),
        ("GLASSHOUSE_KNOWLEDGE_READER_FILES", files),
        ("GLASSHOUSE_KNOWLEDGE_READER_KEY", "reader-key"),
        ("GLASSHOUSE_KNOWLEDGE_OCR", "false"),
    ]
}

/// Apache Tika's server; `answer` is that of the conversion.
fn tika(
    received: &Received,
    answer: impl Fn() -> Response + Clone + Send + Sync + 'static,
) -> Router {
    let received = received.clone();
    Router::new()
        .route("/tika/version", get(async || "Apache Tika 3.2.3\n"))
        .route(
            "/tika/rmeta/html",
            put(async move |request: Request| {
                received.note(request).await;
                answer()
            }),
        )
}

#[tokio::test]
async fn files_of_other_formats_are_read_by_tika() {
    let received = Received::default();
    let (address, _running) = serve_other(tika(&received, || SHEET_BY_TIKA.into_response())).await;
    let url = format!("http://{address}/tika/");
    let server = Server::start_with(&reader(&url, "tika", "unreadable")).await;
    let ada = server.set_up().await;
    let work = server.collection(&ada, "Work").await;
    let read = server
        .read_file(&ada, &work, "Walruses%202026.dwg", DRAWING)
        .await;
    assert_eq!(
        (&read["state"], &read["problem"]),
        (&json!("ready"), &Value::Null),
        "{read}"
    );
    let found = server.find(&ada, "how heavy is Odobena").await;
    assert!(
        found[0]["text"].as_str().unwrap().contains("1,200"),
        "{}",
        found[0]
    );
    // What can be read here is not sent anywhere.
    server.read_file(&ada, &work, "a.md", b"# A seal").await;
    let received = received.all();
    assert_eq!(received.len(), 1);
    let (_, headers, body) = &received[0];
    assert_eq!(body, DRAWING);
    assert!(
        headers.contains("filename=\\\"file.dwg\\\"") && headers.contains("Bearer reader-key"),
        "{headers}"
    );
    assert!(!headers.contains("Walruses"));
    let state = server.get("/api/v1/document-reader", &ada).await.json();
    assert_eq!(
        state,
        json!({"enabled": true, "version": "Apache Tika 3.2.3", "problem": null})
    );
}

#[tokio::test]
async fn what_a_busy_reader_does_not_read_waits_and_is_tried_again() {
    let received = Received::default();
    let is_busy = Arc::new(AtomicBool::new(true));
    let routes = tika(&received, {
        let is_busy = Arc::clone(&is_busy);
        move || match is_busy.load(SeqCst) {
            true => StatusCode::SERVICE_UNAVAILABLE.into_response(),
            false => SHEET_BY_TIKA.into_response(),
        }
    });
    let (address, _running) = serve_other(routes).await;
    let url = format!("http://{address}/tika");
    let server = Server::start_with(&reader(&url, "tika", "unreadable")).await;
    let ada = server.set_up().await;
    let work = server.collection(&ada, "Work").await;
    let put = server.put_file(&ada, &work, "a.dwg", DRAWING).await.json();
    let mut sheet = Value::Null;
    until("it says why it waits", async || {
        sheet = text_of(&server, &ada, &work, &put).await;
        sheet["problem"] != Value::Null
    })
    .await;
    assert_eq!(
        (&sheet["state"], &sheet["remote"], &sheet["problem"]["code"]),
        (&json!("waiting"), &json!(true), &json!("reader_failed"))
    );
    assert_eq!(sheet["problem"]["sentence"]["code"], "reader_busy");
    do_with(&server, &ada, &work, &put["id"], "cancel")
        .await
        .expect(204);
    is_busy.store(false, SeqCst);
    do_with(&server, &ada, &work, &put["id"], "retry")
        .await
        .expect(204);
    assert_eq!(
        server.settled(&ada, &work, &put["id"]).await["state"],
        "ready"
    );
}

#[tokio::test]
async fn what_a_reader_refuses_is_read_here_if_possible() {
    let received = Received::default();
    let count = Arc::new(AtomicUsize::new(0));
    let routes = tika(&received, {
        let count = Arc::clone(&count);
        move || {
            match count.fetch_add(1, SeqCst) {
            0 => StatusCode::UNPROCESSABLE_ENTITY.into_response(),
            1 => "<html>A page</html>".into_response(),
            2 => PAGES_BY_TIKA.into_response(),
            _ => json!([{"X-TIKA:EXCEPTION:container_exception": "org.apache.tika.exception.EncryptedDocumentException"}])
                .to_string()
                .into_response(),
        }
        }
    });
    let (address, _running) = serve_other(routes).await;
    let url = format!("http://{address}/tika");
    let server = Server::start_with(&reader(&url, "tika", "all")).await;
    let ada = server.set_up().await;
    let work = server.collection(&ada, "Work").await;
    for name in ["a.txt", "b.txt"] {
        let read = server.read_file(&ada, &work, name, b"A seal sings.").await;
        assert_eq!(read["state"], "ready", "{read}");
        let document = text_of(&server, &ada, &work, &read).await;
        assert_eq!(document["text"], "A seal sings.");
    }
    let read = server
        .read_file(&ada, &work, "c.txt", b"A seal sings.")
        .await;
    let found = server.find(&ada, "400 clams").await;
    assert_eq!(found[0]["document"], read["id"]);
    let document = text_of(&server, &ada, &work, &read).await;
    assert_eq!(document["structure"]["pages"][2]["number"], 3);
    let read = server.read_file(&ada, &work, "d.dwg", DRAWING).await;
    assert_eq!(read["problem"]["code"], "encrypted", "{read}");
}

#[tokio::test]
async fn docling_converts_in_the_background() {
    let received = Received::default();
    let polls = Arc::new(AtomicUsize::new(0));
    let note = received.clone();
    let routes = Router::new()
        .route("/version", get(async || Json(json!({"docling-serve": "1.38.2"}))))
        .route(
            "/v1/convert/file/async",
            post(async move |request: Request| {
                note.note(request).await;
                Json(json!({"task_id": "0a1b-2c", "task_type": "convert", "task_status": "pending", "task_position": 1}))
            }),
        )
        .route(
            "/v1/status/poll/{task}",
            get(async move || {
                let state = match polls.fetch_add(1, SeqCst) {
                    0 => "started",
                    _ => "success",
                };
                Json(json!({"task_id": "0a1b-2c", "task_type": "convert", "task_status": state}))
            }),
        )
        .route(
            "/v1/result/0a1b-2c",
            get(async || {
                let item = |page: u32, text: &str| json!({"content_layer": "body", "text": text, "prov": [{"page_no": page}]});
                Json(json!({
                    "document": {
                        "filename": "file.pages",
                        "md_content": "# The harbour\n\nThe walrus sleeps.",
                        "json_content": {
                            "body": {"children": [{"$ref": "#/texts/0"}, {"$ref": "#/texts/1"}]},
                            "texts": [item(1, "The harbour"), item(3, "The walrus sleeps.")],
                        },
                    },
                    "status": "success", "errors": [], "processing_time": 0.3, "timings": {},
                }))
            }),
        );
    let (address, _running) = serve_other(routes).await;
    let url = format!("http://{address}");
    let server = Server::start_with(&reader(&url, "docling", "unreadable, md")).await;
    let ada = server.set_up().await;
    let work = server.collection(&ada, "Work").await;
    let read = server.read_file(&ada, &work, "a.md", b"# A seal").await;
    assert_eq!(read["state"], "ready", "{read}");
    let found = server.find(&ada, "walrus sleeps").await;
    assert!(
        found[0]["text"]
            .as_str()
            .unwrap()
            .contains("The walrus sleeps.")
    );
    let document = text_of(&server, &ada, &work, &read).await;
    assert_eq!(document["structure"]["pages"][1]["number"], 3, "{document}");
    let (_, headers, body) = received.all().pop().unwrap();
    let body = String::from_utf8(body).unwrap();
    assert!(
        headers.contains("x-api-key") && headers.contains("reader-key"),
        "{headers}"
    );
    for part in [
        "name=\"to_formats\"\r\n\r\nmd\r\n",
        "filename=\"file.md\"",
        "# A seal",
    ] {
        assert!(body.contains(part), "{body}");
    }
    let state = server.get("/api/v1/document-reader", &ada).await.json();
    assert_eq!(state["version"], "docling-serve 1.38.2");
}
