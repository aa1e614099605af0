//! How long ended calls, and what they leave, are kept: by tenant, by class, and by what their tools say of their data; pure.

use std::collections::BTreeMap;
use std::fmt;

use toolplane_records::SmolStr;
use toolplane_records::ids::TenantId;
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{RecordClass, RiskLevel};

/// How long ended calls are kept, milliseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeepTimes {
    /// Of tenants that are not named.
    pub(crate) usual: i64,
    pub(crate) tenants: BTreeMap<TenantId, i64>,
    /// What differs; the first that fits a call and names a class counts for that class.
    pub(crate) rules: Vec<KeepRule>,
}

/// How long some classes of some calls are kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeepRule {
    /// Of this tenant; of all when absent.
    pub(crate) tenant: Option<TenantId>,
    /// Of tools of one of these risks; of all when empty.
    pub(crate) risk: Vec<RiskLevel>,
    /// Of tools whose data is one of these; of all when empty.
    pub(crate) sensitivity: Vec<SmolStr>,
    /// Of tools that ask for one of these; of all when empty.
    pub(crate) hint: Vec<SmolStr>,
    /// By class, milliseconds.
    pub(crate) keep_ms: BTreeMap<RecordClass, i64>,
}

/// What says how long something is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeepSource {
    Rule(usize),
    Tenant,
    Usual,
    /// A setting that is not there any more.
    Former,
}

impl fmt::Display for KeepSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(index) => write!(f, "scheduler.retention[{index}]"),
            Self::Tenant => f.write_str("scheduler.tenant_retention_seconds"),
            Self::Usual => f.write_str("scheduler.retention_seconds"),
            Self::Former => f.write_str("a former setting"),
        }
    }
}

/// What is to be done about an ended call, as far as its time says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// Nothing before then.
    Later(Timestamp),
    /// These go, since then; the call stays.
    Records(Vec<RecordClass>, Timestamp),
    /// All of it goes, since then.
    Call(Timestamp),
}

impl KeepRule {
    fn fits(&self, record: &Invocation) -> bool {
        let said = &record.keeping;
        let among = |words: &[SmolStr], word: &SmolStr| words.is_empty() || words.contains(word);
        self.tenant.as_ref().is_none_or(|tenant| *tenant == record.tenant)
            && (self.risk.is_empty() || said.risk_level.is_some_and(|risk| self.risk.contains(&risk)))
            && among(&self.sensitivity, &said.data_sensitivity)
            && among(&self.hint, &said.retention_hint)
    }
}

impl KeepTimes {
    /// How long records of `class` of `record` are kept after its end, and what says so. `None` when they go with the call.
    pub(crate) fn of(&self, record: &Invocation, class: RecordClass) -> Option<(i64, KeepSource)> {
        let fits = |rule: &KeepRule| if rule.fits(record) { rule.keep_ms.get(&class).copied() } else { None };
        let rules = self.rules.iter().enumerate();
        let ruled = rules.filter_map(|(index, rule)| Some((fits(rule)?, KeepSource::Rule(index)))).next();
        let whole = || match self.tenants.get(&record.tenant) {
            Some(ms) => (*ms, KeepSource::Tenant),
            None => (self.usual, KeepSource::Usual),
        };
        ruled.or_else(|| (class == RecordClass::Calls).then(whole))
    }

    /// How long ended calls of `tenant` are kept of which nothing more is known, milliseconds.
    pub(crate) fn of_tenant(&self, tenant: &TenantId) -> i64 {
        self.tenants.get(tenant).copied().unwrap_or(self.usual)
    }

    /// The shortest of all: nothing of a call younger than that goes.
    pub(crate) fn shortest(&self) -> i64 {
        let ruled = self.rules.iter().flat_map(|rule| rule.keep_ms.values());
        self.tenants.values().chain(ruled).copied().fold(self.usual, i64::min)
    }

    /// When each class of an ended call goes, and what says so: of those that go before the call, and of the call itself, which is last.
    pub(crate) fn ends(&self, record: &Invocation) -> Vec<(RecordClass, Timestamp, KeepSource)> {
        let Some(ended_at) = record.ended_at else { return Vec::new() };
        let end = |class| self.of(record, class).map(|(ms, source)| (class, ended_at.plus_millis(ms), source));
        let Some(call) = end(RecordClass::Calls) else { return Vec::new() };
        let parts = RecordClass::ALL.iter().filter(|class| **class != RecordClass::Calls);
        // One that would stay for longer goes with its call; outputs do so only when a rule names them.
        let before = parts.filter_map(|class| end(*class)).map(|(class, at, source)| (class, at.min(call.1), source));
        before.chain([call]).collect()
    }

