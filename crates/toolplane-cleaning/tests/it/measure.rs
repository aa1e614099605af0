//! Precision and recall of each class, and what they must not fall below.

use std::fmt::Write as _;

use toolplane_cleaning::Class;

use crate::corpus::{Case, Verdict, cases, cleaner};

/// Of each class: precision and recall in percent, of the cases rules are tuned on and of those that are held out. A little below what is
/// reached, so that a case or two may be added, and a worse rule fails. Raise them with the rules.
const FLOORS: [(Class, [u32; 2], [u32; 2]); 5] = [
    (Class::Credentials, [98, 98], [97, 94]),
    (Class::Personal, [95, 97], [95, 91]),
    (Class::Invisible, [95, 95], [95, 95]),
    (Class::Instructions, [93, 96], [90, 72]),
    (Class::Markup, [95, 95], [95, 85]),
];

#[derive(Default)]
struct Score {
    found: u32,
    missed: u32,
    mistaken: u32,
    /// The cases that went wrong.
    wrong: String,
}

impl Score {
    fn of(class: Class, cases: &[Case]) -> Self {
        let (cleaner, mut score) = (cleaner(class), Self::default());
        for case in cases {
            let verdict = case.verdict(&cleaner);
            match verdict {
                Verdict::Found => score.found += 1,
                Verdict::Missed => score.missed += 1,
                Verdict::Mistaken => score.mistaken += 1,
                Verdict::Quiet => continue,
            }
            if verdict != Verdict::Found {
                writeln!(score.wrong, "    {verdict:?}: {:?}", case.text()).unwrap();
            }
        }
        score
    }

    /// Precision and recall in percent.
    fn percent(&self) -> [u32; 2] {
        [self.found + self.mistaken, self.found + self.missed].map(|all| 100 * self.found / all.max(1))
    }
}

/// `cargo test -p toolplane-cleaning --test it -- measure --nocapture` prints the table.
#[test]
#[expect(clippy::print_stdout, reason = "the table is for the one who makes rules")]
fn rules_are_as_good_as_they_were() {
    println!("{:<14}{:>11}{:>8}{:>16}{:>8}", "percent", "precision", "recall", "held out: prec.", "recall");
    let mut worse = String::new();
    for (class, tuned_floor, held_floor) in FLOORS {
        let (tuned, held) = cases(class);
        let (tuned, held) = (Score::of(class, &tuned), Score::of(class, &held));
        let ([precision, recall], [held_precision, held_recall]) = (tuned.percent(), held.percent());
        println!("{:<14}{precision:>11}{recall:>8}{held_precision:>16}{held_recall:>8}", class.as_str());
        for (part, score, floor) in [("tuned", tuned, tuned_floor), ("held out", held, held_floor)] {
            if score.percent().iter().zip(floor).any(|(reached, floor)| *reached < floor) {
                writeln!(worse, "{} ({part}): {:?} and not {floor:?}", class.as_str(), score.percent()).unwrap();
                // Nobody tunes on what is held out, so it is not shown.
                worse.push_str(if part == "tuned" { &score.wrong } else { "" });
            }
        }
    }
    assert!(worse.is_empty(), "worse than it was:\n{worse}");
}

#[test]
fn the_corpus_is_as_large_as_figures_need() {
    for class in Class::ALL {
        let least = match class {
            Class::Credentials | Class::Personal | Class::Instructions => 60,
            Class::Invisible | Class::Markup => 30,
        };
        let (tuned, held) = cases(class);
        for yes in [true, false] {
            let count = |cases: &[Case]| cases.iter().filter(|case| case.is(yes)).count();
            assert!(count(&tuned) + count(&held) >= least, "{class:?} {yes}");
            assert!(count(&held) * 3 >= least, "{class:?} {yes}, held out");
        }
    }
}
