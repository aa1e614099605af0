//! What tools give is cleaned before anything of it is stored, shown or passed on, whichever worker ran them.
//!
//! Which classes of things are looked for, and what is done about them, is said by the configuration for all tools, and for some tools
//! and tenants differently ([`CleaningRule`]). What a worker says of an execution is cleaned as a message, before it is read: nothing that
//! comes after it has seen what was taken out. Outputs that a worker has kept in the object store are cleaned where they are
//! ([`kept`]), and stand there anew under another name.

mod asked;
mod kept;
mod lately;
mod message;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;
use toolplane_cleaning::fields::FieldPath;
use toolplane_cleaning::{Class, Cleaner, CleaningPolicy, Findings, Treatment, taints};
use toolplane_matching::glob::{InvalidGlob, TextGlob};
use toolplane_matching::{Family, ToolPattern};
use toolplane_proto::v1;
use toolplane_records::SmolStr;
use toolplane_records::ids::TenantId;
use toolplane_records::invocation::Invocation;
use toolplane_records::result::Cleaned;
use toolplane_records::time::Timestamp;
use toolplane_results::PayloadStore;
use toolplane_results::payload::error::PayloadError;

use self::asked::Asked;
pub(crate) use self::kept::refer_to;
use self::lately::Lately;
use crate::plan::PlannedOutput;

/// Longest JSON value of the object store that is cleaned as one; a longer one is cleaned as a text.
const MAX_JSON: u64 = 16 * 1024 * 1024;
/// Most ways of cleaning that are remembered of what tools ask for.
const MAX_ASKED: usize = 256;

/// How outputs of some tools are cleaned.
#[derive(Clone, Debug, Default)]
pub(crate) struct CleaningRule {
    /// Of this tenant; of all where it is empty.
    pub(crate) tenant: String,
    /// Of tools whose full name fits this pattern; of all where it is empty.
    pub(crate) tool: String,
    /// What differs from how all others are cleaned.
    pub(crate) set: BTreeMap<Class, Treatment>,
    /// The same of what single rules find.
    pub(crate) rules: BTreeMap<String, Treatment>,
}

/// What is wrong with the `tool` of a rule: it is the name of a family of tools, or almost one, and would fit no tool.
pub(crate) fn slip(tool: &str) -> Option<String> {
    let family = Family::of(tool).is_some();
    let almost = || tool.parse::<ToolPattern>().is_ok_and(|pattern| pattern.check_word().is_err());
    (family || almost()).then(|| {
        format!("`{tool}` names tools as rules of permission do, and means nothing here; write the full name, e.g. `local.shell.exec`, or a pattern such as `crm.*`")
    })
}

/// Cleans what tools give. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Cleaning(Arc<Cleaners>);

#[derive(Debug)]
struct Cleaners {
    usual: OutputCleaner,
    /// The first that fits applies.
    rules: Vec<(Fits, OutputCleaner)>,
    /// What tools ask for beside it, by the rule that fits their calls.
    asked: Mutex<HashMap<(Option<usize>, Asked), OutputCleaner>>,
    /// What running tools said lately.
    texts: Lately<String>,
    blocks: Lately<Vec<v1::ContentBlock>>,
    values: Lately<v1::JsonPayload>,
}

impl Cleaners {
    fn new(usual: &CleaningPolicy, rules: Vec<(Fits, OutputCleaner)>) -> Self {
        let usual = OutputCleaner::new(usual);
        let asked = Mutex::default();
        Self { usual, rules, asked, texts: Lately::default(), blocks: Lately::default(), values: Lately::default() }
    }
}

/// Which calls a rule is for.
#[derive(Debug)]
struct Fits {
    tenant: Option<TenantId>,
    tool: Option<TextGlob>,
}

/// Cleans outputs of calls that are cleaned alike.
#[derive(Clone, Debug)]
struct OutputCleaner {
    /// Texts that are shown.
    shown: Cleaner,
    /// Texts that are kept: characters nobody sees stay in them, because bytes are kept exactly.
    kept: Cleaner,
    /// Bytes that are no text: only credentials have a form that no other bytes have.
    binary: Cleaner,
    /// Fields of JSON that are masked besides.
    fields: Arc<[FieldPath]>,
}

/// What cleaning did to an ending.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// What was found.
    pub(crate) found: Vec<Cleaned>,
    /// Addresses of outputs that stand under other names now; to be removed once the ending is durable.
    pub(crate) replaced: Vec<String>,
}

