//! Scanned pages and pictures, read by the installed Tesseract in a process of its own. `tests/data/scans` has a few
//! sentences in each of several scripts, drawn in 300 dots per inch.
#![cfg(unix)]
#![expect(
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test ends at the first surprise, and says why it is skipped"
)]

use std::{io::Cursor, path::Path};

use image::{GrayImage, ImageFormat, Luma, imageops};
use knowledge::{
    Document, Limits, NoRecognizer, ReadingProcess, RecognitionLimits, Recognizer, UnreadPage,
    UnreadReason, Unreadable, become_reader,
};

#[ctor::ctor(unsafe)]
fn become_reader_first() {
    if let Some(code) = become_reader() {
        std::process::exit(i32::from(code != std::process::ExitCode::SUCCESS));
    }
}

/// What is written on the pages.
const TEXTS: [(&str, &str); 7] = [
    (
        "en",
        "The walrus contract was signed on Friday by both parties. It costs 12,500 euros a year, and ends on \
         31 December 2027. Every delivery is checked twice before it leaves the harbour.",
    ),
    (
        "de",
        "Der Vertrag über die Walrosse wurde am Freitag von beiden Seiten unterschrieben. Er kostet jährlich \
         12.500 Euro und läuft bis zum 31. Dezember 2027. Jede Lieferung wird geprüft, bevor sie den Hafen verlässt.",
    ),
    (
        "ru",
        "Договор о моржах подписан в пятницу обеими сторонами. Он стоит 12 500 евро в год и действует до \
         31 декабря 2027 года. Каждая поставка проверяется дважды, прежде чем покинуть порт.",
    ),
    (
        "zh",
        "双方于星期五签署了海象合同。每年的费用为一万二千五百欧元，合同有效期至二〇二七年十二月三十一日。\
         每一批货物在离开港口之前都要检查两次。",
    ),
    (
        "ja",
        "双方は金曜日にセイウチの契約書に署名しました。費用は年間一万二千五百ユーロで、\
         契約は二〇二七年十二月三十一日に終了します。すべての荷物は港を出る前に二回検査されます。",
    ),
    (
        "ko",
        "양측은 금요일에 바다코끼리 계약에 서명했습니다. 비용은 일 년에 만 이천오백 유로이며 계약은 십이월 말에 \
         끝납니다. 모든 화물은 항구를 떠나기 전에 두 번 검사합니다.",
    ),
    (
        "ar",
        "وقع الطرفان عقد الفظ يوم الجمعة. تبلغ التكلفة السنوية اثني عشر ألف يورو وينتهي العقد في نهاية شهر ديسمبر. \
         يتم فحص كل شحنة مرتين قبل أن تغادر الميناء.",
    ),
];

/// The installed program; `None` where there is none and none is required.
fn installed() -> Option<Recognizer> {
    match Recognizer::find(Path::new("tesseract"), &[]) {
        Ok(recognizer) => Some(recognizer),
        Err(why) => {
            let required = std::env::vars_os().any(|(name, _)| name == "GLASSHOUSE_TEST_REQUIRE");
            assert!(!required, "{why}");
            eprintln!("skipped: {why}");
            None
        }
    }
}

fn recognizing(recognizer: Recognizer) -> ReadingProcess {
    ReadingProcess::new(std::env::current_exe().unwrap()).recognizing(recognizer)
}

fn read(name: &str, bytes: &[u8], recognizer: &Recognizer) -> Result<Document, Unreadable> {
    recognizing(recognizer.clone()).read(name, bytes, &Limits::default())
}

fn file(language: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/scans");
    std::fs::read(folder.join(language).with_extension("png")).unwrap()
}

fn scan(language: &str) -> GrayImage {
    image::load_from_memory(&file(language))
        .unwrap()
        .into_luma8()
}

