//! The fields of a line of the log, as text.

use std::fmt::{self, Write as _};

use tracing::field::{Field, Visit};
use tracing_subscriber::field::{RecordFields, VisitOutput as _};
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::format::{DefaultVisitor, Writer};

/// What most lines have room in.
const LINE_BYTES: usize = 512;

/// Writes the fields as they are written by default without colours, for a fraction of the cost where they are plain texts and numbers:
/// there is a line for each call and each decision.
#[derive(Debug)]
pub(super) struct PlainFields;

impl<'w> FormatFields<'w> for PlainFields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'w>, fields: R) -> fmt::Result {
        let plain = String::with_capacity(LINE_BYTES);
        let mut line = Line { writer, plain, is_empty: true, result: Ok(()) };
        fields.record(&mut line);
        line.flush();
        line.result
    }
}

struct Line<'w> {
    writer: Writer<'w>,
    /// What is not with the writer yet.
    plain: String,
    is_empty: bool,
    result: fmt::Result,
}

impl Line<'_> {
    fn flush(&mut self) {
        if self.result.is_ok() {
            self.result = self.writer.write_str(&self.plain);
        }
        self.plain.clear();
    }

    fn begin(&mut self) {
        if !self.is_empty {
            self.plain.push(' ');
        }
        self.is_empty = false;
    }

    /// Begins a field; false for one that is not written in the plain way.
    fn begin_plain(&mut self, field: &Field) -> bool {
        let name = field.name();
        if name == "message" || name.starts_with("log.") || name.starts_with("r#") {
            return false;
        }
        self.begin();
        self.plain.push_str(name);
        self.plain.push('=');
        true
    }

    fn number(&mut self, field: &Field, number: impl fmt::Display + fmt::Debug) {
        if self.begin_plain(field) {
            // Text takes all that is written to it.
            let _ = write!(self.plain, "{number}");
        } else {
            self.by_default(field, |visitor| visitor.record_debug(field, &number));
        }
    }

    fn by_default(&mut self, field: &Field, record: impl FnOnce(&mut DefaultVisitor<'_>)) {
        if field.name().starts_with("log.") {
            return;
        }
        self.begin();
        self.flush();
        if self.result.is_ok() {
            let mut visitor = DefaultVisitor::new(self.writer.by_ref(), true);
            record(&mut visitor);
            self.result = visitor.finish();
        }
    }
}

impl Visit for Line<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
        // All of it is looked at, many bytes at a time: nearly every text is plain.
        if value.bytes().fold(true, |so_far, byte| so_far & is_plain(byte)) && self.begin_plain(field) {
            self.plain.push('"');
            self.plain.push_str(value);
            self.plain.push('"');
        } else {
            self.by_default(field, |visitor| visitor.record_str(field, value));
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.number(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.number(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.number(field, value);
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.by_default(field, |visitor| visitor.record_error(field, value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.by_default(field, |visitor| visitor.record_debug(field, value));
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use parking_lot::Mutex;
    use tracing_subscriber::fmt::MakeWriter;
    use tracing_subscriber::fmt::format::DefaultFields;

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl<'a> MakeWriter<'a> for Lines {
        type Writer = Self;

        fn make_writer(&'a self) -> Self {
            self.clone()
        }
    }

    fn written<N>(fields: N, log: impl Fn()) -> String
    where
        N: for<'w> FormatFields<'w> + Send + Sync + 'static,
    {
        let lines = Lines::default();
        let subscriber =
            tracing_subscriber::fmt().without_time().with_ansi(false).with_writer(lines.clone()).fmt_fields(fields);
        tracing::subscriber::with_default(subscriber.finish(), log);
        String::from_utf8(lines.0.lock().clone()).unwrap()
    }

    #[derive(Debug, thiserror::Error)]
    #[error("it broke \u{1b}[31m")]
    struct Broke(#[source] io::Error);

    #[test]
    fn lines_are_what_they_are_by_default() {
        let log = || {
            let none: Option<&str> = None;
            let error = Broke(io::Error::other("below"));
            let span = tracing::info_span!("outer", name = "a b", count = 2_u64);
            let _entered = span.enter();
            tracing::info!(
                event = "done",
                none,
                text = "plain",
                number = 7_u64,
                less = -3_i64,
                is_so = true,
                rate = 0.5
            );
            tracing::warn!(
                quoted = "a\"b",
                slash = "a\\b",
                line = "a\nb\u{1b}[31m",
                umlaut = "größe",
                empty = "",
                "what"
            );
            tracing::error!(error = &error as &dyn std::error::Error, shown = %error, debugged = ?Some(1), "with\u{1b}[31m");
            tracing::info!(r#type = "word", r#fn = 1_u64);
            tracing::info!("only a message {}", 1);
            tracing::info!(message = "as a field", after = "x");
            span.record("count", 3_u64);
        };
        let (expected, told) = (written(DefaultFields::new(), log), written(PlainFields, log));
        assert_eq!(told, expected);
        assert_eq!(told.lines().count(), 6, "{told}");
        assert!(
            told.contains(r#"outer{name="a b" count=2}:"#) && told.contains(r#"text="plain" number=7 less=-3"#),
            "{told}"
        );
    }
}
