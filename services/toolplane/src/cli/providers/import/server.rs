//! One server of a client's configuration, as the source of a provider.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use toolplane_proto::v1;
use toolplane_proto::v1::credential_placement::Place;
use toolplane_proto::v1::provider::Source;
use toolplane_records::credential::{secret_option, sounds_secret};

/// What a configuration says of a server. Other members are for the client alone.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Entry {
    command: String,
    args: Vec<String>,
    env: BTreeMap<String, String>,
    cwd: Option<String>,
    #[serde(alias = "serverUrl")]
    url: String,
    headers: BTreeMap<String, String>,
    #[serde(rename = "type")]
    transport: String,
    disabled: bool,
}

/// What an entry came to.
#[derive(Debug, PartialEq)]
pub(super) struct Server {
    /// Where it is.
    pub(super) source: Source,
    /// The credentials that stand in place of its secrets.
    pub(super) credentials: Vec<v1::CredentialUse>,
    /// What is different from how the client runs it.
    pub(super) notes: Vec<String>,
}

/// Reads what a configuration says of a server. `given` are credentials by their places; it is given those it has a place for.
///
/// Fails with why it cannot be taken. No value of a variable or a header is repeated.
pub(super) fn read(entry: &Value, given: &[v1::CredentialUse]) -> Result<Server, String> {
    let entry = Entry::deserialize(entry).map_err(|_| {
        "is not understood: `command`, `url` and `type` are texts, `args` texts, `env` and `headers` texts by name"
            .to_owned()
    })?;
    match (entry.command.is_empty(), entry.url.is_empty()) {
        _ if entry.disabled => Err("is switched off there (`disabled`)".to_owned()),
        (false, true) => program(entry, given),
        (true, false) => address(entry, given),
        (true, true) => Err("has neither `command` nor `url`".to_owned()),
        (false, false) => Err("has both `command` and `url`".to_owned()),
    }
}

fn program(entry: Entry, given: &[v1::CredentialUse]) -> Result<Server, String> {
    let argv: Vec<String> = std::iter::once(entry.command).chain(entry.args).collect();
    check_arguments(&argv)?;
    let (mut env, mut pass_env, mut credentials) = (BTreeMap::new(), Vec::new(), Vec::new());
    for (name, value) in entry.env {
        let at = |place: &Place| matches!(place, Place::Env(at) if at.name == name);
        if let Some(used) = placed(given, at) {
            credentials.push(used);
        } else if sounds_secret(&name) {
            return Err(secret("variable", &name, "env"));
        } else if filled_in(&value).is_some_and(|from| from == name) {
            pass_env.push(name);
        } else if filled_in(&value).is_some() {
            return Err(format!("its variable `{name}` is filled in by the client: write what it stands for"));
        } else {
            env.insert(name, value);
        }
    }
    let mut notes = Vec::new();
    let program = argv.first().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
    if matches!(program, "npx" | "uvx" | "bunx" | "pipx" | "docker") {
        notes.push(format!(
            "`{program}` fetches what it runs, and a sandbox has no network: install the server, and name its own program"
        ));
    }
    if entry.cwd.is_some() {
        notes.push("`cwd` is left out: it runs in a directory of its own, or in the workspace".to_owned());
    }
    let source = v1::McpStdioSource { argv, env, pass_env, ..Default::default() };
    Ok(Server { source: Source::McpStdio(source), credentials, notes })
}

/// Arguments are kept and shown, so no secret may be one.
fn check_arguments(argv: &[String]) -> Result<(), String> {
    for (index, argument) in argv.iter().enumerate() {
        if filled_in(argument).is_some() {
            return Err(format!(
                "`args[{}]` is filled in by the client: write what it stands for",
                index.saturating_sub(1)
            ));
        }
    }
    match secret_option(argv) {
        None => Ok(()),
        Some(name) => {
            let hint = "give it by a variable and a credential, if the server takes one";
            Err(format!("its argument `--{name}` looks like a secret, and arguments are kept: {hint}"))
        }
    }
}

