//! Citations in each format, including hostile ones.

use serde_json::{Value, json};

use super::*;

/// The citations read from these texts and data.
fn read(events: Vec<AnswerEvent>) -> Vec<Citation> {
    let mut annotator = Annotator::default();
    let mut cited = Vec::new();
    for event in events {
        let mut events = vec![event];
        annotator.annotate(&mut events);
        let citations = events.into_iter().filter_map(|event| match event {
            AnswerEvent::Citations(citations) => Some(citations),
            _ => None,
        });
        cited.extend(citations.flatten());
    }
    cited
}

fn text(text: &str) -> AnswerEvent {
    AnswerEvent::Text(text.to_owned())
}

fn of_text(data: Value) -> AnswerEvent {
    AnswerEvent::Data {
        part: DataPart::Text,
        data,
    }
}

fn of_answer(data: Value) -> AnswerEvent {
    AnswerEvent::Data {
        part: DataPart::Other,
        data,
    }
}

fn citation(
    url: &str,
    title: &str,
    quote: Option<&str>,
    place: Option<(usize, usize)>,
) -> Citation {
    Citation {
        url: url.to_owned(),
        title: title.to_owned(),
        quote: quote.map(str::to_owned),
        place: place.map(|(start, end)| start..end),
        number: None,
    }
}

#[test]
fn messages_and_converse_cite_whole_blocks() {
    let searched = json!({"type": "text", "citations": [
        {"type": "web_search_result_location", "url": "https://a.org/x", "title": "A", "cited_text": "So."},
        {"type": "page_location", "document_index": 0, "document_title": "b.pdf", "cited_text": "Or so."},
    ]});
    let converse = json!({"type": "text", "citations": [
        {"title": "C", "sourceContent": [{"text": "It"}, {"text": "is."}], "location": {"web": {"url": "http://c.org", "domain": "c.org"}}},
        {"source": "s3://bucket/d", "location": {"documentChar": {"documentIndex": 0, "start": 1, "end": 2}}},
    ]});
    let cited = read(vec![
        text("É: "),
        of_text(json!({"type": "text"})),
        text("so"),
        of_text(searched),
        text(" é"),
        of_text(converse),
    ]);
    assert_eq!(
        cited,
        [
            citation("https://a.org/x", "A", Some("So."), Some((3, 5))),
            citation("", "b.pdf", Some("Or so."), Some((3, 5))),
            citation("http://c.org", "C", Some("It is."), Some((5, 7))),
            citation("", "s3://bucket/d", None, Some((5, 7))),
        ]
    );
}

#[test]
fn annotations_are_relative_to_their_part() {
    let annotations = json!({"id": "msg_1", "annotations": [
        {"type": "url_citation", "url": "https://a.org", "title": "A", "start_index": 1, "end_index": 3},
        {"type": "url_citation", "url": "https://a.org", "title": "A", "start_index": 1, "end_index": 99},
        {"type": "file_citation", "file_id": "file-1", "filename": "a.txt", "index": 2},
        {"type": "file_path", "file_id": "file-2", "index": 2},
    ]});
    let cited = read(vec![
        text("one "),
        of_text(json!({"id": "msg_0"})),
        text("two"),
        of_text(annotations),
    ]);
    assert_eq!(
        cited,
        [
            citation("https://a.org", "A", None, Some((5, 7))),
            citation("https://a.org", "A", None, None),
            citation("", "a.txt", None, None),
        ]
    );
}

