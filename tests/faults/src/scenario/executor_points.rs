//! F7 to F11 at the real executor, whose journal makes a success of an effect that was done before its worker died.

use std::time::{Duration, Instant};

use super::outcome::wrong;
use crate::bed::{Bed, NOTHING, Plan, StoreKind};
use crate::check::{Check, Verdict};
use crate::dump;
use crate::history::{Record, now_ms};
use crate::load::{Load, Mix};
use crate::trouble::Trouble;

const SUCCEEDED: &[&str] = &["succeeded"];
const UNKNOWN: &[&str] = &["failed exec.outcome_unknown"];

/// Where the executor ends, and how a call that must not run twice ends then.
const POINTS: [(&str, &[&str]); 6] = [
    ("executor.before_start", SUCCEEDED),
    ("executor.before_effect", UNKNOWN),
    ("executor.after_effect", UNKNOWN),
    ("executor.after_journal", SUCCEEDED),
    ("executor.before_done", SUCCEEDED),
    ("executor.after_done", SUCCEEDED),
];

/// Ends a real executor at each point, `hits` times. Answers with the verdict and with how many processes ended.
pub async fn executor_points(store: StoreKind, hits: u32) -> Result<(Verdict, u64), Trouble> {
    let plan = Plan { points: true, executors: 1, executor_pool: "native", ..Plan::on(store, 0) };
    // The journal helps an executor that is back within the lease, and a real executor tries its sandbox before it is
    // back.
    let plan = plan.set("TOOLPLANE__SCHEDULER__LEASE_MS", "8000");
    let mut bed = Bed::start(plan).await?;
    let (mut kills, mut expected) = (0, Vec::new());
    let victim = "executor-1".to_owned();
    for (name, ends) in POINTS {
        for hit in 0..hits {
            let key = format!("{name}-{hit}");
            bed.arm(&victim, &format!("{name}:1"))?;
            let load = Load::new(&bed, "points", Mix::PLAIN, 0)?;
            let plan = crate::history::Plan { key: key.clone(), ..Default::default() };
            let spec = load.spec(&key, NOTHING, "{}".to_owned());
            let call = tokio::spawn(async move {
                let invocation = load.ask_for(0, plan, &spec).await?;
                load.watch(0, &invocation, Instant::now() + Duration::from_secs(20)).await
            });
            if !bed.died(&victim, Duration::from_secs(10)).await? {
                return Err(Trouble::Said(format!("{name} was not reached")));
            }
            let from_ms = now_ms();
            bed.arm(&victim, "")?;
            bed.restart(&victim, "abort", from_ms).await?;
            kills += 1;
            call.await.map_err(|error| Trouble::Said(error.to_string()))?;
            expected.push((key, ends));
        }
    }
    let mut verdict = dump::finish(&mut bed).await?;
    let history = bed.recorder().history();
    for record in history.records() {
        let Record::Call(call) = record else { continue };
        let Some((key, ends)) = expected.iter().find(|(key, _)| *key == call.name.key) else { continue };
        let how = format!("{} {}", call.course.status, call.error_code()).trim_end().to_owned();
        if !ends.contains(&how.as_str()) {
            wrong(&mut verdict, Check::C4, format!("{key}: ended as `{how}`; expected {ends:?}"));
        }
    }
    Ok((verdict, kills))
}
