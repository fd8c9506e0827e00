//! The CycloneDX bill of materials of a release: each component with its version, licence and hash from the lock file.

use std::collections::BTreeSet;

use anyhow::Context;
use base64::{Engine, engine::general_purpose::STANDARD};
use data_encoding::HEXLOWER;
use serde_json::{Value, json};
use toml::Table;

use super::components::{Ecosystem, Part};
use crate::command::web;

/// Declared licences that are not SPDX expressions.
const NO_EXPRESSION: [&str; 2] = ["SEE LICENSE IN", "UNLICENSED"];

/// The document for this version, checked against the lock files.
///
/// # Errors
/// If a lock file does not have a component in this version.
pub(super) fn document(
    version: &str,
    parts: &BTreeSet<Part>,
    cargo_lock: &str,
    package_lock: &str,
) -> anyhow::Result<String> {
    let locks = Locks {
        cargo: toml::from_str(cargo_lock).context("Cargo.lock")?,
        npm: serde_json::from_str(package_lock).context("package-lock.json")?,
    };
    let components = parts
        .iter()
        .map(|part| component(part, &locks))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let document = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {
            "type": "application", "bom-ref": "glasshouse", "name": "glasshouse", "version": version,
            "licenses": [{"expression": "MIT OR Apache-2.0"}],
        }},
        "components": components,
    });
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

struct Locks {
    cargo: Table,
    npm: Value,
}

fn component(part: &Part, locks: &Locks) -> anyhow::Result<Value> {
    let Part { name, version, .. } = part;
    let hash = match part.ecosystem {
        Ecosystem::Cargo => locks.crate_hash(name, version),
        Ecosystem::Npm => locks.node_hash(part),
    };
    let (algorithm, content) =
        hash.with_context(|| format!("no lock file has {name} {version} with a hash"))?;
    let purl = purl(part);
    let mut component = json!({
        "type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl,
        "hashes": [{"alg": algorithm, "content": content}],
    });
    if !part.licence.is_empty() {
        component["licenses"] = json!([licence(&part.licence)]);
    }
    Ok(component)
}

fn licence(named: &str) -> Value {
    if NO_EXPRESSION
        .iter()
        .any(|beginning| named.starts_with(beginning))
    {
        return json!({"license": {"name": named}});
    }
    // “A/B” is the legacy form of “A OR B”.
    json!({"expression": named.replace('/', " OR ")})
}

/// `pkg:cargo/serde@1.0.1`, `pkg:npm/%40lucide/svelte@1.0.0`.
fn purl(part: &Part) -> String {
    let kind = match part.ecosystem {
        Ecosystem::Cargo => "cargo",
        Ecosystem::Npm => "npm",
    };
    format!(
        "pkg:{kind}/{}@{}",
        part.name.replace('@', "%40"),
        part.version.replace('+', "%2B")
    )
}

impl Locks {
    fn crate_hash(&self, name: &str, version: &str) -> Option<(&'static str, String)> {
        let packages = self.cargo.get("package")?.as_array()?;
        let text =
            |package: &toml::Value, field: &str| Some(package.get(field)?.as_str()?.to_owned());
        let is_it = |package: &&toml::Value| {
            text(package, "name").as_deref() == Some(name)
                && text(package, "version").as_deref() == Some(version)
        };
        Some(("SHA-256", text(packages.iter().find(is_it)?, "checksum")?))
    }

