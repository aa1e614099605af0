//! Reading `deny.toml`, as much of it as is used here. A key that is not known is an error, because nothing would check it.

use serde_json::Value;

/// What `deny.toml` says.
#[derive(Debug)]
pub(super) struct Policy {
    /// The targets that are looked at.
    pub(super) targets: Vec<String>,
    /// Licences that are allowed.
    pub(super) licences: Vec<String>,
    /// Crates that may be there beside another version.
    pub(super) skip: Vec<Skip>,
}

/// A crate that may be there beside another version of it.
#[derive(Debug)]
pub(super) struct Skip {
    pub(super) name: String,
    /// A version, or its first numbers: `0.22` covers `0.22.1`.
    pub(super) version: String,
}

/// Keys whose value is the one our own reader means anyway.
const FIXED: [(&str, &str, &str); 9] = [
    ("graph", "all-features", "false"),
    ("licenses", "include-dev", "true"),
    ("licenses", "confidence-threshold", "0.9"),
    ("bans", "multiple-versions", "\"deny\""),
    ("bans", "multiple-versions-include-dev", "true"),
    ("bans", "wildcards", "\"deny\""),
    ("bans", "allow-wildcard-paths", "true"),
    ("sources", "unknown-registry", "\"deny\""),
    ("sources", "unknown-git", "\"deny\""),
];

impl Policy {
    /// Reads the text of a `deny.toml`. Returns an error when a key is not known here, or says what is not done here.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let file: Value = toml::from_str(text).map_err(|error| error.to_string())?;
        let mut policy = Self { targets: Vec::new(), licences: Vec::new(), skip: Vec::new() };
        for (section, keys) in file.as_object().into_iter().flatten() {
            for (key, value) in keys.as_object().into_iter().flatten() {
                policy.take(section, key, value)?;
            }
        }
        if policy.targets.is_empty() {
            return Err("`graph.targets` names no target".to_owned());
        }
        Ok(policy)
    }

    fn take(&mut self, section: &str, key: &str, value: &Value) -> Result<(), String> {
        match (section, key) {
            ("graph", "targets") => self.targets = texts(value),
            ("licenses", "allow") => self.licences = texts(value),
            ("bans", "skip") => {
                let lines = value.as_array().map(Vec::as_slice).unwrap_or_default();
                self.skip = lines.iter().map(skip).collect::<Result<_, _>>()?;
            }
            _ => {
                let Some((_, _, meant)) = FIXED.iter().find(|fixed| (fixed.0, fixed.1) == (section, key)) else {
                    return Err(format!("`{section}.{key}` is not known to `cargo xtask check`"));
                };
                let said = value.to_string();
                if said != *meant {
                    return Err(format!("`{section}.{key}` must be {meant}: nothing else is checked"));
                }
            }
        }
        Ok(())
    }
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn skip(line: &Value) -> Result<Skip, String> {
    let told = line["crate"].as_str().unwrap_or_default();
    let Some((name, version)) = told.split_once('@') else {
        return Err(format!("`bans.skip`: {line} does not say `crate = \"name@version\"`"));
    };
    if line["reason"].as_str().is_none_or(str::is_empty) {
        return Err(format!("`bans.skip`: {told} has no reason"));
    }
    Ok(Skip { name: name.to_owned(), version: version.to_owned() })
}
