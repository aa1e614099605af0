//! Surfaces of tools that are chosen by what they are, and what is said of words that choose none.

use tonic::Code;
use toolplane_proto::v1;

use crate::role::{Role, changed, tool};

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn tagged(namespace: &str, name: &str, tag: &str) -> v1::ToolRegistration {
    changed(tool(namespace, name), |declaration| declaration.tags = words(&[tag]))
}

fn told(warnings: &[v1::SelectionWarning]) -> Vec<(&str, Vec<&str>)> {
    warnings.iter().map(|one| (one.field.as_str(), one.similar.iter().map(String::as_str).collect())).collect()
}

#[tokio::test]
async fn tools_are_chosen_by_what_they_are_also_later_and_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register(vec![tagged("files", "read", "Daily"), tagged("mail", "send", "daily"), tool("files", "write")])
        .await
        .unwrap();
    let wanted =
        v1::CreateSurfaceRequest { namespaces: words(&["files"]), tags: words(&["DAILY"]), ..Default::default() };
    let made = role.client.clone().create_surface(wanted.clone()).await.unwrap().into_inner();
    let id = made.surface.unwrap().surface_id;
    assert!(made.warnings.is_empty());
    role.resolved(&id, "files.read").await;
    assert_eq!(role.refusal(&id, "mail.send").await.kind(), v1::NotCallableKind::Excluded);
    // A slip is told with what may have been meant; a word that cannot be is refused.
    let slip = v1::CreateSurfaceRequest { namespaces: words(&["flies"]), tags: words(&["dialy"]), ..wanted.clone() };
    let warnings = role.client.clone().create_surface(slip).await.unwrap().into_inner().warnings;
    assert_eq!(told(&warnings), [("namespaces[0]", vec!["files"]), ("tags[0]", vec!["daily"])]);
    let wrong = [
        (
            v1::CreateSurfaceRequest { risk_levels: words(&["low", "hihg"]), ..wanted.clone() },
            "`risk_levels[1]`",
            "low, medium",
        ),
        (v1::CreateSurfaceRequest { kinds: words(&["mcp"]), ..wanted.clone() }, "`kinds[0]`", "mcp_tool"),
        (v1::CreateSurfaceRequest { tags: words(&[""]), ..wanted.clone() }, "`tags[0]`", "is empty"),
        (
            v1::CreateSurfaceRequest { namespaces: words(&["files", " "]), ..wanted.clone() },
            "`namespaces[1]`",
            "is empty",
        ),
        (v1::CreateSurfaceRequest { providers: words(&["p"; 101]), ..wanted.clone() }, "`providers`", "at most 100"),
    ];
    for (request, field, rule) in wrong {
        let refused = role.client.clone().create_surface(request).await.unwrap_err();
        assert!(refused.code() == Code::InvalidArgument && refused.message().contains(rule), "{refused:?}");
        assert!(refused.message().contains(field), "{refused:?}");
    }
    // What is filed there later is found; what is filed elsewhere is not shown any more.
    role.register(vec![tagged("files", "list", "daily"), tagged("files", "read", "rare")]).await.unwrap();
    role.stop().await;
    let role = Role::start(dir.path()).await;
    assert_eq!(role.refusal(&id, "files.list").await.kind(), v1::NotCallableKind::NotLoaded);
    let refused = role.refusal(&id, "files.read").await;
    assert!(
        refused.kind() == v1::NotCallableKind::Excluded && refused.message.contains("ExtendSurface"),
        "{refused:?}"
    );
    let found = role.search("", "tag:daily").await;
    assert_eq!(found.total_matches, 2);
    role.stop().await;
}

#[tokio::test]
async fn a_surface_is_extended_by_what_tools_are_and_says_what_is_not_loaded() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register(vec![tool("files", "read"), tagged("mail", "send", "daily"), tool("old", "gone")]).await.unwrap();
    role.retire("tool_old_gone").await.unwrap();
    let only = v1::CreateSurfaceRequest { tool_refs: words(&["files.read"]), ..Default::default() };
    let id = role.surface(only).await.surface_id;
    let by = v1::ExtendSurfaceRequest {
        surface_id: id.clone(),
        tags: words(&["daily"]),
        load: words(&["old.gone", "files.read"]),
        ..Default::default()
    };
    let extended = role.client.clone().extend_surface(by.clone()).await.unwrap().into_inner();
    assert!(extended.warnings.is_empty());
    let not_loaded: Vec<_> = extended.not_loaded.iter().map(|one| (one.name.as_str(), &one.outcome)).collect();
    assert!(
        matches!(not_loaded.as_slice(), [("old.gone", Some(v1::load_outcome::Outcome::Failure(why)))]
            if why.kind() == v1::NotCallableKind::Retired),
        "{not_loaded:?}"
    );
    assert_eq!(role.refusal(&id, "mail.send").await.kind(), v1::NotCallableKind::NotLoaded);
    role.register(vec![tagged("mail", "later", "daily")]).await.unwrap();
    assert_eq!(role.refusal(&id, "mail.later").await.kind(), v1::NotCallableKind::NotLoaded);
    let slip = v1::ExtendSurfaceRequest { namespaces: words(&["mial"]), load: Vec::new(), tags: Vec::new(), ..by };
    let warnings = role.client.clone().extend_surface(slip).await.unwrap().into_inner().warnings;
    assert_eq!(told(&warnings), [("namespaces[0]", vec!["mail"])]);
    role.stop().await;
}
