//! The same decisions once more: plain, slow, and sharing nothing with the evaluator but the records.
//!
//! Rules are texts here and are compared as texts; what commands, paths and URLs a pattern is about is written down as
//! lists, for the few subjects the generator draws from. A truth value that is `None` is unknown.

mod conditions;

use toolplane_matching::Certainty;
use toolplane_records::SmolStr;
use toolplane_records::mode::Mode;
use toolplane_records::rule::PermissionRule;
use toolplane_records::vocabulary::{AccessKind, Behavior, ClassifierAuthority, ReasonType, RuleSource};

use self::conditions::conditions;
use crate::world::{Case, NOW, TOOLS, Tool};

/// What was decided, and which rules had a say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) behavior: Behavior,
    pub(crate) review: bool,
    pub(crate) matched: Vec<SmolStr>,
    /// Only where the stage that decided leaves no choice.
    pub(crate) reason: Option<ReasonType>,
}

/// A piece of the input.
#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Command(String),
    /// A command that cannot be understood completely.
    Unseen,
    /// A path and whether it may be written; redirections come from commands.
    Path {
        path: String,
        written: bool,
        redirected: bool,
    },
    Url(String),
}

type Truth = Option<bool>;

fn and(left: Truth, right: Truth) -> Truth {
    match (left, right) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn not(truth: Truth) -> Truth {
    truth.map(|truth| !truth)
}

fn known(certainty: Certainty) -> Truth {
    match certainty {
        Certainty::Yes => Some(true),
        Certainty::No => Some(false),
        Certainty::Unknown => None,
    }
}

pub(crate) fn decide(case: &Case) -> Answer {
    let (pieces, seen) = pieces(case);
    let mut denies = Vec::new();
    let mut asks = Vec::new();
    let mut allows = Vec::new();
    for rule in &case.rules {
        let in_force = rule.revoked_at.is_none() && rule.expires_at.is_none_or(|end| end.as_millis() > NOW);
        if !in_force || rule.shadow || !in_scope(rule, case) {
            continue;
        }
        let fits = and(reaches(rule, case, &pieces, seen), conditions(rule, case));
        match (rule.behavior, fits) {
            (_, Some(false)) | (Behavior::Allow, None) => {}
            (Behavior::Deny, fits) => denies.push((rule, fits)),
            (Behavior::Ask, fits) => asks.push((rule, fits)),
            (_, _) => allows.push(rule),
        }
    }
    let all =
        denies.iter().map(|(rule, _)| *rule).chain(asks.iter().map(|(rule, _)| *rule)).chain(allows.iter().copied());
    let mut matched: Vec<SmolStr> = all.map(|rule| rule.rule_id.as_str().into()).collect();
    matched.sort();
    let (behavior, review, reason) = voices(case, &pieces, seen, &denies, &asks, &allows);
    let silent = !case.can_ask || case.mode == Mode::DontAsk;
    if behavior == Behavior::Ask && silent {
        return Answer { behavior: Behavior::Deny, review, matched, reason: Some(ReasonType::AsyncAgent) };
    }
    Answer { behavior, review, matched, reason }
}

type Says<'a> = (&'a PermissionRule, Truth);