fn encoded(picture: &GrayImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// A page of a test file.
enum Page<'a> {
    Text(&'a str),
    /// A picture on the whole page.
    Scan(&'a GrayImage),
}

/// A PDF with these pages, of the size of A5.
fn pdf(pages: &[Page<'_>]) -> Vec<u8> {
    let (width, height) = (420, 595);
    let kids: String = (0..pages.len())
        .map(|i| format!("{} 0 R ", 4 + i * 3))
        .collect();
    let mut objects: Vec<Vec<u8>> = vec![
        b"<</Type/Catalog/Pages 2 0 R>>".into(),
        format!("<</Type/Pages/Kids[{kids}]/Count {}>>", pages.len()).into(),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".into(),
    ];
    let stream = |entries: &str, content: &[u8]| {
        let head = format!("<<{entries}/Length {}>>stream\n", content.len());
        [head.as_bytes(), content, b"\nendstream"].concat()
    };
    for page in pages {
        let number = objects.len() + 1;
        objects.push(
            format!(
                "<</Type/Page/Parent 2 0 R/MediaBox[0 0 {width} {height}]/Contents {} 0 R\
                 /Resources<</Font<</F 3 0 R>>/XObject<</I {} 0 R>>>>>>",
                number + 1,
                number + 2
            )
            .into(),
        );
        match page {
            Page::Text(text) => {
                let content = format!("BT /F 12 Tf 40 500 Td ({text}) Tj ET");
                objects.push(stream("", content.as_bytes()));
                objects.push(b"null".into());
            }
            Page::Scan(picture) => {
                let content = format!("q {width} 0 0 {height} 0 0 cm /I Do Q");
                objects.push(stream("", content.as_bytes()));
                let entries = format!(
                    "/Type/XObject/Subtype/Image/Width {}/Height {}/ColorSpace/DeviceGray/BitsPerComponent 8",
                    picture.width(),
                    picture.height()
                );
                objects.push(stream(&entries, picture.as_raw()));
            }
        }
    }
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut places = String::new();
    for (number, object) in (1..).zip(&objects) {
        places += &format!("{:010} 00000 n \n", file.len());
        file.extend(
            format!("{number} 0 obj")
                .bytes()
                .chain(object.iter().copied()),
        );
        file.extend(b"endobj\n");
    }
    let (xref, count) = (file.len(), objects.len() + 1);
    file.extend(
        format!(
            "xref\n0 {count}\n0000000000 65535 f \n{places}\
             trailer<</Size {count}/Root 1 0 R>>\nstartxref\n{xref}\n%%EOF"
        )
        .bytes(),
    );
    file
}

/// The scan on a sheet of paper with the proportions of the page.
fn sheet(scan: &GrayImage) -> GrayImage {
    let mut sheet = GrayImage::from_pixel(1750, 2479, Luma([255]));
    imageops::overlay(&mut sheet, scan, 140, 300);
    sheet
}

/// The letters that differ, in thousandths of the expected ones. White space does not count.
fn errors(text: &str, expected: &str) -> usize {
    let letters =
        |text: &str| -> Vec<char> { text.chars().filter(|it| !it.is_whitespace()).collect() };
    let (text, expected) = (letters(text), letters(expected));
    let mut row: Vec<usize> = (0..=text.len()).collect();
    for (i, wanted) in expected.iter().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, found) in text.iter().enumerate() {
            let changed = before + usize::from(wanted != found);
            before = row[j + 1];
            row[j + 1] = changed.min(before + 1).min(row[j] + 1);
        }
    }
    row[text.len()] * 1000 / expected.len()
}

#[track_caller]
fn check(document: &Document, language: &str, most: usize) {
    let (_, expected) = TEXTS.iter().find(|(name, _)| *name == language).unwrap();
    let errors = errors(&document.text, expected);
    assert!(errors <= most, "{language}: {errors} ‰\n{}", document.text);
}

#[test]
fn a_scanned_pdf_is_read_in_each_script() {
    let Some(recognizer) = installed() else {
        return;
    };
    for (language, _) in TEXTS {
        let bytes = pdf(&[Page::Scan(&sheet(&scan(language)))]);
        let document = read("scan.pdf", &bytes, &recognizer).unwrap();
        check(&document, language, 30);
        assert_eq!(
            (document.recognized.as_slice(), document.unread.len()),
            (&[1][..], 0)
        );
        assert_eq!(document.pages.len(), 1);
    }
}

#[test]
fn pages_with_text_stay_as_they_are_between_scanned_ones() {
    let Some(recognizer) = installed() else {
        return;
    };
    let (english, russian) = (sheet(&scan("en")), sheet(&scan("ru")));
    // Upside down, as sheets are put into scanners.
    let turned = imageops::rotate180(&russian);
    let words = "The seal is paid 300 euros, says the page that has its text in the file.";
    let bytes = pdf(&[Page::Scan(&english), Page::Text(words), Page::Scan(&turned)]);
    let document = read("mixed.pdf", &bytes, &recognizer).unwrap();
    assert_eq!(document.recognized, [1, 3]);
    assert!(document.text.contains(words), "{}", document.text);
    let page = |text: &str| document.page_at(document.text.find(text).unwrap());
    assert_eq!(
        [
            page("Friday by both parties"),
            page("seal is paid"),
            page("подписан")
        ],
        [Some(1), Some(2), Some(3)]
    );
    assert!(document.headings.is_empty(), "{:?}", document.headings);

    let without = knowledge::read("mixed.pdf", &bytes, &Limits::default()).unwrap();
    assert_eq!(without.text.trim(), words);
    let unread = |number| UnreadPage {
        number,
        reason: UnreadReason::NoRecognition,
    };
    assert_eq!(without.unread, [unread(1), unread(3)]);
    let without = knowledge::read(
        "scan.pdf",
        &pdf(&[Page::Scan(&english)]),
        &Limits::default(),
    );
    assert_eq!(without, Err(Unreadable::NoRecognition));
}

#[test]
fn bad_scans_are_read_with_few_errors() {
    let Some(recognizer) = installed() else {
        return;
    };
    let page = sheet(&scan("de"));
    // Gray on gray, with the grain of a bad scanner: a fixed pseudo-random sequence.
    let mut state = 1_u32;
    let mut grain = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        i32::from((state >> 24) as u8 & 31) - 16
    };
    let pale = GrayImage::from_fn(page.width(), page.height(), |x, y| {
        let gray = 120 + i32::from(page.get_pixel(x, y).0[0]) * 80 / 255 + grain();
        Luma([u8::try_from(gray.clamp(0, 255)).unwrap()])
    });
    check(
        &read("pale.pdf", &pdf(&[Page::Scan(&pale)]), &recognizer).unwrap(),
        "de",
        50,
    );
    // Two degrees askew.
    let (sine, cosine) = 0.035_f32.sin_cos();
    let skewed = GrayImage::from_fn(page.width(), page.height(), |x, y| {
        let (x, y) = (x as f32 - 875.0, y as f32 - 1240.0);
        let from = (
            x * cosine + y * sine + 875.0,
            y * cosine - x * sine + 1240.0,
        );
        let inside = from.0 >= 0.0 && from.1 >= 0.0;
        let pixel = page.get_pixel_checked(from.0 as u32, from.1 as u32);
        pixel.filter(|_| inside).copied().unwrap_or(Luma([255]))
    });
    check(
        &read("skewed.pdf", &pdf(&[Page::Scan(&skewed)]), &recognizer).unwrap(),
        "de",
        50,
    );
    // In half the resolution.
    let coarse = imageops::resize(&page, 875, 1240, imageops::FilterType::Triangle);
    check(
        &read("coarse.pdf", &pdf(&[Page::Scan(&coarse)]), &recognizer).unwrap(),
        "de",
        50,
    );
}

