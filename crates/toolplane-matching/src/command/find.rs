//! The commands that `find` runs.

use super::{SimpleCommand, Why, Word};

/// Every command behind `-exec`, `-execdir`, `-ok` and `-okdir`; `{}` in it is decided at run time.
pub(super) fn commands(find: &SimpleCommand) -> Vec<SimpleCommand> {
    let mut found = Vec::new();
    let mut words = find.words.iter();
    while let Some(word) = words.next() {
        if !matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
            continue;
        }
        let mut inner: Vec<Word> = Vec::new();
        for word in words.by_ref() {
            // `+` ends the command only behind `{}`.
            let before = inner.last().map(|word: &Word| word.text.as_str());
            if word.text == ";" || (word.text == "+" && before == Some("{}")) {
                break;
            }
            inner.push(word.clone());
        }
        inner.iter_mut().for_each(|word| word.forget_from("{}"));
        let mut command = SimpleCommand::of_words(inner);
        command.runs = find.runs;
        command.why(Why::UnseenArguments);
        found.push(command);
    }
    found
}
