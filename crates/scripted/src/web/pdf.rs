//! Minimal PDF files accepted by readers, with one page of lines.

use std::fmt::Write;

pub(super) fn file(lines: &[String]) -> Vec<u8> {
    let mut drawn = "BT /F1 14 Tf 60 760 Td 20 TL".to_owned();
    for line in lines {
        let line = line.replace(['(', ')', '\\'], "");
        _ = write!(drawn, " ({line}) Tj T*");
    }
    drawn.push_str(" ET");
    let objects = [
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        "<</Type/Pages/Kids[3 0 R]/Count 1>>".to_owned(),
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>"
            .to_owned(),
        format!("<</Length {}>>stream\n{drawn}\nendstream", drawn.len()),
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".to_owned(),
    ];
    let mut file = "%PDF-1.4\n".to_owned();
    let mut places = Vec::new();
    for (object, number) in objects.iter().zip(1..) {
        places.push(file.len());
        _ = writeln!(file, "{number} 0 obj{object}endobj");
    }
    let table = file.len();
    _ = write!(file, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for place in places {
        _ = writeln!(file, "{place:010} 00000 n ");
    }
    _ = write!(
        file,
        "trailer<</Size {}/Root 1 0 R>>\nstartxref\n{table}\n%%EOF\n",
        objects.len() + 1
    );
    file.into_bytes()
}