impl Cleaning {
    /// By `usual`, and by the first of `rules` that fits a call. Returns an error on the first malformed pattern.
    pub(crate) fn new(usual: &CleaningPolicy, rules: &[CleaningRule]) -> Result<Self, InvalidGlob> {
        let ready = |rule: &CleaningRule| {
            let tenant = Some(rule.tenant.as_str()).filter(|tenant| !tenant.is_empty()).map(TenantId::from_trusted);
            let tool = Some(rule.tool.as_str()).filter(|tool| !tool.is_empty()).map(TextGlob::parse).transpose()?;
            Ok((Fits { tenant, tool }, OutputCleaner::new(&usual.with(&rule.set, &rule.rules))))
        };
        let rules = rules.iter().map(ready).collect::<Result<_, InvalidGlob>>()?;
        Ok(Self(Arc::new(Cleaners::new(usual, rules))))
    }

    /// By the usual policy alone.
    pub(crate) fn usual() -> Self {
        Self(Arc::new(Cleaners::new(&CleaningPolicy::default(), Vec::new())))
    }

    /// The rule that applies to outputs of `record`, by its place.
    fn rule(&self, record: &Invocation) -> Option<usize> {
        let fits = |fits: &Fits| {
            fits.tenant.as_ref().is_none_or(|tenant| *tenant == record.tenant)
                && fits.tool.as_ref().is_none_or(|tool| tool.is_match(&record.tool_name))
        };
        self.0.rules.iter().position(|(rule, _)| fits(rule))
    }

    /// By what is configured for the call, and by what its tool asks for besides.
    fn of(&self, record: &Invocation, asked: &Asked) -> OutputCleaner {
        let rule = self.rule(record);
        let configured = rule.map_or(&self.0.usual, |rule| &self.0.rules[rule].1);
        if asked.is_usual() {
            return configured.clone();
        }
        let mut known = self.0.asked.lock();
        if known.len() >= MAX_ASKED {
            known.clear();
        }
        known.entry((rule, asked.clone())).or_insert_with(|| configured.with(asked)).clone()
    }

    /// Whether a person may have to be asked about outputs of `record`.
    pub(crate) fn asks(&self, record: &Invocation, declared: &PlannedOutput) -> bool {
        self.of(record, &Asked::of(declared)).shown.policy().asks()
    }

    /// What cleans outputs of `record`, and a text that no other way of cleaning has.
    fn way(&self, record: &Invocation, declared: &PlannedOutput) -> (String, OutputCleaner) {
        let asked = Asked::of(declared);
        (format!("{:?} {asked:?}", self.rule(record)), self.of(record, &asked))
    }

    /// Cleans what a worker reports of the end of `record`: the message, and the outputs it has kept. What is to be dropped is taken
    /// out of the message.
    ///
    /// Fails when outputs are kept that cannot be read or written now; then nothing may be stored of the ending.
    pub(crate) async fn ending(
        &self,
        payloads: &PayloadStore,
        of: (&Invocation, &PlannedOutput),
        lease_no: u32,
        outcome: &mut v1::ExecutionOutcome,
        now: Timestamp,
    ) -> Result<Outcome, PayloadError> {
        let asked = Asked::of(of.1);
        let cleaner = self.of(of.0, &asked);
        ending(&cleaner, &asked, payloads, (of.0, lease_no, now), outcome).await
    }

    /// Cleans an ending of which a person has said that it is given out: what is asked about stays in it, and nothing else does.
    pub(crate) async fn released(
        &self,
        payloads: &PayloadStore,
        of: (&Invocation, &PlannedOutput),
        lease_no: u32,
        outcome: &mut v1::ExecutionOutcome,
        now: Timestamp,
    ) -> Result<Outcome, PayloadError> {
        let asked = Asked::of(of.1);
        let cleaner = self.of(of.0, &asked).released(&asked);
        ending(&cleaner, &asked, payloads, (of.0, lease_no, now), outcome).await
    }

    /// Cleans what a tool says while it runs; what was found in it.
    pub(crate) fn said(&self, record: &Invocation, declared: &PlannedOutput, text: &mut String) -> Vec<Cleaned> {
        let (way, cleaner) = self.way(record, declared);
        let bytes = text.clone().into_bytes();
        self.0.texts.once(&way, &bytes, text, |text| told(&message::said(&cleaner.shown, text)))
    }

    /// Cleans blocks a tool shows while it runs; with something to drop they are left out as a whole. What was found in them. Where fields
    /// are to be masked nothing is shown: a part of JSON is not read.
    pub(crate) fn blocks(
        &self,
        record: &Invocation,
        declared: &PlannedOutput,
        blocks: &mut Vec<v1::ContentBlock>,
    ) -> Vec<Cleaned> {
        let (way, cleaner) = self.way(record, declared);
        if !cleaner.fields.is_empty() {
            blocks.clear();
        }
        let bytes: Vec<u8> = blocks.iter().flat_map(prost::Message::encode_length_delimited_to_vec).collect();
        self.0.blocks.once(&way, &bytes, blocks, |blocks| told(&message::said_blocks(&cleaner.shown, blocks)))
    }

