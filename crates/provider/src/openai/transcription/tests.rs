//! Answers of the servers that offer transcription, as they publish them.

use super::*;

fn segment(start: f64, text: &str) -> TranscriptSegment {
    TranscriptSegment {
        start,
        text: text.to_owned(),
        speaker: None,
    }
}

fn audio(input: u64, output: u64, audio: u64) -> Option<Usage> {
    Some(Usage {
        audio_tokens: audio,
        ..Usage::of(input, output)
    })
}

#[test]
fn segments_have_times_and_seconds_are_counted() {
    // whisper-1, also Groq, speaches and LocalAI.
    let verbose = br#"{"task":"transcribe","language":"english","duration":8.470000267028809,
        "text":"The beach was a popular spot. People were swimming.","segments":[
        {"id":0,"seek":0,"start":0.0,"end":3.319,"text":" The beach was a popular spot.","tokens":[50364,440],
        "temperature":0.0,"avg_logprob":-0.28,"compression_ratio":1.23,"no_speech_prob":0.009},
        {"id":1,"seek":0,"start":3.319,"end":8.47,"text":" People were swimming.","tokens":[1]},
        {"id":2,"start":8.47,"end":8.47,"text":" "}],"usage":{"type":"duration","seconds":9}}"#;
    let read = decode(verbose).unwrap();
    assert_eq!(
        read.segments,
        [
            segment(0.0, "The beach was a popular spot."),
            segment(3.319, "People were swimming.")
        ]
    );
    assert_eq!(read.usage, audio(9, 0, 9));
    // vLLM writes the duration as text.
    let vllm = br#"{"duration":"8.2","language":"en","text":" Hi.","segments":[{"id":0,"start":0,"end":8.2,"text":" Hi."}]}"#;
    let read = decode(vllm).unwrap();
    assert_eq!(read.segments, [segment(0.0, "Hi.")]);
    assert_eq!(read.usage, audio(9, 0, 9));
}

#[test]
fn tokens_are_taken_as_counted() {
    let gpt = br#"{"text":"Imagine.","usage":{"type":"tokens","input_tokens":14,
        "input_token_details":{"text_tokens":4,"audio_tokens":10},"output_tokens":5,"total_tokens":19}}"#;
    let read = decode(gpt).unwrap();
    assert_eq!((read.text.as_str(), read.segments.len()), ("Imagine.", 0));
    assert_eq!(read.usage, audio(14, 5, 10));
    // Mistral counts both.
    let mistral = br#"{"model":"voxtral-mini","text":"Hi","language":"en","segments":[{"text":"Hi","start":0.8,"end":6.2,
        "type":"transcription_segment"}],"usage":{"prompt_audio_seconds":203,"prompt_tokens":4,"total_tokens":3264,
        "completion_tokens":635}}"#;
    let read = decode(mistral).unwrap();
    assert_eq!(read.segments, [segment(0.8, "Hi")]);
    assert_eq!(read.usage, audio(4, 635, 0));
}

#[test]
fn speakers_are_named() {
    let diarized = br#"{"task":"transcribe","duration":42.7,"text":"Agent: Thanks.","segments":[
        {"type":"transcript.text.segment","id":"seg_001","start":0.0,"end":4.7,"text":"Thanks.","speaker":"agent"}],
        "usage":{"type":"duration","seconds":43}}"#;
    let read = decode(diarized).unwrap();
    assert_eq!(read.segments[0].speaker.as_deref(), Some("agent"));
    assert_eq!(read.usage, audio(43, 0, 43));
    let form = encode(
        "gpt-4o-transcribe-diarize",
        Recording {
            ending: "ogg",
            media_type: "audio/ogg",
            content: b"OggS",
        },
        TranscriptFormat::first_for("gpt-4o-transcribe-diarize"),
    );
    let body = String::from_utf8(form.body).unwrap();
    for part in [
        "diarized_json",
        "chunking_strategy",
        "filename=\"recording.ogg\"",
    ] {
        assert!(body.contains(part), "{part}");
    }
}

#[test]
fn what_is_no_transcript_is_refused() {
    for bad in [
        "",
        "[]",
        "{}",
        "Hello",
        r#"{"segments":[]}"#,
        r#"{"error":"no"}"#,
    ] {
        assert_eq!(decode(bad.as_bytes()), Err(NoTranscript), "{bad}");
    }
    // Strange additions do not spoil the text.
    let read = decode(br#"{"text":"a","segments":{"x":1},"duration":[],"usage":["much"]}"#);
    assert_eq!(
        read,
        Ok(Transcript {
            text: "a".to_owned(),
            ..Transcript::default()
        })
    );
    let read = decode(br#"{"text":"","segments":[{"start":-1,"text":"a"},{"text":"b"},{"start":"2.5","text":"c"}]}"#);
    assert_eq!(read.unwrap().segments, [segment(2.5, "c")]);
}

#[test]
fn another_format_is_asked_for_if_this_one_is_refused() {
    use TranscriptFormat::{Segments, Speakers, Text};
    let openai = r#"{"error":{"message":"response_format 'verbose_json' is not compatible with model 'gpt-4o-transcribe-api-ev3'. Use 'json' or 'text' instead.","type":"invalid_request_error","param":"response_format","code":"unsupported_value"}}"#;
    let vllm = r#"{"object":"error","message":"Currently only support response_format `text` or `json`","code":400}"#;
    let length = r#"{"error":{"message":"audio duration 1600 seconds is longer than 1400 seconds which is the maximum for this model","param":"file"}}"#;
    for (status, body, format, expected) in [
        (400, openai, Segments, true),
        (400, vllm, Segments, true),
        (
            422,
            r#"{"detail":[{"loc":["body","response_format"]}]}"#,
            Speakers,
            true,
        ),
        (400, openai, Text, false),
        (400, length, Segments, false),
        (401, openai, Segments, false),
        (413, "response_format", Segments, false),
    ] {
        assert_eq!(is_format_refused(status, body, format), expected, "{body}");
    }
}
