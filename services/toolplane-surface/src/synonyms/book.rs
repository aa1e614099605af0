//! The words of one tenant that were added as meaning the same: what may be added, and what is left when some are taken out.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};
use toolplane_catalog::search::{check_group, group_key};
use toolplane_records::time::Timestamp;
use toolplane_records::visible::excerpt;

/// Most groups of a tenant.
const MAX_GROUPS: usize = 1_000;
/// Most groups with the same word: each of them is looked up in a search for it.
const MAX_GROUPS_OF_WORD: usize = 16;
/// Most bytes of all words of a tenant.
const MAX_BYTES: usize = 128 * 1024;

/// The added groups of a tenant, as they are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Book {
    /// In the order they were added.
    groups: Vec<Group>,
    /// How many were ever added.
    count: u64,
}

/// Words that mean the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Group {
    /// The place it has in the order of all that were ever added.
    pub(crate) number: u64,
    /// The words.
    pub(crate) words: Vec<String>,
    /// When it was added.
    pub(crate) at: Timestamp,
    /// Who added it, as far as that is known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) by: String,
}

/// Groups that cannot be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// One of them is no group.
    Group {
        /// Which one, from 0.
        index: usize,
        /// What is wrong with it, as a phrase that follows its place.
        rule: String,
    },
    /// There would be too many.
    TooMany(String),
}

/// What was taken out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TakenOut {
    /// The groups as they were.
    pub(crate) before: Vec<Group>,
    /// What is left of them.
    pub(crate) after: Vec<Group>,
}

impl Book {
    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Adds groups, all or none; those that are new.
    pub(crate) fn add(&mut self, wanted: &[Vec<String>], by: &str, at: Timestamp) -> Result<Vec<Group>, Refused> {
        let mut known: BTreeSet<BTreeSet<String>> = self.groups.iter().map(|group| keys_of(&group.words)).collect();
        let mut added = Vec::new();
        for (index, words) in wanted.iter().enumerate() {
            let words = each_once(words);
            check_group(&words).map_err(|rule| Refused::Group { index, rule })?;
            if known.insert(keys_of(&words)) {
                self.count += 1;
                added.push(Group { number: self.count, words, at, by: by.to_owned() });
            }
        }
        self.groups.extend(added.iter().cloned());
        self.check()?;
        Ok(added)
    }

    fn check(&self) -> Result<(), Refused> {
        if self.groups.len() > MAX_GROUPS {
            let told = format!("there would be {} groups of synonyms; at most {MAX_GROUPS} fit", self.groups.len());
            return Err(Refused::TooMany(told));
        }
        let bytes: usize = self.groups.iter().flat_map(|group| &group.words).map(String::len).sum();
        if bytes > MAX_BYTES {
            let told = format!("all synonyms together would have {bytes} bytes; at most {MAX_BYTES} fit");
            return Err(Refused::TooMany(told));
        }
        let mut count: HashMap<String, usize> = HashMap::new();
        for word in self.groups.iter().flat_map(|group| &group.words) {
            let count = count.entry(group_key(word)).or_default();
            *count += 1;
            if *count > MAX_GROUPS_OF_WORD {
                let told = format!(
                    "`{}` would be in more than {MAX_GROUPS_OF_WORD} groups of synonyms: put them together",
                    excerpt(word, 40)
                );
                return Err(Refused::TooMany(told));
            }
        }
        Ok(())
    }

    /// Takes words out of every group that has all of them; a group that one word is left of goes.
    pub(crate) fn remove(&mut self, words: &[String]) -> TakenOut {
        let gone = keys_of(words);
        let mut taken_out = TakenOut::default();
        self.groups.retain_mut(|group| {
            if !keys_of(&group.words).is_superset(&gone) {
                return true;
            }
            taken_out.before.push(group.clone());
            group.words.retain(|word| !gone.contains(&group_key(word)));
            let stays = group.words.len() > 1;
            taken_out.after.extend(stays.then(|| group.clone()));
            stays
        });
        taken_out
    }
}

