//! Columns for people.

use toolplane_records::visible;

/// Space between two columns.
const GAP: usize = 2;

/// Rows under a heading, aligned to the left.
pub(crate) struct Table {
    heading: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub(crate) fn new(heading: &[&'static str]) -> Self {
        Self { heading: heading.to_vec(), rows: Vec::new() }
    }

    /// Adds a row. A cell is one line, and spaces in a row count as one: none can look like the next column.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let clean = |cell: String| visible::line(&cell).split_whitespace().collect::<Vec<_>>().join(" ");
        self.rows.push(cells.into_iter().map(clean).collect());
    }

    /// Whether there is nothing below the heading.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The lines, heading first.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        let heading: Vec<String> = self.heading.iter().map(|&name| name.to_owned()).collect();
        let rows: Vec<&Vec<String>> = std::iter::once(&heading).chain(&self.rows).collect();
        let widths: Vec<usize> = (0..heading.len())
            .map(|column| {
                rows.iter().filter_map(|row| row.get(column)).map(|cell| console::measure_text_width(cell)).max()
            })
            .map(Option::unwrap_or_default)
            .collect();
        rows.into_iter().map(|row| aligned(row, &widths)).collect::<Vec<_>>().into_iter()
    }
}

fn aligned(row: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for (cell, width) in row.iter().zip(widths) {
        line.push_str(cell);
        let used = console::measure_text_width(cell);
        line.extend(std::iter::repeat_n(' ', width.saturating_sub(used) + GAP));
    }
    line.truncate(line.trim_end().len());
    line
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(&["ID", "TEXT"]);
        table.row(["a".to_owned(), "one\ntwo    three\u{202e}".to_owned()]);
        table.row(["höhe".to_owned(), String::new()]);
        let lines: Vec<String> = table.lines().collect();
        assert_eq!(lines, ["ID    TEXT", "a     one\\ntwo three\\u{202e}", "höhe"]);
    }
}
