//! Providers, how they are, and what is said about their tools.

use std::collections::BTreeMap;

use toolplane_records::payload::Digest;
use toolplane_records::provider::{
    CredentialPlacement, CredentialUse, FaultReport, OperationSelection, ProvidedTool, Provider, ProviderDocument,
    ProviderSource, ProviderStatus, Reach, ToolCounts, ToolRefusal, ToolReview,
};
use toolplane_records::vocabulary::{
    CircuitState, ProviderFault, ProviderState, ProviderTrust, RefusalCode, ReviewBasis, ReviewState, SessionSharing,
};

use super::{Sample, at, id, ours, strings};

pub(super) fn samples() -> Vec<Sample> {
    vec![
        ours("provider-mcp-stdio", &provider(stdio()), MINIMAL_STDIO),
        ours("provider-mcp-http", &provider(http()), MINIMAL_HTTP),
        ours("provider-openapi", &provider(openapi(url())), MINIMAL_OPENAPI),
        ours("provider-openapi-uploaded", &provider(openapi(uploaded())), MINIMAL_UPLOADED),
        ours("provider-worker", &provider(worker()), MINIMAL_WORKER),
        ours("provider-file", &provider(file()), MINIMAL_FILE),
        ours("provider-status", &status(), r#"{"provider_id":"github","tenant":"default","state":"pending"}"#),
        ours("provided-tool", &tool(), MINIMAL_TOOL),
    ]
}

const MINIMAL_STDIO: &str = r#"{"provider_id":"fs","tenant":"default","namespace":"fs",
    "source":{"kind":"mcp_stdio","argv":["mcp-server-fs"]}}"#;
const MINIMAL_HTTP: &str = r#"{"provider_id":"github","tenant":"default","namespace":"github",
    "source":{"kind":"mcp_http","url":"https://mcp.example.org/"}}"#;
const MINIMAL_OPENAPI: &str = r#"{"provider_id":"pets","tenant":"default","namespace":"pets",
    "source":{"kind":"openapi","document":{"from":"url","url":"https://pets.example.org/openapi.json"}}}"#;
const MINIMAL_UPLOADED: &str = r#"{"provider_id":"pets","tenant":"default","namespace":"pets","source":{"kind":"openapi",
    "document":{"from":"uploaded","digest":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}}}"#;
const MINIMAL_WORKER: &str = r#"{"provider_id":"acme","tenant":"default","namespace":"acme",
    "source":{"kind":"worker","native_prefix":"acme."}}"#;
const MINIMAL_FILE: &str = r#"{"provider_id":"local","tenant":"default","namespace":"local",
    "source":{"kind":"file","path":"tools.json"}}"#;
const MINIMAL_TOOL: &str = r#"{"provider_id":"github","tenant":"default","tool_id":"provider:github/search",
    "native_id":"search","state":"new"}"#;

