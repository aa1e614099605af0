//! Words that mean the same, added while the role runs: found by, told, bounded, kept, and the same in every process.

use futures_util::future::join_all;
use tonic::{Code, Status};
use toolplane_backend::{Backend, Keeper};
use toolplane_proto::v1;
use toolplane_proto::v1::SynonymOrigin as Origin;
use toolplane_surface::{SurfaceOptions, Synonyms};

use crate::role::{Role, changed, options, tool};
use crate::several::{on, several};

fn words(text: &str) -> Vec<String> {
    text.split(", ").map(str::to_owned).collect()
}

impl Role {
    async fn add_synonyms(&self, groups: &[&str]) -> Result<Vec<String>, Status> {
        let group = |text: &&str| v1::SynonymGroup { words: words(text), ..Default::default() };
        let request = v1::AddSynonymsRequest { groups: groups.iter().map(group).collect(), by: "ann".to_owned() };
        Ok(texts(&self.client.clone().add_synonyms(request).await?.into_inner().added))
    }

    async fn remove_synonyms(&self, text: &str) -> Result<Vec<String>, Status> {
        let request = v1::RemoveSynonymsRequest { words: words(text) };
        Ok(texts(&self.client.clone().remove_synonyms(request).await?.into_inner().after))
    }

    async fn synonyms(&self, word: &str, page_size: i32) -> Vec<v1::SynonymGroup> {
        let mut request = v1::ListSynonymsRequest { word: word.to_owned(), page_size, page_token: String::new() };
        let mut groups = Vec::new();
        loop {
            let page = self.client.clone().list_synonyms(request.clone()).await.unwrap().into_inner();
            groups.extend(page.groups);
            if page.next_page_token.is_empty() {
                return groups;
            }
            request.page_token = page.next_page_token;
        }
    }

    /// Names of what is found in the default surface, with how the best one was.
    async fn found(&self, query: &str) -> Vec<(String, String)> {
        let found = self.search("default", query).await.found;
        found.into_iter().map(|tool| (tool.name, format!("{} {}", tool.why[0].how, tool.why[0].found))).collect()
    }
}

fn texts(groups: &[v1::SynonymGroup]) -> Vec<String> {
    groups.iter().map(|group| group.words.join(", ")).collect()
}

fn office() -> Vec<v1::ToolRegistration> {
    let leave = changed(tool("hr", "leave"), |tool| "Asks for days off.".clone_into(&mut tool.description));
    vec![leave, tool("mail", "send")]
}

fn configured() -> SurfaceOptions {
    let group = |tenant: Option<&str>, text| Synonyms { tenant: tenant.map(str::to_owned), words: words(text) };
    let synonyms = vec![group(None, "snailpost, mail"), group(Some("somebody"), "pigeon, mail")];
    SurfaceOptions { synonyms, ..options() }
}

#[tokio::test]
async fn words_are_known_at_once_told_and_kept_over_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start_with(dir.path(), configured()).await;
    role.register(office()).await.unwrap();
    assert_eq!(role.found("pto").await, []);
    assert_eq!(role.add_synonyms(&["PTO, leave, sabbatical", "the blues, mail"]).await.unwrap().len(), 2);
    let leave = vec![("hr.leave".to_owned(), "synonym leave".to_owned())];
    assert_eq!(role.found("pto").await, leave);
    assert_eq!(role.found("the blues").await, [("mail.send".to_owned(), "synonym mail".to_owned())]);
    assert_eq!(role.found("snailpost").await.len(), 1, "what is configured stays");
    assert_eq!(role.add_synonyms(&["sabbaticals, Leave, pto"]).await.unwrap(), [""; 0], "the same words again");
    role.stop().await;
    let role = Role::start_with(dir.path(), configured()).await;
    assert_eq!(role.found("pto").await, leave);
    let listed = role.synonyms("", 2).await;
    assert_eq!(texts(&listed), ["snailpost, mail", "PTO, leave, sabbatical", "the blues, mail"]);
    let origins: Vec<_> = listed.iter().map(v1::SynonymGroup::origin).collect();
    assert_eq!(origins, [Origin::ConfiguredForAll, Origin::Added, Origin::Added]);
    assert!(listed[0].added_at.is_none() && listed[1].added_at.is_some() && listed[1].added_by == "ann", "{listed:?}");
    assert_eq!(texts(&role.synonyms("Mails", 0).await), ["snailpost, mail", "the blues, mail"]);
    assert_eq!(role.remove_synonyms("pto").await.unwrap(), ["leave, sabbatical"]);
    assert_eq!((role.found("pto").await, role.found("sabbatical").await), (Vec::new(), leave));
    role.stop().await;
}

#[tokio::test]
async fn what_cannot_be_added_or_taken_out_is_refused_with_its_reason() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start_with(dir.path(), configured()).await;
    let refused = role.add_synonyms(&["a, b", "alone"]).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    assert!(refused.message().contains("groups[1].words") && refused.message().contains("2 to 32"), "{refused:?}");
    assert_eq!(role.synonyms("", 0).await.len(), 1, "all or none");
    assert_eq!(role.remove_synonyms("nothing").await.unwrap_err().code(), Code::NotFound);
    let refused = role.remove_synonyms("mail, snailpost").await.unwrap_err();
    assert_eq!(refused.code(), Code::FailedPrecondition);
    assert!(refused.message().contains("configuration"), "{refused:?}");
    assert_eq!(role.remove_synonyms("--").await.unwrap_err().code(), Code::InvalidArgument);
    for n in 0..16 {
        role.add_synonyms(&[&format!("pto, x{n}y")]).await.unwrap();
    }
    assert_eq!(role.add_synonyms(&["pto, more"]).await.unwrap_err().code(), Code::ResourceExhausted);
    role.stop().await;
}

#[tokio::test]
async fn what_one_process_was_told_the_other_finds_by() {
    let (server, [one, other]) = several(&options()).await;
    one.register(office()).await.unwrap();
    for round in 0..5 {
        let (here, there) = if round % 2 == 0 { (&one, &other) } else { (&other, &one) };
        here.add_synonyms(&["PTO, leave"]).await.unwrap();
        assert_eq!(there.found("pto").await.len(), 1, "the answer waited for it");
        there.remove_synonyms("pto").await.unwrap();
        assert_eq!(here.found("pto").await, []);
    }
    // Many writers at once: each group is there once.
    let groups: Vec<_> = (0..10).map(|n| format!("word{n}x, leave")).collect();
    let both = [&one, &other];
    join_all(
        groups.iter().enumerate().map(|(n, group)| async move { both[n % 2].add_synonyms(&[group]).await.unwrap() }),
    )
    .await;
    let (here, there) = (one.synonyms("", 3).await, other.synonyms("", 0).await);
    assert_eq!(here, there);
    assert_eq!(here.len(), 10);
    // Whoever comes later knows them too.
    let backend = Backend::open(&on(&server), Keeper::Surface).await.unwrap();
    let third = Role::start_on(backend, options()).await;
    assert_eq!((third.synonyms("", 0).await, third.found("word3x").await.len()), (here, 1));
    for role in [one, other, third] {
        role.stop().await;
    }
}
