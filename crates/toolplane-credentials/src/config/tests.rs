//! What a configuration of credentials may say.

use serde::Deserialize;

use super::*;

#[derive(Debug, Deserialize)]
struct File {
    credentials: Vec<CredentialConfig>,
}

fn read(text: &str) -> Result<Vec<CredentialConfig>, String> {
    let file: File = toml::from_str(text).map_err(|error| error.message().to_owned())?;
    check(&file.credentials).map_err(|fault| fault.to_string())?;
    Ok(file.credentials)
}

/// One credential: what is given, and what is needed beside it.
fn one(lines: &str) -> String {
    let has = |key: &str| lines.lines().any(|line| line.starts_with(key));
    let mut text = "[[credentials]]\n".to_owned();
    for (key, line) in [
        ("name", "name = 'github'"),
        ("kind", "kind = 'bearer'"),
        ("source", "source = { file = '/run/secrets/github' }"),
    ] {
        if !has(key) {
            text.push_str(line);
            text.push('\n');
        }
    }
    if !["providers", "tools", "tenants", "actors"].into_iter().any(has) {
        text.push_str("providers = ['github']\n");
    }
    format!("{text}{lines}\n")
}

#[track_caller]
fn check_refused(lines: &str, wrong: &str) {
    let error = read(&one(lines)).unwrap_err();
    assert!(error.contains(wrong), "{lines}: {error}");
}

#[test]
fn every_source_and_kind() {
    let oauth2 = "source = { oauth2_client_credentials = { token_url = 'https://id.example.com/token', client_id = 'us', \
                  client_secret = { file = '/run/secrets/client' }, scopes = ['a.read'], auth = 'body' } }";
    for lines in [
        "",
        "source = { env = 'GITHUB_TOKEN' }\nkind = 'api_key'",
        "source = { command = { argv = ['/usr/bin/pass', 'show', 'github'] } }\nrefresh_ms = 60000\nmax_age_ms = 120000",
        oauth2,
        "kind = 'basic'\nusername = 'bot'",
        "kind = 'json'\nsecret_fields = ['private_key']",
        "kind = 'raw'\ntools = ['*']",
        "tools = ['mcp__github__*', 'files.*', 'namespace:web']\ntenants = ['acme']\nactors = ['ann@example.com']",
    ] {
        read(&one(lines)).unwrap_or_else(|error| panic!("{lines}: {error}"));
    }
}

#[test]
fn what_is_wrong_is_named() {
    for (lines, wrong) in [
        ("name = 'Git Hub'", "`credentials[0].name`: must have 1 to 40"),
        ("name = ''", "credentials[0].name"),
        ("name = '[x]'", "credentials[0].name"),
        ("colour = 'red'", "unknown field `colour`"),
        ("source = { file = '/a', path = '/b' }", "unknown field `path`"),
        ("source = { file = '/a', env = 'A' }", "exactly one of"),
        ("source = {}", "exactly one of"),
        ("source = { file = 'secrets/github' }", "`credentials[0].source.file`: must be an absolute path"),
        ("source = { env = 'A=B' }", "source.env"),
        ("source = { command = { argv = ['pass', 'show'] } }", "absolute path of a program"),
        ("source = { command = { argv = [] } }", "absolute path of a program"),
        ("source = { command = { argv = ['/bin/x'], timeout_ms = 0 } }", "timeout_ms"),
        ("providers = []", "`credentials[0].providers`: must have 1 to"),
        ("tenants = ['a b']", "credentials[0].tenants"),
        ("actors = ['']", "credentials[0].actors"),
        ("tools = ['Bsh']", "was `Bash` meant"),
        ("tools = ['mcp__*']", "must name the server"),
        ("tools = ['a*b']", "only at the end"),
        ("username = 'bot'", "`credentials[0].username`: is for the kind `basic`"),
        ("kind = 'basic'\nusername = 'a:b'", "must not hold `:`"),
        ("secret_fields = ['a']", "is for the kind `json`"),
        ("kind = 'json'\nsecret_fields = []", "at least one field"),
        ("refresh_ms = 5000", "is for commands"),
        ("max_age_ms = 5", "is not between 1000"),
    ] {
        check_refused(lines, wrong);
    }
    let oauth2 = |inner: &str| format!("source = {{ oauth2_client_credentials = {{ client_id = 'us', {inner} }} }}");
    for (inner, wrong) in [
        ("token_url = 'http://id.example.com/', client_secret = { env = 'A' }", "must start with `https://`"),
        ("token_url = 'https://a:b@id.example.com/', client_secret = { env = 'A' }", "must hold no user"),
        ("token_url = 'https://id.example.com/', client_secret = {}", "exactly one of `file`, `env` and `command`"),
        ("token_url = 'https://id.example.com/', client_secret = { file = 'a' }", "absolute path"),
        ("token_url = 'https://id.example.com/', client_secret = { env = 'A' }, scopes = ['a b']", "words of visible"),
    ] {
        check_refused(&oauth2(inner), wrong);
    }
    check_refused(
        &format!("kind = 'basic'\n{}", oauth2("token_url = 'https://a/', client_secret = { env = 'A' }")),
        "must be `bearer`",
    );
    let twice = format!("{}{}", one(""), one(""));
    assert!(read(&twice).unwrap_err().contains("`credentials[1].name`: `github` is the name of an earlier"));
}

#[test]
fn nobody_is_not_everybody() {
    let nobody = "[[credentials]]\nname = 'a'\nkind = 'bearer'\nsource = { env = 'A' }\n";
    assert!(read(nobody).unwrap_err().contains("write `tools = [\"*\"]`"));
    assert!(read(&format!("{nobody}tools = ['*']\n")).is_ok());
}

#[test]
fn a_secret_that_was_written_down_is_refused_and_not_repeated() {
    const SECRET: &str = "ghp_0123456789abcdefghij";
    let oauth2 = format!(
        "source = {{ oauth2_client_credentials = {{ token_url = 'https://a/', client_id = 'us', client_secret = '{SECRET}' }} }}"
    );
    for lines in [
        format!("source = '{SECRET}'"),
        format!("source = {{ inline = '{SECRET}' }}"),
        format!("source = {{ inline = {{ value = '{SECRET}' }} }}"),
        format!("source = {{ file = '{SECRET}' }}"),
        oauth2,
    ] {
        let error = read(&one(&lines)).unwrap_err();
        assert!(!error.contains("ghp_"), "{error}");
        assert!(error.contains("must not hold the secret itself") || error.contains("absolute path"), "{error}");
        let file: Result<File, _> = toml::from_str(&one(&lines));
        let shown = format!("{file:?}");
        assert!(!shown.contains("ghp_") || lines.contains("file = 'ghp_"), "{shown}");
    }
}

#[test]
fn what_the_documentation_shows_is_a_configuration() {
    let page = include_str!("../../../../docs/credentials.md");
    let blocks: Vec<_> = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        assert_eq!(read(block).map(|credentials| credentials.len()), Ok(3));
    }
    for code in
        toolplane_records::codes::Code::all().map(|code| code.as_str()).filter(|code| code.starts_with("credential."))
    {
        assert!(page.contains(&format!("(errors.md#{code})")), "{code}");
    }
}
