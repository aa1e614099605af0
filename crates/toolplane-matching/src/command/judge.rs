//! From a command as written to everything it runs: wrappers taken off, nested shells read, options looked at.

use super::parsed::{ParsedShell, StandardInput};
use super::wrapper::{self, Unwrapped};
use super::{MAX_SHOWN_CHARS, Runs, SimpleCommand, Why, Word, find, git, risk, shells};

/// Wrappers inside wrappers beyond this are not taken off.
const MAX_HOPS: usize = 16;
/// A launcher with more arguments is not looked through.
const MAX_LAUNCHER_WORDS: usize = 64;

/// Builtins after which later words may mean something else.
const DEFINERS: &[&str] = &[
    ".",
    "alias",
    "bind",
    "complete",
    "declare",
    "enable",
    "export",
    "getopts",
    "hash",
    "let",
    "local",
    "mapfile",
    "read",
    "readarray",
    "readonly",
    "set",
    "shopt",
    "source",
    "trap",
    "typeset",
    "unalias",
    "unset",
];

impl ParsedShell {
    /// Lists `command` and what it runs.
    pub(super) fn judge(&mut self, mut command: SimpleCommand, input: &StandardInput, depth: usize, hops: usize) {
        let Some(name) = command.program().map(str::to_owned) else {
            return self.push(command);
        };
        if hops >= MAX_HOPS {
            self.opaque(Why::TooDeep);
            return self.push(command);
        }
        let defines = DEFINERS.contains(&name.as_str()) || (name == "exec" && command.words.len() == 1);
        if defines && command.runs != Runs::Maybe {
            self.not_plain(Why::Definition);
        }
        if name == "git" {
            git::mark(&mut command);
        }
        risk::mark(&mut command, &name);
        let values = if name == "find" { Vec::new() } else { values_of_risks(&command) };
        self.unwrap(command, &name, input, depth, hops);
        for code in values {
            self.nested(&code, depth, Runs::Maybe);
        }
    }

    fn unwrap(&mut self, mut command: SimpleCommand, name: &str, input: &StandardInput, depth: usize, hops: usize) {
        match name {
            "find" => self.found_commands(command, depth, hops),
            "eval" | "trap" | "alias" => self.evaluated(command, name, depth),
            _ if shells::is_shell(name) => self.shell(command, input, depth),
            _ => match wrapper::unwrap(name, &command) {
                Unwrapped::No => self.push(command),
                Unwrapped::Inner { at, env, through, completed } => {
                    let inner = inner(&command, at, env, completed.as_deref());
                    if through && command.why_not_plain.is_empty() && command.runs == Runs::Surely {
                        command.runs = Runs::Through;
                    }
                    self.push(command);
                    self.judge(inner, input, depth, hops + 1);
                }
                Unwrapped::Code { code, known } => {
                    let runs = command.runs;
                    self.push(command);
                    self.code(known, &code, depth, runs);
                }
                Unwrapped::Unsure => self.launcher(command, depth, hops),
            },
        }
    }

    /// A program that runs others in a way that is not known surely: each of its arguments may begin a command, or be one.
    fn launcher(&mut self, mut command: SimpleCommand, depth: usize, hops: usize) {
        command.risk(1, Why::Launcher);
        let words = command.words.clone();
        self.push(command);
        if words.len() > MAX_LAUNCHER_WORDS {
            return self.opaque(Why::Launcher);
        }
        for at in 1..words.len() {
            if words[at].text.contains([' ', ';', '\n', '|', '&']) {
                self.nested(&words[at].text, depth, Runs::Maybe);
            }
            if !words[at].text.starts_with('-') {
                let candidate = SimpleCommand { runs: Runs::Maybe, ..SimpleCommand::of_words(words[at..].to_vec()) };
                // Only what is listed counts; looking through each candidate again would multiply them.
                if at == 1 && hops == 0 {
                    self.judge(candidate, &StandardInput::default(), depth, hops + 1);
                } else {
                    self.push(candidate);
                }
            }
        }
    }

    /// Every command behind `-exec` and its like.
    fn found_commands(&mut self, command: SimpleCommand, depth: usize, hops: usize) {
        let inner = find::commands(&command);
        self.push(command);
        for command in inner {
            self.judge(command, &StandardInput::default(), depth, hops + 1);
        }
    }

