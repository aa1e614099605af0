use proptest::prelude::*;
use toolplane_records::ids::ProviderId;
use toolplane_records::vocabulary::{ProviderTrust, RefusalCode};

use super::*;
use crate::fixtures::{at, provider};
use crate::known::{Known, KnownTool};
use crate::names::ToolNames;

fn digest(n: u8) -> Digest {
    Digest::of(&[n])
}

fn refusal() -> ToolRefusal {
    ToolRefusal { code: RefusalCode::InvalidDefinition, reason: "no".to_owned() }
}

/// One tool of a provider over time.
struct World {
    provider: Provider,
    tool_id: ToolId,
    record: Option<Record>,
    now: Option<Digest>,
    clock: i64,
}

impl World {
    fn new(trust: ProviderTrust) -> Self {
        let tool_id = ToolNames::of(&ProviderId::from_trusted("gh"), "a").unwrap().tool_id;
        Self { provider: provider("gh", trust), tool_id, record: None, now: None, clock: 0 }
    }

    fn says(&mut self, what: Option<u8>) -> &mut Self {
        self.clock += 1;
        let tool = Tool::new(&self.provider, &self.tool_id, "a");
        self.now = what.map(digest);
        let (record, now) = (self.record.as_ref(), at(self.clock));
        let after = match self.now {
            Some(digest) => defined(record, tool, digest, self.provider.trust, now),
            None if record.is_none() => return self,
            None => withdrawn(record, tool, now),
        };
        self.record = Some(after.into());
        self
    }

    fn says_nonsense(&mut self) -> &mut Self {
        self.clock += 1;
        let tool = Tool::new(&self.provider, &self.tool_id, "a");
        self.now = None;
        self.record = Some(refused(self.record.as_ref(), tool, &refusal(), at(self.clock)).into());
        self
    }

    fn person(&mut self, approves: bool, of: u8) -> Result<(), ReviewRefusal> {
        self.clock += 1;
        let said = Answer { approves, by: "ada".to_owned(), comment: String::new(), at: at(self.clock) };
        let Some(Record::Read(before)) = &self.record else { return Ok(()) };
        let after = answer(before, &digest(of), &said)?;
        self.record = Some(after.into());
        Ok(())
    }

    fn standing(&self) -> Standing {
        standing(self.record.as_ref(), self.now.as_ref(), self.provider.trust)
    }

    fn tool(&self) -> &ProvidedTool {
        self.record.as_ref().and_then(Record::read).unwrap()
    }
}

#[test]
fn a_tool_waits_until_somebody_approves_exactly_what_it_is() {
    let mut world = World::new(ProviderTrust::Untrusted);
    assert_eq!(world.says(Some(1)).standing(), Standing::New);
    assert_eq!(world.says(Some(2)).standing(), Standing::New);
    assert_eq!(world.tool().notes, ["it changed while it waited"]);
    let outdated = world.person(true, 1).unwrap_err();
    assert_eq!((outdated.code(), world.standing()), (codes::REVIEW_OUTDATED, Standing::New));
    world.person(true, 2).unwrap();
    assert_eq!((world.standing(), world.tool().notes.len()), (Standing::Callable, 0));
    let approved = world.tool().clone();
    world.person(true, 2).unwrap();
    assert_eq!(*world.tool(), approved, "said once more");
    assert_eq!(world.says(Some(3)).standing(), Standing::Changed);
    // What is asked of another definition than the record is about is no, whatever the record says.
    let stale = approved.into();
    assert_eq!(standing(Some(&stale), Some(&digest(3)), ProviderTrust::Untrusted), Standing::Changed);
    assert_eq!(standing(Some(&stale), None, ProviderTrust::Untrusted), Standing::Changed);
}

