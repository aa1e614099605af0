use super::*;

const CALLS: &str = "test.v1.Calls";
const WORK: &str = "test.v1.Work";

#[test]
fn a_service_is_ready_when_all_it_needs_is_there() {
    let readiness = Readiness::default();
    readiness.add([CALLS, WORK]);
    let store = readiness.need("store", &[CALLS, WORK]);
    let rules = readiness.need("permission", &[CALLS]);
    let lacks = |service: &str| readiness.lacks(service);
    assert_eq!(lacks(CALLS), Some(vec!["the process is starting or stopping".to_owned()]));
    readiness.open(true);
    assert_eq!(lacks(CALLS).map(|all| all.len()), Some(2), "what is not known is missing");
    store.there();
    assert_eq!((lacks(WORK), lacks("another")), (Some(Vec::new()), None));
    assert_eq!(lacks(CALLS), Some(vec!["permission: not known yet".to_owned()]));
    rules.there();
    assert_eq!((lacks(CALLS), lacks("")), (Some(Vec::new()), Some(Vec::new())));
    store.missing("Redis cannot be reached");
    for service in [CALLS, WORK, ""] {
        assert_eq!(lacks(service), Some(vec!["store: Redis cannot be reached".to_owned()]), "{service}");
    }
    assert_eq!(lacks(LIVENESS), Some(Vec::new()), "a restart would bring nothing back");
    readiness.open(false);
    assert_eq!(lacks(LIVENESS), Some(Vec::new()));
}

#[test]
fn what_is_there_may_have_a_remark() {
    let readiness = Readiness::default();
    readiness.open(true);
    let store = readiness.need("store", &[CALLS]);
    store.remark(Some("3 damaged".to_owned()));
    assert_eq!(readiness.remarks(CALLS), Vec::<String>::new(), "what is missing is told as that alone");
    store.there();
    for service in [CALLS, ""] {
        assert_eq!(readiness.lacks(service), Some(Vec::new()), "{service} is ready all the same");
        assert_eq!(readiness.remarks(service), ["store: 3 damaged"], "{service}");
    }
    assert!(readiness.remarks(WORK).is_empty() && readiness.remarks(LIVENESS).is_empty());
    store.remark(None);
    assert!(readiness.remarks("").is_empty());
}
