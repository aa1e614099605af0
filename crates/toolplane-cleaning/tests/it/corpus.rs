//! The outputs rules are measured with: `corpus/CLASS.tsv`, which they are tuned on, and `corpus/CLASS.held.tsv`, which they are not.

use toolplane_cleaning::{Class, Cleaner, CleaningPolicy, Findings, Treatment};

/// One output of a tool.
pub(crate) struct Case {
    /// Whether something of the class is in there.
    yes: bool,
    text: String,
    /// What must be gone when it was masked.
    secrets: Vec<String>,
}

/// What a cleaner makes of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// What is in there was found, and is gone.
    Found,
    /// It was not, or some of it is left.
    Missed,
    /// Nothing is in there, and something was found.
    Mistaken,
    /// Nothing is in there, and nothing was found.
    Quiet,
}

macro_rules! files {
    ($class:literal) => {
        (include_str!(concat!("corpus/", $class, ".tsv")), include_str!(concat!("corpus/", $class, ".held.tsv")))
    };
}

/// The cases of `class` that rules are tuned on, and those that are held out.
pub(crate) fn cases(class: Class) -> (Vec<Case>, Vec<Case>) {
    let (tuned, held) = match class {
        Class::Credentials => files!("credentials"),
        Class::Personal => files!("personal"),
        Class::Invisible => files!("invisible"),
        Class::Instructions => files!("instructions"),
        Class::Markup => files!("markup"),
    };
    (read(tuned), read(held))
}

/// A cleaner that looks for `class` alone.
pub(crate) fn cleaner(class: Class) -> Cleaner {
    let mut policy = CleaningPolicy::NOTHING;
    match class {
        Class::Credentials => policy.credentials = Treatment::Mask,
        Class::Personal => policy.personal = Treatment::Mask,
        Class::Invisible => policy.invisible = Treatment::Mask,
        Class::Instructions => policy.instructions = Treatment::Mark,
        Class::Markup => policy.markup = Treatment::Mark,
    }
    Cleaner::new(&policy)
}

impl Case {
    pub(crate) fn verdict(&self, cleaner: &Cleaner) -> Verdict {
        let mut found = Findings::default();
        // What tools give is JSON or text; a number or a word alone is text.
        let json = self.text.starts_with(['{', '[']).then(|| cleaner.json(&self.text, &mut found));
        let cleaned = match json {
            Some(Ok(cleaned)) => cleaned,
            _ => cleaner.text(&self.text, &mut found),
        };
        // As a reader of JSON sees them: a secret with a line end in it is written otherwise there.
        let spelled = |secret: &String| serde_json::to_string(secret).unwrap().trim_matches('"').to_owned();
        let left = self.secrets.iter().any(|secret| cleaned.contains(secret) || cleaned.contains(&spelled(secret)));
        match (self.yes, found.is_empty()) {
            (true, false) if !left => Verdict::Found,
            (true, _) => Verdict::Missed,
            (false, false) => Verdict::Mistaken,
            (false, true) => Verdict::Quiet,
        }
    }

    /// Whether its label is this one.
    pub(crate) fn is(&self, yes: bool) -> bool {
        self.yes == yes
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

fn read(file: &str) -> Vec<Case> {
    file.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(read_line).collect()
}

fn read_line(line: &str) -> Case {
    let (label, texts) = line.split_once('\t').unwrap();
    assert!(matches!(label, "yes" | "no"), "{line}");
    let mut texts = texts.split('\t').map(|text| serde_json::from_str::<String>(text).unwrap());
    let text = texts.next().unwrap();
    let secrets: Vec<String> = texts.collect();
    assert!(secrets.iter().all(|secret| text.contains(secret) || text.starts_with('{')), "{line}");
    Case { yes: label == "yes", text, secrets }
}
