//! What is looked for, and what is done about it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::detect;

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
            Self::Instructions | Self::Markup => !treatment.replaces(),
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
    /// It is replaced, and a person is asked whether the result is given out as it is.
    Ask,
    /// It is replaced. An invisible character is replaced by how it is written, e.g. `\u{202e}`.
    Mask,
    /// It is replaced, and of the whole output only a preview is shown; the rest is read by reference.
    Reference,
    /// The whole output is left out, with the reason.
    Drop,
}

impl Treatment {
    /// Whether what is found is replaced.
    pub const fn replaces(self) -> bool {
        matches!(self, Self::Ask | Self::Mask | Self::Reference)
    }

    /// As it is written in configurations.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Mark => "mark",
            Self::Ask => "ask",
            Self::Mask => "mask",
            Self::Reference => "reference",
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
    /// What is done about what single rules find, by the name of the rule, e.g. `email = "keep"`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub rules: BTreeMap<String, Treatment>,
}

impl Default for CleaningPolicy {
    fn default() -> Self {
        Self {
            credentials: Treatment::Mask,
            personal: Treatment::Keep,
            invisible: Treatment::Mask,
            instructions: Treatment::Mark,
            markup: Treatment::Mark,
            rules: BTreeMap::new(),
        }
    }
}

/// What a policy says makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// What this names cannot be treated so.
    #[error("`{name}` cannot be `{}`: {}", .treatment.as_str(), because(*.treatment))]
    Treatment {
        /// A class, or a rule.
        name: String,
        /// What was said of it.
        treatment: Treatment,
    },
    /// There is no such rule.
    #[error("there is no rule `{name}`; results name those that found something, e.g. `cleaning:mask:email:1`")]
    NoRule {
        /// Its name.
        name: String,
    },
}