    /// `eval`, `trap` and `alias`: arguments are code.
    fn evaluated(&mut self, mut command: SimpleCommand, name: &str, depth: usize) {
        command.why(Why::UnseenCode);
        let words = command.words[1..].to_vec();
        let runs = command.runs;
        self.push(command);
        let known = words.iter().all(Word::is_known);
        match name {
            "eval" => {
                let code: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
                self.code(known, &code.join(" "), depth, runs);
            }
            "trap" => {
                let action = words.iter().find(|word| !word.text.starts_with('-'));
                if let Some(action) = action.filter(|_| words.len() > 1) {
                    self.code(action.is_known(), &action.text, depth, runs);
                }
            }
            _ => {
                for word in &words {
                    let code = word.text.split_once('=').map_or("", |(_, code)| code);
                    self.nested(code, depth, Runs::Maybe);
                }
            }
        }
    }

    /// `sh -c ...` and shells that read code from elsewhere.
    fn shell(&mut self, mut command: SimpleCommand, input: &StandardInput, depth: usize) {
        let runs = command.runs;
        match shells::code_of(&command.words) {
            shells::Code::Text { at, alone } => {
                let code = command.words[at].clone();
                if alone && runs == Runs::Surely && command.why_not_plain.is_empty() {
                    command.runs = Runs::Through;
                }
                self.push(command);
                self.code(code.is_known(), &code.text, depth, runs);
            }
            shells::Code::File { at } => {
                command.risk(at, Why::UnseenCode);
                self.push(command);
            }
            shells::Code::Nothing => self.push(command),
            shells::Code::Input => {
                command.why(Why::UnseenCode);
                self.push(command);
                let seen = !input.redirected && !input.texts.is_empty() && input.texts.iter().all(Word::is_known);
                for text in &input.texts {
                    self.nested(&text.text, depth, runs);
                }
                if !seen && runs == Runs::Surely {
                    self.opaque(Why::UnseenCode);
                }
            }
        }
    }

    /// Reads code; when not all of it is known, the rest may be anything.
    fn code(&mut self, known: bool, code: &str, depth: usize, runs: Runs) {
        if !known && runs == Runs::Surely {
            self.opaque(Why::UnseenCode);
        }
        self.nested(code, depth, if known { runs } else { Runs::Maybe });
    }
}

/// Options that run a program say which in their value or in the next word: texts that may be run.
fn values_of_risks(command: &SimpleCommand) -> Vec<String> {
    let mut codes = Vec::new();
    for risk in command.risks.iter().filter(|risk| risk.why == Why::DangerousOption) {
        let value = command.words[risk.word].text.rsplit_once('=').map(|(_, value)| value);
        let next = command.words.get(risk.word + 1).map(|word| word.text.as_str());
        for code in [value, next].into_iter().flatten() {
            let code = code.rsplit_once('=').map_or(code, |(_, code)| code);
            codes.push(code.trim_start_matches('!').to_owned());
        }
    }
    codes
}

/// The command that begins at word `at` of `outer`. `completed` names the placeholder for arguments that come at run
/// time; empty when they are put at the end.
fn inner(outer: &SimpleCommand, at: usize, env: Vec<(String, String)>, completed: Option<&str>) -> SimpleCommand {
    let mut words = outer.words[at..].to_vec();
    let mut command = SimpleCommand::of_words(Vec::new());
    command.why_not_plain.clone_from(&outer.why_not_plain);
    match completed {
        Some("") => words.push(Word { text: "...".to_owned(), known: 0 }),
        Some(mark) => words.iter_mut().for_each(|word| word.forget_from(mark)),
        None => {}
    }
    if completed.is_some() {
        command.why(Why::UnseenArguments);
    }
    if !env.is_empty() {
        command.why(Why::Assignment);
    }
    let text: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    command.text = text.join(" ").chars().take(MAX_SHOWN_CHARS).collect();
    command.env = env;
    command.runs = outer.runs;
    command.words = words;
    command.wrapped = Some((outer.words.clone(), at));
    command
}
