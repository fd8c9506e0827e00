//! `glasshouse prices`: installs a newer price list in the data directory, and shows prices of models.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path, time::Duration};

use agent::{Prices, Rates};
use anyhow::{Context, bail, ensure};
use jiff::civil::Date;
use llm::HttpClient;
use reqwest::Client;
use serde_json::Value;

use super::{FILE, ListFile, PriceList, import::import};
use crate::platform::data_dir::create_data_dir;

/// The source of the built-in list.
const LIST_URL: &str = "https://raw.githubusercontent.com/pydantic/genai-prices/refs/heads/main/prices/new_data/v2/data.json";
const LIMIT_BYTES: usize = 32 << 20;
const CONNECTING: Duration = Duration::from_secs(20);
const FETCHING: Duration = Duration::from_secs(120);
/// The maximum number of change lines shown; further changes are only counted.
const MAX_LINES: usize = 40;

/// Reads a newer list from a file or URL, validates it and writes it to the data directory. Returns lines that describe
/// the changes.
///
/// # Errors
/// With a message for the terminal; the list in use is then unchanged.
pub(crate) async fn update(
    data_dir: &Path,
    from: Option<&str>,
    today: Date,
) -> anyhow::Result<Vec<String>> {
    let from = from.unwrap_or(LIST_URL);
    let text = match from.starts_with("http://") || from.starts_with("https://") {
        true => fetch(from).await?,
        false => fs::read_to_string(from).with_context(|| format!("cannot read {from}"))?,
    };
    let list = read(&text, today).with_context(|| format!("{from} is not taken"))?;
    let before = PriceList::of(data_dir);
    ensure!(
        list.file.date >= before.file.date,
        "{from} is of {}, older than the list in use, which is of {}",
        list.file.date,
        before.file.date
    );
    create_data_dir(data_dir)?;
    let path = data_dir.join(FILE);
    let partial = data_dir.join(format!("{FILE}.partial"));
    let cannot = || format!("cannot write {}", path.display());
    fs::write(&partial, written(&list.file)?).with_context(cannot)?;
    fs::rename(&partial, &path).with_context(cannot)?;
    let mut lines = changes(&before.file, &list.file);
    lines.push(format!(
        "{} prices of {}, {}, are in {}. A server that runs takes them within a minute.",
        priced(&list.file).len(),
        list.file.date,
        list.file.source,
        path.display()
    ));
    Ok(lines)
}

/// The prices of a model at each provider, from the list in use. `model` may be prefixed with a provider's id, as in
/// `openai/gpt-5`.
///
/// # Errors
/// If no provider in the list has a price for it.
pub(crate) fn show(data_dir: &Path, model: &str) -> anyhow::Result<Vec<String>> {
    let list = PriceList::of(data_dir);
    let name = model.to_lowercase();
    let mut lines = Vec::new();
    for provider in &list.file.providers {
        let own = name.strip_prefix(&format!("{}/", provider.id));
        let listed = own
            .and_then(|name| list.model(provider, name))
            .or_else(|| list.model(provider, &name));
        if let Some(listed) = listed {
            lines.push(format!(
                "{} ({}): {}",
                provider.name,
                listed.id,
                in_words(listed.prices())
            ));
        }
    }
    if lines.is_empty() {
        bail!(
            "no provider of the list has a price for {model}; the list is of {}",
            list.file.date
        );
    }
    lines.push(format!(
        "US dollars per million tokens by {}, {}.",
        list.file.source, list.file.date
    ));
    Ok(lines)
}

/// Parses a list in this program's format or in that of genai-prices.
fn read(text: &str, today: Date) -> anyhow::Result<PriceList> {
    let file = match serde_json::from_str(text).context("it is not JSON")? {
        Value::Array(providers) => import(providers, today)?,
        own => serde_json::from_value(own).context("it is not a price list")?,
    };
    PriceList::check(file)
}