#[test]
fn an_approved_definition_that_returns_needs_a_new_look() {
    let mut world = World::new(ProviderTrust::Untrusted);
    world.says(Some(1)).person(true, 1).unwrap();
    world.says(Some(2)).says(Some(1));
    assert_eq!(world.standing(), Standing::Changed);
    let expected =
        ["it is again what was approved before; it was something else meanwhile", "it changed while it waited"];
    assert_eq!(world.tool().notes, expected);
    world.person(true, 1).unwrap();
    assert_eq!(world.standing(), Standing::Callable);
    // The same after nonsense, and after it was away.
    assert_eq!(world.says_nonsense().standing(), Standing::Refused);
    assert_eq!(world.says(Some(1)).standing(), Standing::Changed);
    world.person(true, 1).unwrap();
    assert_eq!(world.says(None).standing(), Standing::Withdrawn);
    assert_eq!(world.says(Some(1)).standing(), Standing::New);
    assert_eq!((world.tool().notes[0].as_str(), world.tool().approved.is_some()), (CAME_BACK, true));
}

#[test]
fn a_rejection_holds_for_what_was_shown_and_trust_never_overrules_it() {
    let mut world = World::new(ProviderTrust::AllTools);
    assert_eq!(world.says(Some(1)).standing(), Standing::Callable);
    world.person(false, 1).unwrap();
    assert_eq!(world.standing(), Standing::Rejected);
    assert_eq!(world.says(Some(1)).standing(), Standing::Rejected);
    assert_eq!(world.says(Some(2)).standing(), Standing::Changed, "another one waits, even now");
    assert_eq!(world.says(None).says(Some(1)).standing(), Standing::Rejected, "also after it was away");
    assert_eq!(world.says(None).says(Some(3)).standing(), Standing::New);
    world.person(true, 3).unwrap();
    assert_eq!(world.standing(), Standing::Callable);
    assert_eq!(world.says(Some(4)).standing(), Standing::Callable, "a person took the rejection back");
}

#[test]
fn trust_passes_what_it_says_and_ends_at_once() {
    let mut world = World::new(ProviderTrust::NewTools);
    assert_eq!(world.says(Some(1)).standing(), Standing::Callable);
    assert_eq!(world.tool().approved.as_ref().unwrap().basis, ReviewBasis::Trust);
    world.provider.trust = ProviderTrust::Untrusted;
    assert_eq!(world.standing(), Standing::New, "nobody has looked at it");
    assert_eq!(world.says(Some(1)).tool().state, ReviewState::New);
    // It waited when the provider came to be trusted.
    world.provider.trust = ProviderTrust::NewTools;
    assert_eq!(world.says(Some(1)).standing(), Standing::New);
    world.provider.trust = ProviderTrust::AllTools;
    assert_eq!(world.says(Some(1)).standing(), Standing::Callable);
    world.provider.trust = ProviderTrust::NewTools;
    assert_eq!(world.says(Some(2)).standing(), Standing::Changed);
    // Neither is withdrawing it for a moment a way to change it.
    assert_eq!(world.says(None).says(Some(3)).standing(), Standing::New);
    // A person's approval needs no trust.
    world.person(true, 3).unwrap();
    world.provider.trust = ProviderTrust::Untrusted;
    assert_eq!(world.says(Some(3)).standing(), Standing::Callable);
}

#[test]
fn only_what_nobody_decided_about_is_forgotten() {
    let mut world = World::new(ProviderTrust::Untrusted);
    assert!(!may_be_forgotten(world.says(Some(1)).tool()));
    assert!(may_be_forgotten(world.says(None).tool()));
    world.says_nonsense();
    assert!(!may_be_forgotten(world.tool()) && may_be_forgotten(world.says(None).tool()));
    // One that trust let pass is remembered: it must not come back as one that was never seen.
    let mut world = World::new(ProviderTrust::NewTools);
    assert!(!may_be_forgotten(world.says(Some(1)).says(None).tool()));
    assert!(!may_be_forgotten(world.says(Some(2)).says(None).tool()));
    assert_eq!(world.says(Some(2)).standing(), Standing::New);
    world.person(false, 2).unwrap();
    assert!(!may_be_forgotten(world.says(None).tool()));
}