fn voices(
    case: &Case,
    pieces: &[Piece],
    seen: bool,
    denies: &[Says<'_>],
    asks: &[Says<'_>],
    allows: &[&PermissionRule],
) -> (Behavior, bool, Option<ReasonType>) {
    let hook = |behavior| case.hooks.iter().any(|hook| hook.behavior == behavior);
    let judge = case.classifier.as_ref().filter(|check| check.authority != ClassifierAuthority::Recommend);
    let judged = |behavior| judge.is_some_and(|check| !check.pending && check.behavior == Some(behavior));
    // 1: no
    if denies.iter().any(|(_, fits)| *fits == Some(true)) {
        return (Behavior::Deny, false, None);
    }
    if case.org == Behavior::Deny {
        return (Behavior::Deny, false, Some(ReasonType::Policy));
    }
    if hook(Behavior::Deny) {
        return (Behavior::Deny, false, Some(ReasonType::Hook));
    }
    if judged(Behavior::Deny) {
        return (Behavior::Deny, false, Some(ReasonType::Classifier));
    }
    if pieces.iter().any(|piece| matches!(piece, Piece::Path { path, .. } if path.contains('\0'))) {
        return (Behavior::Deny, false, Some(ReasonType::SafetyCheck));
    }
    let untrusted = TOOLS[case.tool].namespace.starts_with("mcp.");
    let harmless = case.safety.read_only == Certainty::Yes && !untrusted;
    if case.mode == Mode::Plan && !harmless {
        return (Behavior::Deny, false, Some(ReasonType::Mode));
    }
    // 2: the organisation wants to know
    let of_policy = |(rule, _): &&Says<'_>| rule.source == RuleSource::PolicySettings;
    if case.org == Behavior::Ask || denies.iter().chain(asks).any(|says| of_policy(&says)) {
        return (Behavior::Ask, false, Some(ReasonType::Policy));
    }
    let safety = &case.safety;
    let alarms = [safety.destructive, safety.sensitive_sink, safety.approval_required];
    let missing = [safety.read_only, safety.destructive, safety.open_world].contains(&Certainty::Unknown);
    if alarms.contains(&Certainty::Yes) || (untrusted && missing) {
        return (Behavior::Ask, false, Some(ReasonType::Policy));
    }
    if let Some(assurance) = &case.assurance {
        let unsure = assurance.confidence.is_some_and(|confidence| confidence.get() < 0.8);
        if unsure || assurance.verdict == "uncertain" || !assurance.missing_evidence.is_empty() {
            return (Behavior::Ask, true, Some(ReasonType::Policy));
        }
    }
    // 3 and 4: others want to know
    if !denies.is_empty() || !asks.is_empty() {
        return (Behavior::Ask, false, None);
    }
    if hook(Behavior::Ask) {
        return (Behavior::Ask, false, Some(ReasonType::Hook));
    }
    if judged(Behavior::Ask) || judge.is_some_and(|check| check.pending) {
        return (Behavior::Ask, false, Some(ReasonType::Classifier));
    }
    // 5 and 6: yes
    let bypass = case.mode == Mode::Bypass && case.allow_bypass;
    let permitted = case.org == Behavior::Allow
        || case.hooks.iter().any(|hook| hook.authoritative && hook.behavior == Behavior::Allow);
    let whole = |rule: &&&PermissionRule| about_whole(rule, case);
    let anyhow = bypass || permitted || allows.iter().any(|rule| whole(&rule));
    let open = open_pieces(case, pieces, allows, anyhow, bypass);
    if open.is_empty() && (anyhow || (seen && !pieces.is_empty())) {
        return (Behavior::Allow, false, None);
    }
    // 7: no rule and no tool said anything
    let strange = open.iter().any(|piece| match piece {
        Piece::Path { path, written, .. } => is_outside(path) || (*written && path.starts_with(".git/")),
        Piece::Unseen => true,
        _ => false,
    });
    let approves =
        judge.is_some_and(|check| check.authority == ClassifierAuthority::Approve) && judged(Behavior::Allow);
    if approves && !strange {
        return (Behavior::Allow, false, Some(ReasonType::Classifier));
    }
    (Behavior::Ask, false, None)
}

/// The pieces nothing allows.
fn open_pieces<'p>(
    case: &Case,
    pieces: &'p [Piece],
    allows: &[&PermissionRule],
    anyhow: bool,
    bypass: bool,
) -> Vec<&'p Piece> {
    let mut open = Vec::new();
    for piece in pieces {
        let by_rule = |named: bool| {
            allows.iter().any(|rule| piece_fits(rule, case, piece) == Some(true) && (!named || names(rule, piece)))
        };
        let fine = match piece {
            Piece::Path { path, .. } if is_outside(path) => bypass || by_rule(true),
            Piece::Path { path, written: true, .. } if path.starts_with(".git/") => by_rule(true),
            Piece::Path { written: true, path, .. } => {
                let edits = case.mode == Mode::AcceptEdits && (case.tool == 0 || case.tool == 2) && path != ".";
                anyhow || edits || by_rule(false)
            }
            Piece::Path { redirected: true, .. } => true,
            Piece::Unseen => anyhow,
            _ => anyhow || by_rule(false),
        };
        if !fine {
            open.push(piece);
        }
    }
    open
}

// --- what is in the call ---

fn pieces(case: &Case) -> (Vec<Piece>, bool) {
    let tool = &TOOLS[case.tool];
    if tool.matcher.is_empty() {
        return (Vec::new(), true);
    }
    let subject = match (&case.subject, tool.matcher) {
        (Some(subject), _) => subject.as_str(),
        // A file tool without a path works on the whole workspace.
        (None, "path_pattern") => ".",
        (None, _) => return (Vec::new(), false),
    };
    if subject == "[redacted]" {
        return (Vec::new(), false);
    }
    match tool.matcher {
        "shell_pattern" if subject.starts_with("$(") => (vec![Piece::Unseen], true),
        "shell_pattern" => {
            let mut pieces = Vec::new();
            let mut files = Vec::new();
            for command in subject.replace(" && ", "\n").replace("; ", "\n").replace(" | ", "\n").lines() {
                let (command, file) =
                    command.split_once(" > ").map_or((command, None), |(front, file)| (front, Some(file)));
                pieces.push(Piece::Command(command.to_owned()));
                files.extend(file.map(|file| Piece::Path { path: file.to_owned(), written: true, redirected: true }));
            }
            pieces.extend(files);
            (pieces, true)
        }
        "url_pattern" => (vec![Piece::Url(subject.to_owned())], true),
        _ => {
            let written = tool.access.is_empty() || tool.access.contains(&AccessKind::FileWrite);
            (vec![Piece::Path { path: subject.to_owned(), written, redirected: false }], true)
        }
    }
}

