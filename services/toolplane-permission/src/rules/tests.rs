use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolplane_records::ids::TenantId;
use toolplane_records::rule::PermissionRule;
use toolplane_records::vocabulary::{Behavior, RuleSource};
use toolplane_runtime::Config;
use toolplane_runtime::config::PermissionConfig;
use toolplane_store::{MemoryStore, Store};
use toolplane_store_redis::{RedisOptions, RedisStore};
use toolplane_testkit::redis::RedisServer;
use uuid::Uuid;

use super::text::bare;
use super::*;
use crate::ledger::Ledger;

const PATIENCE: Duration = Duration::from_secs(30);

fn tenant() -> TenantId {
    TenantId::unauthenticated()
}

fn rule(name: &str, behavior: Behavior, matcher: &str) -> PermissionRule {
    bare(name.to_owned(), behavior, matcher, RuleSource::ProjectSettings, "")
}

fn adding(rules: Vec<PermissionRule>) -> Addition {
    Addition { tenant: tenant(), author: Some("ann".to_owned()), rules, request_id: None }
}

async fn book_over(store: Arc<dyn Store>, source: Source) -> Arc<RuleBook> {
    Arc::new(RuleBook::open(Arc::new(Ledger::open(store).await.unwrap()), source, 100).await.unwrap())
}

async fn book() -> Arc<RuleBook> {
    book_over(Arc::new(MemoryStore::new()), Source::default()).await
}

fn names(book: &RuleBook) -> Vec<String> {
    book.active().rules().iter().map(|rule| rule.rule_id.clone()).collect()
}

async fn invalid(book: &RuleBook, addition: Addition, field: &str) {
    match book.add(addition, false).await {
        Err(RulesError::Invalid(faults)) => {
            assert!(faults.iter().any(|fault| fault.field == field), "{field} is not among {faults:?}");
        }
        other => panic!("{field}: {other:?}"),
    }
}

#[tokio::test]
async fn an_added_rule_is_in_force_at_once_and_says_where_it_came_from() {
    let book = book().await;
    let before = book.active().digest().to_owned();
    let (kept, digest) = book.add(adding(vec![rule("no_rm", Behavior::Deny, "Bash(rm:*)")]), false).await.unwrap();
    let [kept] = kept.as_slice() else { panic!("{kept:?}") };
    assert_eq!((kept.rule_id.as_str(), kept.scope.tenant.as_str()), ("rule/default/no_rm", "default"));
    assert_eq!((kept.author.as_str(), kept.origin.as_str(), kept.created_at.is_some()), ("ann", "stored", true));
    assert_eq!(book.active().digest(), digest);
    assert_ne!(digest, before);
    assert!(names(&book).contains(&kept.rule_id));
    let (unnamed, _) = book.add(adding(vec![rule("", Behavior::Deny, "Bash(dd:*)")]), false).await.unwrap();
    assert!(unnamed[0].rule_id.starts_with("rule/default/") && unnamed[0].rule_id.len() > "rule/default/".len());
}

#[tokio::test]
async fn rules_are_added_all_or_none_and_every_fault_is_named() {
    let book = book().await;
    let before = names(&book);
    let good = || rule("good", Behavior::Deny, "Bash(rm:*)");
    invalid(&book, adding(vec![]), "rules").await;
    invalid(&book, adding(vec![good(), rule("bad", Behavior::Allow, "Bash(")]), "rules[1].matcher").await;
    let with = |change: fn(&mut PermissionRule)| {
        let mut rule = good();
        change(&mut rule);
        adding(vec![rule])
    };
    invalid(&book, with(|rule| rule.source = RuleSource::PolicySettings), "rules[0].source").await;
    invalid(&book, with(|rule| rule.source = RuleSource::Session), "rules[0].scope.session").await;
    invalid(&book, with(|rule| rule.rule_id = "a/b".to_owned()), "rules[0].rule_id").await;
    invalid(&book, with(|rule| rule.facts = vec!["nice".to_owned()]), "rules[0].facts[0]").await;
    let past = Some(toolplane_records::time::Timestamp::from_millis(1));
    let mut expired = good();
    expired.expires_at = past;
    invalid(&book, adding(vec![expired]), "rules[0].expires_at").await;
    let foreign = with(|rule| rule.scope.tenant = "other".to_owned());
    assert!(matches!(book.add(foreign, false).await, Err(RulesError::ForeignTenant)));
    let (_, digest) = book.add(adding(vec![good()]), true).await.unwrap();
    assert_eq!(names(&book), before, "checking changes nothing");
    assert_eq!(book.add(adding(vec![good()]), false).await.unwrap().1.len(), digest.len());
    assert!(matches!(book.add(adding(vec![good()]), false).await, Err(RulesError::Exists(_))));
    let many = (0..100).map(|index| rule(&format!("r{index}"), Behavior::Deny, "Bash(rm:*)")).collect();
    assert!(matches!(book.add(adding(many), false).await, Err(RulesError::TooMany { limit: 100, .. })));
}

