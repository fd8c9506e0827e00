//! A page of a listing of objects.

use percent_encoding::percent_decode_str;

use super::malformed;
use crate::{
    SourceProblem,
    xml::{self, Element},
};

/// A page.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) objects: Vec<Object>,
    /// What continues the listing.
    pub(super) next: Option<String>,
}

/// An object, without its content.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Object {
    pub(super) key: String,
    pub(super) version: String,
    pub(super) size_bytes: Option<u64>,
    pub(super) modified_ms: Option<i64>,
}

pub(super) fn read(body: &[u8]) -> Result<Page, SourceProblem> {
    let root = xml::parse(body)?;
    if root.name != "ListBucketResult" {
        return Err(malformed("this is no list of objects"));
    }
    // Not all stores declare the namespace of AWS.
    let space = &*root.space;
    // Not all stores encode keys when they are asked to.
    let is_encoded = root.text_of(space, "EncodingType") == Some("url");
    let objects = root.all(space, "Contents");
    let objects = objects.map(|object| read_object(object, space, is_encoded));
    let objects = objects.collect::<Result<_, _>>()?;
    let next = match root.text_of(space, "IsTruncated") {
        Some("true") => {
            let token = root.text_of(space, "NextContinuationToken");
            let token = token.ok_or_else(|| malformed("the listing cannot be continued"))?;
            Some(token.to_owned())
        }
        Some("false") => None,
        _ => return Err(malformed("the listing does not say whether it is whole")),
    };
    Ok(Page { objects, next })
}

fn read_object(object: &Element, space: &str, is_encoded: bool) -> Result<Object, SourceProblem> {
    // Not trimmed: keys may begin and end with spaces.
    let key = object.first(space, "Key").map(|key| &*key.text);
    let key = key.filter(|key| !key.is_empty());
    let key = key.ok_or_else(|| malformed("an object has no key"))?;
    let key = if is_encoded {
        let spaces = key.replace('+', " ");
        let decoded = percent_decode_str(&spaces).decode_utf8();
        let decoded = decoded.map_err(|_| malformed("a key is not UTF-8"))?;
        decoded.into_owned()
    } else {
        key.to_owned()
    };
    let size = object.text_of(space, "Size");
    let modified = object.text_of(space, "LastModified");
    let version = match (object.text_of(space, "ETag"), modified) {
        (Some(tag), _) => tag.trim_matches('"').to_owned(),
        (None, Some(modified)) => format!("{modified} {}", size.unwrap_or_default()),
        (None, None) => return Err(malformed("an object has neither an ETag nor a date")),
    };
    Ok(Object {
        key,
        version,
        size_bytes: size.and_then(|size| size.parse().ok()),
        modified_ms: modified
            .and_then(|modified| modified.parse::<jiff::Timestamp>().ok())
            .map(jiff::Timestamp::as_millisecond),
    })
}
