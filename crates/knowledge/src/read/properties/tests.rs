//! Properties of files of each format.

use serde_json::{Value, json};

use super::super::zipped::zip;
use super::*;

#[track_caller]
fn check(name: &str, bytes: &[u8], tags: &[&str], fields: Value) {
    let limits = Limits::default();
    let document = crate::read(name, bytes, &limits).unwrap();
    assert_eq!(document.properties.tags, tags, "{name}");
    assert_eq!(json!(document.properties.fields), fields, "{name}");
    // Cut files do no harm.
    for end in (0..bytes.len()).step_by(bytes.len() / 50 + 1) {
        _ = read(name, &bytes[..end], &document, &limits);
    }
}

const CORE: &str = "<cp:coreProperties xmlns:cp=\"http://schemas.openxmlformats.org/package/2006/metadata/core-properties\" \
    xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:dcterms=\"http://purl.org/dc/terms/\" \
    xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"><dc:title>Plan &amp; budget</dc:title><dc:creator>Ann</dc:creator>\
    <cp:keywords>hr; budget, hr</cp:keywords><cp:lastModifiedBy>Bob</cp:lastModifiedBy>\
    <dcterms:created xsi:type=\"dcterms:W3CDTF\">2024-05-01T08:00:00Z</dcterms:created>\
    <dcterms:modified xsi:type=\"dcterms:W3CDTF\">2024-06-01T08:00:00Z</dcterms:modified><dc:description/></cp:coreProperties>";
const CUSTOM: &str = "<Properties xmlns=\"http://schemas.openxmlformats.org/officeDocument/2006/custom-properties\" \
    xmlns:vt=\"http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes\">\
    <property fmtid=\"{D5CDD505-2E9C-101B-9397-08002B2CF9AE}\" pid=\"2\" name=\"Department\"><vt:lpwstr>Legal</vt:lpwstr></property>\
    <property fmtid=\"{D5CDD505-2E9C-101B-9397-08002B2CF9AE}\" pid=\"3\" name=\"Pages\"><vt:i4>12</vt:i4></property>\
    <property fmtid=\"{D5CDD505-2E9C-101B-9397-08002B2CF9AE}\" pid=\"4\" name=\"Final\"><vt:bool>true</vt:bool></property>\
    <property fmtid=\"{D5CDD505-2E9C-101B-9397-08002B2CF9AE}\" pid=\"5\" name=\"_dlc_DocId\"><vt:lpwstr>x</vt:lpwstr></property>\
    </Properties>";

#[test]
fn office_documents_have_core_and_custom_properties() {
    let bytes = zip(&[
        (
            "word/document.xml",
            "<w:document xmlns:w=\"w\"><w:body><w:p><w:r><w:t>Hello</w:t></w:r></w:p></w:body></w:document>",
        ),
        ("docProps/core.xml", CORE),
        (
            "docProps/app.xml",
            "<Properties><Company>Acme</Company><Pages>1</Pages></Properties>",
        ),
        ("docProps/custom.xml", CUSTOM),
    ]);
    let expected = json!({
        "title": "Plan & budget", "author": "Ann", "modified by": "Bob", "created": "2024-05-01T08:00:00Z",
        "modified": "2024-06-01T08:00:00Z", "company": "Acme", "department": "Legal", "pages": 12.0, "final": true,
    });
    check("a.docx", &bytes, &["hr", "budget"], expected);
}

#[test]
fn open_documents_and_books_have_metadata() {
    let meta = "<office:document-meta><office:meta><dc:title>Tides</dc:title><meta:initial-creator>Ann</meta:initial-creator>\
        <dc:creator>Bob</dc:creator><meta:keyword>sea</meta:keyword><meta:keyword>moon</meta:keyword>\
        <meta:creation-date>2024-05-01T08:00:00</meta:creation-date><dc:date>2024-06-01T08:00:00</dc:date>\
        <dc:language>de-DE</dc:language></office:meta></office:document-meta>";
    let bytes = zip(&[
        ("mimetype", "application/vnd.oasis.opendocument.text"),
        (
            "content.xml",
            "<office:document-content><office:body><office:text><text:p>Hello</text:p></office:text></office:body></office:document-content>",
        ),
        ("meta.xml", meta),
    ]);
    let expected = json!({
        "title": "Tides", "author": "Ann", "modified by": "Bob", "created": "2024-05-01T08:00:00",
        "modified": "2024-06-01T08:00:00", "language": "de-DE",
    });
    check("a.odt", &bytes, &["sea", "moon"], expected);

    let package = "<package><metadata><dc:title>Walruses</dc:title><dc:creator>Ann</dc:creator><dc:creator>Bob</dc:creator>\
        <dc:subject>Animals</dc:subject><dc:subject>Arctic</dc:subject><dc:date>1912-04-15</dc:date><dc:language>en</dc:language>\
        <dc:publisher>Acme</dc:publisher></metadata><manifest><item id=\"a\" href=\"a.xhtml\"/></manifest>\
        <spine><itemref idref=\"a\"/></spine></package>";
    let bytes = zip(&[
        ("mimetype", "application/epub+zip"),
        (
            "META-INF/container.xml",
            "<container><rootfiles><rootfile full-path=\"book.opf\"/></rootfiles></container>",
        ),
        ("book.opf", package),
        ("a.xhtml", "<html><body><p>Hello</p></body></html>"),
    ]);
    let expected = json!({
        "title": "Walruses", "author": ["Ann", "Bob"], "published": "1912-04-15", "language": "en", "publisher": "Acme",
    });
    check("a.epub", &bytes, &["Animals", "Arctic"], expected);
}