fn because(treatment: Treatment) -> &'static str {
    match treatment {
        Treatment::Mark => {
            "a value that is only marked is still there; it is `keep`, `ask`, `mask`, `reference` or `drop`"
        }
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
        rules: BTreeMap::new(),
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

    /// The same, to be changed.
    pub(crate) const fn of_mut(&mut self, class: Class) -> &mut Treatment {
        match class {
            Class::Credentials => &mut self.credentials,
            Class::Personal => &mut self.personal,
            Class::Invisible => &mut self.invisible,
            Class::Instructions => &mut self.instructions,
            Class::Markup => &mut self.markup,
        }
    }

    /// What is done about what `rule` of `class` finds.
    pub fn of_rule(&self, class: Class, rule: &str) -> Treatment {
        self.rules.get(rule).copied().unwrap_or(self.of(class))
    }

    /// Whether anything of `class` is looked for.
    pub fn looks_for(&self, class: Class) -> bool {
        let single = |(rule, treatment): (&String, &Treatment)| {
            *treatment != Treatment::Keep && detect::class_of(rule) == Some(class)
        };
        self.of(class) != Treatment::Keep || self.rules.iter().any(single)
    }

    /// Of this policy what is about `class`, and nothing else.
    #[must_use]
    pub fn only(&self, class: Class) -> Self {
        let mut only = Self::NOTHING.with(&BTreeMap::from([(class, self.of(class))]), &BTreeMap::new());
        only.rules = self.rules.clone();
        only.rules.retain(|rule, _| detect::class_of(rule) == Some(class));
        only
    }

    /// This policy with other treatments of some classes and rules. What is said of a class holds for its rules, unless it is said with them.
    #[must_use]
    pub fn with(&self, set: &BTreeMap<Class, Treatment>, rules: &BTreeMap<String, Treatment>) -> Self {
        let mut all = self.rules.clone();
        all.retain(|rule, _| detect::class_of(rule).is_none_or(|class| !set.contains_key(&class)));
        all.extend(rules.iter().map(|(rule, treatment)| (rule.clone(), *treatment)));
        let of = |class: Class| set.get(&class).copied().unwrap_or(self.of(class));
        Self {
            credentials: of(Class::Credentials),
            personal: of(Class::Personal),
            invisible: of(Class::Invisible),
            instructions: of(Class::Instructions),
            markup: of(Class::Markup),
            rules: all,
        }
    }

    /// Whether something found is asked about.
    pub fn asks(&self) -> bool {
        let mut all = Class::ALL.map(|class| self.of(class)).into_iter().chain(self.rules.values().copied());
        all.any(|treatment| treatment == Treatment::Ask)
    }

    /// This policy once a person has said that what is asked about may be given out. All else is treated as before.
    #[must_use]
    pub fn released(&self) -> Self {
        let mut released = self.clone();
        let classes = Class::ALL.map(|class| (class, self.of(class)));
        for (class, _) in classes.into_iter().filter(|(_, treatment)| *treatment == Treatment::Ask) {
            *released.of_mut(class) = Treatment::Keep;
        }
        let asked = released.rules.values_mut().filter(|treatment| **treatment == Treatment::Ask);
        asked.for_each(|treatment| *treatment = Treatment::Keep);
        released
    }

    /// Whether each class and rule may be treated so, and each rule is one.
    ///
    /// # Errors
    ///
    /// [`PolicyError`] for the first that may not or is not.
    pub fn check(&self) -> Result<(), PolicyError> {
        let wrong = |name: &str, treatment| PolicyError::Treatment { name: name.to_owned(), treatment };
        if let Some(class) = Class::ALL.into_iter().find(|class| !class.may_be(self.of(*class))) {
            return Err(wrong(class.as_str(), self.of(class)));
        }
        for (rule, treatment) in &self.rules {
            let class = detect::class_of(rule).ok_or_else(|| PolicyError::NoRule { name: rule.clone() })?;
            if !class.may_be(*treatment) {
                return Err(wrong(rule, *treatment));
            }
        }
        Ok(())
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
        assert_eq!(
            marked.check().unwrap_err().to_string(),
            "`personal` cannot be `mark`: a value that is only marked is still there; it is `keep`, `ask`, `mask`, \
             `reference` or `drop`"
        );
        let rules = |rule: &str, treatment| CleaningPolicy {
            rules: BTreeMap::from([(rule.to_owned(), treatment)]),
            ..CleaningPolicy::default()
        };
        assert_eq!(rules("email", Treatment::Reference).check(), Ok(()));
        assert!(
            rules("emails", Treatment::Mask).check().unwrap_err().to_string().starts_with("there is no rule `emails`")
        );
        assert!(
            rules("script", Treatment::Mask).check().unwrap_err().to_string().starts_with("`script` cannot be `mask`")
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

    #[test]
    fn what_is_asked_about_is_masked_until_it_is_released_and_nothing_else_is() {
        let rules = BTreeMap::from([("card".to_owned(), Treatment::Mask), ("github_token".to_owned(), Treatment::Ask)]);
        let policy = CleaningPolicy { personal: Treatment::Ask, rules, ..CleaningPolicy::default() };
        assert_eq!(policy.check(), Ok(()));
        let said = |policy: &CleaningPolicy| {
            let text = "mia@example.org 4111 1111 1111 1111";
            crate::Cleaner::new(policy).text(text, &mut crate::Findings::default()).into_owned()
        };
        assert_eq!(said(&policy), "[redacted email] [redacted card]");
        assert_eq!(said(&policy.released()), "mia@example.org [redacted card]");
        assert_eq!(policy.released().rules["github_token"], Treatment::Keep);
        // An address in what is masked is masked with it, and the others are asked about all the same, in whatever order they come.
        for text in [
            "https://bob:secretpw1@host.example.com/\nmia@example.org",
            "mia@example.org https://bob:secretpw1@host.example.com/",
        ] {
            let mut found = crate::Findings::default();
            let _ = crate::Cleaner::new(&policy).text(text, &mut found);
            let emails = found
                .iter()
                .filter(|(_, rule, ..)| *rule == "email")
                .map(|(.., treatment, places)| (treatment, places));
            assert_eq!(emails.collect::<Vec<_>>(), [(Treatment::Ask, 1), (Treatment::Mask, 1)], "{text}");
        }
        assert!(Treatment::Ask < Treatment::Mask, "what a tool has masked is not asked about");
        let asked = CleaningPolicy { instructions: Treatment::Ask, ..CleaningPolicy::default() };
        assert!(asked.check().is_err(), "the rest of a sentence would still be read");
    }

    #[test]
    fn a_rule_may_differ_from_its_class() {
        let rules = BTreeMap::from([("email".to_owned(), Treatment::Keep), ("card".to_owned(), Treatment::Drop)]);
        let policy = CleaningPolicy { personal: Treatment::Mask, rules, ..CleaningPolicy::default() };
        let cleaned = |policy: &CleaningPolicy, text: &str| {
            let mut found = crate::Findings::default();
            let text = crate::Cleaner::new(policy).text(text, &mut found).into_owned();
            (text, found.dropped_for(), found.by_reference())
        };
        let kept = cleaned(&policy, "mia@example.org, 13812345678");
        assert_eq!(kept, ("mia@example.org, [redacted chinese_mobile]".to_owned(), None, None));
        assert_eq!(cleaned(&policy, "4111 1111 1111 1111").1, Some("card"));
        let alone = CleaningPolicy::NOTHING
            .with(&BTreeMap::new(), &BTreeMap::from([("email".to_owned(), Treatment::Reference)]));
        let (text, dropped, by_reference) = cleaned(&alone, "mia@example.org, 13812345678");
        assert_eq!((text.as_str(), dropped, by_reference), ("[redacted email], 13812345678", None, Some("email")));
        let class = policy.with(&BTreeMap::from([(Class::Personal, Treatment::Mask)]), &BTreeMap::new());
        assert_eq!(
            cleaned(&class, "mia@example.org").0,
            "[redacted email]",
            "what is said of a class later holds for all of it"
        );
    }
}