fn address(entry: Entry, given: &[v1::CredentialUse]) -> Result<Server, String> {
    if entry.transport.eq_ignore_ascii_case("sse") {
        let hint = "most such servers have an address for streamable HTTP as well";
        return Err(format!("speaks the transport of 2024 (`sse`), which is not spoken here; {hint}"));
    }
    let (mut headers, mut credentials) = (BTreeMap::new(), Vec::new());
    for (name, value) in entry.headers {
        let at = |place: &Place| matches!(place, Place::Header(at) if at.name.eq_ignore_ascii_case(&name));
        if let Some(used) = placed(given, at) {
            credentials.push(used);
        } else if sounds_secret(&name) || filled_in(&value).is_some() {
            return Err(secret("header", &name, "header"));
        } else {
            headers.insert(name, value);
        }
    }
    let url = without_secrets(entry.url, given, &mut credentials)?;
    Ok(Server { source: Source::McpHttp(v1::McpHttpSource { url, headers }), credentials, notes: Vec::new() })
}

/// The address without the parameters for which there are credentials.
fn without_secrets(
    url: String,
    given: &[v1::CredentialUse],
    credentials: &mut Vec<v1::CredentialUse>,
) -> Result<String, String> {
    let Some((place, query)) = url.split_once('?') else {
        let hint = "its address is filled in by the client: write what it stands for";
        return if filled_in(&url).is_some() { Err(hint.to_owned()) } else { Ok(url) };
    };
    let mut kept = Vec::new();
    for pair in query.split('&') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let at = |place: &Place| matches!(place, Place::Query(at) if at.name == name);
        if let Some(used) = placed(given, at) {
            credentials.push(used);
        } else if sounds_secret(name) || filled_in(value).is_some() {
            return Err(secret("parameter", name, "query"));
        } else {
            kept.push(pair);
        }
    }
    Ok(if kept.is_empty() { place.to_owned() } else { format!("{place}?{}", kept.join("&")) })
}

fn secret(what: &str, name: &str, place: &str) -> String {
    format!(
        "its {what} `{name}` looks like a secret, and no provider holds one: name a credential of the workers, \
         `--credential {place}:{name}=NAME`"
    )
}

/// The credential that was given for a place.
fn placed(given: &[v1::CredentialUse], is_there: impl Fn(&Place) -> bool) -> Option<v1::CredentialUse> {
    let place = |used: &&v1::CredentialUse| {
        used.placement.as_ref().and_then(|placement| placement.place.as_ref()).is_some_and(&is_there)
    };
    given.iter().find(place).cloned()
}

