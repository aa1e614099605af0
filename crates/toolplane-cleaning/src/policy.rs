//! What is looked for, and what is done about it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A class of things that are found in outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Keys, tokens, passwords, private keys, also in URLs.
    Credentials,
    /// Addresses of e-mail, numbers of telephones, cards, accounts and identity documents.
    Personal,
    /// Characters nobody sees: controls, those that turn the direction of text, tags, and runs of others without width.
    Invisible,
    /// Text that reads like instructions to a model.
    Instructions,
    /// Markup that loads or runs something where it is shown.
    Markup,
}

impl Class {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Credentials, Self::Personal, Self::Invisible, Self::Instructions, Self::Markup];

    /// As it is written in configurations and in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Credentials => "credentials",
            Self::Personal => "personal",
            Self::Invisible => "invisible",
            Self::Instructions => "instructions",
            Self::Markup => "markup",
        }
    }

    /// Whether `treatment` is one of this class. Instructions and markup are sentences and not values: taking a part out of them leaves the
    /// rest to be read.
    pub const fn may_be(self, treatment: Treatment) -> bool {
        match self {
            Self::Credentials | Self::Personal => !matches!(treatment, Treatment::Mark),
            Self::Invisible => true,
            Self::Instructions | Self::Markup => !matches!(treatment, Treatment::Mask),
        }
    }
}

/// What is done about a class of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Treatment {
    /// It is not looked for.
    Keep,
    /// The output stays as it is, and is said to be tainted.
    Mark,
    /// It is replaced. An invisible character is replaced by how it is written, e.g. `\u{202e}`.
    Mask,
    /// The whole output is left out, with the reason.
    Drop,
}

impl Treatment {
    /// As it is written in configurations.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Mark => "mark",
            Self::Mask => "mask",
            Self::Drop => "drop",
        }
    }
}

/// What is done about each class. Personal data is kept unless it is said otherwise: what a tool is asked for is often a person's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct CleaningPolicy {
    /// Keys, tokens, passwords.
    pub credentials: Treatment,
    /// Data of persons.
    pub personal: Treatment,
    /// Characters nobody sees.
    pub invisible: Treatment,
    /// Text that reads like instructions.
    pub instructions: Treatment,
    /// Markup that acts.
    pub markup: Treatment,
}

impl Default for CleaningPolicy {
    fn default() -> Self {
        Self {
            credentials: Treatment::Mask,
            personal: Treatment::Keep,
            invisible: Treatment::Mask,
            instructions: Treatment::Mark,
            markup: Treatment::Mark,
        }
    }
}

/// A class cannot be treated so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` cannot be `{}`: {}", .class.as_str(), .treatment.as_str(), rule(*.treatment))]
pub struct PolicyError {
    /// The class.
    pub class: Class,
    /// What was said of it.
    pub treatment: Treatment,
}

fn rule(treatment: Treatment) -> &'static str {
    match treatment {
        Treatment::Mark => "a value that is only marked is still there; it is `keep`, `mask` or `drop`",
        _ => "the rest of a sentence would still be read; it is `keep`, `mark` or `drop`",
    }
}

impl CleaningPolicy {
    /// Nothing is looked for.
    pub const NOTHING: Self = Self {
        credentials: Treatment::Keep,
        personal: Treatment::Keep,
        invisible: Treatment::Keep,
        instructions: Treatment::Keep,
        markup: Treatment::Keep,
    };

    /// What is done about `class`.
    pub const fn of(&self, class: Class) -> Treatment {
        match class {
            Class::Credentials => self.credentials,
            Class::Personal => self.personal,
            Class::Invisible => self.invisible,
            Class::Instructions => self.instructions,
            Class::Markup => self.markup,
        }
    }

    /// This policy with other treatments of some classes.
    #[must_use]
    pub fn with(&self, set: &BTreeMap<Class, Treatment>) -> Self {
        let of = |class: Class| set.get(&class).copied().unwrap_or(self.of(class));
        Self {
            credentials: of(Class::Credentials),
            personal: of(Class::Personal),
            invisible: of(Class::Invisible),
            instructions: of(Class::Instructions),
            markup: of(Class::Markup),
        }
    }

    /// Whether each class may be treated so.
    ///
    /// # Errors
    ///
    /// [`PolicyError`] for the first that may not.
    pub fn check(&self) -> Result<(), PolicyError> {
        let wrong = Class::ALL.into_iter().find(|class| !class.may_be(self.of(*class)));
        wrong.map_or(Ok(()), |class| Err(PolicyError { class, treatment: self.of(class) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_for_a_class_is_refused() {
        assert_eq!(CleaningPolicy::default().check(), Ok(()));
        assert_eq!(CleaningPolicy::NOTHING.check(), Ok(()));
        let marked = CleaningPolicy { personal: Treatment::Mark, ..CleaningPolicy::default() };
        let error = marked.check().unwrap_err();
        assert_eq!((error.class, error.treatment), (Class::Personal, Treatment::Mark));
        assert_eq!(
            error.to_string(),
            "`personal` cannot be `mark`: a value that is only marked is still there; it is `keep`, `mask` or `drop`"
        );
        let masked = CleaningPolicy { markup: Treatment::Mask, ..CleaningPolicy::default() };
        assert!(masked.check().unwrap_err().to_string().ends_with("it is `keep`, `mark` or `drop`"));
    }

    #[test]
    fn a_policy_says_what_differs_from_the_usual_one() {
        let read: CleaningPolicy = serde_json::from_str(r#"{"personal":"mask"}"#).unwrap();
        assert_eq!(read, CleaningPolicy { personal: Treatment::Mask, ..CleaningPolicy::default() });
        assert!(serde_json::from_str::<CleaningPolicy>(r#"{"persons":"mask"}"#).is_err());
    }
}