async fn fetch(address: &str) -> anyhow::Result<String> {
    // This also installs the default TLS provider, which the client below needs.
    HttpClient::new()?;
    let client = Client::builder()
        .connect_timeout(CONNECTING)
        .timeout(FETCHING)
        .build()?;
    let response = client.get(address).send().await;
    let mut response = response.with_context(|| format!("{address} cannot be reached"))?;
    ensure!(
        response.status().is_success(),
        "{address} answers {}",
        response.status()
    );
    let mut bytes = Vec::new();
    while let Some(more) = response
        .chunk()
        .await
        .with_context(|| format!("{address} was broken off"))?
    {
        bytes.extend_from_slice(&more);
        ensure!(
            bytes.len() <= LIMIT_BYTES,
            "{address} is larger than a price list"
        );
    }
    String::from_utf8(bytes).with_context(|| format!("{address} is not text"))
}

/// Serializes the list with one line per model, so that diffs are readable.
fn written(file: &ListFile) -> anyhow::Result<String> {
    let ListFile {
        source,
        url,
        license,
        date,
        providers,
    } = file;
    let head = |name: &str, text: &str| {
        Ok::<_, serde_json::Error>(format!("\"{name}\":{},", serde_json::to_string(text)?))
    };
    let mut out = String::from("{");
    for (name, text) in [
        ("source", source),
        ("url", url),
        ("license", license),
        ("date", date),
    ] {
        out.push_str(&head(name, text)?);
    }
    out.push_str("\"providers\":[\n");
    for (at, provider) in providers.iter().enumerate() {
        let models: Vec<String> = provider
            .models
            .iter()
            .map(serde_json::to_string)
            .collect::<Result<_, _>>()?;
        let mut value = serde_json::to_value(provider)?;
        if let Some(fields) = value.as_object_mut() {
            fields.remove("models");
        }
        let about = value.to_string();
        let about = about.strip_suffix('}').unwrap_or(&about);
        let end = if at + 1 < providers.len() {
            "]},\n"
        } else {
            "]}\n"
        };
        _ = write!(out, "{about},\"models\":[\n{}\n{end}", models.join(",\n"));
    }
    out.push_str("]}\n");
    Ok(out)
}

fn priced(file: &ListFile) -> BTreeMap<String, Prices> {
    let models = file.providers.iter().flat_map(|provider| {
        provider
            .models
            .iter()
            .map(move |model| (format!("{}/{}", provider.id, model.id), model.prices()))
    });
    models.collect()
}

/// Added, removed and changed prices.
fn changes(before: &ListFile, after: &ListFile) -> Vec<String> {
    let before = priced(before);
    let after = priced(after);
    let mut lines = Vec::new();
    for (model, prices) in &after {
        match before.get(model) {
            None => lines.push(format!("+ {model}: {}", in_words(*prices))),
            Some(old) if old != prices => {
                lines.push(format!(
                    "~ {model}: {}; before: {}",
                    in_words(*prices),
                    in_words(*old)
                ));
            }
            Some(_) => {}
        }
    }
    lines.extend(
        before
            .keys()
            .filter(|model| !after.contains_key(*model))
            .map(|model| format!("- {model}")),
    );
    let left = lines.len().saturating_sub(MAX_LINES);
    lines.truncate(MAX_LINES);
    if left > 0 {
        lines.push(format!("… and {left} more changes"));
    }
    if lines.is_empty() {
        lines.push("No price changes.".to_owned());
    }
    lines
}

fn in_words(prices: Prices) -> String {
    let mut said = rates_in_words(prices.base);
    for long in prices.long_context.into_iter().flatten() {
        _ = write!(
            said,
            "; above {} tokens {}",
            long.above_tokens,
            rates_in_words(long.rates)
        );
    }
    said
}

