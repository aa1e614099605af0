use toolplane_records::vocabulary;

use crate::convert::word::{self, Word};
use crate::v1;

/// Every word has the enum value that is spelled like it, and no value is without a word.
macro_rules! spelled_alike {
    ($($test:ident: $name:ident;)*) => {$(
        #[test]
        fn $test() {
            for word in vocabulary::$name::ALL {
                let value = v1::$name::from(*word);
                let prefix = v1::$name::Unspecified.as_str_name().strip_suffix("UNSPECIFIED").unwrap();
                let spelling = word.as_str().to_uppercase().replace('.', "_");
                assert_eq!(value.as_str_name(), format!("{prefix}{spelling}"));
                assert_eq!(vocabulary::$name::from_number(word.number()), Some(*word));
            }
            let beyond = i32::try_from(vocabulary::$name::ALL.len()).unwrap() + 1;
            assert!(v1::$name::try_from(beyond - 1).is_ok());
            assert!(v1::$name::try_from(beyond).is_err(), "a value of the enum has no word");
            assert_eq!(vocabulary::$name::from_number(0), None);
            assert_eq!(vocabulary::$name::from_number(beyond), None);
        }
    )*};
}

spelled_alike! {
    tool_lifecycle: ToolLifecycle;
    tool_kind: ToolKind;
    execution_kind: ExecutionKind;
    argument_mode: ArgumentMode;
    surface_scope: SurfaceScope;
    schema_visibility: SchemaVisibility;
    loading_state: LoadingState;
    hidden_reason: HiddenReason;
    invocation_status: InvocationStatus;
    queue_state: QueueState;
    result_status: ResultStatus;
    error_class: ErrorClass;
    recoverability: Recoverability;
    behavior: Behavior;
    reason_type: ReasonType;
    rule_source: RuleSource;
    risk_level: RiskLevel;
    access_kind: AccessKind;
    write_effect: WriteEffect;
    hook_event: HookEvent;
    mutation_source: MutationSource;
    ordering_policy: OrderingPolicy;
    yield_policy: YieldPolicy;
    interrupt_behavior: InterruptBehavior;
    sibling_failure_policy: SiblingFailurePolicy;
    context_modifier_policy: ContextModifierPolicy;
    abort_reason: AbortReason;
    progress_status: ProgressStatus;
    persistence_strategy: PersistenceStrategy;
    redaction_state: RedactionState;
    approval_state: ApprovalState;
    event_class: EventClass;
    provider_state: ProviderState;
    provider_trust: ProviderTrust;
    session_sharing: SessionSharing;
    circuit_state: CircuitState;
    provider_fault: ProviderFault;
    review_state: ReviewState;
    review_basis: ReviewBasis;
    refusal_code: RefusalCode;
    band: Band;
    lock_mode: LockMode;
    hold: Hold;
    start_guard: StartGuard;
    permission_option: PermissionOption;
    classifier_authority: ClassifierAuthority;
    rule_fit: RuleFit;
}

type Status = vocabulary::InvocationStatus;

fn check(text: &str, number: i32, expected: Result<Option<Status>, &str>) {
    let actual = word::optional_open::<Status>("status", text, number).map_err(|error| error.to_string());
    assert_eq!(actual, expected.map_err(str::to_owned), "`{text}` beside {number}");
}

/// Either side of an open word is enough; both must agree; a number of the future does not hide a known text.
#[test]
fn open_words() {
    let queued = Status::Queued.number();
    check("", 0, Ok(None));
    check("queued", 0, Ok(Some(Status::Queued)));
    check("", queued, Ok(Some(Status::Queued)));
    check("queued", queued, Ok(Some(Status::Queued)));
    check("queued", 999, Ok(Some(Status::Queued)));
    check("running", queued, Err("`status` says `running` while the enum beside it says `queued`"));
    check("", 999, Err("`status` has the unknown value 999"));
    assert!(word::optional_open::<Status>("status", "dreaming", 0).is_err());
    assert_eq!(word::open::<Status>("status", "", 0).unwrap_err().to_string(), "`status` is required");
}

#[test]
fn lists_of_open_words() {
    use vocabulary::AccessKind::{FileRead, Network};
    let texts = ["file_read".to_owned(), "network".to_owned()];
    let numbers = [FileRead.number(), Network.number()];
    assert_eq!(word::open_list("kinds", &texts, &[]), Ok(vec![FileRead, Network]));
    assert_eq!(word::open_list("kinds", &[], &numbers), Ok(vec![FileRead, Network]));
    assert_eq!(word::open_list("kinds", &texts, &numbers), Ok(vec![FileRead, Network]));
    let mixed = word::open_list::<vocabulary::AccessKind>("kinds", &texts, &[Network.number(), FileRead.number()]);
    assert_eq!(mixed.unwrap_err().field, "kinds[0]");
    let short = word::open_list::<vocabulary::AccessKind>("kinds", &texts, &numbers[..1]);
    assert_eq!(short.unwrap_err().rule, "has 2 words while the enums beside it are 1");
}
