//! Columns of a table that the name of a secret stands above: lines of cells between commas, semicolons, tabs or bars, and columns that
//! are held apart by spaces.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::secret_name::{self, Name};
use super::secret_value::{is_password, is_stand_in, is_value};

pub(super) const NAME: &str = "secret_column";

/// Most bytes of a line that is the head of a table.
const MAX_HEAD: usize = 1024;
/// What may stand between cells.
const BETWEEN: [u8; 4] = *b"|\t,;";

/// How the lines of a table are cut into cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    /// At each of these bytes.
    At(u8),
    /// Where two spaces stand, or where the cell of the head begins.
    Spaces,
}

/// The head of a table.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    cut: Cut,
    cells: usize,
    /// The columns that hold secrets, each with where its head begins and ends.
    secret: Vec<(usize, Range<usize>)>,
}

/// The cells of such columns in the lines from `from` on, where a line begins, below `head`.
pub(super) fn find(text: &[u8], from: usize, head: Option<&Head>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    read(&text[from..], head.cloned(), |at, cell| found.push(from + at + cell.start..from + at + cell.end));
    found
}

/// The head of the table that is open at the end of `text`, which begins below `head`.
pub(crate) fn head_after(text: &[u8], head: Option<Head>) -> Option<Head> {
    read(text, head, |_, _| {})
}

/// Reads lines; `cell` is told of each secret, with where its line begins.
fn read(text: &[u8], mut head: Option<Head>, mut cell: impl FnMut(usize, Range<usize>)) -> Option<Head> {
    let mut start = 0;
    while start < text.len() {
        if head.is_none() {
            // No table is open: the next line that counts is one that may be a head.
            let word = start + HEAD_WORDS.find(&text[start..])?.start();
            start = memchr::memrchr(b'\n', &text[start..word]).map_or(start, |end| start + end + 1);
        }
        let end = memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |end| start + end + 1);
        let (at, line) = (start, text[start..end].trim_ascii_end());
        start = end;
        if let Some(new) = head_of(line) {
            head = Some(new);
            continue;
        }
        if line.is_empty() || is_rule(line) {
            // An empty line ends a table, a line of dashes belongs to it.
            head = head.filter(|_| !line.is_empty());
            continue;
        }
        let Some(table) = &head else { continue };
        match cells_of(line, table.cut, table) {
            Some(cells) => {
                cells.into_iter().filter(|found| is_secret(&line[found.clone()])).for_each(|found| cell(at, found));
            }
            None => head = None,
        }
    }
    head
}

/// A head has one of these; most texts have none.
static HEAD_WORDS: LazyLock<AhoCorasick> = LazyLock::new(head_words);

#[expect(clippy::expect_used, reason = "the words are constants, and every test of tables makes this")]
fn head_words() -> AhoCorasick {
    let words = ["assw", "ASSW", "ecret", "ECRET", "_key", "_KEY", "apikey", "passphrase", "pwd"];
    // The leftmost is what is found many bytes at a time.
    AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(words).expect("few short words")
}

/// The head a line is, when one of its cells is the name of a secret and each of them is a name.
fn head_of(line: &[u8]) -> Option<Head> {
    if line.len() > MAX_HEAD || !HEAD_WORDS.is_match(line) {
        return None;
    }
    let cuts = BETWEEN.iter().filter(|byte| line.contains(byte)).map(|byte| Cut::At(*byte)).chain([Cut::Spaces]);
    cuts.into_iter().find_map(|cut| {
        let cells = cut.cells(line);
        if cells.len() < 2 || !cells.iter().all(|cell| is_name(&line[cell.clone()])) {
            return None;
        }
        let secret = |cell: &Range<usize>| {
            let name = String::from_utf8_lossy(&line[cell.clone()]).into_owned();
            matches!(secret_name::of(&name), Some(Name::Secret | Name::Likely))
        };
        let secret: Vec<_> = cells.iter().cloned().enumerate().filter(|(_, cell)| secret(cell)).collect();
        (!secret.is_empty()).then_some(Head { cut, cells: cells.len(), secret })
    })
}

/// A few words without a mark that only values have.
fn is_name(cell: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_- ./#()".contains(byte) || !byte.is_ascii();
    cell.len() <= 48 && cell.iter().all(plain) && !cell.first().is_some_and(u8::is_ascii_digit)
}