    /// What is due of an ended call at `now`.
    pub(crate) fn due(&self, record: &Invocation, now: Timestamp) -> Due {
        let ends = self.ends(record);
        let Some((_, call, _)) = ends.last() else { return Due::Later(now.plus_millis(self.shortest())) };
        if *call <= now {
            return Due::Call(*call);
        }
        let left: Vec<_> = ends.iter().filter(|(class, ..)| record.keeping.removed_at(*class).is_none()).collect();
        let over: Vec<_> = left.iter().filter(|(_, at, _)| *at <= now).collect();
        match over.iter().map(|(_, at, _)| *at).min() {
            Some(since) => Due::Records(over.iter().map(|(class, ..)| *class).collect(), since),
            None => Due::Later(left.iter().map(|(_, at, _)| *at).min().unwrap_or(*call)),
        }
    }

    /// Whether kept outputs of `record` go with it at the latest.
    pub(crate) fn rule_outputs(&self, record: &Invocation) -> bool {
        self.of(record, RecordClass::Outputs).is_some()
    }
}

#[cfg(test)]
mod tests {
    use toolplane_records::keeping::RemovedRecords;

    use super::*;

    fn ended_record(tenant: &str, ended_ms: i64) -> Invocation {
        let digest = toolplane_records::payload::Digest::of(b"{}");
        let model = serde_json::json!({ "uri": "payload:a", "media_type": "application/json", "digest": digest, "size_bytes": 2 });
        let record = serde_json::json!({
            "invocation_id": "inv_1", "tenant": tenant, "tool_id": "t", "tool_name": "n.t", "status": "succeeded",
            "inputs": { "model": model }, "created_at": at(ended_ms), "ended_at": at(ended_ms), "request_digest": digest,
        });
        serde_json::from_value(record).unwrap()
    }

    fn rule(keep: &[(RecordClass, i64)]) -> KeepRule {
        KeepRule { keep_ms: keep.iter().copied().collect(), ..KeepRule::default() }
    }

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    #[test]
    fn a_tenant_that_is_named_has_its_own_time() {
        let tenants = BTreeMap::from([(TenantId::from_trusted("acme"), 3)]);
        let times = KeepTimes { usual: 10, tenants, rules: Vec::new() };
        let of = |tenant| times.of(&ended_record(tenant, 0), RecordClass::Calls);
        assert_eq!(of("acme"), Some((3, KeepSource::Tenant)));
        assert_eq!(of("b"), Some((10, KeepSource::Usual)));
        assert_eq!(times.shortest(), 3);
    }

    #[test]
    fn the_first_rule_that_fits_and_names_a_class_counts_for_it() {
        let personal = KeepRule { sensitivity: vec!["personal".into()], ..rule(&[(RecordClass::Inputs, 5)]) };
        let risky = KeepRule { risk: vec![RiskLevel::High], ..rule(&[(RecordClass::Calls, 100)]) };
        let all = rule(&[(RecordClass::Inputs, 7), (RecordClass::Events, 8)]);
        let times = KeepTimes { usual: 10, tenants: BTreeMap::new(), rules: vec![personal, risky, all] };
        let mut record = ended_record("acme", 0);
        assert_eq!(times.of(&record, RecordClass::Inputs), Some((7, KeepSource::Rule(2))));
        record.keeping.data_sensitivity = "personal".into();
        record.keeping.risk_level = Some(RiskLevel::High);
        assert_eq!(times.of(&record, RecordClass::Inputs), Some((5, KeepSource::Rule(0))));
        assert_eq!(times.of(&record, RecordClass::Calls), Some((100, KeepSource::Rule(1))));
        assert_eq!(times.of(&record, RecordClass::Events), Some((8, KeepSource::Rule(2))));
        assert_eq!(times.of(&record, RecordClass::Decisions), None, "it goes with the call");
        assert_eq!(times.shortest(), 5);
        let other = KeepRule { tenant: Some(TenantId::from_trusted("b")), ..rule(&[(RecordClass::Calls, 1)]) };
        let times = KeepTimes { usual: 10, tenants: BTreeMap::new(), rules: vec![other] };
        assert_eq!(times.of(&record, RecordClass::Calls), Some((10, KeepSource::Usual)));
    }

    #[test]
    fn what_is_due_goes_class_by_class_and_then_the_call() {
        let rules = vec![rule(&[(RecordClass::Inputs, 5), (RecordClass::Events, 8), (RecordClass::Outputs, 99)])];
        let times = KeepTimes { usual: 20, tenants: BTreeMap::new(), rules };
        let mut record = ended_record("acme", 1_000);
        assert_eq!(times.due(&record, at(1_004)), Due::Later(at(1_005)));
        assert_eq!(times.due(&record, at(1_006)), Due::Records(vec![RecordClass::Inputs], at(1_005)));
        record.keeping.removed.push(RemovedRecords { class: RecordClass::Inputs, at: at(1_006) });
        assert_eq!(times.due(&record, at(1_006)), Due::Later(at(1_008)));
        record.keeping.removed.push(RemovedRecords { class: RecordClass::Events, at: at(1_008) });
        assert_eq!(times.due(&record, at(1_009)), Due::Later(at(1_020)), "outputs go with the call at the latest");
        assert_eq!(times.due(&record, at(1_020)), Due::Call(at(1_020)));
        assert!(times.rule_outputs(&record));
    }
}