/// The variable that a client puts in place of such a text, as in `${NAME}`, `${env:NAME}` or `${NAME:-else}`; the text itself where there
/// is more in it.
fn filled_in(text: &str) -> Option<&str> {
    text.contains("${").then(|| {
        let inner =
            text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).filter(|inner| !inner.contains('}'));
        let inner = inner.map(|inner| inner.strip_prefix("env:").unwrap_or(inner));
        inner.map_or(text, |inner| inner.split_once(":-").map_or(inner, |(name, _)| name))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::add::placed_credentials;
    use super::*;

    fn refused(entry: Value) -> String {
        read(&entry, &[]).unwrap_err()
    }

    #[test]
    fn a_program_is_taken_with_its_arguments_and_variables() {
        let entry = json!({ "type": "stdio", "command": "/opt/mcp/bin/server", "args": ["--root", "/workspace"], "timeout": 5,
            "env": { "TZ": "UTC", "LANG": "${LANG}", "HOME": "${env:HOME}" } });
        let server = read(&entry, &[]).unwrap();
        let Source::McpStdio(stdio) = server.source else { panic!("no program") };
        assert_eq!(stdio.argv, ["/opt/mcp/bin/server", "--root", "/workspace"]);
        assert_eq!(stdio.env.into_iter().collect::<Vec<_>>(), [("TZ".to_owned(), "UTC".to_owned())]);
        assert_eq!((stdio.pass_env, server.notes), (vec!["HOME".to_owned(), "LANG".to_owned()], Vec::new()));
    }

    #[test]
    fn an_address_is_taken_with_its_headers() {
        for member in ["url", "serverUrl"] {
            let entry = json!({ "type": "http", member: "https://a.org/mcp", "headers": { "X-Team": "tools" } });
            let Source::McpHttp(http) = read(&entry, &[]).unwrap().source else { panic!("no address") };
            assert_eq!((http.url.as_str(), http.headers["X-Team"].as_str()), ("https://a.org/mcp", "tools"));
        }
        assert!(refused(json!({ "type": "sse", "url": "https://a.org/sse" })).contains("transport of 2024"));
    }

    #[test]
    fn no_secret_is_taken_and_its_credential_is() {
        let canary = "gh-canary-1234567890";
        for entry in [
            json!({ "command": "x", "env": { "GITHUB_TOKEN": canary } }),
            json!({ "command": "x", "env": { "GITHUB_TOKEN": "${GITHUB_TOKEN}" } }),
            json!({ "command": "x", "args": [format!("--api-key={canary}")] }),
            json!({ "command": "x", "args": ["--api-key", canary] }),
            json!({ "url": "https://a.org", "headers": { "Authorization": format!("Bearer {canary}") } }),
            json!({ "url": "https://a.org", "headers": { "X-Team": format!("${{T:-{canary}}}") } }),
            json!({ "command": "x", "env": { "A": [canary] } }),
            json!({ "url": format!("https://a.org/mcp?apiKey={canary}") }),
            json!({ "url": format!("https://a.org/${{PLACE:-{canary}}}") }),
        ] {
            let said = refused(entry);
            assert!(!said.contains("canary") && !said.is_empty(), "{said}");
        }
        let texts = ["env:GITHUB_TOKEN=github", "authorization=remote"].map(str::to_owned);
        let given = placed_credentials(&texts).unwrap();
        let program = read(&json!({ "command": "x", "env": { "GITHUB_TOKEN": canary } }), &given).unwrap();
        assert_eq!(program.credentials, given[..1]);
        let remote = json!({ "url": "https://a.org", "headers": { "authorization": format!("Bearer {canary}") } });
        let remote = read(&remote, &given).unwrap();
        assert_eq!(remote.credentials, given[1..]);
        let query = placed_credentials(&["query:tavilyApiKey=tavily".to_owned()]).unwrap();
        let keyed = json!({ "url": format!("https://a.org/mcp?team=1&tavilyApiKey={canary}") });
        let keyed = read(&keyed, &query).unwrap();
        assert_eq!(keyed.credentials, query);
        let url = |server: &Server| match &server.source {
            Source::McpHttp(http) => http.url.clone(),
            _ => String::new(),
        };
        assert_eq!(url(&keyed), "https://a.org/mcp?team=1");
        assert!(!format!("{program:?}{remote:?}{keyed:?}").contains("canary"));
    }

    #[test]
    fn what_only_the_client_can_do_is_said() {
        let notes = read(&json!({ "command": "npx", "args": ["-y", "server"], "cwd": "/x" }), &[]).unwrap().notes;
        assert!(notes[0].contains("`npx` fetches") && notes[1].contains("`cwd`"), "{notes:?}");
        assert!(refused(json!({ "command": "x", "args": ["${workspaceFolder}"] })).contains("`args[0]` is filled in"));
        assert!(refused(json!({ "command": "x", "env": { "A": "${B}" } })).contains("variable `A`"));
        assert!(refused(json!({ "command": "x", "disabled": true })).contains("switched off"));
        assert!(refused(json!({})).contains("neither") && refused(json!(1)).contains("not understood"));
    }
}