fn rates_in_words(rates: Rates) -> String {
    let Rates {
        input,
        output,
        cached_input,
        cache_write,
        audio_input,
        audio_output,
    } = rates;
    let mut said = format!("input {input}, output {output}");
    for (name, usd) in [
        ("cached input", cached_input),
        ("cache write", cache_write),
        ("audio input", audio_input),
        ("audio output", audio_output),
    ] {
        if let Some(usd) = usd {
            _ = write!(said, ", {name} {usd}");
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use llm::{BaseUrl, openai::ServerSettings};

    use super::*;
    use crate::gateway::prices::PriceCatalogue;

    const TODAY: Date = jiff::civil::date(2026, 11, 26);

    #[test]
    fn a_list_is_written_as_it_is_read() {
        let list = PriceList::built_in();
        let again = PriceList::parse(&written(&list.file).unwrap()).unwrap();
        assert_eq!(again.file, list.file);
    }

    /// The format of genai-prices' `data.json`, with invented prices.
    const UPSTREAM: &str = r#"[
        {"id":"openai","name":"OpenAI","api_pattern":"https://api\\.openai\\.com","models":[
            {"id":"m","match":{"or":[{"equals":"M"},{"and":[{"starts_with":"m-"},{"regex":"^(?!.*-tts$)"}]}]},
             "prices":{"input_mtok":{"base":2,"tiers":[{"start":200000,"price":4}]},"output_mtok":8,
                       "cache_read_mtok":0.2,"web_searches_kcount":10}},
            {"id":"dated","match":{"equals":"dated"},"prices":[
                {"prices":{"input_mtok":1}},
                {"constraint":{"start_date":"2026-11-01"},"prices":{"input_mtok":2}},
                {"constraint":{"start_time":"00:30:00Z","end_time":"16:30:00Z"},"prices":{"input_mtok":0.1}},
                {"constraint":{"start_date":"2027-01-01"},"prices":{"input_mtok":3}}]},
            {"id":"images","match":{"equals":"images"},"prices":{"requests_kcount":5}}]},
        {"id":"nobody","shape":"unknown"}]"#;

    #[test]
    fn the_public_list_is_understood() {
        let list = read(UPSTREAM, TODAY).unwrap();
        assert_eq!(list.file.date, "2026-11-26");
        let input = |model: &str| {
            let found = list.find(
                llm::ProviderKind::Openai,
                "https://api.openai.com/v1",
                model,
            )?;
            Some((
                found.prices.base.input,
                found.prices.long_context[0].map(|long| long.rates),
            ))
        };
        let long = Rates {
            input: 4.0,
            output: 8.0,
            cached_input: Some(0.2),
            ..Rates::default()
        };
        assert_eq!(input("m"), Some((2.0, Some(long))));
        assert_eq!(input("m-small"), Some((2.0, Some(long))));
        assert_eq!((input("m-tts"), input("images")), (None, None));
        assert_eq!(input("dated"), Some((2.0, None)));
    }

    #[tokio::test]
    async fn a_newer_list_is_kept_and_its_changes_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("data.json");
        let from = file.to_str();
        fs::write(&file, UPSTREAM).unwrap();
        let in_use = PriceCatalogue::new(dir.path());
        let openai =
            ServerSettings::alone(BaseUrl::parse("https://api.openai.com/v1").unwrap(), None);
        let costs = |model: &str| {
            in_use
                .find(&openai, model)
                .map(|found| found.prices.base.input)
        };
        assert_eq!((costs("m"), in_use.drop_if_renewed()), (None, false));
        let lines = update(dir.path(), from, TODAY).await.unwrap();
        assert!(lines[0].starts_with("+ openai/dated: input 2"), "{lines:?}");
        assert!(lines.iter().any(|line| line.contains("more changes")));
        let shown = show(dir.path(), "openai/m").unwrap();
        assert_eq!(
            shown[0],
            "OpenAI (m): input 2, output 8, cached input 0.2; above 200000 tokens input 4, output 8, cached input 0.2"
        );
        assert!(show(dir.path(), "no-such-model").is_err());
        assert_eq!((costs("m"), in_use.drop_if_renewed()), (None, true));
        assert_eq!((costs("m"), in_use.drop_if_renewed()), (Some(2.0), false));
        for (text, fault) in [
            ("{", "not JSON"),
            ("{}", "not a price list"),
            ("[]", "no prices"),
            (UPSTREAM.replace(":8,", ":-8,").as_str(), "-8 USD"),
            (
                UPSTREAM
                    .replace(r#""api_pattern":"h"#, r#""api_pattern":"(h"#)
                    .as_str(),
                "address of openai",
            ),
        ] {
            fs::write(&file, text).unwrap();
            let error = update(dir.path(), from, TODAY).await.unwrap_err();
            assert!(format!("{error:#}").contains(fault), "{error:#}");
        }
        fs::write(&file, UPSTREAM).unwrap();
        let older = update(dir.path(), from, jiff::civil::date(2026, 11, 25))
            .await
            .unwrap_err();
        assert!(older.to_string().contains("older"), "{older}");
        assert_eq!(
            PriceList::of(dir.path()).file.providers.len(),
            1,
            "the list that was taken stays"
        );
    }
}