#[test]
fn there_is_nothing_to_say_about_what_is_not_there() {
    let mut world = World::new(ProviderTrust::Untrusted);
    world.says(Some(1)).says(None);
    assert_eq!(world.person(true, 1).unwrap_err().code(), codes::REVIEW_NOT_WANTED);
    world.says_nonsense();
    assert_eq!(world.person(false, 1).unwrap_err().code(), codes::REVIEW_NOT_WANTED);
}

#[test]
fn many_are_answered_each_alone() {
    let mut known = Known::default();
    let mut put = |native: &str, n: u8| {
        let provider = provider("gh", ProviderTrust::Untrusted);
        let tool_id = ToolNames::of(&provider.provider_id, native).unwrap().tool_id;
        let tool = Tool::new(&provider, &tool_id, native);
        let record = defined(None, tool, digest(n), provider.trust, at(0)).into();
        let record = if n == 9 { Record::Unreadable } else { record };
        known.put(tool_id.clone(), KnownTool { record, approved: None });
        tool_id
    };
    let (a, b, c) = (put("a", 1), put("b", 2), put("c", 9));
    let unknown = ToolId::from_trusted("tool_of_others");
    let wanted = [(&a, 1), (&b, 1), (&c, 9), (&unknown, 1), (&b, 2)];
    let wanted = wanted.map(|(tool_id, n)| Wanted { tool_id: tool_id.clone(), digest: digest(n) });
    let said = Answer { approves: true, by: "ada".to_owned(), comment: "fine".to_owned(), at: at(1) };
    let answers = answer_all(&known, &wanted, &said);
    let codes: Vec<_> =
        answers.iter().map(|one| one.as_ref().map(|tool| tool.state).map_err(|error| error.code())).collect();
    let expected = [
        Ok(ReviewState::Approved),
        Err(codes::REVIEW_OUTDATED),
        Err(codes::REVIEW_UNREADABLE),
        Err(codes::NOT_FOUND),
        Ok(ReviewState::Approved),
    ];
    assert_eq!(codes, expected);
    let review = answers[0].as_ref().unwrap().approved.as_ref().unwrap();
    assert_eq!((review.by.as_str(), review.comment.as_str(), review.digest), ("ada", "fine", digest(1)));
}

#[test]
fn what_cannot_be_called_says_why_and_shows_no_text_of_others() {
    for (standing, code, whole) in [
        (Standing::New, codes::PROVIDED_TOOL_WAITS, Shown::Nothing),
        (Standing::Changed, codes::PROVIDED_TOOL_WAITS, Shown::Name),
        (Standing::Rejected, codes::PROVIDED_TOOL_REJECTED, Shown::Nothing),
        (Standing::Refused, codes::PROVIDED_TOOL_REFUSED, Shown::Name),
        (Standing::Withdrawn, codes::PROVIDED_TOOL_WITHDRAWN, Shown::Name),
    ] {
        let error = standing.error("gh.a").unwrap();
        assert_eq!((error.error_code.as_str(), error.side_effects.as_deref()), (code.as_str(), Some("none")));
        assert_eq!((shown(standing, true), shown(standing, false)), (whole, Shown::Nothing));
    }
    assert_eq!((Standing::Callable.error("gh.a"), shown(Standing::Callable, true)), (None, Shown::Whole));
}

/// Something that happens to a tool.
#[derive(Clone, Copy, Debug)]
enum Step {
    Says(u8),
    Withdraws,
    Nonsense,
    Approve(u8),
    Reject(u8),
    Trust(ProviderTrust),
    Damage,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let one = prop_oneof![
        6 => (0..3u8).prop_map(Step::Says),
        1 => Just(Step::Withdraws),
        1 => Just(Step::Nonsense),
        3 => (0..3u8).prop_map(Step::Approve),
        1 => (0..3u8).prop_map(Step::Reject),
        2 => prop::sample::select(ProviderTrust::ALL).prop_map(Step::Trust),
        1 => Just(Step::Damage),
    ];
    prop::collection::vec(one, 1..40)
}

