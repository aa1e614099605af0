use std::path::{Path, PathBuf};

use super::*;

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn load(text: &str, environment: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let folder = tempfile::tempdir().expect("temporary folder");
    let file = folder.path().join("toolplane.toml");
    std::fs::write(&file, text).expect("write");
    let environment = environment.iter().map(|(name, value)| ((*name).into(), (*value).into()));
    Config::load(Some(&file), environment)
}

/// Checks the refusal of `text`; the folder of the file is left out.
#[track_caller]
fn check(text: &str, environment: &[(&str, &str)], expected: &str) {
    let error = load(text, environment).expect_err("must be refused");
    let shown = error.to_string();
    let shown = shown.rsplit_once("/toolplane.toml").map_or(shown.clone(), |(_, rest)| format!("toolplane.toml{rest}"));
    assert!(shown.starts_with(expected), "{shown}\n  should start with\n{expected}");
    assert!(!shown.contains('\n'), "{shown}");
}

#[test]
fn nothing_is_a_whole_configuration() {
    assert_eq!(Config::load(None, []).expect("defaults"), Config::default());
    assert_eq!(load("", &[]).expect("empty file"), Config::default());
    assert_eq!(Config::default().objects_dir(), Path::new(".toolplane/objects"));
    assert!(Config::default().executor.slots() >= 2);
}

#[test]
fn errors_name_file_line_key_and_rule() {
    check("[server]\nlisten = \"here\"\n", &[], "toolplane.toml:2: `server.listen`: ");
    check(
        "\n[scheduler]\nlease_ms = 1\nlaese_ms = 2\n",
        &[],
        "toolplane.toml:4: `scheduler.laese_ms`: unknown field `laese_ms`",
    );
    check("[severs]\nx = 1\n", &[], "toolplane.toml:1: `severs`: unknown field `severs`");
    check("[server]\nlisten = \n", &[], "toolplane.toml:2: ");
    check(
        "[server]\n[server.tls]\ncert_file = \"a\"\n",
        &[],
        "toolplane.toml:2: `server.tls`: missing field `key_file`",
    );
    check("[[permission.rules]]\nx = 1\n[[permission.rules]]\nx = 1\nx = 2\n", &[], "toolplane.toml:5: ");
    check("[executor]\npools = [\"a\", 3]\n", &[], "toolplane.toml:2: `executor.pools[1]`: invalid type");
    check("[log]\nformat = \"xml\"\n", &[], "toolplane.toml:2: `log.format`: unknown variant `xml`");
}

#[test]
fn the_environment_overrides_the_file() {
    let config = load(
        "[server]\nlisten = \"127.0.0.1:1\"\n",
        &[
            ("TOOLPLANE__SERVER__LISTEN", "127.0.0.1:0"),
            ("TOOLPLANE__SERVER__REFLECTION", "false"),
            ("TOOLPLANE__SCHEDULER__LEASE_MS", "20000"),
            ("TOOLPLANE__EXECUTOR__HTTP__ALLOW", "[\"127.0.0.1\", \"localhost:80\"]"),
            ("TOOLPLANE__EXECUTOR__WORKER_ID", "12"),
            ("TOOLPLANE__SERVER__TLS__CERT_FILE", "a.pem"),
            ("TOOLPLANE__SERVER__TLS__KEY_FILE", "b.pem"),
            ("TOOLPLANE_ENDPOINT", "not ours"),
            ("PATH", "/bin"),
        ],
    )
    .expect("valid");
    assert_eq!(config.server.listen.port(), 0);
    assert!(!config.server.reflection);
    assert_eq!(config.scheduler.lease_ms, 20_000);
    assert_eq!(config.executor.http.allow, ["127.0.0.1", "localhost:80"]);
    assert_eq!(config.executor.worker_id.as_deref(), Some("12"));
    assert_eq!(config.server.tls.expect("tls").key_file, Path::new("b.pem"));
}

#[test]
fn a_wrong_override_is_named() {
    check(
        "",
        &[("TOOLPLANE__SERVER__LISTN", "x")],
        "environment variable `TOOLPLANE__SERVER__LISTN`: unknown field `listn`",
    );
    check(
        "",
        &[("TOOLPLANE__SERVERS__LISTEN", "x")],
        "environment variable `TOOLPLANE__SERVERS__LISTEN`: unknown field `servers`",
    );
    check("", &[("TOOLPLANE__LISTEN", "x")], "environment variable `TOOLPLANE__LISTEN`: names no key");
    check("", &[("TOOLPLANE__SERVER__LISTEN__PORT", "1")], "environment variable `TOOLPLANE__SERVER__LISTEN__PORT`: ");
    check(
        "",
        &[
            ("TOOLPLANE__LOG__FILTER", "1"),
            ("TOOLPLANE__SCHEDULER__LEASE_MS", "soon"),
            ("TOOLPLANE__SERVER__REFLECTION", "true"),
        ],
        "environment variable `TOOLPLANE__SCHEDULER__LEASE_MS`: invalid type: string \"soon\"",
    );
}

