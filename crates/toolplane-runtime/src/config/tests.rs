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
    let empty = load("", &[]).expect("empty file");
    assert_eq!(Config { file: None, ..empty }, Config::default());
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
    let key = "surface.search.learning.half_life_days";
    check("[surface.search.learning]\nhalf_life_days = 0\n", &[], &format!("`{key}`: `0` is not between 1 and 3650"));
    for (key, value, range) in [
        ("words_weight", 1_001, "0 and 1000"),
        ("meaning_weight", 1_001, "0 and 1000"),
        ("least_similarity", 101, "0 and 100"),
        ("patience_ms", 0, "1 and 60000"),
        ("threads", 65, "1 and 64"),
    ] {
        let told = format!("`surface.search.meaning.{key}`: `{value}` is not between {range}");
        check(&format!("[surface.search.meaning]\n{key} = {value}\n"), &[], &told);
    }
    for (keys, key, rule) in [
        ("endpoint = \"http://10.0.0.1:1\"", "endpoint", "would carry what is asked in clear text"),
        ("endpoint = \"https://x:1\"", "ca_file", "is needed for `https`"),
        ("token_file = \"t\"", "token_file", "is for an `endpoint`"),
        ("top = 1", "top", "is not between 2 and 100"),
    ] {
        let error =
            load(&format!("[surface.search.reranker]\n{keys}\n"), &[]).expect_err("must be refused").to_string();
        assert!(error.contains(&format!("`surface.search.reranker.{key}`: ")) && error.contains(rule), "{error}");
    }
    load("[peers]\nsurface = \"http://[::1]:1\"\ntoken_file = \"t\"\n", &[]).expect("clear text on loopback");
}

/// Rules are read by the role that knows them, and a mistake in one is named like any other.
#[test]
fn a_wrong_rule_is_named_by_file_line_and_key() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let file = folder.path().join("toolplane.toml");
    let read = |text: &str, environment: &[(&str, &str)]| {
        std::fs::write(&file, text).expect("write");
        let environment = environment.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        Config::load(Some(&file), environment).expect("valid but for the rules")
    };
    let first = "[[permission.rules]]\ntool = \"a\"\n";
    for (wrong, line, key) in [
        ("[[permission.rules]]\n\ntol = \"b\"\n", 5, "permission.rules[1].tol"),
        ("[[permission.rules]]\ntool = 5\n", 4, "permission.rules[1].tool"),
    ] {
        let config = read(&format!("{first}{wrong}"), &[]);
        match config.check_rules::<Rule>().expect_err("wrong") {
            ConfigError::File { file: said, line: at, key: named, .. } => {
                assert_eq!((said, at, named.as_str()), (file.clone(), line, key));
            }
            other => panic!("{wrong}: {other}"),
        }
    }
    let config = read(&format!("# rules\n{first}"), &[]);
    config.check_rules::<Rule>().expect("good");
    let said = |key: &str| config.wrong_rule(key, "is wrong".to_owned()).to_string();
    let place = file.display();
    assert_eq!(said("permission.rules[0].tool"), format!("{place}:3: `permission.rules[0].tool`: is wrong"));
    // What is left out has the place of its rule.
    assert_eq!(said("permission.rules[0].id"), format!("{place}:2: `permission.rules[0].id`: is wrong"));
    let elsewhere = read(first, &[("TOOLPLANE__PERMISSION__RULES", "[{ tol = \"b\" }]")]);
    elsewhere.check_rules::<Rule>().expect("nothing is said of rules that are not in the file");
    let said = elsewhere.wrong_rule("permission.rules[0].tool", "is wrong".to_owned()).to_string();
    assert_eq!(said, "`permission.rules[0].tool`: is wrong");
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    #[expect(dead_code, reason = "only whether it can be read is looked at")]
    tool: String,
}

#[test]
fn the_schema_is_fresh_and_the_example_parses() {
    let checked_in = std::fs::read_to_string(repository("schemas/config.schema.json")).expect("schema");
    assert!(checked_in == json_schema(), "schemas/config.schema.json is stale: run `cargo xtask gen`");
    let example = repository("deploy/toolplane.toml");
    let config = Config::load(Some(&example), []).expect("deploy/toolplane.toml");
    assert!(!config.permission.rules.is_empty(), "the example shows rules");
}

