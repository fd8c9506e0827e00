//! The pages of SharePoint sites: files in a library, whose content is requested as a layout of web parts and becomes HTML.

use std::fmt::Write;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;

use super::{DriveItem, File, SharePoint};
use crate::{Item, SourceProblem, name, problem::malformed};

/// Before the ID of a page.
pub(super) const PREFIX: &str = "page:";
const EXTENSION: &str = ".aspx";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Identified {
    sharepoint_ids: Option<Ids>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Ids {
    site_id: Option<String>,
    list_item_unique_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SitePage {
    title: Option<String>,
    description: Option<String>,
    publishing_state: Option<State>,
    canvas_layout: Option<Layout>,
}

#[derive(Deserialize)]
struct State {
    level: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Layout {
    horizontal_sections: Option<Vec<Section>>,
    vertical_section: Option<Column>,
}

#[derive(Deserialize)]
struct Section {
    columns: Option<Vec<Column>>,
}

#[derive(Deserialize)]
struct Column {
    webparts: Option<Vec<WebPart>>,
}

/// Text has `innerHtml`; the others have `data`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WebPart {
    inner_html: Option<String>,
    data: Option<Data>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    title: Option<String>,
    server_processed_content: Option<Processed>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Processed {
    html_strings: Option<Vec<Pair>>,
    searchable_plain_texts: Option<Vec<Pair>>,
}

#[derive(Deserialize)]
struct Pair {
    value: Option<Value>,
}

/// The document of a page; `None` if it is another file, such as a script.
pub(super) fn document(
    drive: &str,
    item: &DriveItem,
    file: &File,
    folders: &[&str],
) -> Option<Item> {
    let stem = item.name.strip_suffix(EXTENSION)?;
    let name = name::path(folders.iter().copied(), &format!("{stem}.html"));
    let document = super::document(drive, item, file, name);
    Some(Item {
        id: format!("{PREFIX}{}", document.id),
        // That of the file, not of its text.
        size_bytes: None,
        ..document
    })
}

impl SharePoint {
    /// Reads a page by the IDs of its drive and its file.
    pub(super) async fn read_page(&self, id: &str) -> Result<Bytes, SourceProblem> {
        self.api.forget_waits();
        let (drive, id) = id.split_once('/').ok_or(SourceProblem::Gone)?;
        let path = ["v1.0", "drives", drive, "items", id];
        let url = self.api.address(&path, &[("$select", "id,sharepointIds")]);
        let item: Identified = self.api.get_document(&url).await?;
        let ids = item.sharepoint_ids.ok_or(SourceProblem::Gone)?;
        let site = ids.site_id.ok_or(SourceProblem::Gone)?;
        let page = ids.list_item_unique_id.ok_or(SourceProblem::Gone)?;
        let kind = "microsoft.graph.sitePage";
        let path = ["v1.0", "sites", &site, "pages", &page, kind];
        let url = self.api.address(&path, &[("$expand", "canvasLayout")]);
        let page: SitePage = self.api.get_document(&url).await?;
        // Only editors may see drafts, although others may read the page.
        let state = page.publishing_state.as_ref();
        let level = state.and_then(|state| state.level.as_deref());
        if level.is_some_and(|level| level != "published") {
            return Err(malformed("the page has changes that are not published"));
        }
        let html = html(&page);
        match html.len() > self.limits.item_bytes {
            true => Err(SourceProblem::TooLarge),
            false => Ok(html.into()),
        }
    }
}

fn html(page: &SitePage) -> String {
    let title = escaped(page.title.as_deref().unwrap_or_default());
    let mut html = format!(
        "<!DOCTYPE html><html><head><meta charset=\"utf-8\"><title>{title}</title></head><body><article><h1>{title}</h1>\n"
    );
    if let Some(text) = page.description.as_deref().filter(|text| !text.is_empty()) {
        _ = writeln!(html, "<p>{}</p>", escaped(text));
    }
    let layout = page.canvas_layout.as_ref();
    let sections = layout.and_then(|layout| layout.horizontal_sections.as_ref());
    let columns = sections.into_iter().flatten();
    let columns = columns.flat_map(|section| section.columns.iter().flatten());
    let vertical = layout.and_then(|layout| layout.vertical_section.as_ref());
    for column in columns.chain(vertical) {
        for part in column.webparts.iter().flatten() {
            add(part, &mut html);
        }
    }
    html += "</article></body></html>\n";
    html
}

fn add(part: &WebPart, html: &mut String) {
    if let Some(text) = &part.inner_html {
        _ = writeln!(html, "<div>{text}</div>");
    }
    let Some(data) = &part.data else { return };
    let content = data.server_processed_content.as_ref();
    let strings = content.and_then(|content| content.html_strings.as_ref());
    let texts = content.and_then(|content| content.searchable_plain_texts.as_ref());
    let strings: Vec<_> = values(strings).collect();
    let texts: Vec<_> = values(texts).collect();
    // Many parts have only a name, such as “Spacer”, which is no text of the page.
    if strings.is_empty() && texts.is_empty() {
        return;
    }
    let title = data.title.as_deref().filter(|title| !title.is_empty());
    if let Some(title) = title.filter(|title| !texts.contains(title)) {
        _ = writeln!(html, "<h2>{}</h2>", escaped(title));
    }
    for string in strings {
        _ = writeln!(html, "<div>{string}</div>");
    }
    for text in texts {
        _ = writeln!(html, "<p>{}</p>", escaped(text));
    }
}

fn values(pairs: Option<&Vec<Pair>>) -> impl Iterator<Item = &str> {
    let values = pairs.into_iter().flatten();
    let values = values.filter_map(|pair| pair.value.as_ref()?.as_str());
    values.filter(|value| !value.trim().is_empty())
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// After the reference of Microsoft Graph, “Get sitePage” with `canvasLayout`.
    #[test]
    fn layouts_are_html() {
        let page = json!({
            "@odata.type": "#microsoft.graph.sitePage", "id": "df69e386", "name": "Events.aspx", "title": "R&D",
            "description": "What we <do>",
            "canvasLayout": {
                "horizontalSections": [{ "layout": "oneThirdRightColumn", "id": "1", "columns": [
                    { "id": "1", "width": 8, "webparts": [
                        { "id": "6f9230af", "@odata.type": "#microsoft.graph.textWebPart", "innerHtml": "<p><b>Hello!</b></p>" }
                    ] },
                    { "id": "2", "width": 4, "webparts": [
                        { "id": "c2a56ae5", "@odata.type": "#microsoft.graph.standardWebPart", "webPartType": "d1d91016",
                          "data": { "title": "Image", "dataVersion": "1.9", "properties": { "alignment": "Center" },
                            "serverProcessedContent": { "searchablePlainTexts": [{ "key": "captionText", "value": "The <team>" }],
                              "htmlStrings": [], "imageSources": [{ "key": "imageSource", "value": "/a.jpg" }] } } },
                        { "@odata.type": "#microsoft.graph.standardWebPart",
                          "data": { "title": "Spacer", "serverProcessedContent": { "searchablePlainTexts": [] } } }
                    ] }
                ] }],
                "verticalSection": { "emphasis": "strong", "webparts": [
                    { "@odata.type": "#microsoft.graph.standardWebPart", "data": { "title": "Quick links",
                        "serverProcessedContent": { "htmlStrings": [{ "key": "html", "value": "<i>Links</i>" }] } } }
                ] }
            }
        });
        let page: SitePage = serde_json::from_value(page).unwrap();
        let html = html(&page);
        let body = html.split_once("<article>").unwrap().1;
        assert_eq!(
            body,
            "<h1>R&amp;D</h1>\n<p>What we &lt;do&gt;</p>\n<div><p><b>Hello!</b></p></div>\n<h2>Image</h2>\n\
             <p>The &lt;team&gt;</p>\n<h2>Quick links</h2>\n<div><i>Links</i></div>\n</article></body></html>\n"
        );
        let empty: SitePage = serde_json::from_value(json!({})).unwrap();
        assert!(super::html(&empty).contains("<h1></h1>"));
    }
}
