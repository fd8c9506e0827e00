//! Tests with small RTF files.

use proptest::prelude::*;

use super::*;

fn check(rtf: &str, expected: &str) {
    let document = read(rtf.as_bytes(), &Limits::default()).unwrap();
    assert_eq!(document.text, expected, "{rtf}");
}

#[test]
fn text_is_read_in_its_encoding() {
    check(
        "{\\rtf1\\ansi caf\\'e9 \\u8364?\\par next\\par}",
        "café €\n\nnext\n\n",
    );
    check("{\\rtf1\\ansicpg1251 \\'c4\\'e0}", "Да\n\n");
    check("{\\rtf1\\ansicpg932 \\'93\\'fa\\'96\\'7b", "日本\n\n");
    check(
        "{\\rtf1{\\fonttbl{\\f0\\fcharset0 A;}{\\f3\\fcharset204 B;}}\\f3 \\'c4\\f0 \\'c4}",
        "ДÄ\n\n",
    );
    check(
        "{\\rtf1\\uc2 \\u-10180xx\\u-9000\\'20\\'20 a{\\uc0\\u169 b}}",
        "\u{1f0d8} a©b\n\n",
    );
    check(
        "{\\rtf1 a\\~b \\{c\\} d\\emdash e\\line f}",
        "a\u{a0}b {c} d—e\nf\n\n",
    );
}

#[test]
fn what_is_not_shown_is_left_out() {
    check(
        "{\\rtf1{\\info{\\author Ann}}{\\colortbl;\\red1;}{\\*\\generator x;}{\\header top}\
         {\\field{\\*\\fldinst HYPERLINK \"x\"}{\\fldrslt link}} {\\v hidden}{\\deleted gone}{\\strike old}new\
         {\\pict 0102}{\\nonshppict{\\pict 03}}}",
        "link new\n\n",
    );
    let document = read(b"{\\rtf1{\\info{\\title Plan}}x}", &Limits::default()).unwrap();
    assert_eq!(document.title.as_deref(), Some("Plan"));
}

#[test]
fn headings_lists_tables_and_notes_are_kept() {
    check(
        "{\\rtf1{\\stylesheet{\\s0 Normal;}{\\s1\\b heading 1;}}\\pard\\s1 Plan\\par\\pard\\outlinelevel1 Part\\par\
         \\pard {\\listtext\\'95\\tab}one\\par{\\listtext 2.\\tab}two\\par\\pard text{\\super\\chftn}\
         {\\*\\footnote\\pard See below.} 10{\\super 6}\\par}",
        "# Plan\n\n## Part\n\n- one\n2. two\n\ntext 10^6\n\nSee below.\n\n",
    );
    check(
        "{\\rtf1 H{\\sub 2}O, M{\\super me} x\\sub i\\nosupersub , a{\\*\\footnote 10{\\super 6}}.}",
        "H2O, Mme x_i, a.\n\n10^6\n\n",
    );
    check(
        "{\\rtf1\\pard\\ilvl0{\\listtext 1.\\tab}one\\par\\pard\\ilvl1{\\listtext a)\\tab}in\\par\\pard\\ilvl1{\\listtext o\\tab}\
         dot\\par\\pard\\ilvl0{\\listtext 2.\\tab}two\\par\\pard\\outlinelevel0{\\listtext 3.\\tab}Part\\par\\pard end\\par}",
        "1. one\n    - a) in\n    - dot\n2. two\n\n# 3. Part\n\nend\n\n",
    );
    check(
        "{\\rtf1\\trowd\\clvmgf\\cellx1\\clmgf\\cellx2\\clmrg\\cellx3\\intbl Region\\cell 2026\\cell\\cell\\row\
         \\trowd\\clvmrg\\cellx1\\cellx2\\cellx3\\intbl\\cell Q1\\cell Q2\\cell\\row}",
        "| Region | 2026 | 2026 |\n| --- | --- | --- |\n| Region | Q1 | Q2 |\n\n",
    );
    check(
        "{\\rtf1 before\\par\\trowd\\pard\\intbl Name\\cell a|b\\cell\\row\\trowd\\pard\\intbl x\\par y\\cell\\cell\\row\
         \\pard after}",
        "before\n\n| Name | a\\|b |\n| --- | --- |\n| x y |  |\n\nafter\n\n",
    );
}

#[test]
fn only_the_first_word_of_a_group_may_make_it_optional() {
    check(
        "{\\rtf1{\\loch\\*\\cs7 The quick fox}{\\*\\unknown gone}\\par}",
        "The quick fox\n\n",
    );
}

#[test]
fn converted_web_pages_are_restored() {
    check(
        "{\\rtf1\\ansi\\fromhtml1{\\*\\htmltag19 <html>}{\\*\\htmltag64 <ul>}\\htmlrtf \\par {\\pntext - }\\htmlrtf0\
         {\\*\\htmltag64 <li>}One{\\*\\htmltag84 &nbsp;}\\htmlrtf\\'a0\\htmlrtf0 \\u246? < 2{\\*\\htmltag64 <li>}caf\\'e9\
         {\\*\\htmltag72 </ul>}{\\*\\htmltag64 <table><tr><td>}a{\\*\\htmltag64 <td>}b{\\*\\htmltag64 </table>}\
         {\\*\\mhtmltag64 <b>}}",
        "- One\u{a0}ö \\< 2\n- café\n\n\n|   |   |\n| - | - |\n| a | b |",
    );
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "{", "}", "\\", "\\'e", "\\u-1", "\\bin9999", "\\bin-1", "\\uc99", "\\row", "\\cell", "\\*",
                "\\footnote", "\\stylesheet", "\\outlinelevel2147483647", "\\s1", "é", " a ", "\\ansicpg-1",
                "\\fcharset128", "\\fromhtml1", "\\htmltag", "<td>", "\\fonttbl", "\\par", "\\intbl", "\\listtext",
            ]),
            0..60,
        )
    ) {
        let rtf = format!("{{\\rtf1{}", parts.concat());
        let _ = read(rtf.as_bytes(), &Limits::default());
    }
}
