//! Encodes the files of a tool call for readers.

use domain::event::ToolFile;
use serde::Serialize;
use serde_json::{Value, json};

/// A file with its URL.
#[derive(Debug, Serialize)]
pub(crate) struct FileView<'a> {
    name: &'a str,
    path: &'a str,
    version: u64,
    media_type: &'a str,
    size_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    /// HTML to be shown in a frame.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    embed: bool,
}

/// The files with their URLs.
pub(crate) fn views(files: &[ToolFile]) -> Vec<FileView<'_>> {
    files.iter().map(FileView::of).collect()
}

impl<'a> FileView<'a> {
    fn of(file: &'a ToolFile) -> Self {
        Self {
            name: file.name(),
            path: &file.path,
            version: file.version,
            media_type: &file.media_type,
            size_bytes: file.size_bytes,
            url: file.url.as_deref(),
            embed: file.embed,
        }
    }
}

/// The files in Open WebUI's form: pictures inline, since its page does not load them from another origin.
pub(crate) fn open_webui_files(files: &[ToolFile]) -> Vec<Value> {
    files
        .iter()
        .filter(|file| !file.embed)
        .filter_map(open_webui_file)
        .collect()
}

fn open_webui_file(file: &ToolFile) -> Option<Value> {
    let name = file.name();
    if let Some(url) = file.content.as_deref().filter(|_| file.is_picture()) {
        return Some(json!({"type": "image", "url": url, "name": name}));
    }
    let url = file.url.as_deref()?;
    Some(json!({"type": "file", "url": url, "name": name, "size": file.size_bytes}))
}

/// The HTML documents to be shown, as Open WebUI's `embeds`.
pub(crate) fn open_webui_embeds(files: &[ToolFile]) -> Vec<&str> {
    files
        .iter()
        .filter(|file| file.embed)
        .filter_map(|file| file.content.as_deref())
        .collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A file in the form for readers.
    pub(crate) fn file(path: &str, media_type: &str, content: Option<&str>) -> ToolFile {
        ToolFile {
            path: path.into(),
            version: 1,
            media_type: media_type.into(),
            size_bytes: 4,
            for_model: false,
            embed: media_type == "text/html",
            url: Some(format!("http://glasshouse.example{path}")),
            content: content.map(str::to_owned),
        }
    }

    #[test]
    fn open_webui_gets_pictures_by_content_and_the_rest_by_address() {
        let files = [
            file(
                "/results/a.png",
                "image/png",
                Some("data:image/png;base64,AA=="),
            ),
            file("/large.png", "image/png", None),
            file("/a.pdf", "application/pdf", None),
            file("/results/b.html", "text/html", Some("<b>1</b>")),
        ];
        assert_eq!(
            Value::from(open_webui_files(&files)),
            json!([
                {"type": "image", "url": "data:image/png;base64,AA==", "name": "a.png"},
                {"type": "file", "url": "http://glasshouse.example/large.png", "name": "large.png", "size": 4},
                {"type": "file", "url": "http://glasshouse.example/a.pdf", "name": "a.pdf", "size": 4},
            ])
        );
        assert_eq!(open_webui_embeds(&files), ["<b>1</b>"]);
    }
}