/// The configuration that the processes of a cluster share.
#[test]
fn the_shared_example_parses_and_its_drain_has_room_to_end_within_25_s() {
    let config = Config::load(Some(&repository("deploy/cluster/toolplane.toml")), []).expect("deploy/cluster");
    let margin = std::time::Duration::from_secs(10);
    assert!(config.server.drain_timeout() + margin <= std::time::Duration::from_secs(25));
}

/// Every key the example shows, also those commented out, is a real one.
#[test]
fn the_example_uncommented_parses() {
    let example = std::fs::read_to_string(repository("deploy/toolplane.toml")).expect("example");
    let keys = example.lines().map(|line| line.strip_prefix("#: ").unwrap_or(line)).collect::<Vec<_>>().join("\n");
    let config = Config::from_toml(Path::new("deploy/toolplane.toml"), &keys).expect("every shown key exists");
    config.check().expect("and they fit together");
}

#[test]
fn peers_are_one_url_or_a_list() {
    let urls = |text: &str, env: &[(&str, &str)]| load(text, env).expect("good").peers.scheduler.urls().to_vec();
    assert_eq!(urls("[peers]\nscheduler = \"http://127.0.0.1:1\"\n", &[]), ["http://127.0.0.1:1"]);
    let two = ["http://127.0.0.1:1", "http://127.0.0.1:2"];
    assert_eq!(urls("[peers]\nscheduler = [\"http://127.0.0.1:1\", \"http://127.0.0.1:2\"]\n", &[]), two);
    let list = "[\"http://127.0.0.1:1\", \"http://127.0.0.1:2\", \"http://127.0.0.1:1\"]";
    assert_eq!(urls("", &[("TOOLPLANE__PEERS__SCHEDULER", list)]), two, "nobody is named twice");
    check("[peers]\nscheduler = [\"http://127.0.0.1:1\", \"x\"]\n", &[], "`peers.scheduler`: `x` must start with");
    check(
        "[peers]\nscheduler = 7\n",
        &[],
        "toolplane.toml:2: `peers.scheduler`: invalid type: integer `7`, expected a URL",
    );
}

#[test]
fn the_store_and_its_servers_fit_together() {
    let refused = |text: &str, expected: &str| {
        let error = load(text, &[]).expect_err("must be refused").to_string();
        assert!(error.contains(expected), "{error}");
    };
    refused("[store]\nbackend = \"redis\"\n", "needs `url` or `urls`");
    refused("[store.redis]\nurl = \"http://user:secret@x\"\n", "`store.redis.url`: must start with `redis://`");
    refused("[store.redis]\nnamespace = \"a b\"\n", "`store.redis.namespace`");
    refused("[store.redis]\npassword_file = \"a\"\npassword_env = \"B\"\n", "only one of");
    refused("[store.redis]\nclient_cert_file = \"a\"\n", "belong together");
    let two = "urls = [\"redis://127.0.0.1:1\", \"redis://127.0.0.1:2\"]\n";
    refused(&format!("[store]\nbackend = \"redis\"\n[store.redis]\n{two}"), "a standalone server has one URL");
    let shards = |count: usize| format!("[store]\nbackend = \"redis\"\n[store.redis]\nshards = {count}\n{two}");
    refused(&shards(1), "`shards` to as many at least");
    refused(&shards(65), "`store.redis.shards`: must be 1 to 64");
    assert_eq!(load(&shards(3), &[]).expect("complete").store.redis.shards, 3);
    let sentinel = format!("[store]\nbackend = \"redis\"\n[store.redis]\nmode = \"sentinel\"\n{two}");
    refused(&sentinel, "`store.redis.sentinel_master`");
    let named = load(&format!("{sentinel}sentinel_master = \"main\"\n"), &[]).expect("complete");
    assert_eq!(named.store.redis.endpoints().len(), 2);
}

#[test]
fn places_and_times_of_kept_outputs_are_checked() {
    check("[objects]\nurl = \"s4://bucket\"\n", &[], "`objects.url`: must begin with `file:///`, `s3://`");
    check("[objects]\nurl = \"file://results\"\n", &[], "`objects.url`: must begin with `file:///`");
    check("[objects]\nurl = \"bucket/prefix\"\n", &[], "`objects.url`: must begin with");
    check("[objects]\nretention_days = 0\n", &[], "`objects.retention_days`: `0` is not between 1 and 36500");
    load("[objects]\nurl = \"az://container/prefix\"\nretention_days = 1\n", &[]).expect("valid");
}

