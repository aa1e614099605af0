//! When a refused caller should come back: what is in its way, divided by how fast that goes away.

use std::time::Duration;

use crate::hash::DashMap;
use parking_lot::Mutex;
use tokio::time::Instant;
use toolplane_records::ids::TenantId;

use crate::environment::Environment;

/// Shortest delay a caller is told to wait.
pub(crate) const LEAST: Duration = Duration::from_millis(50);
/// Longest one.
pub(crate) const MOST: Duration = Duration::from_secs(30);
/// Over how long the drain of a queue is measured.
const WINDOW: Duration = Duration::from_secs(2);

/// How fast each tenant's waiting calls are claimed here, and how many callers were sent away meanwhile.
#[derive(Debug)]
pub(crate) struct Pushback {
    flows: DashMap<TenantId, Flow>,
    environment: Environment,
}

#[derive(Debug)]
struct Flow {
    window: Mutex<Window>,
}

#[derive(Clone, Copy, Debug)]
struct Window {
    began: Instant,
    claimed: u64,
    refused: u64,
    /// Claims per second in the window before.
    rate: f64,
}

impl Pushback {
    /// Nothing is known yet; delays are spread by chance of `environment`.
    pub(crate) fn new(environment: Environment) -> Self {
        Self { flows: DashMap::default(), environment }
    }

    /// A waiting call of `tenant` was claimed.
    pub(crate) fn claimed(&self, tenant: &TenantId) {
        self.with(tenant, |window| window.claimed += 1);
    }

    /// A call of `tenant` was refused for want of room: when to come back. Each further one is sent away for longer, so
    /// that they do not all come back for the same place.
    pub(crate) fn refused(&self, tenant: &TenantId) -> Duration {
        let (excess, rate) = self.with(tenant, |window| {
            window.refused += 1;
            (window.refused, window.rate)
        });
        // Where nothing drains yet, a second is a fair first guess.
        let seconds = if rate > 0.0 { excess as f64 / rate } else { 1.0 };
        self.spread(Duration::try_from_secs_f64(seconds).unwrap_or(MOST))
    }

    /// `delay` within bounds, give or take a fifth by chance.
    pub(crate) fn spread(&self, delay: Duration) -> Duration {
        let chance = self.environment.below(401) as f64 / 1000.0;
        delay.clamp(LEAST, MOST).mul_f64(0.8 + chance).clamp(LEAST, MOST)
    }

    /// Forgets tenants that were not asked about for a while.
    pub(crate) fn tidy(&self) {
        self.flows.retain(|_, flow| flow.window.lock().began.elapsed() < WINDOW * 10);
    }

    fn with<T>(&self, tenant: &TenantId, change: impl FnOnce(&mut Window) -> T) -> T {
        let flow = match self.flows.get(tenant) {
            Some(flow) => flow,
            None => self.flows.entry(tenant.clone()).or_insert_with(Flow::new).downgrade(),
        };
        let mut window = flow.window.lock();
        let age = window.began.elapsed();
        if age >= WINDOW {
            let rate = window.claimed as f64 / age.as_secs_f64();
            *window = Window { began: Instant::now(), claimed: 0, refused: 0, rate };
        }
        change(&mut window)
    }
}

impl Flow {
    fn new() -> Self {
        Self { window: Mutex::new(Window { began: Instant::now(), claimed: 0, refused: 0, rate: 0.0 }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn delays_follow_the_drain_within_bounds() {
        let (pushback, tenant) = (Pushback::new(Environment::real()), TenantId::from_trusted("acme"));
        let first = pushback.refused(&tenant);
        assert!((0.79..=1.21).contains(&first.as_secs_f64()), "{first:?} without any experience");
        for _ in 0..200 {
            pushback.claimed(&tenant);
        }
        tokio::time::advance(WINDOW).await;
        // 100 a second: the first refused one waits for the least, the thousandth for about ten seconds.
        let soon = pushback.refused(&tenant);
        assert!(soon <= LEAST.mul_f64(1.21), "{soon:?}");
        let late = (0..998).fold(soon, |_, _| pushback.refused(&tenant));
        assert!((7.9..=12.1).contains(&late.as_secs_f64()), "{late:?}");
        let long = (0..9_000).fold(late, |_, _| pushback.refused(&tenant));
        assert!(long <= MOST && long >= MOST.mul_f64(0.79), "{long:?}");
    }
}