#[tokio::test]
async fn an_addition_is_repeatable_and_a_request_id_has_one_body() {
    let book = book().await;
    let request =
        |matcher| Addition { request_id: Some(Uuid::from_u128(7)), ..adding(vec![rule("", Behavior::Deny, matcher)]) };
    let (first, _) = book.add(request("Bash(rm:*)"), false).await.unwrap();
    assert_eq!(book.add(request("Bash(rm:*)"), false).await.unwrap().0, first);
    assert_eq!(names(&book).iter().filter(|name| name.starts_with(PREFIX)).count(), 1);
    assert!(matches!(book.add(request("Bash(dd:*)"), false).await, Err(RulesError::RequestIdReused(_))));
}

#[tokio::test]
async fn a_revoked_rule_leaves_a_trace_and_configured_ones_cannot_be_revoked() {
    let book = book().await;
    book.add(adding(vec![rule("no_rm", Behavior::Deny, "Bash(rm:*)")]), false).await.unwrap();
    let (gone, digest) = book.revoke(&tenant(), "no_rm", "bob", "no longer true").await.unwrap();
    assert_eq!((gone.revoked_by.as_str(), gone.revoked_at.is_some()), ("bob", true));
    assert_eq!(book.active().digest(), digest);
    assert!(!names(&book).contains(&gone.rule_id));
    assert_eq!(book.ended_rules(&tenant()).await.unwrap(), std::slice::from_ref(&gone));
    let (again, _) = book.revoke(&tenant(), &gone.rule_id, "carol", "").await.unwrap();
    assert_eq!(again, gone, "once is as good as twice");
    let again = book.add(adding(vec![rule("no_rm", Behavior::Deny, "Bash(rm:*)")]), false).await;
    assert!(matches!(again, Err(RulesError::Exists(_))), "its name stays with its trace");
    let own =
        Config::from_toml("t.toml".as_ref(), "[[permission.rules]]\nid = \"own\"\nbehavior = \"deny\"\ntool = \"x\"\n");
    let configured = book_over(Arc::new(MemoryStore::new()), Source::of(&own.unwrap())).await;
    let refused = configured.revoke(&tenant(), "own", "bob", "").await.unwrap_err();
    assert!(refused.to_string().contains("config"), "{refused}");
    assert!(matches!(refused, RulesError::Configured { .. }));
    let other = TenantId::from_trusted("other");
    for unknown in ["no_rm", "rule/default/no_rm", "nothing"] {
        assert!(matches!(book.revoke(&other, unknown, "eve", "").await, Err(RulesError::NotFound(_))), "{unknown}");
    }
}