#[test]
fn pictures_of_each_format_are_read() {
    let Some(recognizer) = installed() else {
        return;
    };
    let picture = scan("en");
    for (name, format) in [
        ("a.png", ImageFormat::Png),
        ("a.jpg", ImageFormat::Jpeg),
        ("a.webp", ImageFormat::WebP),
        ("a.gif", ImageFormat::Gif),
        ("a.bmp", ImageFormat::Bmp),
    ] {
        let bytes = match format {
            // Written in colour only.
            ImageFormat::Gif | ImageFormat::WebP => {
                let mut bytes = Cursor::new(Vec::new());
                let colors = image::DynamicImage::from(picture.clone()).into_rgba8();
                colors.write_to(&mut bytes, format).unwrap();
                bytes.into_inner()
            }
            format => encoded(&picture, format),
        };
        let document = read(name, &bytes, &recognizer).unwrap();
        check(&document, "en", 20);
        assert_eq!(
            (document.recognized.as_slice(), document.pages.len()),
            (&[1][..], 0),
            "{name}"
        );
    }
    assert_eq!(
        knowledge::read(
            "a.bmp",
            &encoded(&picture, ImageFormat::Bmp),
            &Limits::default()
        ),
        Err(Unreadable::Picture)
    );
}

#[test]
fn the_pictures_of_a_tiff_file_are_its_pages() {
    use tiff::encoder::{TiffEncoder, colortype::Gray8};
    let Some(recognizer) = installed() else {
        return;
    };
    let mut bytes = Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::new(&mut bytes).unwrap();
    for language in ["en", "ja"] {
        let page = scan(language);
        encoder
            .write_image::<Gray8>(page.width(), page.height(), page.as_raw())
            .unwrap();
    }
    let document = read("a.tiff", &bytes.into_inner(), &recognizer).unwrap();
    assert_eq!(document.recognized, [1, 2]);
    let second = document.text.find("双方").unwrap();
    assert_eq!(
        (document.page_at(0), document.page_at(second)),
        (Some(1), Some(2))
    );
}