#[test]
fn pages_have_meta_elements() {
    let page = "<!doctype html><html lang=\"de\"><head><meta charset=utf-8><title>Gezeiten – Seiten</title>\
        <meta property=\"article:author\" content=\"https://facebook.com/ann\"><meta name=\"Author\" content=\"Ann\">\
        <meta name=\"DC.creator\" content=\"Other\"><meta property=\"og:title\" content=\"Gezeiten\">\
        <meta property=\"og:site_name\" content=\"Die Seiten\"><meta name=\"keywords\" content=\"cheap, buy\">\
        <meta property=\"article:published_time\" content=\"2024-05-01T10:00:00+02:00\">\
        <meta property=\"article:tag\" content=\"Meer\"><meta property=\"article:tag\" content=\"Mond\"></head>\
        <body><p>Der Mond zieht am Wasser. <meta name=\"author\" content=\"not me\"></p></body></html>";
    let expected = json!({
        "author": "Ann", "published": "2024-05-01T10:00:00+02:00", "site": "Die Seiten", "title": "Gezeiten", "language": "de",
    });
    check(
        "a.html",
        page.as_bytes(),
        &["Meer", "Mond"],
        expected.clone(),
    );
    let archive = format!(
        "MIME-Version: 1.0\nSubject: x\nContent-Type: multipart/related; boundary=\"b\"\n\n--b\nContent-Type: text/html; charset=utf-8\n\n{page}\n--b--\n"
    );
    check("a.mht", archive.as_bytes(), &["Meer", "Mond"], expected);
}

#[test]
fn mails_have_people_and_a_date() {
    let mail = "MIME-Version: 1.0\nFrom: Ann <ann@example.org>\nTo: Bob <bob@example.org>, cem@example.org\n\
        Date: Wed, 1 May 2024 10:00:00 +0200\nSubject: =?utf-8?q?Pl=C3=A4ne?=\nKeywords: a, b\n\nHello Bob\n";
    let expected = json!({
        "subject": "Pläne", "from": "Ann <ann@example.org>", "to": ["Bob <bob@example.org>", "cem@example.org"],
        "date": "2024-05-01T10:00:00+02:00",
    });
    check("a.eml", mail.as_bytes(), &["a", "b"], expected);
}

#[test]
fn notebooks_and_markdown_have_metadata() {
    let notebook = json!({
        "nbformat": 4, "cells": [{"cell_type": "markdown", "source": ["Hello"]}],
        "metadata": {"title": "Tides", "authors": [{"name": "Ann"}, "Bob"], "language_info": {"name": "python"}},
    });
    let expected =
        json!({"title": "Tides", "author": ["Ann", "Bob"], "programming language": "python"});
    check("a.ipynb", notebook.to_string().as_bytes(), &[], expected);
    check(
        "a.md",
        b"---\ntags: [a]\n---\n# Tides\n",
        &["a"],
        json!({"title": "Tides"}),
    );
    check("a.txt", b"---\ntags: [a]\n---\n", &[], json!({}));
}

#[test]
fn pdfs_have_an_information_dictionary() {
    let body = "BT /F1 12 Tf 20 100 Td (Hello) Tj ET";
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R /Lang (en-GB) >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>".to_owned(),
        format!("<< /Length {} >>\nstream\n{body}\nendstream", body.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
        "<< /Title (Tides) /Author <FEFF041F043B> /Keywords (sea, moon) /CreationDate (D:20240501100000+02'00') /Producer (x) >>".to_owned(),
    ];
    let mut bytes = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (object, number) in objects.iter().zip(1..) {
        places.push(bytes.len());
        bytes.extend(format!("{number} 0 obj\n{object}\nendobj\n").bytes());
    }
    let start = bytes.len();
    bytes.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).bytes());
    for place in places {
        bytes.extend(format!("{place:010} 00000 n \n").bytes());
    }
    bytes.extend(
        format!(
            "trailer << /Size {} /Root 1 0 R /Info 6 0 R >>\nstartxref\n{start}\n%%EOF",
            objects.len() + 1
        )
        .bytes(),
    );
    let expected = json!({"title": "Tides", "author": "Пл", "created": "2024-05-01T10:00:00+02:00", "language": "en-GB"});
    check("a.pdf", &bytes, &["sea", "moon"], expected);
}