/// What words are known by: the order, endings and how they are written do not matter.
pub(crate) fn keys_of(words: &[String]) -> BTreeSet<String> {
    words.iter().map(|word| group_key(word)).collect()
}

/// The words, without those that say again what one before them said.
fn each_once(words: &[String]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let words = words.iter().map(|word| word.trim());
    words.filter(|word| seen.insert(group_key(word))).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(", ").map(str::to_owned).collect()
    }

    fn add(book: &mut Book, groups: &[&str]) -> Result<Vec<String>, Refused> {
        let groups: Vec<_> = groups.iter().map(|group| words(group)).collect();
        let added = book.add(&groups, "ann", Timestamp::from_millis(0))?;
        Ok(added.iter().map(|group| group.words.join(", ")).collect())
    }

    fn texts(groups: &[Group]) -> Vec<String> {
        groups.iter().map(|group| group.words.join(", ")).collect()
    }

    #[test]
    fn the_same_group_is_added_once_however_it_is_written() {
        let mut book = Book::default();
        assert_eq!(add(&mut book, &["PTO, vacation, time off"]).unwrap(), ["PTO, vacation, time off"]);
        assert_eq!(add(&mut book, &["Time Off, pto, vacations", "pto,  leave , PTO"]).unwrap(), ["pto, leave"]);
        assert_eq!(texts(book.groups()), ["PTO, vacation, time off", "pto, leave"]);
        let json = serde_json::to_string(&book).unwrap();
        assert_eq!(serde_json::from_str::<Book>(&json).unwrap(), book);
    }

    #[test]
    fn what_is_no_group_adds_nothing() {
        for (group, told) in
            [("alone", "has 1 words"), ("word, Words", "has 1 words"), ("a, \u{1b}[2J", "is not 1 to 4")]
        {
            let refused = add(&mut Book::default(), &["good, fine", group]).unwrap_err();
            assert!(matches!(&refused, Refused::Group { index: 1, rule } if rule.contains(told)), "{refused:?}");
        }
    }

    #[test]
    fn a_tenant_has_so_many_groups_and_a_word_is_in_so_many() {
        let letters = |n: usize| format!("x{n}y");
        let mut book = Book::default();
        for n in 0..MAX_GROUPS_OF_WORD {
            add(&mut book, &[&format!("pto, {}", letters(n))]).unwrap();
        }
        let refused = add(&mut book.clone(), &["PTO, one more"]).unwrap_err();
        assert!(matches!(&refused, Refused::TooMany(told) if told.contains("`PTO`")), "{refused:?}");
        let mut many = Book::default();
        let groups: Vec<_> = (0..=MAX_GROUPS).map(|n| words(&format!("a{n}b, c{n}d"))).collect();
        let at = Timestamp::from_millis(0);
        assert!(many.clone().add(&groups[1..], "", at).is_ok());
        assert!(matches!(many.add(&groups, "", at), Err(Refused::TooMany(told)) if told.contains("1001 groups")));
        let long = |n: usize| words(&format!("{}{n}, {}{n}x", "a".repeat(90), "b".repeat(90)));
        let groups: Vec<_> = (0..800).map(long).collect();
        assert!(matches!(Book::default().add(&groups, "", at), Err(Refused::TooMany(told)) if told.contains("bytes")));
    }

    #[test]
    fn words_are_taken_out_of_groups_that_have_all_of_them() {
        let mut book = Book::default();
        add(&mut book, &["PTO, vacation, time off", "pto, leave", "jira, issue tracker"]).unwrap();
        assert_eq!(book.clone().remove(&words("pto, jira")), TakenOut::default());
        let taken = book.remove(&words("Pto"));
        assert_eq!(texts(&taken.before), ["PTO, vacation, time off", "pto, leave"]);
        assert_eq!(texts(&taken.after), ["vacation, time off"]);
        book.remove(&words("issue trackers, jira"));
        assert_eq!(texts(book.groups()), ["vacation, time off"]);
        // A number is given once, so that a list goes on where it was.
        add(&mut book, &["a, b"]).unwrap();
        assert_eq!(book.groups().iter().map(|group| group.number).collect::<Vec<_>>(), [1, 4]);
    }
}