#[tokio::test]
async fn a_rule_whose_time_is_over_goes_out_of_the_set() {
    let book = book().await;
    let mut short = rule("short", Behavior::Allow, "Bash(ls:*)");
    short.expires_at = Some(book.ledger.now().await.unwrap().plus_millis(30));
    book.add(adding(vec![short]), false).await.unwrap();
    let before = book.active().digest().to_owned();
    toolplane_wait::pause(Duration::from_millis(60), "the rule expires by the clock of the store").await;
    assert_eq!(stored::expire_due(&book.ledger).await.unwrap(), 1);
    assert_eq!(stored::expire_due(&book.ledger).await.unwrap(), 0);
    book.refresh().await.unwrap();
    assert_ne!(book.active().digest(), before, "whoever follows the policy hears of it");
    assert!(!names(&book).iter().any(|name| name.contains("short")));
    assert_eq!(book.ended_rules(&tenant()).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_stored_allow_that_cannot_be_used_is_left_out_and_a_deny_is_not() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let ledger = Ledger::open(Arc::clone(&store)).await.unwrap();
    let keep = async |name: &str, behavior| {
        let broken = rule(&rule_id(&tenant(), name), behavior, "Bash(");
        let change = stored::addition(&tenant(), &[broken], 100).unwrap();
        assert_eq!(ledger.apply(change).await.unwrap(), crate::ledger::Done::Applied);
    };
    let book = book_over(Arc::clone(&store), Source::default()).await;
    keep("allow", Behavior::Allow).await;
    book.refresh().await.unwrap();
    assert!(names(&book).is_empty());
    book_over(Arc::clone(&store), Source::default()).await;
    keep("deny", Behavior::Deny).await;
    let unusable = book.refresh().await.unwrap_err();
    assert!(matches!(unusable, RulesError::Unusable(_)), "{unusable}");
    let opened = RuleBook::open(Arc::new(Ledger::open(store).await.unwrap()), Source::default(), 100).await;
    assert!(opened.is_err(), "nothing is decided without a deny that is there");
}

#[tokio::test]
async fn what_one_process_stores_another_decides_by() {
    let server = RedisServer::start(Default::default()).await.unwrap();
    let store = || RedisStore::open(RedisOptions::standalone(server.url()));
    let one = book_over(Arc::new(store().await.unwrap()), Source::default()).await;
    let other = book_over(Arc::new(store().await.unwrap()), Source::default()).await;
    let (_, digest) = one.add(adding(vec![rule("no_rm", Behavior::Deny, "Bash(rm:*)")]), false).await.unwrap();
    assert_eq!(other.current().await.unwrap().digest(), digest, "the next decision there knows it");

    let stop = CancellationToken::new();
    let follower = tokio::spawn(Arc::clone(&other).follow(Duration::from_millis(20), stop.clone()));
    let mut policy = other.follow_policy();
    policy.mark_unchanged();
    let (_, digest) = one.revoke(&tenant(), "no_rm", "ann", "").await.unwrap();
    tokio::time::timeout(PATIENCE, policy.changed()).await.unwrap().unwrap();
    assert_eq!(policy.borrow().digest, digest);
    stop.cancel();
    follower.await.unwrap();
}

#[tokio::test]
async fn a_changed_file_is_taken_over_and_a_bad_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rules.toml");
    let write = |text: &str| {
        let new = folder.path().join("new");
        std::fs::write(&new, text).unwrap();
        std::fs::rename(&new, &file).unwrap();
    };
    let good = |name: &str| format!("[[rules]]\nid = \"{name}\"\nbehavior = \"deny\"\ntool = \"Bash(rm:*)\"\n");
    write(&good("one"));
    let section = PermissionConfig { rules_files: vec![file.clone()], ..PermissionConfig::default() };
    let book = book_over(Arc::new(MemoryStore::new()), Source { section, file: None }).await;
    book.add(adding(vec![rule("stored", Behavior::Deny, "Bash(dd:*)")]), false).await.unwrap();
    let stop = CancellationToken::new();
    let follower = tokio::spawn(Arc::clone(&book).follow(Duration::from_millis(20), stop.clone()));
    let until = async |what: &str, reached: &dyn Fn() -> bool| {
        let waiting = async {
            while !reached() {
                toolplane_wait::look_again().await;
            }
        };
        tokio::time::timeout(PATIENCE, waiting).await.unwrap_or_else(|_| panic!("{what}"));
    };
    write(&good("two"));
    until("the new rule", &|| names(&book).contains(&"two".to_owned())).await;
    assert!(!names(&book).contains(&"one".to_owned()), "as a whole");
    let digest = book.active().digest().to_owned();

    write("[[rules]]\nid = \"three\"\nbehavior = \"deny\"\ntool = \"Bash(\"\n");
    until("the fault", &|| book.fault().is_some()).await;
    assert_eq!(book.active().digest(), digest, "the set before stays");
    assert!(book.fault().unwrap().to_string().contains("rules.toml: rules[0]"), "{}", book.fault().unwrap());
    assert!(matches!(book.reload(false).await, Err(RulesError::Refused(_))));
    book.add(adding(vec![rule("while_bad", Behavior::Deny, "Bash(mkfs:*)")]), false).await.unwrap();
    assert!(names(&book).contains(&"two".to_owned()), "stored rules still come and go");

    write(&good("four"));
    until("the repaired rule", &|| names(&book).contains(&"four".to_owned())).await;
    assert!(book.fault().is_none() && names(&book).contains(&"rule/default/while_bad".to_owned()));
    std::fs::remove_file(&file).unwrap();
    assert!(book.reload(true).await.is_err(), "a file that is gone is a fault too");
    stop.cancel();
    follower.await.unwrap();
}