#[test]
fn a_picture_of_nothing_has_no_text() {
    let Some(recognizer) = installed() else {
        return;
    };
    let white = GrayImage::from_pixel(1750, 2479, Luma([255]));
    let sky = GrayImage::from_fn(1750, 2479, |x, y| {
        Luma([200_u8.saturating_sub(u8::try_from((x / 20 + y / 30) % 120).unwrap())])
    });
    for picture in [&white, &sky] {
        let scanned = read("a.pdf", &pdf(&[Page::Scan(picture)]), &recognizer);
        assert_eq!(scanned, Err(Unreadable::NoText));
    }
    assert_eq!(
        read("a.png", &encoded(&sky, ImageFormat::Png), &recognizer),
        Err(Unreadable::NoText)
    );
}

#[test]
fn what_is_too_large_or_damaged_leaves_the_other_pages() {
    let Some(recognizer) = installed() else {
        return;
    };
    // 20,000 × 20,000 pixels, as far as the header says.
    let mut huge = encoded(&GrayImage::new(1, 1), ImageFormat::Png);
    huge[16..24].copy_from_slice(&[0, 0, 0x4e, 0x20, 0, 0, 0x4e, 0x20]);
    assert_eq!(
        read("a.png", &huge, &recognizer),
        Err(Unreadable::TooManyPixels { limit: 50 })
    );
    let page = sheet(&scan("en"));
    let bytes = pdf(&[Page::Scan(&page), Page::Scan(&GrayImage::new(7, 13))]);
    let size = b"/Width 7/Height 13";
    let at = bytes
        .windows(size.len())
        .position(|window| window == size)
        .unwrap();
    let mut bytes = bytes;
    // In the space of the entries, so that no offset changes much: the reader repairs them.
    bytes.splice(at..at + size.len(), *b"/Width 20000/Height 20000");
    let document = read("a.pdf", &bytes, &recognizer).unwrap();
    check(&document, "en", 30);
    assert_eq!(
        document.unread,
        [UnreadPage {
            number: 2,
            reason: UnreadReason::TooLarge
        }]
    );
    for (name, bytes) in [
        ("a.png", &file("en")[..3000]),
        ("a.bmp", &encoded(&page, ImageFormat::Bmp)[..300]),
        ("a.tiff", b"II*\0\x08\0\0\0"),
    ] {
        let refusal = read(name, bytes, &recognizer).unwrap_err();
        let is_told = matches!(
            refusal,
            Unreadable::Damaged { .. } | Unreadable::NotRecognized
        );
        assert!(is_told, "{name}: {refusal:?}");
    }
}

#[test]
fn pages_beyond_the_time_stay_unread() {
    let Some(recognizer) = installed() else {
        return;
    };
    let none = RecognitionLimits {
        page_seconds: 60,
        document_seconds: 0,
    };
    let recognizer = recognizer.with_limits(none);
    let bytes = pdf(&[
        Page::Scan(&sheet(&scan("en"))),
        Page::Text("The seal sings all day."),
    ]);
    let document = read("a.pdf", &bytes, &recognizer).unwrap();
    assert_eq!(document.text.trim(), "The seal sings all day.");
    assert_eq!(
        document.unread,
        [UnreadPage {
            number: 1,
            reason: UnreadReason::TooSlow
        }]
    );
}

#[test]
fn only_the_languages_that_are_named_are_used() {
    let Some(all) = installed() else { return };
    assert!(all.version().starts_with("tesseract "), "{}", all.version());
    assert!(
        all.detects_script() && all.languages().len() >= 9,
        "{all:?}"
    );
    let find = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        Recognizer::find(Path::new("tesseract"), &names)
    };
    assert_eq!(find(&["rus", "xyz"]).unwrap().languages(), ["rus"]);
    let refusal = find(&["xyz"]).unwrap_err();
    assert!(
        matches!(&refusal, NoRecognizer::NoLanguages { installed } if installed.contains("rus")),
        "{refusal}"
    );
    // Russian letters do not come out of a program that only knows Japanese ones.
    let japanese = find(&["jpn"]).unwrap();
    let document = read("a.png", &file("ja"), &japanese).unwrap();
    check(&document, "ja", 30);
}
