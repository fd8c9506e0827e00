//! Names of folders in the modified UTF-7 of IMAP (RFC 3501, section 5.1.3).

use base64::{
    Engine, alphabet,
    engine::{GeneralPurpose, general_purpose::NO_PAD},
};

const ENGINE: GeneralPurpose = GeneralPurpose::new(&alphabet::IMAP_MUTF7, NO_PAD);

/// Encodes a name.
pub(super) fn encode(name: &str) -> String {
    let mut encoded = String::new();
    let mut others: Vec<u8> = Vec::new();
    for char in name.chars() {
        if matches!(char, ' '..='~') {
            finish(&mut others, &mut encoded);
            encoded.push(char);
            if char == '&' {
                encoded.push('-');
            }
        } else {
            let units = char.encode_utf16(&mut [0; 2]).to_vec();
            others.extend(units.into_iter().flat_map(u16::to_be_bytes));
        }
    }
    finish(&mut others, &mut encoded);
    encoded
}

/// Adds what is not ASCII in UTF-16.
fn finish(others: &mut Vec<u8>, encoded: &mut String) {
    if !others.is_empty() {
        encoded.push('&');
        encoded.push_str(&ENGINE.encode(&others));
        encoded.push('-');
        others.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (name, expected) in [
            ("INBOX", "INBOX"),
            ("R&D", "R&-D"),
            ("Entwürfe", "Entw&APw-rfe"),
            // The example of RFC 3501.
            ("~peter/mail/台北/日本語", "~peter/mail/&U,BTFw-/&ZeVnLIqe-"),
            ("\u{1f600}", "&2D3eAA-"),
            ("", ""),
        ] {
            assert_eq!(encode(name), expected);
        }
    }
}