    /// Cleans a JSON value of a tool that runs; what was found in it.
    pub(crate) fn said_json(
        &self,
        record: &Invocation,
        declared: &PlannedOutput,
        value: &mut v1::JsonPayload,
    ) -> Vec<Cleaned> {
        let (way, cleaner) = self.way(record, declared);
        let bytes = prost::Message::encode_to_vec(value);
        self.0.values.once(&way, &bytes, value, |value| told(&message::said_json(&cleaner.shown, value)))
    }
}

impl OutputCleaner {
    fn new(policy: &CleaningPolicy) -> Self {
        let mut kept = CleaningPolicy { invisible: Treatment::Keep, ..policy.clone() };
        kept.rules.retain(|rule, _| toolplane_cleaning::class_of(rule) != Some(Class::Invisible));
        let binary = policy.only(Class::Credentials);
        Self {
            shown: Cleaner::new(policy),
            kept: Cleaner::new(&kept),
            binary: Cleaner::new(&binary),
            fields: Arc::default(),
        }
    }

    /// This, once a person has said that what is asked about may be given out.
    fn released(&self, asked: &Asked) -> Self {
        let mut released = Self::new(&self.shown.policy().released());
        released.fields = Arc::clone(&self.fields);
        if asked.required {
            released.binary = released.kept.clone();
        }
        released
    }

    /// This, and what a tool asks for besides.
    fn with(&self, asked: &Asked) -> Self {
        let declared = asked.declared();
        let mut stricter = Self::new(&declared.added_to(self.shown.policy()));
        stricter.fields = declared.fields.into();
        if asked.required {
            // Bytes of unknown kinds may be a text with one wrong byte.
            stricter.binary = stricter.kept.clone();
        }
        stricter
    }
}

/// Cleans what is reported of the end of a call, and the outputs its worker has kept.
async fn ending(
    cleaner: &OutputCleaner,
    asked: &Asked,
    payloads: &PayloadStore,
    (record, lease_no, now): (&Invocation, u32, Timestamp),
    outcome: &mut v1::ExecutionOutcome,
) -> Result<Outcome, PayloadError> {
    if cleaner.shown.is_empty() && cleaner.fields.is_empty() {
        return Ok(Outcome::default());
    }
    let mut found = Findings::default();
    // Before values are replaced: what is JSON must be read as its tool wrote it.
    let mut places = asked::mask_fields(outcome, &cleaner.fields);
    message::outcome(&cleaner.shown, outcome, &mut found);
    let mut replaced = Vec::new();
    if kept::any(outcome) {
        let origin = kept::Origin { record, lease_no, now };
        let mut unseen = asked::unseen(outcome, asked, &cleaner.fields);
        if unseen.is_none() && asked.required && !Box::pin(kept::are_texts(payloads, origin, outcome)).await? {
            unseen = Some("redaction is required, and an output is no text in UTF-8: nothing is found in it");
        }
        if let Some(why) = unseen {
            replaced.extend(message::uploaded(outcome));
            asked::withhold(outcome, why);
            outcome.redaction_state = v1::RedactionState::Redacted.into();
            return Ok(Outcome { found: told(&found), replaced });
        }
        places = places.max(Box::pin(kept::fields(cleaner, payloads, origin, outcome, &mut replaced)).await?);
        replaced.extend(Box::pin(kept::outputs(cleaner, payloads, origin, outcome, &mut found)).await?);
    }
    if let Some(rule) = found.dropped_for() {
        replaced.extend(message::uploaded(outcome));
        message::drop_output(outcome, rule);
    }
    if found.masked() + places > 0 || found.dropped_for().is_some() {
        outcome.redaction_state = v1::RedactionState::Redacted.into();
    }
    let found = told(&found).into_iter().chain(asked::told(places)).collect();
    Ok(Outcome { found, replaced })
}

/// As it goes into the record.
fn told(found: &Findings) -> Vec<Cleaned> {
    let cleaned = found.iter().map(|(class, rule, treatment, places)| Cleaned {
        class: SmolStr::new_static(class.as_str()),
        rule: SmolStr::new_static(rule),
        treatment: SmolStr::new_static(treatment.as_str()),
        places,
        taints: taints(class, rule),
    });
    cleaned.collect()
}