fn texts(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn stdio() -> ProviderSource {
    ProviderSource::McpStdio {
        argv: strings(&["npx", "-y", "@modelcontextprotocol/server-filesystem", "."]),
        env: texts(&[("NODE_ENV", "production")]),
        pass_env: strings(&["LANG"]),
        read_only_paths: strings(&["/usr/lib/node_modules"]),
        workspace: toolplane_records::mcp::McpWorkspace::default(),
    }
}

fn http() -> ProviderSource {
    ProviderSource::McpHttp {
        url: "https://mcp.example.org/mcp".to_owned(),
        headers: texts(&[("X-MCP-Readonly", "true")]),
    }
}

fn openapi(document: ProviderDocument) -> ProviderSource {
    ProviderSource::Openapi {
        document,
        selection: OperationSelection {
            operations: strings(&["listPets", "GET /pets/*"]),
            tags: strings(&["pets"]),
            methods: strings(&["GET"]),
            except: strings(&["deletePet"]),
        },
        server_url: "https://{region}.pets.example.org/v1".to_owned(),
        server_variables: texts(&[("region", "eu")]),
    }
}

fn url() -> ProviderDocument {
    ProviderDocument::Url { url: "https://pets.example.org/openapi.json".to_owned() }
}

fn uploaded() -> ProviderDocument {
    ProviderDocument::Uploaded { digest: Digest::of(b"document") }
}

fn worker() -> ProviderSource {
    ProviderSource::Worker { native_prefix: "acme.".to_owned() }
}

fn file() -> ProviderSource {
    ProviderSource::File { path: "/etc/toolplane/tools.json".to_owned() }
}

fn credential(placement: CredentialPlacement) -> CredentialUse {
    CredentialUse { credential: "github_token".to_owned(), field: Some("token".to_owned()), placement }
}

fn provider(source: ProviderSource) -> Provider {
    let name = || "token".to_owned();
    Provider {
        schema_version: "0.2.0".into(),
        provider_id: id("github"),
        tenant: id("acme"),
        namespace: "github".to_owned(),
        title: "GitHub".to_owned(),
        source,
        reach: Reach { hosts: strings(&["*.github.com"]), ports: vec![443] },
        credentials: vec![
            credential(CredentialPlacement::Env { name: name() }),
            credential(CredentialPlacement::File { name: "token".to_owned() }),
            credential(CredentialPlacement::Header { name: name(), prefix: Some("Token ".to_owned()) }),
            credential(CredentialPlacement::Query { name: name() }),
            credential(CredentialPlacement::Cookie { name: name() }),
            credential(CredentialPlacement::Proxy { hosts: strings(&["api.example.org"]), name: name(), prefix: None }),
        ],
        scheme_credentials: texts(&[("oauth", "github_token")]),
        trust: ProviderTrust::NewTools,
        sessions: SessionSharing::Tenant,
        refresh_interval_ms: Some(600_000),
        created_by: "ada".to_owned(),
        created_at: at(0),
        changed_by: "grace".to_owned(),
        changed_at: Some(at(1)),
        revision: 2,
    }
}

fn status() -> ProviderStatus {
    ProviderStatus {
        schema_version: "0.2.0".into(),
        provider_id: id("github"),
        tenant: id("acme"),
        state: ProviderState::Degraded,
        fault: Some(FaultReport {
            code: ProviderFault::TimedOut,
            message: "no answer within 30 s".to_owned(),
            at: at(4),
        }),
        circuit: CircuitState::HalfOpen,
        circuit_until: Some(at(9)),
        times_opened: 2,
        last_success_at: Some(at(1)),
        last_try_at: Some(at(3)),
        next_try_at: Some(at(8)),
        consecutive_failures: 2,
        call_failures: 5,
        tools: ToolCounts { found: 14, imported: 9, waiting: 3, rejected: 1, refused: 1, withdrawn: 2 },
        server_name: "github-mcp-server".to_owned(),
        server_version: "1.4.0".to_owned(),
        protocol_version: "2025-11-25".to_owned(),
        list_digest: Some(Digest::of(b"list")),
    }
}

fn review(text: &str, basis: ReviewBasis) -> Option<ToolReview> {
    let (by, comment) = ("ada".to_owned(), "only reads".to_owned());
    Some(ToolReview { digest: Digest::of(text.as_bytes()), basis, by, at: at(2), comment })
}

fn tool() -> ProvidedTool {
    ProvidedTool {
        schema_version: "0.2.0".into(),
        provider_id: id("github"),
        tenant: id("acme"),
        tool_id: id("provider:github/search"),
        native_id: "search".to_owned(),
        digest: Some(Digest::of(b"now")),
        state: ReviewState::Changed,
        approved: review("before", ReviewBasis::Trust),
        rejected: review("between", ReviewBasis::Person),
        refusal: Some(ToolRefusal {
            code: RefusalCode::InvalidDefinition,
            reason: "`declaration.description` must tell the model when and how to use the tool".to_owned(),
        }),
        first_seen_at: at(0),
        changed_at: at(3),
        notes: strings(&["it was there before, and withdrawn meanwhile"]),
    }
}