#[test]
fn gemini_segments_are_located_by_bytes_or_text() {
    let metadata = json!({"metadata": {
        "groundingMetadata": {
            "groundingChunks": [
                {"web": {"uri": "https://a.org/?q=x y", "title": "A"}},
                {"retrievedContext": {"text": "It is so.", "fileSearchStore": "fileSearchStores/mine"}},
                {"web": {"uri": "https://c.org", "title": "C"}},
                {"unknown": {}},
            ],
            "groundingSupports": [
                {"segment": {"endIndex": 3, "text": "Né"}, "groundingChunkIndices": [0, 1, 3, 99, -1]},
                {"segment": {"partIndex": 1, "startIndex": 0, "endIndex": 2, "text": "so"}, "groundingChunkIndices": [0]},
                {"segment": {"startIndex": 2, "endIndex": 3}, "groundingChunkIndices": [1]},
            ],
        },
        "citationMetadata": {"citationSources": [{"startIndex": 1, "endIndex": 3, "uri": "https://d.org"}]},
        "urlContextMetadata": {"urlMetadata": [
            {"retrievedUrl": "https://c.org", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_SUCCESS"},
            {"retrievedUrl": "https://e.org", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_SUCCESS"},
            {"retrievedUrl": "https://f.org", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_ERROR"},
        ]},
    }});
    let cited = read(vec![text("Né, "), text("so"), of_answer(metadata)]);
    assert_eq!(
        cited,
        [
            citation("https://a.org/?q=x%20y", "A", None, Some((0, 2))),
            citation("", "mine", Some("It is so."), Some((0, 2))),
            citation("https://a.org/?q=x%20y", "A", None, Some((4, 6))),
            citation("https://c.org", "C", None, None),
            citation("https://d.org", "https://d.org", None, Some((1, 2))),
            citation("https://e.org", "https://e.org", None, None),
        ]
    );
}

#[test]
fn chat_completions_have_annotations_or_numbered_lists() {
    let annotations = [
        json!({"type": "url_citation", "url_citation": {"url": "https://a.org", "title": "A", "content": "So.", "start_index": 0, "end_index": 4}}),
        json!({"type": "url_citation", "url": "https://b.org", "title": "B", "start_index": 4, "end_index": 2}),
        json!({"type": "file", "file": {"hash": "x"}}),
    ];
    let cited = chat_citations(&annotations, &Value::Null, &Value::Null, 4);
    assert_eq!(
        cited,
        [
            citation("https://a.org", "A", Some("So."), Some((0, 4))),
            citation("https://b.org", "B", None, None),
        ]
    );
    let results = json!([{"title": "B", "url": "https://b.org", "snippet": "Or so."}]);
    let cited = chat_citations(
        &[],
        &results,
        &json!(["https://a.org", "ftp://x", "https://b.org"]),
        4,
    );
    let numbered = |number, citation| Citation {
        number: Some(number),
        ..citation
    };
    assert_eq!(
        cited,
        [
            numbered(1, citation("https://a.org", "https://a.org", None, None)),
            numbered(3, citation("https://b.org", "B", Some("Or so."), None)),
        ]
    );
    assert_eq!(
        chat_citations(&[], &results, &Value::Null, 4).len(),
        1,
        "results alone count too"
    );
}

#[test]
fn addresses_are_of_the_web() {
    for (written, expected) in [
        ("https://a.org/x", Some("https://a.org/x")),
        (
            " HTTP://a.org/\"><script> ",
            Some("HTTP://a.org/%22%3E%3Cscript%3E"),
        ),
        ("javascript:alert(1)", None),
        ("javascript://a.org/%0aalert(1)", None),
        ("data:text/html,x", None),
        ("https://a.org/\n", Some("https://a.org/")),
        ("https://a.org/\u{7}x", None),
        ("", None),
        ("a.org", None),
    ] {
        assert_eq!(web_address(written).as_deref(), expected, "{written}");
    }
    assert_eq!(
        web_address(&format!("https://a.org/{}", "x".repeat(3_000))),
        None
    );
}

#[test]
fn hostile_input_is_bounded() {
    let one = json!({"type": "web_search_result_location", "url": "javascript:x", "title": "T\u{0}\n".repeat(900), "cited_text": "q".repeat(9_000)});
    let cited = read(vec![
        text("a"),
        of_text(json!({"citations": vec![one; 9_000]})),
    ]);
    assert_eq!(cited.len(), MAX_CITATIONS);
    assert_eq!(cited[0].url, "");
    assert!(cited[0].title.chars().count() <= 301 && !cited[0].title.contains(char::is_control));
    assert_eq!(
        cited[0].quote.as_ref().map(|quote| quote.chars().count()),
        Some(1_001)
    );
    let far = json!({"type": "url_citation", "url": "https://a.org", "start_index": u64::MAX - 1, "end_index": u64::MAX});
    let many = (0..900).flat_map(|_| [text("a"), of_text(json!({"annotations": [far.clone()]}))]);
    let cited = read(many.collect());
    assert_eq!((cited.len(), &cited[0].place), (MAX_CITATIONS, &None));
    for odd in [
        json!(null),
        json!([]),
        json!({"citations": {}, "annotations": 7}),
        json!({"citations": [null, 7, "x", {}]}),
    ] {
        assert_eq!(
            read(vec![text("a"), of_text(odd.clone()), of_answer(odd)]),
            []
        );
    }
    let odd = json!({"groundingChunks": [7, {"web": 7}, {"web": {}}], "groundingSupports": [7, {"segment": 7, "groundingChunkIndices": [2]}]});
    assert_eq!(
        read(vec![
            text("a"),
            of_answer(json!({"metadata": {"groundingMetadata": odd}}))
        ]),
        []
    );
}
