//! Licence expressions (SPDX): names joined by `AND`, `OR`, `WITH` and brackets. `/` is an old way to write `OR`.

/// Whether what a package asks for can be met by licences that are allowed. Returns an error when the text is no expression.
pub(super) fn is_allowed(expression: &str, allowed: &[String]) -> Result<bool, String> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut reader = Reader { words: spaced.split_whitespace().collect(), at: 0, allowed };
    let met = reader.any()?;
    match reader.next() {
        None => Ok(met),
        Some(word) => Err(format!("`{word}` is one word too many")),
    }
}

struct Reader<'a> {
    words: Vec<&'a str>,
    at: usize,
    allowed: &'a [String],
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<&'a str> {
        self.at += 1;
        self.words.get(self.at - 1).copied()
    }

    /// Takes the next word when it is this one.
    fn takes(&mut self, word: &str) -> bool {
        let is = self.words.get(self.at) == Some(&word);
        self.at += usize::from(is);
        is
    }

    fn any(&mut self) -> Result<bool, String> {
        let mut met = self.all()?;
        while self.takes("OR") {
            met |= self.all()?;
        }
        Ok(met)
    }

    /// `AND` binds tighter than `OR`.
    fn all(&mut self) -> Result<bool, String> {
        let mut met = self.one()?;
        while self.takes("AND") {
            met &= self.one()?;
        }
        Ok(met)
    }

    fn one(&mut self) -> Result<bool, String> {
        if self.takes("(") {
            let met = self.any()?;
            return if self.takes(")") { Ok(met) } else { Err("a bracket is not closed".to_owned()) };
        }
        let name = self.next().filter(|word| !matches!(*word, "AND" | "OR" | "WITH" | ")"));
        let name = name.ok_or("a licence is missing")?;
        let whole = match self.takes("WITH") {
            true => format!("{name} WITH {}", self.next().ok_or("an exception is missing")?),
            false => name.to_owned(),
        };
        Ok(self.allowed.contains(&whole))
    }
}