    fn node_hash(&self, part: &Part) -> Option<(&'static str, String)> {
        let place = part
            .folder
            .strip_prefix(web())
            .ok()?
            .to_string_lossy()
            .into_owned();
        let locked = self.npm["packages"]
            .get(&place)
            .filter(|locked| locked["version"] == part.version)?;
        let hash = STANDARD
            .decode(locked["integrity"].as_str()?.strip_prefix("sha512-")?)
            .ok()?;
        Some(("SHA-512", HEXLOWER.encode(&hash)))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::command::root;

    fn part(ecosystem: Ecosystem, name: &str, version: &str, licence: &str) -> Part {
        let folder = web().join("node_modules").join(name);
        Part {
            ecosystem,
            name: name.into(),
            version: version.into(),
            licence: licence.into(),
            folder,
        }
    }

    const CARGO: &str = "[[package]]\nname = \"a\"\nversion = \"1.0.0+x\"\nchecksum = \"00ff\"\n\
                         [[package]]\nname = \"ours\"\nversion = \"0.1.0\"\n";
    const NPM: &str = r#"{"packages":{"node_modules/@b/c":{"version":"2.0.0","integrity":"sha512-AP8="},"":{"version":"0.1.0"}}}"#;

    #[test]
    fn each_package_has_its_hash_of_the_lock_file() {
        let parts = [
            part(Ecosystem::Cargo, "a", "1.0.0+x", "MIT/Apache-2.0"),
            part(Ecosystem::Npm, "@b/c", "2.0.0", "SEE LICENSE IN LICENSE.md"),
        ];
        let document = document("9.9.9", &BTreeSet::from(parts), CARGO, NPM).unwrap();
        let document: Value = serde_json::from_str(&document).unwrap();
        assert_eq!(
            (&document["bomFormat"], &document["specVersion"]),
            (&json!("CycloneDX"), &json!("1.6"))
        );
        assert_eq!(document["metadata"]["component"]["version"], "9.9.9");
        let expected = json!([
            {
                "type": "library", "bom-ref": "pkg:cargo/a@1.0.0%2Bx", "name": "a", "version": "1.0.0+x",
                "purl": "pkg:cargo/a@1.0.0%2Bx", "hashes": [{"alg": "SHA-256", "content": "00ff"}],
                "licenses": [{"expression": "MIT OR Apache-2.0"}],
            },
            {
                "type": "library", "bom-ref": "pkg:npm/%40b/c@2.0.0", "name": "@b/c", "version": "2.0.0",
                "purl": "pkg:npm/%40b/c@2.0.0", "hashes": [{"alg": "SHA-512", "content": "00ff"}],
                "licenses": [{"license": {"name": "SEE LICENSE IN LICENSE.md"}}],
            },
        ]);
        assert_eq!(document["components"], expected);
    }

    #[test]
    fn what_no_lock_file_has_is_refused() {
        for wrong in [
            part(Ecosystem::Cargo, "a", "1.0.1", "MIT"),
            part(Ecosystem::Cargo, "ours", "0.1.0", "MIT"),
            part(Ecosystem::Npm, "@b/c", "2.0.1", "MIT"),
            part(Ecosystem::Npm, "d", "1.0.0", "MIT"),
        ] {
            let name = wrong.name.clone();
            let refused = document("1", &BTreeSet::from([wrong]), CARGO, NPM).unwrap_err();
            assert!(refused.to_string().contains(&name), "{refused}");
        }
    }

    #[test]
    fn our_own_lock_files_have_hashes() {
        let locks = Locks {
            cargo: toml::from_str(&fs::read_to_string(root().join("Cargo.lock")).unwrap()).unwrap(),
            npm: serde_json::from_str(
                &fs::read_to_string(web().join("package-lock.json")).unwrap(),
            )
            .unwrap(),
        };
        let version = |packages: &toml::Value| {
            let all = packages.as_array().unwrap().iter();
            all.clone()
                .find(|it| it["name"].as_str() == Some("serde"))
                .unwrap()["version"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        assert!(
            locks
                .crate_hash("serde", &version(&locks.cargo["package"]))
                .is_some_and(|(_, hash)| hash.len() == 64)
        );
        let svelte = locks.npm["packages"]["node_modules/svelte"]["version"]
            .as_str()
            .unwrap();
        let hash = locks.node_hash(&part(Ecosystem::Npm, "svelte", svelte, "MIT"));
        assert!(hash.is_some_and(|(_, hash)| hash.len() == 128));
    }
}
