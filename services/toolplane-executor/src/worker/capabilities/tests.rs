use toolplane_execution::{Capabilities as Found, Gap};
use toolplane_sandbox::Posture;

use super::Capabilities;
use crate::worker::Egress;

fn found() -> Found {
    Found {
        pools: vec!["files", "http", "mcp_http", "native", "openapi"],
        native_tools: vec!["files.read_file", "native.echo", "native.later"],
        gaps: vec![Gap { pool: "shell", reason_code: "sandbox_unavailable", message: "install bubblewrap".into() }],
        posture: Posture::unavailable("bubblewrap", "install bubblewrap"),
    }
}

/// Pools and gaps (with their reasons), or the refusal.
fn check(allow: &[&str], wanted: Option<&[&str]>, expected: Result<(&str, &str), &str>) {
    let allow: Vec<_> = allow.iter().map(ToString::to_string).collect();
    let egress = Egress::read(&allow, 1).and_then(|egress| egress.with_servers(&allow)).unwrap();
    let wanted: Option<Vec<String>> = wanted.map(|pools| pools.iter().map(ToString::to_string).collect());
    let got = Capabilities::of(&found(), &egress, wanted.as_deref()).map(|capabilities| {
        let gaps: Vec<_> = capabilities.gaps.iter().map(|gap| format!("{}:{}", gap.pool, gap.reason_code)).collect();
        (capabilities.pools.join(","), gaps.join(","))
    });
    let expected = expected.map(|(pools, gaps)| (pools.to_owned(), gaps.to_owned())).map_err(str::to_owned);
    assert_eq!(got.map_err(|error| error.to_string()), expected);
}

#[test]
fn what_is_missing_is_said_and_what_is_not_wanted_is_not() {
    check(&["h"], None, Ok(("files,http,mcp_http,native,openapi", "shell:sandbox_unavailable")));
    let closed = "shell:sandbox_unavailable,http:egress_not_configured,openapi:egress_not_configured,mcp_http:egress_not_configured";
    check(&[], None, Ok(("files,native", closed)));
    check(&[], Some(&["native"]), Ok(("native", "")));
    check(&[], Some(&["shell", "native"]), Ok(("native", "shell:sandbox_unavailable")));
}

#[test]
fn built_in_tools_are_served_with_their_pool() {
    let served =
        |wanted: Option<&[String]>| Capabilities::of(&found(), &Egress::default(), wanted).unwrap().native_tools;
    assert_eq!(served(None), ["files.read_file", "native.echo", "native.later"]);
    assert_eq!(served(Some(&["files".to_owned()])), ["files.read_file"]);
}

#[test]
fn an_unknown_pool_is_refused_by_name() {
    let pools = "files, http, mcp_http, native, openapi, shell";
    let refusal = format!("`executor.pools` names `shel`, which is not a pool; pools are: {pools}");
    check(&["h"], Some(&["shel"]), Err(&refusal));
}
