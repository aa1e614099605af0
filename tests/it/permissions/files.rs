//! A deny about files holds for commands and declared programs too.

use serde_json::json;
use toolplane_proto::v1::ResultStatus;

use super::{bed, command};
use crate::bed::kinds;
use crate::hooks::text;

#[tokio::test]
async fn a_denied_file_is_opened_by_no_command() {
    let bed = bed().await;
    let workspace = bed.cluster.workspace();
    std::os::unix::fs::symlink("../secrets/key.txt", workspace.join("notes/link")).unwrap();
    std::fs::hard_link(workspace.join("secrets/key.txt"), workspace.join("notes/other")).unwrap();

    // What the words say is decided about before anything runs.
    for named in ["wc -l secrets/key.txt", "wc -l ./secrets/key.txt", "wc -l -- notes/a.txt secrets/key.txt"] {
        let (events, result) = bed.followed(command(&bed, named)).await;
        assert_eq!(result.status_code(), ResultStatus::Denied, "{named}: {:?}", result.error);
        assert!(!kinds(&events).contains(&"tool.invocation.started"), "{named} ran");
    }
    // What they do not say is kept away where it runs.
    let before = bed.followed(command(&bed, "wc -l notes/a.txt")).await.1;
    assert!(!before.is_error && text(&before).starts_with("2 "), "{before:?}");
    for led in ["wc -l notes/link", "wc -l notes/other"] {
        let (events, result) = bed.followed(command(&bed, led)).await;
        assert!(kinds(&events).contains(&"tool.invocation.started"), "{led}: {:?}", result.error);
        assert!(result.is_error && !text(&result).starts_with("1 "), "{led}: {result:?}");
    }
    let counted = bed.call("text.word_count", json!({ "path": "notes/link" }).to_string()).await;
    assert!(counted.is_error, "{counted:?}");
    let counted = bed.call("text.word_count", json!({ "path": "notes/a.txt" }).to_string()).await;
    assert!(!counted.is_error, "{counted:?}");
}
