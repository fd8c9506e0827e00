//! Tests with messages built property by property.

use std::io::{Cursor, Write};

use cfb::CompoundFile;

use super::*;

type File = CompoundFile<Cursor<Vec<u8>>>;

fn put(file: &mut File, path: &str, content: &[u8]) {
    let mut stream = file.create_stream(path).unwrap();
    stream.write_all(content).unwrap();
}

fn put_text(file: &mut File, folder: &str, id: u16, text: &str) {
    let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    put(file, &format!("{folder}__substg1.0_{id:04X}001F"), &bytes);
}

/// A table of properties below a header of this length.
fn put_table(file: &mut File, folder: &str, header_bytes: usize, values: &[(u16, u64)]) {
    let mut table = vec![0; header_bytes];
    for (id, value) in values {
        table.extend([3, 0]);
        table.extend(id.to_le_bytes());
        table.extend([0; 4]);
        table.extend(value.to_le_bytes());
    }
    put(file, &format!("{folder}{PROPERTIES}"), &table);
}

fn message(fill: impl FnOnce(&mut File)) -> Vec<u8> {
    let mut file = CompoundFile::create(Cursor::new(Vec::new())).unwrap();
    fill(&mut file);
    file.flush().unwrap();
    file.into_inner().into_inner()
}

fn with_attachments() -> Vec<u8> {
    message(|file| {
        // 23 November 2026, 10:00:00 UTC.
        put_table(
            file,
            "/",
            32,
            &[(id::CLIENT_SUBMIT_TIME, 134_399_016_000_000_000)],
        );
        put_text(file, "/", id::SUBJECT, "Договор");
        put_text(file, "/", id::SENDER_NAME, "Ann");
        put_text(file, "/", id::SENDER_EMAIL_ADDRESS, "/O=EXAMPLE/CN=ANN");
        put_text(file, "/", id::SENDER_SMTP_ADDRESS, "ann@example.org");
        put_text(file, "/", id::BODY, "The walrus costs 400 euros.\r\n");
        for (at, kind) in [(0, 1), (1, 2)] {
            let folder = format!("/__recip_version1.0_#0000000{at}/");
            file.create_storage(&folder).unwrap();
            put_table(file, &folder, 8, &[(id::RECIPIENT_TYPE, kind)]);
            put_text(file, &folder, id::DISPLAY_NAME, &format!("Bob {at}"));
            put_text(file, &folder, id::SMTP_ADDRESS, "bob@example.org");
        }
        let folder = "/__attach_version1.0_#00000000/";
        file.create_storage(folder).unwrap();
        put_text(file, folder, id::ATTACH_LONG_FILENAME, "prices.csv");
        put(
            file,
            &format!("{folder}__substg1.0_37010102"),
            b"name,price\nwalrus,400\n",
        );
        let folder = "/__attach_version1.0_#00000001/";
        file.create_storage(folder).unwrap();
        put_text(file, folder, id::DISPLAY_NAME, "Earlier");
        let folder = format!("{folder}__substg1.0_3701000D/");
        file.create_storage(&folder).unwrap();
        put_table(file, &folder, 24, &[(0x3ffd, 1251)]);
        put(file, &format!("{folder}__substg1.0_1000001E"), b"\xc4\xe0");
    })
}

#[test]
fn a_message_is_read_with_its_people_and_attachments() {
    let bytes = with_attachments();
    assert_eq!(Format::of("a.msg", &bytes).unwrap(), Format::OutlookMail);
    let document = crate::read("a.msg", &bytes, &Limits::default()).unwrap();
    assert_eq!(document.title.as_deref(), Some("Договор"));
    assert_eq!(
        document.text,
        "# Договор\n\nFrom: Ann <ann@example.org>\nTo: Bob 0 <bob@example.org>\nCc: Bob 1 <bob@example.org>\n\
         Date: 2026-11-23T10:00:00Z\n\nThe walrus costs 400 euros.\n\nAttached: prices.csv, Earlier\n\n\
         ## Attached: prices.csv\n\n| name | price |\n| --- | --- |\n| walrus | 400 |\n\n## Attached: Earlier\n\nДа\n"
    );
}

#[test]
fn a_message_without_plain_text_has_html_or_rtf() {
    let page = message(|file| {
        put_table(file, "/", 32, &[]);
        put_text(file, "/", id::BODY, " \r\n");
        put(
            file,
            "/__substg1.0_10130102",
            b"<meta charset=windows-1252><title>no</title><p>Caf\xe9 walrus</p><footer>M<sup>2</sup></footer>",
        );
    });
    let text = |bytes: &[u8]| {
        crate::read("a.msg", bytes, &Limits::default())
            .unwrap()
            .text
    };
    assert_eq!(
        text(&page).trim(),
        "Café walrus

M^2"
    );
    let rich = message(|file| {
        put_table(file, "/", 32, &[]);
        put(
            file,
            "/__substg1.0_10090102",
            b"\0\0\0\0\0\0\0\0MELA\0\0\0\0{\\rtf1 Rich walrus\\par}",
        );
    });
    assert_eq!(text(&rich).trim(), "Rich walrus");
}

#[test]
fn texts_are_in_the_code_page_of_their_message() {
    const UTF_8: u64 = 65001;
    let subject = format!("__substg1.0_{:04X}001E", id::SUBJECT);
    let of_page = |page: u64, text: &[u8], html: &[u8]| {
        let bytes = message(|file| {
            put_table(file, "/", 32, &[(0x3fde, page)]);
            put(file, &format!("/{subject}"), text);
            put(file, "/__substg1.0_10130102", html);
        });
        crate::read("a.msg", &bytes, &Limits::default())
            .unwrap()
            .text
    };
    // Outlook has texts in the code page of its system, whatever that of the message on the internet.
    assert_eq!(
        of_page(
            UTF_8,
            b"Gr\xfc\xdfe aus K\xf6ln\0",
            "<p>Größe</p>".as_bytes()
        ),
        "# Grüße aus Köln\n\n\nGröße\n"
    );
    assert_eq!(
        of_page(
            1251,
            b"\xc4\xe0",
            b"<meta charset=utf-8><p>\xcc\xee\xf0\xe6</p>"
        ),
        "# Да\n\n\nМорж\n"
    );
    assert_eq!(of_page(1251, b"\0", b"<p>x</p>"), "\nx\n");
}

#[test]
fn other_compound_files_are_told_apart() {
    let encrypted = message(|file| put(file, "/EncryptedPackage", b"x"));
    assert_eq!(Format::of("a", &encrypted), Err(Unreadable::Encrypted));
    let old = message(|file| put(file, "/WordDocument", b"x"));
    for name in ["a.doc", "a.docx"] {
        assert_eq!(Format::of(name, &old), Ok(Format::Doc));
    }
    let other = message(|file| put(file, "/Other", b"x"));
    assert_eq!(Format::of("a", &other), Err(Unreadable::UnknownFormat));
}

#[test]
fn damaged_messages_are_read_or_refused() {
    let bytes = with_attachments();
    for end in (0..bytes.len()).step_by(bytes.len() / 100) {
        let _ = crate::read("a.msg", &bytes[..end], &Limits::default());
    }
    for at in (0..bytes.len()).step_by(bytes.len() / 150) {
        let mut changed = bytes.clone();
        changed[at] ^= 0xff;
        let _ = crate::read("a.msg", &changed, &Limits::default());
    }
}
