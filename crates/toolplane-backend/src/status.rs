//! The one mapping from what a store says to what callers see, for every role.

use std::time::Duration;
use toolplane_records::codes;

use toolplane_runtime::ApiError;
use toolplane_store::{Retry, StoreError};

/// When to come back to a store whose disk is short.
const DISK_RETRY: Duration = Duration::from_secs(10);

/// The refusal a caller gets in place of an answer, from the role `owner` whose store it is. What the store said goes to the
/// log.
pub fn api_error(owner: &str, error: &StoreError) -> ApiError {
    tracing::warn!(owner, %error, code = error.code(), "the store refuses a call");
    match error {
        StoreError::DiskShort { .. } => ApiError::Exhausted {
            reason: codes::DISK,
            subject: "store".to_owned(),
            message: format!("{error}; nothing was accepted [{}]", error.code()),
            retry_after: Some(DISK_RETRY),
        },
        StoreError::Damaged(damage) => ApiError::Damaged {
            reason: codes::STORE_DAMAGED,
            message: format!(
                "{} is damaged and was set aside; an operator sees it with `toolplane store check`",
                damage.place
            ),
        },
        StoreError::TooLarge { .. } => ApiError::Exhausted {
            reason: codes::CHANGE_TOO_LARGE,
            subject: "change".to_owned(),
            message: "the change is too large to be made at once; split it".to_owned(),
            retry_after: None,
        },
        StoreError::Unsafe { .. } => ApiError::unavailable(
            codes::STORE_UNSAFE,
            format!("the {owner} store may lose what it is given, or has lost it; nothing was accepted"),
        ),
        _ => match error.retry() {
            Retry::Definite | Retry::Ambiguous => {
                ApiError::unavailable(codes::STORE_UNAVAILABLE, format!("the {owner} store cannot be reached now"))
            }
            Retry::Never | Retry::Fatal => ApiError::internal(codes::STORE_FAILED, error),
        },
    }
}

#[cfg(test)]
mod tests {
    use toolplane_records::codes::Retry;
    use toolplane_store::{Damage, Family, RecordKey};

    use super::*;

    #[test]
    fn a_short_disk_is_said_as_what_it_is() {
        let short = StoreError::DiskShort { path: "/var/lib/toolplane/scheduler".into(), free: 100, reserve: 300 };
        let error = api_error("scheduler", &short);
        let text = error.to_string();
        assert_eq!((error.reason(), error.retry_class()), ("DISK", Retry::Later));
        for said in ["/var/lib/toolplane/scheduler", "200 more", "store.disk_short"] {
            assert!(text.contains(said), "{text}");
        }
        assert!(!text.contains("cannot be reached") && !text.contains("does not answer"), "{text}");
    }

    #[test]
    fn damage_is_named_and_no_reason_to_try_again() {
        let key = RecordKey::new(Family::Approval, "appr_1");
        let error = api_error("permission", &StoreError::Damaged(Damage::of_record(&key, "it does not fit")));
        assert_eq!((error.code(), error.retry_class()), (tonic::Code::DataLoss, Retry::Never));
        assert!(error.to_string().contains("approval/appr_1"), "{error}");
    }
}
