//! Programs that no listed command of a call is, and that may run all the same.
//!
//! Where it cannot be seen what a text runs, every pattern of a deny or an ask may be about it. What that means for one whose
//! program is none of those that are seen follows from the text alone, and takes no comparison with each of its commands.

use std::collections::HashSet;

use toolplane_records::vocabulary::Behavior;

use super::{MatchTarget, NOTHING, Reach, TargetPart, What};
use crate::command::{SimpleCommand, Word};
use crate::fit::Fit;
use crate::matcher::Matcher;

/// What there may be in a call beside the programs that are seen.
#[derive(Clone, Debug)]
pub struct UnlistedPrograms<'a> {
    /// There may be commands that are not listed at all.
    unseen: bool,
    /// The commands whose program is decided at run time; of those that begin alike one.
    open: Vec<&'a [Word]>,
}

// === impl MatchTarget ===

impl<'a> MatchTarget<'a> {
    /// What there may be beside the programs that are seen.
    pub fn unlisted(&self) -> UnlistedPrograms<'a> {
        let shells = self.subjects.commands();
        let commands = shells.iter().flat_map(|shell| &shell.commands);
        let mut seen = HashSet::new();
        let mut open: Vec<&[Word]> = commands.flat_map(forms).filter(|words| !begins_known(words)).collect();
        open.retain(|words| seen.insert(words.first().map(Word::known_text)));
        UnlistedPrograms { unseen: !self.is_complete() || shells.iter().any(|shell| shell.opaque.is_some()), open }
    }

    /// The same as [`MatchTarget::reach`] for a matcher of commands whose [program](crate::pattern::CommandPattern::program) no
    /// command of the call names, and no text of it that is not plain.
    pub fn reach_unlisted(&self, matcher: &Matcher, behavior: Behavior, programs: &UnlistedPrograms<'_>) -> Reach {
        // What an allow needs to see is there or not.
        let pattern = matcher.pattern.as_ref().filter(|_| behavior != Behavior::Allow);
        let Some(pattern) = pattern.and_then(|pattern| pattern.command.as_ref()) else { return NOTHING };
        let may = || programs.unseen || programs.open.iter().any(|words| pattern.against(words) != Fit::No);
        let fit = matcher.tools.fit(behavior, self.tool);
        Reach { whole: false, fit: if fit != Fit::No && may() { fit.min(Fit::Unknown) } else { Fit::No } }
    }
}

// === impl TargetPart ===

impl TargetPart<'_> {
    /// Whether it is a command whose program is seen.
    pub fn names_its_program(&self) -> bool {
        match self.what {
            What::Command(command) => forms(command).all(begins_known),
            What::Shell(_) | What::Path(_) | What::Url(_) => false,
        }
    }
}

/// The words of a command as deny and ask patterns begin to see them; its further spellings begin with the same word.
fn forms(command: &SimpleCommand) -> impl Iterator<Item = &[Word]> {
    [Some(&command.words), command.canonical.as_ref()].into_iter().flatten().map(Vec::as_slice)
}

/// Whether the program is there in so many words, or none is.
fn begins_known(words: &[Word]) -> bool {
    words.first().is_none_or(Word::is_known)
}