#[tokio::test]
async fn the_configuration_file_itself_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("toolplane.toml");
    std::fs::write(&file, "").unwrap();
    let config = Config::load(Some(&file), []).unwrap();
    let book = book_over(Arc::new(MemoryStore::new()), Source::of(&config)).await;
    assert!(names(&book).is_empty());
    std::fs::write(&file, "[[permission.rules]]\nid = \"own\"\nbehavior = \"deny\"\ntool = \"*\"\n").unwrap();
    assert_eq!(book.reload(true).await.unwrap().rules().len(), 1);
    assert!(names(&book).is_empty(), "checking changes nothing");
    book.reload(false).await.unwrap();
    assert_eq!(names(&book), ["own"]);
    std::fs::write(&file, "[permission]\nrulez = 1\n").unwrap();
    let refused = book.reload(false).await.unwrap_err().to_string();
    assert!(refused.contains("rulez"), "{refused}");
}

#[cfg(feature = "cedar")]
#[tokio::test]
async fn the_organisations_policies_come_and_go_like_rules() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("base.cedar");
    std::fs::write(&file, "@id(\"none\")\nforbid(principal, action, resource);\n").unwrap();
    let section = PermissionConfig { cedar_policies: vec![file.clone()], ..PermissionConfig::default() };
    let book = book_over(Arc::new(MemoryStore::new()), Source { section, file: None }).await;
    let digest = book.active().digest().to_owned();
    assert!(book.active().rules().is_empty());
    std::fs::write(&file, "forbid(principal, action, resource) when { resource.nonsense };\n").unwrap();
    let refused = book.reload(false).await.unwrap_err().to_string();
    assert!(refused.contains("base.cedar:1"), "{refused}");
    assert_eq!(book.active().digest(), digest);
    std::fs::write(&file, "@id(\"some\")\npermit(principal, action, resource);\n").unwrap();
    book.reload(false).await.unwrap();
    assert_ne!(book.active().digest(), digest);
}

#[tokio::test]
async fn a_damaged_rule_denies_all_of_its_tenant_until_somebody_deals_with_it() {
    let store = Arc::new(MemoryStore::new());
    let book = book_over(store.clone(), Source::default()).await;
    let other = TenantId::parse("other").unwrap();
    book.add(adding(vec![rule("no_rm", Behavior::Deny, "Bash(rm:*)"), rule("ls", Behavior::Allow, "Bash(ls)")]), false)
        .await
        .unwrap();
    let theirs = Addition { tenant: other.clone(), ..adding(vec![rule("ls", Behavior::Allow, "Bash(ls)")]) };
    book.add(theirs, false).await.unwrap();
    store.spoil(&toolplane_store::RecordKey::new(toolplane_store::Family::Meta, "rule|default|rule/default/no_rm"));

    let book = book_over(store.clone(), Source::default()).await;
    let active = book.active();
    let stand_in = active.rules().iter().find(|rule| rule.rule_id == "rule/default/no_rm").unwrap();
    assert_eq!((stand_in.behavior, stand_in.matcher.as_str()), (Behavior::Deny, "*"));
    assert_eq!(stand_in.scope.tenant, "default", "nobody else's calls are denied");
    assert!(stand_in.reason.contains("damaged"), "{}", stand_in.reason);
    assert_eq!(active.rules().len(), 3, "the others are as they were");

    // A person decides about it.
    let (revoked, _) = book.revoke(&tenant(), "no_rm", "ann", "damaged").await.unwrap();
    assert!(revoked.revoked_at.is_some());
    assert_eq!(names(&book).len(), 2);
    book.add(adding(vec![rule("no_rm", Behavior::Deny, "Bash(rm:*)")]), false).await.unwrap();
    let again = book_over(store, Source::default()).await;
    assert_eq!(names(&again).len(), 3);
}