/// The secret cells of a line below a head; nothing where it is no line of that table.
fn cells_of(line: &[u8], cut: Cut, head: &Head) -> Option<Vec<Range<usize>>> {
    let cells = cut.cells(line);
    if cut == Cut::Spaces {
        // A cell may be empty there: what counts is where it begins.
        let under = |column: &Range<usize>| {
            cells.iter().find(|cell| cell.start <= column.start && column.start < cell.end).cloned()
        };
        return (cells.len() > 1).then(|| head.secret.iter().filter_map(|(_, column)| under(column)).collect());
    }
    (cells.len() == head.cells).then(|| head.secret.iter().filter_map(|(at, _)| cells.get(*at).cloned()).collect())
}

/// A line between a head and what is below it.
fn is_rule(line: &[u8]) -> bool {
    line.iter().all(|byte| b"-+=|: ".contains(byte))
}

fn is_secret(cell: &[u8]) -> bool {
    let spaced = cell.contains(&b' ');
    cell.len() >= 4
        && !is_stand_in(cell)
        && if spaced { is_password(cell) } else { is_value(cell) || cell.len() >= 6 && is_password(cell) }
}

impl Cut {
    /// Where the cells of a line are, without spaces and quotes around them. Bars at both ends of a line are none of its own.
    fn cells(self, line: &[u8]) -> Vec<Range<usize>> {
        let mut cells = match self {
            Self::At(byte) => between(line, byte),
            Self::Spaces => apart(line),
        };
        if self == Self::At(b'|') {
            let outer = line.trim_ascii();
            if outer.starts_with(b"|") && !cells.is_empty() {
                cells.remove(0);
            }
            if outer.ends_with(b"|") {
                cells.pop();
            }
        }
        cells.into_iter().map(|cell| trimmed(line, cell)).collect()
    }
}

/// Cells between one byte; one within quotes is none that cuts.
fn between(line: &[u8], cut: u8) -> Vec<Range<usize>> {
    let (mut cells, mut start, mut quoted) = (Vec::new(), 0, false);
    for (at, byte) in line.iter().enumerate() {
        match *byte {
            b'"' => quoted = !quoted,
            byte if byte == cut && !quoted => {
                cells.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
    }
    cells.push(start..line.len());
    cells
}

/// Cells that two spaces or more hold apart.
fn apart(line: &[u8]) -> Vec<Range<usize>> {
    let (mut cells, mut start) = (Vec::new(), None);
    for (at, byte) in line.iter().enumerate() {
        let gap = *byte == b' ' && line.get(at + 1).is_none_or(|next| *next == b' ');
        match start {
            None if *byte != b' ' => start = Some(at),
            Some(begun) if gap => {
                cells.push(begun..at);
                start = None;
            }
            _ => {}
        }
    }
    cells.extend(start.map(|begun| begun..line.len()));
    cells
}

fn trimmed(line: &[u8], cell: Range<usize>) -> Range<usize> {
    let outer = |byte: &&u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`');
    let before = line[cell.clone()].iter().take_while(outer).count();
    let start = cell.start + before;
    let after = line[start..cell.end].iter().rev().take_while(outer).count();
    start..cell.end - after
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        find(text.as_bytes(), 0, None).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn cells_below_the_name_of_a_secret_are_secrets() {
        let secret = ["Tr0ub4dor,x9", "hunter2hunter2"];
        assert_eq!(found("user,password,role\nann,\"Tr0ub4dor,x9\",admin\nbob,hunter2hunter2,user\n"), secret);
        assert_eq!(found("| user | Password |\n|---|---|\n| ann | Tr0ub4dor-x9 |\n"), ["Tr0ub4dor-x9"]);
        assert_eq!(found(" id | db_password\n----+------\n  1 | Tr0ub4dor-x9\n(1 row)\n"), ["Tr0ub4dor-x9"]);
        assert_eq!(
            found("USER    PASSWORD       AGE\nann     Tr0ub4dor-x9   3d\nbob                    4d\n"),
            ["Tr0ub4dor-x9"]
        );
        assert_eq!(found("id\tapi_key\r\n1\tTr0ub4dor-x9\r\n"), ["Tr0ub4dor-x9"]);
    }

    #[test]
    fn what_is_no_table_has_no_columns() {
        for text in [
            "user,role\nann,Tr0ub4dor-x9\n",
            "please change user, password, and role\nann, Tr0ub4dor-x9\n",
            "user,password\n\nann,Tr0ub4dor-x9\n",
            "user,password\nann,null\nbob,********\n",
            "name  passwords\nann   17\n",
        ] {
            assert_eq!(found(text), [] as [&str; 0], "{text}");
        }
    }
}
