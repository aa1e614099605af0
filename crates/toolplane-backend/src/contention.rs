//! How long writers that take each other's place wait for each other.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

/// After so many lost places a writer waits a little, so that others get through.
pub const EAGER: u32 = 3;
/// The longest such wait.
const LONGEST_WAIT: Duration = Duration::from_millis(40);

/// Lets other writers through before try number `tries` (from 1): not at all for the first tries, then longer and longer,
/// never for the same time twice.
pub async fn let_others_through(tries: u32) {
    let Some(beyond) = tries.checked_sub(EAGER) else { return };
    let most = LONGEST_WAIT.min(Duration::from_millis(1 << beyond.min(6)));
    let share = RandomState::new().hash_one(tries) % 1000;
    tokio::time::sleep(most.mul_f64(share as f64 / 1000.0)).await;
}
