//! Files that want to do harm, sent to the real program all at once: each says in a sentence why it was not read, and what comes
//! beside them is read and found.

use std::fmt::Write as _;

use flate2::{Compress, Compression, FlushCompress};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{harness::Server, knowledge::KNOWLEDGE};

/// A packed part of `blocks` times the same text, which is packed only once.
fn packed(text: &str, blocks: usize) -> Vec<u8> {
    let mut packer = Compress::new(Compression::best(), false);
    let mut block = Vec::with_capacity(text.len() + 1_000);
    packer
        .compress_vec(text.as_bytes(), &mut block, FlushCompress::Full)
        .unwrap();
    // An empty last block ends it.
    [block.repeat(blocks), vec![0x03, 0x00]].concat()
}

/// An archive of parts that are packed already, whose sums nobody gets to check.
fn archive(parts: &[(&str, Vec<u8>, usize)]) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, packed, size) in parts {
        let at = u32::try_from(file.len()).unwrap();
        let mut head = vec![20, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        head.extend(u32::try_from(packed.len()).unwrap().to_le_bytes());
        head.extend(u32::try_from(*size).unwrap().to_le_bytes());
        head.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        head.extend([0, 0]);
        file.extend(b"PK\x03\x04");
        file.extend(&head);
        file.extend(name.as_bytes());
        file.extend(packed);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&head);
        directory.extend([0; 10]);
        directory.extend(at.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (count, start) = (
        u16::try_from(parts.len()).unwrap(),
        u32::try_from(file.len()).unwrap(),
    );
    let length = u32::try_from(directory.len()).unwrap();
    file.extend(directory);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    file.extend([length.to_le_bytes(), start.to_le_bytes()].concat());
    file.extend([0, 0]);
    file
}

fn part(name: &'static str, text: &str) -> (&'static str, Vec<u8>, usize) {
    (name, packed(text, 1), text.len())
}

/// A Word document that unpacks to 400 MB.
fn bomb() -> Vec<u8> {
    let block = " ".repeat(1_000_000);
    archive(&[("word/document.xml", packed(&block, 400), 400_000_000)])
}

/// A table of a million rows.
fn endless_sheet() -> Vec<u8> {
    let row = "<row><c t=\"inlineStr\"><is><t>The walrus of the harbour, and its price</t></is></c></row>";
    let rows = packed(&row.repeat(1_000), 1_000);
    let mut sheet = packed("<worksheet><sheetData>", 1);
    sheet.truncate(sheet.len() - 2);
    sheet.extend(rows);
    archive(&[
        part(
            "xl/workbook.xml",
            "<workbook xmlns:r=\"r\"><sheets><sheet name=\"One\" r:id=\"a\"/></sheets></workbook>",
        ),
        part(
            "xl/_rels/workbook.xml.rels",
            "<Relationships><Relationship Id=\"a\" Target=\"worksheets/sheet1.xml\"/></Relationships>",
        ),
        (
            "xl/worksheets/sheet1.xml",
            sheet,
            row.len() * 1_000_000 + 22,
        ),
    ])
}

/// A PDF of these objects, the first of which is its root.
fn pdf(objects: &[String], trailer: &str) -> Vec<u8> {
    let (mut file, mut places) = ("%PDF-1.4\n".to_owned(), Vec::new());
    for (number, object) in (1..).zip(objects) {
        places.push(file.len());
        _ = writeln!(file, "{number} 0 obj{object}endobj");
    }
    let xref = file.len();
    _ = write!(file, "xref\n0 {}\n0000000000 65535 f \n", places.len() + 1);
    for at in &places {
        _ = writeln!(file, "{at:010} 00000 n ");
    }
    _ = write!(
        file,
        "trailer<</Size {}/Root 1 0 R{trailer}>>\nstartxref\n{xref}\n%%EOF",
        places.len() + 1
    );
    file.into_bytes()
}

/// Pages that are on pages that are on them, and say that they are two thousand million.
fn endless_pages() -> Vec<u8> {
    let pages = "<</Type/Pages/Kids[2 0 R 2 0 R 3 0 R]/Count 2000000000>>".to_owned();
    let page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R>>".to_owned();
    let root = "<</Type/Catalog/Pages 2 0 R>>".to_owned();
    pdf(
        &[
            root,
            pages,
            page,
            "<</Length 5>>stream\nBT ET\nendstream".to_owned(),
        ],
        "",
    )
}

/// More pages than are read.
fn many_pages() -> Vec<u8> {
    let kids: String = (3..6_003).map(|number| format!("{number} 0 R ")).collect();
    let pages = format!("<</Type/Pages/Kids[{kids}]/Count 6000>>");
    let page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]>>".to_owned();
    let mut objects = vec!["<</Type/Catalog/Pages 2 0 R>>".to_owned(), pages];
    objects.resize(6_002, page);
    pdf(&objects, "")
}

