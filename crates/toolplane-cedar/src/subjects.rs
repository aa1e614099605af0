//! The commands, paths and URLs of a call, as sets that policies can ask.

use std::collections::BTreeSet;

use cedar_policy::RestrictedExpression;
use toolplane_matching::command::{SimpleCommand, Word};
use toolplane_matching::path::{PathAccess, PathFact};
use toolplane_matching::subject::Subjects;

use crate::request::set;

type Texts = BTreeSet<String>;

/// The record `commands`.
pub(crate) fn commands(subjects: &Subjects) -> Option<RestrictedExpression> {
    let (mut programs, mut beginnings) = (Texts::new(), Texts::new());
    let mut plain = subjects.complete();
    for shell in subjects.commands() {
        plain &= shell.is_plain();
        for command in &shell.commands {
            plain &= command.why_not_plain.is_empty() && command.words.iter().all(Word::is_known);
            name(command, &mut programs, &mut beginnings);
        }
    }
    record([
        ("programs", set(programs)),
        ("beginnings", set(beginnings)),
        ("plain", RestrictedExpression::new_bool(plain)),
    ])
}

/// Programs by the name that was given and by its last component, and with the word after it.
fn name(command: &SimpleCommand, programs: &mut Texts, beginnings: &mut Texts) {
    for words in [Some(&command.words), command.canonical.as_ref()].into_iter().flatten() {
        let Some(program) = words.first() else { continue };
        let short = program.text.rsplit('/').next().unwrap_or_default();
        programs.extend([program.text.clone(), short.to_owned()]);
        beginnings.extend(words.get(1).map(|next| format!("{short} {}", next.text)));
    }
}

/// The record `paths`.
pub(crate) fn paths(subjects: &Subjects) -> Option<RestrictedExpression> {
    let (mut read, mut written, mut beneath) = (Texts::new(), Texts::new(), Texts::new());
    let (mut outside, mut complete) = (false, subjects.complete());
    for subject in subjects.paths() {
        let path = match &subject.fact {
            PathFact::Inside(path) => path,
            PathFact::Outside(path) => {
                outside = true;
                path
            }
            PathFact::Invalid(_) => {
                complete = false;
                continue;
            }
        };
        let above = std::iter::successors(path.rsplit_once('/'), |(above, _)| above.rsplit_once('/'));
        beneath.extend(above.map(|(above, _)| above.to_owned()).filter(|above| !above.is_empty()));
        match subject.access {
            PathAccess::Read => read.insert(path.clone()),
            PathAccess::Write => written.insert(path.clone()),
        };
        if subject.tree {
            // What is under it is touched as well, so it is a directory above something.
            beneath.insert(path.clone());
        }
    }
    record([
        ("read", set(read)),
        ("written", set(written)),
        ("beneath", set(beneath)),
        ("outside", RestrictedExpression::new_bool(outside)),
        ("complete", RestrictedExpression::new_bool(complete)),
    ])
}

/// The record `urls`.
pub(crate) fn urls(subjects: &Subjects) -> Option<RestrictedExpression> {
    let (mut schemes, mut hosts, mut domains) = (Texts::new(), Texts::new(), Texts::new());
    let (mut non_public, mut complete) = (false, subjects.complete());
    for url in subjects.urls() {
        let Ok(url) = url else {
            complete = false;
            continue;
        };
        non_public |= url.non_public;
        schemes.insert(url.scheme.clone());
        hosts.insert(url.host.clone());
        domains.insert(url.host.clone());
        if url.address.is_none() {
            let above = std::iter::successors(url.host.split_once('.'), |(_, above)| above.split_once('.'));
            domains.extend(above.map(|(_, above)| above.to_owned()));
        }
    }
    record([
        ("schemes", set(schemes)),
        ("hosts", set(hosts)),
        ("domains", set(domains)),
        ("non_public", RestrictedExpression::new_bool(non_public)),
        ("complete", RestrictedExpression::new_bool(complete)),
    ])
}

fn record<const N: usize>(fields: [(&str, RestrictedExpression); N]) -> Option<RestrictedExpression> {
    RestrictedExpression::new_record(fields.map(|(name, value)| (name.to_owned(), value))).ok()
}
