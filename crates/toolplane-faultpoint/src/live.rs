//! The points of a development build.
#![expect(clippy::disallowed_types, reason = "a crate without dependencies: what it interrupts must not change by it")]

use std::str::FromStr as _;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::{Action, Arm, FAULT_VARIABLE, MUTANT_VARIABLE, Mutant};

/// What is armed, and how often each was passed.
#[derive(Default)]
struct Armed {
    /// The text this was read from.
    text: String,
    arms: Vec<(Arm, u64)>,
}

impl Armed {
    /// A text that cannot be read ends the process: a test that believes a point to be armed must not pass because of a
    /// typing mistake.
    fn read(text: String) -> Self {
        match Arm::parse_all(&text) {
            Ok(arms) => Self { text, arms: arms.into_iter().map(|arm| (arm, 0)).collect() },
            Err(error) => end(&format!("{FAULT_VARIABLE}: {error}")),
        }
    }
}

/// Where the arms come from.
enum ArmSource {
    /// Nothing will ever be armed.
    Nothing,
    /// Read once.
    Fixed,
    /// A file that a test rewrites while the process runs.
    File(String),
}

static ARMED: Mutex<Option<Armed>> = Mutex::new(None);

fn source() -> &'static ArmSource {
    static SOURCE: OnceLock<ArmSource> = OnceLock::new();
    SOURCE.get_or_init(|| match std::env::var(FAULT_VARIABLE).unwrap_or_default() {
        text if text.is_empty() => ArmSource::Nothing,
        text => match text.strip_prefix('@') {
            Some(path) => ArmSource::File(path.to_owned()),
            None => {
                *ARMED.lock().unwrap_or_else(PoisonError::into_inner) = Some(Armed::read(text));
                ArmSource::Fixed
            }
        },
    })
}

/// Actions of `name` that are due now.
fn due(name: &'static str) -> Vec<Action> {
    let file = match source() {
        ArmSource::Nothing => return Vec::new(),
        ArmSource::Fixed => None,
        // A file that is not there arms nothing.
        ArmSource::File(path) => Some(std::fs::read_to_string(path).unwrap_or_default()),
    };
    let mut guard = ARMED.lock().unwrap_or_else(PoisonError::into_inner);
    let armed = guard.get_or_insert_default();
    if let Some(text) = file.filter(|text| *text != armed.text) {
        *armed = Armed::read(text);
    }
    let mut due = Vec::new();
    for (arm, passed) in armed.arms.iter_mut().filter(|(arm, _)| arm.point == name) {
        *passed += 1;
        let again = matches!(arm.action, Action::Delay(_));
        if *passed == arm.at || again && *passed > arm.at {
            due.push(arm.action);
        }
    }
    due
}

#[expect(clippy::disallowed_methods, reason = "a delay that blocks the thread is what is asked for")]
pub(crate) fn point(name: &'static str) {
    for action in due(name) {
        match action {
            Action::Abort => end(&format!("fault point {name}: this process ends here")),
            Action::Delay(time) => std::thread::sleep(time),
            Action::Fail => {}
        }
    }
}

pub(crate) fn fails(name: &'static str) -> bool {
    due(name).contains(&Action::Fail)
}

pub(crate) fn mutant(mutant: Mutant) -> bool {
    static MUTANT: OnceLock<Option<Mutant>> = OnceLock::new();
    let chosen = MUTANT.get_or_init(|| {
        let name = std::env::var(MUTANT_VARIABLE).ok().filter(|name| !name.is_empty())?;
        match Mutant::from_str(&name) {
            Ok(mutant) => Some(mutant),
            Err(error) => end(&format!("{MUTANT_VARIABLE}: {error}")),
        }
    });
    *chosen == Some(mutant)
}

fn end(why: &str) -> ! {
    eprintln!("{why}");
    std::process::abort()
}