/// A page that needs a password.
fn locked() -> Vec<u8> {
    let pages = "<</Type/Pages/Kids[3 0 R]/Count 1>>".to_owned();
    let page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]>>".to_owned();
    let zeros = "00".repeat(32);
    let lock =
        format!("/ID[<00><00>]/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<{zeros}>/U<{zeros}>>>");
    pdf(
        &["<</Type/Catalog/Pages 2 0 R>>".to_owned(), pages, page],
        &lock,
    )
}

/// A scan: a page with a picture and no words.
fn scan() -> Vec<u8> {
    let pages = "<</Type/Pages/Kids[3 0 R]/Count 1>>".to_owned();
    let page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</XObject<</I 5 0 R>>>>/Contents 4 0 R>>";
    let paint = "<</Length 26>>stream\nq 600 0 0 800 0 0 cm /I Do Q\nendstream".to_owned();
    let image = "<</Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray/Length 1>>stream\nx\n\
                 endstream";
    pdf(
        &[
            "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
            pages,
            page.to_owned(),
            paint,
            image.to_owned(),
        ],
        "",
    )
}

#[tokio::test]
async fn each_is_told_of_in_a_sentence_and_nothing_else_suffers() {
    let (server, ada) = Server::start_signed_in().await;
    let work = server.collection(&ada, "Work").await;
    let whole = archive(&[part(
        "word/document.xml",
        "<w:document xmlns:w=\"w\"><w:body><w:p><w:r><w:t>Hello</w:t></w:r></w:p></w:body></w:document>",
    )]);
    let files: Vec<(&str, Vec<u8>, &[&str])> = vec![
        ("bomb.docx", bomb(), &["unpacks_too_large"]),
        ("rows.xlsx", endless_sheet(), &["too_much_text"]),
        (
            "endless.pdf",
            endless_pages(),
            &["too_many_pages", "damaged", "no_text", "too_much_memory"],
        ),
        ("many.pdf", many_pages(), &["too_many_pages"]),
        ("locked.pdf", locked(), &["encrypted"]),
        ("scan.pdf", scan(), &["no_text"]),
        ("half.docx", whole[..whole.len() / 2].to_vec(), &["damaged"]),
    ];
    let mut sent = Vec::new();
    for (name, content, codes) in &files {
        let put = server.put_file(&ada, &work, name, content).await;
        put.expect(202);
        sent.push((*name, put.json()["id"].clone(), *codes));
    }
    let read = server
        .read_file(&ada, &work, "plan.txt", b"A walrus at rest.")
        .await;
    assert_eq!(read["state"], "ready");
    for (name, id, codes) in sent {
        let read: Value = server.settled(&ada, &work, &id).await;
        let code = read["problem"]["code"].as_str().unwrap_or_default();
        assert!(codes.contains(&code), "{name}: {read}");
        assert!(
            read["problem"]["message"].as_str().unwrap().ends_with('.'),
            "{name}: {read}"
        );
    }
    assert_eq!(
        server.find(&ada, "walrus at rest").await[0]["name"],
        "plan.txt"
    );
}

#[tokio::test]
async fn gigabytes_are_refused_before_they_are_sent() {
    let (server, ada) = Server::start_signed_in().await;
    let work = server.collection(&ada, "Work").await;
    let mut socket = TcpStream::connect(server.address).await.unwrap();
    let head = format!(
        "POST {KNOWLEDGE}/{work}/documents?name=huge.txt HTTP/1.1\r\nHost: {}\r\nCookie: {ada}\r\n\
         Content-Type: application/octet-stream\r\nContent-Length: 2000000000\r\nExpect: 100-continue\r\n\
         Connection: close\r\n\r\n",
        server.address
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(
        answer.contains("too large") || answer.contains("MB"),
        "{answer}"
    );
    let documents = server
        .get(&format!("{KNOWLEDGE}/{work}/documents"), &ada)
        .await
        .json();
    assert_eq!(documents, json!({"documents": []}));
}
