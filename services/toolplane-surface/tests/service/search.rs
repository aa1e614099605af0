//! Searching over gRPC: pages, filters, names of several tools, words of a tenant.

use tonic::Code;
use toolplane_proto::v1;
use toolplane_surface::{SurfaceOptions, Synonyms};

use crate::role::{Role, changed, options, tool};

async fn ask(role: &Role, request: v1::SearchToolsRequest) -> Result<v1::SearchResult, tonic::Status> {
    let answer = role.client.clone().search_tools(request).await?;
    Ok(answer.into_inner().result.unwrap())
}

fn about(query: &str) -> v1::SearchToolsRequest {
    v1::SearchToolsRequest { query: query.to_owned(), ..Default::default() }
}

fn names(result: &v1::SearchResult) -> Vec<&str> {
    result.found.iter().map(|tool| tool.name.as_str()).collect()
}

#[tokio::test]
async fn pages_and_filters_are_fields_too() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    let mut tools: Vec<_> = (0..25).map(|n| tool("files", &format!("read{n}"))).collect();
    tools.push(changed(tool("mail", "read"), |declaration| declaration.tool_kind = "mcp_tool".to_owned()));
    role.register(tools).await.unwrap();
    let of_files = v1::SearchToolsRequest { namespaces: vec!["files".to_owned()], limit: 10, ..about("something") };
    let (mut told, mut page_token) = (Vec::new(), String::new());
    loop {
        let page = ask(&role, v1::SearchToolsRequest { page_token, ..of_files.clone() }).await.unwrap();
        assert_eq!((page.total_matches, page.more_matches), (25, false));
        told.extend(page.matches);
        page_token = page.next_page_token;
        if page_token.is_empty() {
            break;
        }
    }
    told.sort();
    told.dedup();
    assert_eq!(told.len(), 25);
    let first = ask(&role, of_files.clone()).await.unwrap();
    let elsewhere = v1::SearchToolsRequest { page_token: first.next_page_token, ..about("something") };
    assert_eq!(ask(&role, elsewhere).await.unwrap_err().code(), Code::InvalidArgument, "a token is of one query");
    let mcp = v1::SearchToolsRequest { kinds: vec!["mcp_tool".to_owned()], ..about("") };
    assert_eq!(names(&ask(&role, mcp).await.unwrap()), ["mail.read"]);
    let wrong = v1::SearchToolsRequest { kinds: vec!["mcp".to_owned()], ..about("read") };
    let refused = ask(&role, wrong).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    assert!(refused.message().contains("kinds") && refused.message().contains("mcp_tool"), "{}", refused.message());
    assert!(ask(&role, about("read kind:mcp")).await.unwrap_err().message().contains("query"));
    assert_eq!(ask(&role, about(" ")).await.unwrap_err().code(), Code::InvalidArgument);
    role.stop().await;
}

#[tokio::test]
async fn an_answer_says_why_and_what_next() {
    let dir = tempfile::tempdir().unwrap();
    let house = |tenant: Option<&str>, words: [&str; 2]| Synonyms {
        tenant: tenant.map(str::to_owned),
        words: words.map(str::to_owned).to_vec(),
    };
    let synonyms = vec![house(None, ["snailpost", "mail"]), house(Some("somebody"), ["pigeon", "mail"])];
    let role = Role::start_with(dir.path(), SurfaceOptions { synonyms, ..options() }).await;
    let expenses = changed(tool("hr", "expenses"), |declaration| {
        declaration.search_examples = vec!["get my money back for the train".to_owned()];
        declaration.title = "Expenses".to_owned();
    });
    role.register(vec![expenses, tool("mail", "send"), tool("chat", "send")]).await.unwrap();
    let found = ask(&role, about("reimburse a train")).await.unwrap();
    let best = &found.found[0];
    assert_eq!(
        (best.name.as_str(), best.title.as_str(), best.next_action.as_str()),
        ("hr.expenses", "Expenses", "call")
    );
    assert_eq!((best.why[0].asked.as_str(), best.why[0].fields[0].as_str()), ("train", "search_examples"));
    let slip = ask(&role, about("sned")).await.unwrap();
    let why = slip.found[0].why[0].clone();
    assert_eq!((why.found.as_str(), why.how.as_str(), slip.found.len()), ("send", "typo", 2));
    assert_eq!(names(&ask(&role, about("snailpost")).await.unwrap()), ["mail.send"]);
    assert_eq!(names(&ask(&role, about("pigeon")).await.unwrap()), [""; 0], "words of another tenant");
    let several = ask(&role, about("Select:SEND,mail.Send")).await.unwrap();
    assert_eq!(names(&several), ["mail.send"]);
    assert_eq!(several.ambiguous_names[0].candidates, ["chat.send", "mail.send"]);
    assert_eq!(names(&ask(&role, about("deliver")).await.unwrap()).len(), 2, "`send` in the starter set");
    role.stop().await;
    let role = Role::start_with(dir.path(), SurfaceOptions { starter_synonyms: false, ..options() }).await;
    assert_eq!(names(&ask(&role, about("deliver")).await.unwrap()), [""; 0]);
    role.stop().await;
}