#[test]
fn bounds_of_the_scheduler_are_checked() {
    check("[scheduler]\nretention_seconds = 0\n", &[], "`scheduler.retention_seconds`: `0` is not between 1 and");
    check("[[scheduler.tools]]\nmax_running = 1\n", &[], "`scheduler.tools[0].tool`: must name a tool");
    check("[scheduler.weights]\nacme = 0\n", &[], "`scheduler.weights.acme`: `0` is not between 1 and 1000");
    let text = "[[scheduler.tools]]\ntool = \"shell.*\"\nmax_running = 2\n[scheduler.weights]\nacme = 3\n";
    let config = load(text, &[]).expect("valid");
    assert_eq!((config.scheduler.tools[0].max_running, config.scheduler.weights["acme"]), (2, 3));
}

#[test]
fn how_long_what_is_kept_is_checked_by_class() {
    let rule = |keep: &str| {
        format!("[[scheduler.retention]]\nsensitivity = [\"personal\"]\nrisk = [\"high\"]\nkeep_seconds = {keep}\n")
    };
    let refused = |text: &str, expected: &str| {
        let shown = load(text, &[]).expect_err("must be refused").to_string();
        assert!(shown.contains(expected), "{shown}\n  should have\n{expected}");
    };
    let config = load(&rule("{ calls = 60, inputs = 5 }"), &[]).expect("valid");
    assert_eq!(config.scheduler.retention[0].keep_seconds.values().sum::<u64>(), 65);
    refused(
        &rule("{ input = 5 }"),
        "`input` is not one of: calls, inputs, outputs, events, decisions, evidence, questions",
    );
    refused(&rule("{}"), "`scheduler.retention[0].keep_seconds`: must name a class: calls, inputs");
    refused(&rule("{ inputs = 0 }"), "`scheduler.retention[0].keep_seconds.inputs`: `0` is not between 1 and");
    refused(&rule("{ calls = 5, events = 6 }"), "keep_seconds.events`: is longer than `calls`");
    refused("[[scheduler.retention]]\nrisk = [\"huge\"]\nkeep_seconds = { calls = 5 }\n", "`huge` is not one of: low");
    let tenant = format!("[[scheduler.retention]]\ntenant = \"{}\"\nkeep_seconds = {{ calls = 5 }}\n", "a b");
    refused(&tenant, "`scheduler.retention[0].tenant`");
}

#[test]
fn ways_in_are_checked() {
    let issuer = "[[server.auth.jwt]]\nissuer = \"https://id.example\"\naudience = \"toolplane\"\n";
    let filed = format!("{issuer}jwks_file = \"keys.json\"\n");
    let fetched = |url: &str| format!("[server.auth]\njwks_hosts = [\"id.example\"]\n{issuer}jwks_url = \"{url}\"\n");
    let mtls = "[[server.auth.mtls]]\nsubject = \"CN=w\"\nroles = [\"worker\"]\n";
    let tls = "[server.tls]\ncert_file = \"c\"\nkey_file = \"k\"\nclient_ca_file = \"a\"\n";
    for (text, key) in [
        ("[server.auth]\n".to_owned(), "server.auth"),
        ("[server.auth]\njwks_hosts = [\"id.example\"]\n".to_owned(), "server.auth"),
        (issuer.to_owned(), "server.auth.jwt[0].jwks_file"),
        (format!("{filed}jwks_url = \"https://id.example\"\n"), "server.auth.jwt[0].jwks_file"),
        (fetched("http://id.example/keys"), "server.auth.jwt[0].jwks_url"),
        (fetched("https://other.example/keys"), "server.auth.jwt[0].jwks_url"),
        (format!("{filed}algorithms = []\n"), "server.auth.jwt[0].algorithms"),
        (format!("{filed}leeway_seconds = 301\n"), "server.auth.jwt[0].leeway_seconds"),
        (format!("{filed}jwks_ttl_ms = 10\n"), "server.auth.jwt[0].jwks_ttl_ms"),
        (format!("{filed}tenant_claim = \"\"\n"), "server.auth.jwt[0].tenant_claim"),
        (format!("{filed}{filed}"), "server.auth.jwt[1].issuer"),
        (mtls.to_owned(), "server.auth.mtls"),
        (format!("{tls}{}", mtls.replace("\"worker\"", "")), "server.auth.mtls[0].roles"),
        (format!("{tls}{}", mtls.replace("CN=w", "CN=")), "server.auth.mtls[0].subject"),
        (format!("{tls}{mtls}tenant = \"no spaces\"\n"), "server.auth.mtls[0].tenant"),
    ] {
        let ConfigError::Value { key: named, .. } = load(&text, &[]).expect_err(&text) else { panic!("{text}") };
        assert_eq!(named, key, "{text}");
    }
    for text in [filed.clone(), fetched("https://id.example/keys"), format!("{tls}{mtls}")] {
        load(&text, &[]).expect(&text);
    }
    // Signatures with a shared secret cannot even be named.
    let error = load(&format!("{filed}algorithms = [\"HS256\"]\n"), &[]).expect_err("shared secret").to_string();
    assert!(error.contains("algorithms") && error.contains("HS256"), "{error}");
    let error = load(&mtls.replace("worker", "root"), &[]).expect_err("no role").to_string();
    assert!(error.contains("root"), "{error}");
}

