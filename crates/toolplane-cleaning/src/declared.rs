//! What the author of a tool says is taken out of its outputs (`redaction_rules`): classes and rules of cleaning by their names, and
//! fields of JSON by their paths. A declaration only ever takes out more than is configured.

use std::str::FromStr;

use crate::detect;
use crate::fields::FieldPath;
use crate::policy::{Class, CleaningPolicy, Treatment};

/// Most rules of one tool.
pub const MAX_RULES: usize = 64;

/// One thing that is to be taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeclaredRule {
    /// Everything of a class.
    Class(Class),
    /// What one rule finds.
    Rule(String, Class),
    /// The value of a field.
    Field(FieldPath),
}

impl FromStr for DeclaredRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.starts_with('/') {
            return text.parse().map(Self::Field);
        }
        let named = Class::ALL.into_iter().find(|class| class.as_str() == text);
        let read = match named {
            Some(class) => Some((Self::Class(class), class)),
            None => detect::class_of(text).map(|class| (Self::Rule(text.to_owned(), class), class)),
        };
        match read {
            Some((rule, class)) if class.may_be(Treatment::Mask) => Ok(rule),
            Some(_) => Err("is about sentences, of which nothing can be masked".to_owned()),
            None => Err("is no class and no rule of cleaning, and no path of a field (`/customer/email`)".to_owned()),
        }
    }
}

/// What a tool has taken out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    classes: Vec<Class>,
    rules: Vec<(String, Class)>,
    /// Fields that are masked.
    pub fields: Vec<FieldPath>,
}

impl Declared {
    /// What `rules` say; those that cannot be read say nothing. Where redaction is `required`, all values are taken out that are found.
    pub fn new(required: bool, rules: &[String]) -> Self {
        let mut declared = Self::default();
        if required {
            declared.classes = vec![Class::Credentials, Class::Personal, Class::Invisible];
        }
        for rule in rules.iter().take(MAX_RULES).filter_map(|rule| rule.parse().ok()) {
            match rule {
                DeclaredRule::Class(class) => declared.classes.push(class),
                DeclaredRule::Rule(rule, class) => declared.rules.push((rule, class)),
                DeclaredRule::Field(path) => declared.fields.push(path),
            }
        }
        declared
    }

    /// The policy that does all that `policy` does, and this.
    pub fn added_to(&self, policy: &CleaningPolicy) -> CleaningPolicy {
        let mut stricter = policy.clone();
        for class in &self.classes {
            let treatment = stricter.of_mut(*class);
            *treatment = (*treatment).max(Treatment::Mask);
            let own = stricter.rules.iter_mut().filter(|(rule, _)| detect::class_of(rule) == Some(*class));
            own.for_each(|(_, treatment)| *treatment = (*treatment).max(Treatment::Mask));
        }
        for (rule, class) in &self.rules {
            let treatment = stricter.of_rule(*class, rule).max(Treatment::Mask);
            stricter.rules.insert(rule.clone(), treatment);
        }
        stricter
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_rule_is_a_class_a_rule_or_a_field() {
        for text in ["credentials", "personal", "email", "/a/b", "/items/*/card"] {
            assert!(text.parse::<DeclaredRule>().is_ok(), "{text}");
        }
        for text in ["", "secrets", "instructions", "markup", "/", "/a//b", "/a/**", "a/b"] {
            assert!(text.parse::<DeclaredRule>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_declaration_takes_out_more_and_never_less() {
        let rules = BTreeMap::from([("card".to_owned(), Treatment::Drop), ("email".to_owned(), Treatment::Keep)]);
        let configured = CleaningPolicy { rules, ..CleaningPolicy::NOTHING };
        let required = Declared::new(true, &[]).added_to(&configured);
        assert_eq!((required.credentials, required.personal), (Treatment::Mask, Treatment::Mask));
        assert_eq!((required.rules["card"], required.rules["email"]), (Treatment::Drop, Treatment::Mask));
        let one = Declared::new(false, &["email".to_owned(), "nonsense".to_owned()]).added_to(&configured);
        assert_eq!((one.personal, one.rules["email"]), (Treatment::Keep, Treatment::Mask));
        assert_eq!(Declared::default().added_to(&configured), configured);
    }
}
