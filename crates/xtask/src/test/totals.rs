//! Reading how many tests passed and failed from what the test runners print.

/// Tests that passed and failed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl Totals {
    /// Counts a line when it is the summary of a run: of nextest, or of one binary of `cargo test`.
    pub(crate) fn count(&mut self, line: &str) {
        let line = without_colors(line);
        // What nextest shows of a test that failed is indented, and is in its own summary already.
        let is_summary = line.trim_start().starts_with("Summary [") || line.starts_with("test result:");
        if is_summary {
            self.passed += number_before(&line, " passed");
            self.failed += number_before(&line, " failed") + number_before(&line, " timed out");
        }
    }

    /// Adds the counts of another run.
    pub(crate) fn add(&mut self, other: &Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

fn number_before(line: &str, word: &str) -> u64 {
    let Some(end) = line.find(word) else { return 0 };
    let digits = line[..end].chars().rev().take_while(char::is_ascii_digit).count();
    line[end - digits..end].parse().unwrap_or_default()
}

fn without_colors(line: &str) -> String {
    let mut clean = String::new();
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => characters.by_ref().take_while(|end| *end != 'm').for_each(drop),
            other => clean.push(other),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::Totals;

    #[track_caller]
    fn check(line: &str, passed: u64, failed: u64) {
        let mut totals = Totals::default();
        totals.count(line);
        assert_eq!(totals, Totals { passed, failed });
    }

    #[test]
    fn summaries_are_counted() {
        check("     Summary [   0.312s] 41 tests run: 39 passed (1 slow), 2 failed, 0 skipped", 39, 2);
        check(
            "\u{1b}[32;1m     Summary\u{1b}[0m [  1s] \u{1b}[1m3\u{1b}[0m tests run: \u{1b}[1m3\u{1b}[0m \u{1b}[32;1mpassed\u{1b}[0m",
            3,
            0,
        );
        check(
            "test result: FAILED. 12 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            12,
            3,
        );
        check(
            "    test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 9 filtered out; finished in 1s",
            0,
            0,
        );
    }

    #[test]
    fn other_lines_are_not() {
        check("        PASS [   0.004s] xtask test::totals::tests::3 passed", 0, 0);
    }
}
