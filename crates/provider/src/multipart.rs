//! Encodes the body of a `multipart/form-data` request: text fields and one file.

use memchr::memmem;

/// A file of a form.
#[derive(Debug, Clone, Copy)]
pub struct FormFile<'a> {
    /// The name of its field.
    pub field: &'a str,
    /// Its file name, of ASCII letters, digits, `.`, `-` and `_`; others are replaced.
    pub name: &'a str,
    /// Its media type.
    pub media_type: &'a str,
    /// Its content.
    pub content: &'a [u8],
}

/// An encoded form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// The value of `Content-Type`.
    pub content_type: String,
    /// The body.
    pub body: Vec<u8>,
}

/// A form with these text fields, in order, and then the file.
#[must_use]
pub fn encode(fields: &[(&str, &str)], file: FormFile<'_>) -> Form {
    let boundary = boundary(fields, file.content);
    let mut body = Vec::with_capacity(file.content.len() + 1024);
    for (name, value) in fields {
        let head =
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(value.as_bytes());
        body.extend_from_slice(b"\r\n");
    }
    let FormFile {
        field,
        name,
        media_type,
        content,
    } = file;
    let name = plain_name(name);
    let head = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"{name}\"\r\n\
         Content-Type: {media_type}\r\n\r\n"
    );
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(content);
    body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    Form {
        content_type: format!("multipart/form-data; boundary={boundary}"),
        body,
    }
}

/// A boundary that occurs neither in the file nor in a field.
fn boundary(fields: &[(&str, &str)], content: &[u8]) -> String {
    let mut number = 0_u64;
    loop {
        let boundary = format!("glasshouse-form-{number}-6f2a9c1e");
        let is_in_field = fields.iter().any(|(_, value)| value.contains(&boundary));
        if !is_in_field && memmem::find(content, boundary.as_bytes()).is_none() {
            return boundary;
        }
        number += 1;
    }
}

/// A file name that needs no quoting, which servers undo in different ways.
fn plain_name(name: &str) -> String {
    let plain = |char: char| match char {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '-' | '_' => char,
        _ => '_',
    };
    name.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file<'a>(name: &'a str, content: &'a [u8]) -> FormFile<'a> {
        FormFile {
            field: "file",
            name,
            media_type: "audio/mpeg",
            content,
        }
    }

    #[test]
    fn fields_come_before_the_file() {
        let form = encode(
            &[("model", "whisper-1"), ("n", "")],
            file("a \"б\".mp3", b"ID3\r\n"),
        );
        assert_eq!(
            form.content_type,
            "multipart/form-data; boundary=glasshouse-form-0-6f2a9c1e"
        );
        let expected = "--glasshouse-form-0-6f2a9c1e\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nwhisper-1\r\n\
             --glasshouse-form-0-6f2a9c1e\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\n\r\n\
             --glasshouse-form-0-6f2a9c1e\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a____.mp3\"\r\n\
             Content-Type: audio/mpeg\r\n\r\nID3\r\n\r\n--glasshouse-form-0-6f2a9c1e--\r\n";
        assert_eq!(String::from_utf8(form.body).unwrap(), expected);
    }

    #[test]
    fn a_file_cannot_end_the_form() {
        let first = encode(&[], file("a.mp3", b""));
        let hostile = [b"\r\n--".as_slice(), &first.body].concat();
        let form = encode(
            &[("model", "glasshouse-form-1-6f2a9c1e")],
            file("a.mp3", &hostile),
        );
        assert!(form.content_type.ends_with("glasshouse-form-2-6f2a9c1e"));
    }
}