fn is_outside(path: &str) -> bool {
    path.starts_with('/') || path.starts_with("..")
}

// --- whom a rule is about ---

fn in_scope(rule: &PermissionRule, case: &Case) -> bool {
    let scope = &rule.scope;
    let namespace = TOOLS[case.tool].namespace;
    (scope.tenant.is_empty() || scope.tenant == case.tenant)
        && (scope.actor.is_empty() || scope.actor == case.actor)
        && (scope.session.is_empty() || scope.session == case.session)
        && (scope.role.is_empty() || scope.role == case.role)
        && scope.surface.is_empty()
        && (scope.namespace.is_empty()
            || namespace == scope.namespace
            || namespace.starts_with(&format!("{}.", scope.namespace)))
}

fn split(rule: &PermissionRule) -> (&str, Option<&str>) {
    match rule.matcher.split_once('(') {
        Some((tool, "*)" | "domain:*)")) => (tool, None),
        Some((tool, pattern)) => (tool, pattern.strip_suffix(')')),
        None => (rule.matcher.as_str(), None),
    }
}

fn tool_fits(text: &str, allow: bool, tool: &Tool) -> Truth {
    let mut names = vec![tool.id, tool.name];
    if tool.name == "local.shell.exec" {
        // The only one whose name goes on behind more than one part of a namespace that is no provider's.
        names.push("shell.exec");
    }
    if !allow {
        names.extend(tool.aliases);
    }
    let shell = tool.matcher == "shell_pattern";
    let files = tool.matcher == "path_pattern";
    let silent = tool.access.is_empty();
    let may = |kind| if silent { None } else { Some(tool.access.contains(&kind)) };
    let only =
        |kinds: &[AccessKind]| if silent { None } else { Some(tool.access.iter().all(|kind| kinds.contains(kind))) };
    match text {
        "*" => Some(true),
        "Bash" => Some(shell),
        "Read" | "Grep" if !files => Some(false),
        "Grep" if !tool.name.contains("grep") => Some(false),
        "Read" | "Grep" if allow => and(may(AccessKind::FileRead), only(&[AccessKind::FileRead])),
        "Read" | "Grep" => may(AccessKind::FileRead),
        "Edit" | "Write" if !files => Some(false),
        "Edit" | "Write" if allow => {
            and(may(AccessKind::FileWrite), only(&[AccessKind::FileRead, AccessKind::FileWrite]))
        }
        "Edit" | "Write" => may(AccessKind::FileWrite),
        "WebFetch" => Some(tool.matcher == "url_pattern"),
        _ if text.starts_with("namespace:") => {
            let wanted = &text["namespace:".len()..];
            Some(tool.namespace == wanted || tool.namespace.starts_with(&format!("{wanted}.")))
        }
        "mcp__github" | "mcp__github__*" => Some(tool.namespace == "mcp.github"),
        "mcp__github__search_issues" => Some(tool.name == "mcp.github.search_issues"),
        "mcp__disk" => Some(tool.namespace == "mcp.disk"),
        "mcp__*__grep_*" => Some(tool.name == "mcp.disk.grep_files"),
        _ => match text.strip_suffix('*') {
            Some(prefix) => Some(names.iter().any(|name| name.starts_with(prefix))),
            None => Some(names.contains(&text)),
        },
    }
}

/// Whether the rule is about the call as a whole, not about its pieces.
fn about_whole(rule: &PermissionRule, case: &Case) -> bool {
    let (text, pattern) = split(rule);
    pattern.is_none() && tool_fits(text, rule.behavior == Behavior::Allow, &TOOLS[case.tool]) == Some(true)
}

fn reaches(rule: &PermissionRule, case: &Case, pieces: &[Piece], seen: bool) -> Truth {
    let (text, pattern) = split(rule);
    let allow = rule.behavior == Behavior::Allow;
    let tool = &TOOLS[case.tool];
    let own = tool_fits(text, allow, tool);
    if own != Some(false) {
        if pattern.is_none() {
            return own;
        }
        if tool.matcher.is_empty() {
            return if allow { Some(false) } else { None };
        }
        if !seen {
            return if allow { Some(false) } else { None };
        }
    }
    let fits: Vec<Truth> = pieces.iter().map(|piece| piece_fits(rule, case, piece)).collect();
    match (fits.contains(&Some(true)), fits.contains(&None)) {
        (true, _) => Some(true),
        (false, true) => None,
        (false, false) => Some(false),
    }
}

