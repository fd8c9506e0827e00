//! A page of a listing of objects.

use percent_encoding::percent_decode_str;

use crate::{
    SourceProblem,
    problem::malformed,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn page(contents: &str) -> Result<Page, SourceProblem> {
        let xml = format!(
            "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">{contents}</ListBucketResult>"
        );
        read(xml.as_bytes())
    }

    /// The example of Amazon's documentation, continued.
    #[test]
    fn aws() {
        let xml = r#"<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
  <Name>bucket</Name>
  <Prefix></Prefix>
  <NextContinuationToken>1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=</NextContinuationToken>
  <KeyCount>2</KeyCount>
  <MaxKeys>2</MaxKeys>
  <EncodingType>url</EncodingType>
  <IsTruncated>true</IsTruncated>
  <Contents>
    <Key>happy+face%2Bsmile/%C3%BC%0A100%25.jpg</Key>
    <LastModified>2014-11-21T19:40:05.000Z</LastModified>
    <ETag>&quot;70ee1738b6b21e2c8a43f3a5ab0eee71&quot;</ETag>
    <Size>11</Size>
    <StorageClass>STANDARD</StorageClass>
  </Contents>
</ListBucketResult>"#;
        let expected = Page {
            objects: vec![Object {
                key: "happy face+smile/ü\n100%.jpg".to_owned(),
                version: "70ee1738b6b21e2c8a43f3a5ab0eee71".to_owned(),
                size_bytes: Some(11),
                modified_ms: Some(1_416_598_805_000),
            }],
            next: Some("1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=".to_owned()),
        };
        assert_eq!(read(xml.as_bytes()).unwrap(), expected);
        for length in 0..xml.len() {
            assert!(read(&xml.as_bytes()[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn keys_may_be_plain_and_the_namespace_absent() {
        let xml = "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key> a+b%41 </Key>\
                   <ETag>e-2</ETag></Contents></ListBucketResult>";
        let page = read(xml.as_bytes()).unwrap();
        assert_eq!(page.objects[0].key, " a+b%41 ");
        assert_eq!(page.objects[0].version, "e-2");
        assert_eq!(page.next, None);
    }

    #[test]
    fn a_page_that_may_lack_something_is_an_error() {
        for (contents, reason) in [
            ("", "the listing does not say whether it is whole"),
            (
                "<IsTruncated>true</IsTruncated>",
                "the listing cannot be continued",
            ),
            (
                "<IsTruncated>false</IsTruncated><Contents><ETag>1</ETag></Contents>",
                "an object has no key",
            ),
            (
                "<IsTruncated>false</IsTruncated><Contents><Key>a</Key></Contents>",
                "an object has neither an ETag nor a date",
            ),
            (
                "<IsTruncated>false</IsTruncated><EncodingType>url</EncodingType><Contents><Key>%FF</Key></Contents>",
                "a key is not UTF-8",
            ),
        ] {
            assert_eq!(page(contents), Err(malformed(reason)));
        }
        assert!(read(b"<Error><Code>AccessDenied</Code></Error>").is_err());
    }
}
