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
