//! Texts that come in, and what is wrong with them.

use std::fmt;

use miette::Diagnostic;
use toolplane_records::error::FieldViolation;

/// One text, with the name it is known by to people: a file's path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyText {
    /// Its name.
    pub name: String,
    /// The text.
    pub text: String,
}

/// Something wrong with a policy or a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyFault {
    /// Name of the text.
    pub source: String,
    /// Line in it, from 1; none when it is about the whole text.
    pub line: Option<usize>,
    /// What is wrong.
    pub rule: String,
}

impl PolicyText {
    /// A text with its name.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    /// A fault about the whole text.
    pub(crate) fn fault(&self, rule: impl Into<String>) -> PolicyFault {
        PolicyFault { source: self.name.clone(), line: None, rule: rule.into() }
    }

    /// A fault at a byte of the text.
    pub(crate) fn fault_at(&self, offset: usize, rule: impl Into<String>) -> PolicyFault {
        let before = self.text.as_bytes().iter().take(offset);
        PolicyFault { line: Some(before.filter(|byte| **byte == b'\n').count() + 1), ..self.fault(rule) }
    }

    /// The fault an error of Cedar describes, at its first place, or at `otherwise` when it names none.
    pub(crate) fn fault_of(&self, error: &(impl Diagnostic + ?Sized), otherwise: Option<usize>) -> PolicyFault {
        let place = error.labels().and_then(|mut labels| labels.next()).map(|label| label.offset());
        let help = error.help().map(|help| format!(" ({help})")).unwrap_or_default();
        let rule = format!("{error}{help}");
        match place.or(otherwise) {
            Some(offset) => self.fault_at(offset, rule),
            None => self.fault(rule),
        }
    }
}

/// An error with everything it came from.
pub(crate) fn told(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

impl fmt::Display for PolicyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.source, self.rule),
            None => write!(f, "{}: {}", self.source, self.rule),
        }
    }
}

impl From<&PolicyFault> for FieldViolation {
    fn from(fault: &PolicyFault) -> Self {
        let line = fault.line.map(|line| format!(":{line}")).unwrap_or_default();
        Self { field: format!("{}{line}", fault.source), description: fault.rule.clone() }
    }
}
