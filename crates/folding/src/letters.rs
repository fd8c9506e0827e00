//! What single characters are in a comparison.

use unicode_normalization::char::is_combining_mark;

/// Whether the character is a combining mark: an accent, a vowel sign, a tone mark.
#[must_use]
pub fn is_mark(char: char) -> bool {
    char >= '\u{300}' && is_combining_mark(char) && !is_invisible(char)
}

/// Whether the character is not seen and changes no meaning: soft hyphens, joiners, direction marks, variation
/// selectors, Hangul fillers.
#[must_use]
pub fn is_invisible(char: char) -> bool {
    matches!(char,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' |
        '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' |
        '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether the character is an apostrophe, in any of its forms, or a mark inside Hebrew abbreviations.
#[must_use]
pub fn is_apostrophe(char: char) -> bool {
    matches!(
        char,
        '\'' | '‘' | '’' | '‛' | 'ʹ' | 'ʻ' | 'ʼ' | 'ʽ' | 'ʾ' | 'ʿ' | '＇' | '\u{5f3}' | '\u{5f4}'
    )
}

/// Vowel signs and elongation that texts in Arabic, Hebrew and Syriac usually go without, and stress marks.
pub(crate) fn is_optional_mark(char: char) -> bool {
    matches!(char,
        '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}' | '\u{5c4}' | '\u{5c5}' | '\u{5c7}' |
        '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{652}' | '\u{656}'..='\u{65f}' | '\u{670}' |
        '\u{6d6}'..='\u{6dc}' | '\u{6df}'..='\u{6e8}' | '\u{6ea}'..='\u{6ed}' |
        '\u{730}'..='\u{74a}' | '\u{8d3}'..='\u{8ff}' | '\u{483}'..='\u{489}')
}

/// Marks without which a word is still recognized: accents, hamza and madda, Indic dots for foreign sounds.
pub(crate) fn is_accent(char: char) -> bool {
    matches!(char,
        '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' |
        '\u{fe20}'..='\u{fe2f}' | '\u{653}'..='\u{655}' |
        '\u{93c}' | '\u{9bc}' | '\u{a3c}' | '\u{abc}' | '\u{b3c}' | '\u{cbc}')
}

/// Whether the mark makes another letter of the base, rather than an accented one: й, ў, ї, ѓ, ќ.
pub(crate) fn makes_another_letter(base: char, mark: char) -> bool {
    matches!(
        (base, mark),
        ('и' | 'у', '\u{306}') | ('і', '\u{308}') | ('г' | 'к', '\u{301}')
    )
}

/// What a letter without a decomposition is compared as.
pub(crate) fn base_letter(char: char) -> Option<&'static str> {
    Some(match char {
        'ø' => "o",
        'ł' => "l",
        'đ' | 'ð' => "d",
        'ħ' => "h",
        'ŧ' => "t",
        'ı' => "i",
        'æ' => "ae",
        'œ' => "oe",
        'þ' => "th",
        'ґ' => "г",
        // Alef with wasla; yeh without dots and Persian yeh; Persian kaf; feminine and other forms of heh.
        '\u{671}' => "\u{627}",
        '\u{649}' | '\u{6cc}' => "\u{64a}",
        '\u{6a9}' => "\u{643}",
        '\u{629}' | '\u{6be}' | '\u{6c1}' | '\u{6c3}' | '\u{6d5}' => "\u{647}",
        _ => return None,
    })
}

/// The decimal digit in ASCII.
pub(crate) fn digit(char: char) -> Option<char> {
    /// The zeros of the scripts; the other nine digits follow each.
    const ZEROS: [char; 20] = [
        '\u{660}', '\u{6f0}', '\u{7c0}', '\u{966}', '\u{9e6}', '\u{a66}', '\u{ae6}', '\u{b66}',
        '\u{be6}', '\u{c66}', '\u{ce6}', '\u{d66}', '\u{de6}', '\u{e50}', '\u{ed0}', '\u{f20}',
        '\u{1040}', '\u{1090}', '\u{17e0}', '\u{1810}',
    ];
    let code = u32::from(char);
    let before = ZEROS.partition_point(|zero| *zero <= char).checked_sub(1)?;
    let value = code - u32::from(ZEROS[before]);
    char::from_digit(value, 10)
}
