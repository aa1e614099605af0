//! The suite every backend runs: one function per promise of [`Store`], each on a fresh store.
//!
//! A function returns when the promise held and panics with what broke it otherwise; call them from tests only.

mod atomicity;
mod bounds;
mod checks;
mod damage;
mod differential;
mod events;
mod hints;
mod index;
mod random;
mod records;
mod replay;
mod texts;

use std::future::Future;
use std::sync::Arc;

pub use atomicity::{
    concurrent_increments_lose_none, lost_compares_write_nothing, racing_claims_have_one_winner,
    refused_commits_write_nothing,
};
pub use bounds::{bounds_are_judged_after_compares, racing_commits_never_exceed_a_bound};
pub use damage::{DamageTarget, Spoil, damage_is_named_and_hides_nothing_else};
pub use differential::{Differential, compare_many};
pub use events::{appends_must_continue_their_stream, events_page_and_report_their_ends, forgotten_streams_start_over};
pub use hints::hints_change_nothing;
pub use index::{
    index_names_and_lengths_follow_the_entries, members_are_unique_and_ordered, scans_page_in_both_directions,
};
pub use records::{clock_never_goes_back, keys_page_in_id_order, records_read_back_with_their_versions};
pub use replay::{operations_apply_once, unapplied_operations_are_not_remembered};
pub use texts::{call_with_texts, check_no_text};

use crate::Store;

/// Runs the whole suite, asking `factory` for a fresh, empty store for each promise.
pub async fn run_all<F, Made>(factory: F)
where
    F: Fn() -> Made,
    Made: Future<Output = Arc<dyn Store>>,
{
    records_read_back_with_their_versions(&*factory().await).await;
    keys_page_in_id_order(&*factory().await).await;
    clock_never_goes_back(&*factory().await).await;
    lost_compares_write_nothing(&*factory().await).await;
    refused_commits_write_nothing(&*factory().await).await;
    racing_claims_have_one_winner(factory().await).await;
    concurrent_increments_lose_none(factory().await).await;
    bounds_are_judged_after_compares(&*factory().await).await;
    racing_commits_never_exceed_a_bound(factory().await).await;
    members_are_unique_and_ordered(&*factory().await).await;
    scans_page_in_both_directions(&*factory().await).await;
    index_names_and_lengths_follow_the_entries(&*factory().await).await;
    appends_must_continue_their_stream(&*factory().await).await;
    events_page_and_report_their_ends(&*factory().await).await;
    forgotten_streams_start_over(&*factory().await).await;
    hints_change_nothing(&*factory().await).await;
    operations_apply_once(&*factory().await).await;
    unapplied_operations_are_not_remembered(&*factory().await).await;
    for seed in 1..=4 {
        let store = factory().await;
        let mut run = Differential::new(seed);
        run.steps(&*store, 200).await;
        run.compare(&*store).await;
    }
    compare_many(&*factory().await, 1_000..1_050, 40).await;
}
