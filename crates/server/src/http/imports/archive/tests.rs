//! Archives as products make them, and others.

use std::io::{Seek, Write};

use rawzip::ZipArchiveWriter;
use rawzip::path::EntryPath;

use super::*;

fn zip(entries: &[(&str, &[u8])]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    let mut archive = ZipArchiveWriter::new(&mut file);
    for (name, bytes) in entries {
        let (mut entry, config) = archive
            .new_file(EntryPath::verbatim(name.as_bytes()))
            .compression_method(CompressionMethod::DEFLATE)
            .start()
            .unwrap();
        let encoder = flate2::write::DeflateEncoder::new(&mut entry, flate2::Compression::fast());
        let mut writer = config.wrap(encoder);
        writer.write_all(bytes).unwrap();
        let (encoder, descriptor) = writer.finish().unwrap();
        encoder.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
    file.rewind().unwrap();
    file
}

async fn texts(archive: &Archive, limit_bytes: u64) -> Vec<String> {
    let mut texts = Vec::new();
    for mut pieces in archive.chats(limit_bytes) {
        let mut text = Vec::new();
        while let Some(piece) = pieces.next().await.unwrap() {
            text.extend(piece);
        }
        texts.push(String::from_utf8(text).unwrap());
    }
    texts
}

#[tokio::test]
async fn chats_and_their_files_are_found_by_name() {
    let file = zip(&[
        ("export/conversations-010.json", b"[3]"),
        ("export/conversations-002.json", b"[2]"),
        ("user.json", b"{\"email\":\"a\"}"),
        ("projects/p.json", b"{\"name\":\"P\"}"),
        ("sora.json", b"{}"),
        ("../../file-Ab1-../x.png", b"never"),
        ("dalle-generations/file-Cd2-0a1b.webp", b"image"),
        ("file_0e.dat", b"data"),
    ]);
    let mut archive = Archive::open(file, 1_000).await.unwrap();
    assert_eq!(texts(&archive, 100).await, ["[2]", "[3]"]);
    assert_eq!(texts(&archive, 2).await, ["[2", "[3"]);
    assert_eq!(
        archive.others(),
        ["projects/p.json", "../../file-Ab1-../x.png"]
    );
    let file = |name: &str, bytes: &[u8]| Unpacked::File {
        name: name.to_owned(),
        bytes: bytes.to_vec(),
    };
    assert_eq!(
        archive.file("file-Cd2", 5).await.unwrap(),
        file("file-Cd2-0a1b.webp", b"image")
    );
    assert_eq!(
        archive.file("file-Cd2", 4).await.unwrap(),
        Unpacked::TooLarge
    );
    assert_eq!(archive.file("file_00", 4).await.unwrap(), Unpacked::Missing);
    assert_eq!(archive.unused(), 1);
}

#[tokio::test]
async fn other_archives_are_refused() {
    let refusal = async |file| {
        let refused = Archive::open(file, 1_000).await.err().unwrap();
        refused.problem().message.clone()
    };
    assert!(refusal(zip(&[])).await.contains("conversations.json"));
    let two = zip(&[("a.json", b"[1,2,3]"), ("b.json", b"[1,2,3]")]);
    assert!(refusal(two).await.contains("conversations.json"));
    let mut broken = tempfile::tempfile().unwrap();
    broken.write_all(b"PK\x03\x04 and no more").unwrap();
    assert!(refusal(broken).await.contains("damaged"));
    let one = zip(&[("chat-export.json", b"[{}, {}]")]);
    let archive = Archive::open(one, 1_000).await.unwrap();
    assert_eq!(texts(&archive, 100).await, ["[{}, {}]"]);
    assert!(archive.others().is_empty());
}

#[test]
fn ids_are_the_beginnings_of_names() {
    for (name, id) in [
        ("file-Ab1-photo.of me.png", Some("file-Ab1")),
        ("file_0a1b-sanitized.jpg", Some("file_0a1b")),
        ("file_0a1b.dat", Some("file_0a1b")),
        ("file-Ab1", Some("file-Ab1")),
        ("file-", None),
        ("file.png", None),
        ("photo.png", None),
    ] {
        assert_eq!(asset_id(name), id, "{name}");
    }
    assert!(is_chats("conversations-0001.json") && !is_chats("conversations-x.json"));
    assert!(!is_chats("conversations.json.bak") && !is_chats("shared_conversations.json"));
}
