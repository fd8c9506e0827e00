//! Tests with e-mails written out.

use super::*;

#[test]
fn an_email_is_read_with_its_headers() {
    let mail = "From: =?utf-8?B?0JDQvdC90LA=?= <anna@example.org>\r\nTo: team@example.org\r\n\
        Subject: =?utf-8?Q?D=C3=A9ploiement?=\r\nDate: Mon, 23 Nov 2026 10:00:00 +0000\r\n\
        MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n\
        --b\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n\
        The caf=C3=A9 opens on Friday.\r\n--b\r\nContent-Type: application/pdf\r\n\
        Content-Disposition: attachment; filename=\"plan.pdf\"\r\n\r\nxx\r\n--b--\r\n";
    let document = crate::read("a.eml", mail.as_bytes(), &Limits::default()).unwrap();
    assert_eq!(document.title.as_deref(), Some("Déploiement"));
    for words in [
        "From: Анна <anna@example.org>",
        "2026-11-23",
        "The café opens",
        "Attached: plan.pdf",
    ] {
        assert!(
            document.text.contains(words),
            "{words} in {}",
            document.text
        );
    }
    assert!(
        document
            .text
            .contains("(The file is damaged or incomplete: it cannot be read as PDF.)")
    );
    assert!(crate::read("a.eml", b"", &Limits::default()).is_err());
}

#[test]
fn nothing_of_a_mail_is_taken_for_navigation() {
    let paragraph = "<p>The walrus lives in the north, where it rests on the ice and dives for mussels all day.</p>";
    let page = format!(
        "<html><head><title>Offer</title></head><body><table><tr><td><div class=header><a href='https://e.org'>View online</a>\
         </div></td></tr></table>{}<table><tr><th>Item<th>Price<tr><td rowspan=2>Pen<td>10<sup>2</sup><tr><td>4</table>\
         <div class=footer>Ann, Sales</div></body></html>",
        paragraph.repeat(5)
    );
    let mail = format!(
        "From: a@example.org\r\nMIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n{page}"
    );
    let text = crate::read("a.eml", mail.as_bytes(), &Limits::default())
        .unwrap()
        .text;
    for words in [
        "\n[View online](https://e.org)\n",
        "| Item | Price |\n| ---- | ----- |\n| Pen | 10^2 |\n| Pen | 4 |\n",
        "Ann, Sales",
    ] {
        assert!(text.contains(words), "{words} in {text}");
    }
    assert_eq!(text.matches("dives for mussels").count(), 5);
    assert!(!text.contains("Offer"), "{text}");
}

fn mail(subject: &str, kind: &str, name: &str, attached: &str) -> String {
    format!(
        "From: a@example.org\r\nSubject: {subject}\r\nMIME-Version: 1.0\r\n\
         Content-Type: multipart/mixed; boundary={subject}\r\n\r\n\
         --{subject}\r\nContent-Type: text/plain\r\n\r\nSee below.\r\n\
         --{subject}\r\nContent-Type: {kind}\r\nContent-Disposition: attachment; filename=\"{name}\"\r\n\r\n\
         {attached}\r\n--{subject}--\r\n"
    )
}

#[test]
fn what_is_attached_is_read_to_a_depth() {
    let read = |mail: &str| crate::read("a.eml", mail.as_bytes(), &Limits::default()).unwrap();
    let page = "<html><body><p>The walrus costs 400 euros, and it costs them every single year.</p></body></html>";
    let document = read(&mail("One", "text/html", "offer.html", page));
    assert!(
        document.text.contains("## Attached: offer.html") && document.text.contains("400 euros"),
        "{}",
        document.text
    );
    assert!(
        document
            .headings
            .iter()
            .any(|heading| heading.title == "Attached: offer.html")
    );
    let inner = mail("Inner", "text/plain", "prices.txt", "walrus,400");
    let document = read(&mail("Outer", "message/rfc822", "inner.eml", &inner));
    assert!(document.text.contains("walrus,400"), "{}", document.text);
    // Endlessly nested e-mails, as an attacker might send.
    let mut nested = inner;
    for depth in 0..40 {
        nested = mail(
            &format!("Depth{depth}"),
            "message/rfc822",
            "inner.eml",
            &nested,
        );
    }
    let document = read(&nested);
    assert!(
        document.text.contains("Depth39") && !document.text.contains("walrus"),
        "{}",
        document.text
    );
}