/// What a person or trust allows, found by keeping the whole story in another way: the last decision about an unbroken run of one
/// definition.
#[derive(Default)]
struct Story {
    /// A person approved the definition there is now, since it came.
    by_person: bool,
    /// Trust was there when it came, or is of the kind that passes everything.
    by_trust: bool,
    rejected: Option<u8>,
}

proptest! {
    /// Nothing is ever callable whose current definition no person approved since it came, unless its provider is trusted now; and
    /// what a person rejected is not callable until a person says otherwise.
    #[test]
    fn nothing_is_callable_that_nobody_approved(steps in steps(), trust in prop::sample::select(ProviderTrust::ALL)) {
        let mut world = World::new(trust);
        let (mut story, mut now) = (Story::default(), None);
        for step in steps {
            match step {
                Step::Says(n) => {
                    world.says(Some(n));
                    if now != Some(n) {
                        (story.by_person, story.by_trust) = (false, false);
                    }
                    now = Some(n);
                }
                Step::Withdraws => {
                    world.says(None);
                    now = None;
                }
                Step::Nonsense => {
                    world.says_nonsense();
                    now = None;
                }
                Step::Approve(n) => {
                    let readable = matches!(world.record, Some(Record::Read(_)));
                    let counts = world.person(true, n).is_ok() && readable;
                    prop_assert_eq!(counts, readable && now == Some(n));
                    if counts {
                        (story.by_person, story.rejected) = (true, None);
                    }
                }
                Step::Reject(n) => {
                    let readable = matches!(world.record, Some(Record::Read(_)));
                    if world.person(false, n).is_ok() && readable {
                        (story.by_person, story.rejected) = (false, Some(n));
                    }
                }
                Step::Trust(trust) => world.provider.trust = trust,
                Step::Damage => {
                    if world.record.is_some() {
                        world.record = Some(Record::Unreadable);
                        story = Story::default();
                    }
                }
            }
            let callable = world.standing() == Standing::Callable;
            let trusted = world.provider.trust.lets_new_pass();
            prop_assert!(!callable || (now.is_some() && (story.by_person || trusted)), "{:?}", step);
            prop_assert!(!callable || story.rejected.is_none(), "{:?}: a person said no", step);
            prop_assert!(!story.by_person || now.is_none() || callable, "{:?}: an approval counts", step);
            if let (Some(now), Some(Record::Read(tool))) = (now, &world.record) {
                prop_assert_eq!(tool.digest, Some(digest(now)));
            }
        }
    }

    /// The same tool under another name or of another provider has no record, and so waits, whatever was approved of the other.
    #[test]
    fn a_rename_or_a_copy_inherits_nothing(native in "[a-z_/.]{1,12}", other in "[a-z_/.]{1,12}", by in "[a-z]{1,6}") {
        let of = |provider: &str, native: &str| ToolNames::of(&ProviderId::from_trusted(provider), native).unwrap().tool_id;
        let mut known = Known::default();
        let approved = of("gh", &native);
        let gh = provider("gh", ProviderTrust::AllTools);
        let record = defined(None, Tool::new(&gh, &approved, &native), digest(1), gh.trust, at(0)).into();
        known.put(approved.clone(), KnownTool { record, approved: None });
        for copy in [of(&by, &native), of("gh", &other)] {
            if copy == approved {
                prop_assert!(by == "gh" || native == other);
                continue;
            }
            let record = known.get(&copy).map(|tool| &tool.record);
            prop_assert_eq!(standing(record, Some(&digest(1)), ProviderTrust::Untrusted), Standing::New);
        }
    }
}