#[test]
fn beyond_loopback_tls_and_auth_are_required() {
    check(
        "[server]\nlisten = \"0.0.0.0:7420\"\n",
        &[],
        "`server.listen`: `0.0.0.0:7420` can be reached from other machines: set `server.tls` and `server.auth`",
    );
    check(
        "[server]\nlisten = \"[::]:7420\"\nauth = { token_file = \"t\" }\n",
        &[],
        "`server.listen`: `[::]:7420` can be reached from other machines: set `server.tls`,",
    );
    let both = "[server]\nlisten = \"0.0.0.0:1\"\nauth = { token_file = \"t\" }\ntls = { cert_file = \"c\", key_file = \"k\" }\n";
    load(both, &[]).expect("encrypted and authenticated");
    load("[server]\nlisten = \"[::1]:1\"\n", &[]).expect("loopback");
}

#[test]
fn rules_between_keys_hold() {
    check("[scheduler]\nheartbeat_ms = 6000\n", &[], "`scheduler.heartbeat_ms`: must be at most a third");
    check("[scheduler]\ndefault_timeout_ms = 700000\n", &[], "`scheduler.default_timeout_ms`: must not be more than");
    check("[scheduler]\nlease_ms = 0\n", &[], "`scheduler.lease_ms`: `0` is not between");
    check("[telemetry]\nsample_ratio = 1.5\n", &[], "`telemetry.sample_ratio`: `1.5` is not between 0 and 1");
    check("[telemetry]\notlp_endpoint = \"nowhere at all\"\n", &[], "`telemetry.otlp_endpoint`: ");
    check("[log]\nfilter = \"a=b=c\"\n", &[], "`log.filter`: ");
    check("[peers]\nsurface = \"127.0.0.1:1\"\n", &[], "`peers.surface`: `127.0.0.1:1` ");
    check(
        "[peers]\nsurface = \"http://10.0.0.1:1\"\ntoken_file = \"t\"\n",
        &[],
        "`peers.surface`: `http://10.0.0.1:1` would carry the bearer token",
    );
    check("[executor]\nworker_id = \"a b\"\n", &[], "`executor.worker_id`: `a b` contains ' '");
    load("[peers]\nsurface = \"http://[::1]:1\"\ntoken_file = \"t\"\n", &[]).expect("clear text on loopback");
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    tool: String,
}

#[test]
fn rules_are_read_by_the_role_that_knows_them() {
    let config = load("[[permission.rules]]\ntool = \"a\"\n[[permission.rules]]\ntol = \"b\"\n", &[]).expect("valid");
    let error = config.permission.parse_rules::<Rule>().expect_err("unknown key");
    assert!(error.to_string().starts_with("`permission.rules[1]`: unknown field `tol`"), "{error}");
    let config = load("[[permission.rules]]\ntool = \"a\"\n", &[]).expect("valid");
    assert_eq!(config.permission.parse_rules::<Rule>().expect("valid")[0].tool, "a");
}

#[test]
fn the_schema_is_fresh_and_the_example_parses() {
    let checked_in = std::fs::read_to_string(repository("schemas/config.schema.json")).expect("schema");
    assert!(checked_in == json_schema(), "schemas/config.schema.json is stale: run `cargo xtask gen`");
    let example = repository("deploy/toolplane.toml");
    let config = Config::load(Some(&example), []).expect("deploy/toolplane.toml");
    assert!(!config.permission.rules.is_empty(), "the example shows rules");
}

/// Every key the example shows, also those commented out, is a real one.
#[test]
fn the_example_uncommented_parses() {
    let example = std::fs::read_to_string(repository("deploy/toolplane.toml")).expect("example");
    let keys = example.lines().map(|line| line.strip_prefix("#: ").unwrap_or(line)).collect::<Vec<_>>().join("\n");
    let config = Config::from_toml(Path::new("deploy/toolplane.toml"), &keys).expect("every shown key exists");
    config.check().expect("and they fit together");
}