#[test]
fn the_example_of_callers_is_a_configuration_and_a_file_of_keys() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/examples/auth");
    let config = Config::load(Some(&folder.join("toolplane.toml")), []).expect("configuration");
    assert!(config.server.auth.is_some() && config.peers.token_file.is_some());
    let keys = std::fs::read_to_string(folder.join("keys.toml")).expect("keys");
    assert_eq!(crate::keys::check_file(&keys), Ok(2));
}

#[test]
fn every_tenant_has_a_workspace_of_its_own() {
    let spaces = Config::default().workspaces();
    assert_eq!(spaces.of("default"), Path::new(".toolplane/workspace"));
    assert_eq!(spaces.of("acme"), Path::new(".toolplane/workspace-tenants/acme"));
    let others: std::collections::BTreeSet<_> =
        ["acme", "a/../../b", "..", ".", "", "default/", "Acme", "a=b", "a/b", &"x".repeat(256), &"x".repeat(255)]
            .map(|tenant| spaces.of(tenant))
            .into();
    assert_eq!(others.len(), 11, "{others:?}");
    for path in &others {
        assert_eq!(path.parent(), Some(Path::new(".toolplane/workspace-tenants")), "{path:?}");
        assert!(path.file_name().is_some_and(|name| name.len() <= 120), "{path:?}");
    }
    let folder = tempfile::tempdir().expect("temporary folder");
    let mut config = Config::default();
    config.executor.workspace = Some(folder.path().join("project"));
    config.executor.tenant_workspaces = Some(folder.path().join("others"));
    assert!(config.check().is_ok());
    let made = config.workspaces().open("a/b").expect("made");
    assert_eq!(made.file_name().and_then(|name| name.to_str()), Some("a=2fb"));
    assert_eq!(config.workspaces().of_tenants(), [made]);
    assert_eq!(config.workspaces().existing("nobody"), None);
    check(
        "[executor]\nworkspace = \"/srv/w\"\ntenant_workspaces = \"/srv/w/tenants\"\n",
        &[],
        "`executor.tenant_workspaces`: `/srv/w/tenants` and `executor.workspace` lie in one another",
    );
    check("[executor.quota]\ntenant_files = 0\n", &[], "`executor.quota.tenant_files`: ");
}

#[test]
fn how_the_log_was_to_look_is_read_where_it_can_be() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let file = folder.path().join("toolplane.toml");
    let format = |text: &str, environment: &[(&str, &str)]| {
        std::fs::write(&file, text).expect("file");
        let environment = environment.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        Config::log_format(Some(&file), environment)
    };
    let json = "[server]\nno_key = 1\n[log]\nformat = \"json\"\n";
    assert_eq!(format(json, &[]), LogFormat::Json);
    assert_eq!(format(json, &[("TOOLPLANE__LOG__FORMAT", "text")]), LogFormat::Text);
    assert_eq!(format("", &[("TOOLPLANE__LOG__FORMAT", "json")]), LogFormat::Json);
    for unreadable in ["", "no toml", "[log]\nformat = \"xml\"\n", "log = 1\n"] {
        assert_eq!(format(unreadable, &[]), LogFormat::Text, "{unreadable}");
    }
    assert_eq!(Config::log_format(None, []), LogFormat::Text);
}
