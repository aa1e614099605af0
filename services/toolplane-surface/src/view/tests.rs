use toolplane_catalog::{DeferPolicy, Limits, SurfaceRequest, select};
use toolplane_records::ids::{SurfaceId, TenantId};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::SurfaceScope;

use super::*;

fn catalog() -> Catalog {
    let mut catalog = Catalog::new(Limits::default());
    let tool = |namespace: &str, name: &str, lifecycle: &str| {
        let id = format!("tool_{namespace}_{name}");
        let text = format!(
            r#"{{"declaration":{{"tool_id":"{id}","namespace":"{namespace}","name":"{name}","description":"does it",
            "lifecycle":"{lifecycle}","tool_kind":"function",
            "input_contract":{{"model_input_schema":{{"type":"object"}}}}}}}}"#
        );
        serde_json::from_str(&text).unwrap()
    };
    let tools = [
        tool("files", "read", "available"),
        tool("files", "write", "available"),
        tool("mail", "read", "available"),
        tool("mail", "send", "disabled"),
        tool("web", "read", "draft"),
    ];
    for change in catalog.plan_register(&tools).unwrap() {
        catalog.apply(change);
    }
    catalog
}

/// The view finds what the catalog finds by walking over the whole surface.
fn check(request: SurfaceRequest) {
    let catalog = catalog();
    let surface = select(&catalog, &request, SurfaceId::from_trusted("s"), Timestamp::from_millis(1)).unwrap();
    let view = View::new(surface.clone(), 1);
    for name in [
        "files.read",
        "files__read",
        "tool_mail_read",
        "read",
        "write",
        "send",
        "mail.send",
        "web.read",
        "files.reed",
        "nothing",
    ] {
        let (walked, looked_up) = (resolve(&surface, &catalog, name), view.resolve(&catalog, name));
        let told = |resolution: &Resolution<'_>| match resolution {
            Resolution::Callable(entry) => format!("callable {}", entry.tool_id()),
            Resolution::Unknown { .. } => "unknown".to_owned(),
            other => format!("{other:?}"),
        };
        assert_eq!(told(&looked_up), told(&walked), "{name}");
        if let (Lookup::Unknown, Resolution::Unknown { similar }) = (catalog.find(name), &walked) {
            assert!(matches!(&looked_up, Resolution::Unknown { similar: found } if found == similar), "{name}");
        }
    }
}

#[test]
fn a_name_means_the_same_in_the_view_and_in_the_surface() {
    let request = || SurfaceRequest::new(TenantId::unauthenticated(), SurfaceScope::Session);
    check(request());
    check(SurfaceRequest { defer: DeferPolicy::All, load: vec!["files.write".to_owned()], ..request() });
    check(SurfaceRequest { namespaces: vec!["files".to_owned()], ..request() });
    let blocked = toolplane_catalog::BlockedName { name: "files.read".to_owned(), message: "not here".to_owned() };
    check(SurfaceRequest { blocked: vec![blocked], ..request() });
}
