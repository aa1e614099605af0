//! Shells as commands: where the code is that they run.

use super::Word;

const SHELLS: &[&str] =
    &["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish", "csh", "tcsh", "yash", "pwsh"];

/// Where a shell finds its code.
pub(super) enum Code {
    /// In the word at this index; `alone` when the command is nothing but the shell, `-c` or `-lc`, and the code.
    Text { at: usize, alone: bool },
    /// In the file named by the word at this index.
    File { at: usize },
    /// On its standard input.
    Input,
    /// It runs none: `bash --version`.
    Nothing,
}

pub(super) fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

/// Where the shell with these words finds its code. What is not known surely counts as input, which cannot be seen.
pub(super) fn code_of(words: &[Word]) -> Code {
    let mut at = 1;
    let mut code = false;
    while let Some(word) = words.get(at) {
        let text = word.text.as_str();
        if !word.is_known() {
            return Code::Input;
        }
        if matches!(text, "--version" | "--help") && words.len() == 2 {
            return Code::Nothing;
        }
        if text == "--" || text == "-" {
            at += 1;
            break;
        }
        let takes_value = matches!(text, "--rcfile" | "--init-file");
        let short = text.strip_prefix(['-', '+']).filter(|_| !text.starts_with("--"));
        let Some(letters) = short else {
            if text.starts_with("--") {
                at += if takes_value { 2 } else { 1 };
                continue;
            }
            break;
        };
        if text.starts_with('-') && letters.contains('s') && !code {
            return Code::Input;
        }
        code |= text.starts_with('-') && letters.contains('c');
        // `-o` and `-O` take the name of a setting, each as a separate word.
        at += 1 + letters.matches(['o', 'O']).count();
    }
    let operand = words.get(at);
    match (code, operand) {
        (true, Some(_)) => {
            let option = words.get(1).map(|word| word.text.as_str());
            let usual = matches!(words[0].text.as_str(), "sh" | "bash" | "dash" | "zsh")
                || matches!(
                    words[0].text.as_str(),
                    "/bin/sh" | "/bin/bash" | "/usr/bin/sh" | "/usr/bin/bash" | "/bin/zsh"
                );
            Code::Text { at, alone: usual && words.len() == 3 && matches!(option, Some("-c" | "-lc")) }
        }
        (false, Some(_)) => Code::File { at },
        (_, None) => Code::Input,
    }
}
