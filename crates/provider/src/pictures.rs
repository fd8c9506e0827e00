//! Finds generated pictures in the provider data of an answer.

use serde_json::Value;

/// Name of the tool call for a generated picture.
pub const IMAGE_GENERATION: &str = "image_generation";

/// Maximum number of pictures in one piece of data.
const MAX_PICTURES: usize = 32;

/// JSON pointers to the pictures in data of [`super::DataPart::Other`]: Base64 or a `data:` URL, or what the caller has
/// replaced it with.
///
/// | provider | data |
/// |---|---|
/// | Gemini | `{"part": {"inlineData": {"mimeType", "data"}}}` |
/// | OpenAI's Responses | `image_generation_call` with `result`; `code_interpreter_call` with `outputs` |
/// | OpenRouter, LiteLLM | `{"images": [{"type": "image_url", "image_url": {"url"}}]}` |
#[must_use]
pub fn picture_places(data: &Value) -> Vec<String> {
    let is_there = |place: &String| data.pointer(place).is_some_and(|value| !value.is_null());
    let each = |list: &str, rest: &str| {
        let count = data[list].as_array().map_or(0, Vec::len).min(MAX_PICTURES);
        (0..count).map(|at| format!("/{list}/{at}{rest}")).collect()
    };
    let places = match data["type"].as_str() {
        Some("image_generation_call") => vec!["/result".to_owned()],
        Some("code_interpreter_call") => {
            let mut places: Vec<String> = each("outputs", "/url");
            places.retain(|place| {
                let output = place
                    .strip_suffix("/url")
                    .and_then(|output| data.pointer(output));
                output.is_some_and(|output| output["type"] == "image")
            });
            places
        }
        Some(_) => Vec::new(),
        None if is_inline_picture(&data["part"]) => vec!["/part/inlineData/data".to_owned()],
        None => each("images", "/image_url/url"),
    };
    places.into_iter().filter(is_there).collect()
}

/// Whether a part of Gemini's is a picture.
pub(crate) fn is_inline_picture(part: &Value) -> bool {
    part["inlineData"]["mimeType"]
        .as_str()
        .is_some_and(|media_type| media_type.starts_with("image/"))
}

/// The pictures as OpenRouter and LiteLLM write them into an answer.
#[must_use]
pub fn chat_images(data: &Value) -> Vec<Value> {
    let places = picture_places(data);
    let image = |place: &String| {
        let picture = data.pointer(place)?.as_str()?;
        let url = match picture.contains(':') {
            true => picture.to_owned(),
            false => format!("data:{};base64,{picture}", media_type(data)),
        };
        Some(serde_json::json!({"type": "image_url", "image_url": {"url": url}}))
    };
    places.iter().filter_map(image).collect()
}

/// The media type according to the provider.
fn media_type(data: &Value) -> String {
    let stated = data["part"]["inlineData"]["mimeType"]
        .as_str()
        .map(str::to_owned);
    stated.unwrap_or_else(|| format!("image/{}", data["output_format"].as_str().unwrap_or("png")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(data: Value, places: &[&str], urls: &[&str]) {
        assert_eq!(picture_places(&data), places, "{data}");
        let images = chat_images(&data);
        let found: Vec<&str> = images
            .iter()
            .map(|it| it["image_url"]["url"].as_str().unwrap())
            .collect();
        assert_eq!(found, urls, "{data}");
    }

    #[test]
    fn pictures_are_found_in_the_data_of_each_provider() {
        let inline = |kind: &str| json!({"part": {"inlineData": {"mimeType": kind, "data": "AA=="}, "thoughtSignature": "s"}});
        check(
            inline("image/jpeg"),
            &["/part/inlineData/data"],
            &["data:image/jpeg;base64,AA=="],
        );
        check(inline("audio/L16;rate=24000"), &[], &[]);
        check(
            json!({"type": "image_generation_call", "output_format": "webp", "result": "AA=="}),
            &["/result"],
            &["data:image/webp;base64,AA=="],
        );
        check(
            json!({"type": "image_generation_call", "status": "failed", "result": null}),
            &[],
            &[],
        );
        check(
            json!({"type": "code_interpreter_call", "outputs": [
                {"type": "logs", "logs": "1"}, {"type": "image", "url": "data:image/png;base64,AA=="},
            ]}),
            &["/outputs/1/url"],
            &["data:image/png;base64,AA=="],
        );
        check(
            json!({"images": [{"image_url": {"url": "data:image/png;base64,AA=="}, "index": 0}, 7, {"image_url": {}}]}),
            &["/images/0/image_url/url"],
            &["data:image/png;base64,AA=="],
        );
    }

    #[test]
    fn nothing_is_found_in_other_data() {
        for data in [
            json!({"type": "web_search_call", "result": "AA=="}),
            json!({"part": {"text": "", "thoughtSignature": "s"}}),
            json!({"metadata": {"images": [{"image_url": {"url": "data:"}}]}}),
            json!({"images": "data:"}),
            json!([1]),
            Value::Null,
        ] {
            check(data, &[], &[]);
        }
    }

    #[test]
    fn a_stored_picture_keeps_its_position() {
        let data = json!({"type": "image_generation_call", "result": {"file": "/results/a.png"}});
        assert_eq!(picture_places(&data), ["/result"]);
        assert_eq!(chat_images(&data), [] as [Value; 0]);
    }
}