fn piece_fits(rule: &PermissionRule, case: &Case, piece: &Piece) -> Truth {
    let (text, pattern) = split(rule);
    let allow = rule.behavior == Behavior::Allow;
    let own = tool_fits(text, allow, &TOOLS[case.tool]);
    if let Piece::Path { path, redirected: true, written } = piece {
        let about_edits = matches!(text, "Edit" | "Write") && *written;
        // A rule of the command's own tool with a pattern is about commands.
        return match pattern {
            None if own == Some(true) || about_edits => Some(true),
            Some(pattern) if about_edits => Some(path_in(pattern, path, allow)),
            _ => Some(false),
        };
    }
    if own == Some(false)
        && !allow
        && TOOLS[case.tool].matcher == "shell_pattern"
        && matches!(text, "Read" | "Edit" | "Write")
    {
        return names_file(text, pattern, piece);
    }
    let (Some(pattern), None | Some(true)) = (pattern, own) else { return own };
    let fits = match piece {
        Piece::Unseen => {
            if allow {
                Some(false)
            } else {
                None
            }
        }
        Piece::Command(command) => Some(command_in(pattern, command)),
        Piece::Path { path, .. } if path.contains('\0') => {
            if allow {
                Some(false)
            } else {
                None
            }
        }
        Piece::Path { path, .. } if path == "." => {
            if allow || pattern == "//etc/**" {
                Some(false)
            } else {
                None
            }
        }
        Piece::Path { path, .. } => Some(path_in(pattern, path, allow)),
        Piece::Url(url) if url == "not a url" => {
            if allow {
                Some(false)
            } else {
                None
            }
        }
        Piece::Url(url) => Some(url_in(pattern, url, allow)),
    };
    and(own, fits)
}

/// A deny or an ask about files, against what a command does with files: the few commands there are, written down.
fn names_file(text: &str, pattern: Option<&str>, piece: &Piece) -> Truth {
    let used = match piece {
        // Where a pattern can apply to files that are not seen, it may be about them.
        Piece::Unseen => return if pattern.is_some() { None } else { Some(false) },
        Piece::Command(command) => match command.as_str() {
            "cat notes.txt" => Some(("Read", "notes.txt")),
            "rm old.txt" => Some(("Edit", "old.txt")),
            "ls" | "ls -l" => Some(("Read", ".")),
            _ => None,
        },
        _ => None,
    };
    let about = |word: &str| (text == "Read") == (word == "Read");
    match (used.filter(|(word, _)| about(word)), pattern) {
        (None, _) => Some(false),
        (Some(_), None) => Some(true),
        (Some((_, ".")), Some(_)) => Some(false),
        (Some((_, path)), Some(pattern)) => Some(path_in(pattern, path, false)),
    }
}

/// Whether a rule says in so many words what lies outside or is protected.
fn names(rule: &PermissionRule, piece: &Piece) -> bool {
    let (_, pattern) = split(rule);
    match (pattern, piece) {
        (Some(pattern), Piece::Path { path, .. }) if path.starts_with(".git/") => pattern.starts_with(".git/"),
        (Some(_), _) => true,
        (None, _) => false,
    }
}

fn command_in(pattern: &str, command: &str) -> bool {
    match pattern.strip_suffix(":*") {
        Some(front) => command == front || command.starts_with(&format!("{front} ")),
        None => command == pattern,
    }
}

fn path_in(pattern: &str, path: &str, allow: bool) -> bool {
    let list: &[&str] = match pattern {
        "src/**" | "/src/**" => &["src/a.rs", "src/deep/b.rs"],
        "*.rs" => &["src/a.rs", "src/deep/b.rs"],
        "./docs/x.md" => &["docs/x.md"],
        "docs" if allow => &[],
        "docs" => &["docs/x.md"],
        ".git/**" => &[".git/config"],
        "//etc/**" => &["/etc/hosts"],
        "out.txt" => &["out.txt"],
        other => panic!("no list for {other}"),
    };
    list.contains(&path)
}

fn url_in(pattern: &str, url: &str, allow: bool) -> bool {
    let list: &[&str] = match pattern {
        "domain:example.com" if allow => &["https://example.com/a", "http://example.com/"],
        "domain:example.com" => &["https://example.com/a", "http://example.com/", "https://example.com:8443/x"],
        "domain:*.example.com" => &["https://api.example.com/"],
        "domain:example.com:8443" => &["https://example.com:8443/x"],
        "domain:evil.test" => &["https://evil.test/"],
        other => panic!("no list for {other}"),
    };
    list.contains(&url)
}
