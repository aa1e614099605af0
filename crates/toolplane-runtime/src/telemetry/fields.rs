//! The fields of a line of the log, as text.

use std::error::Error;
use std::fmt::{self, Write as _};

use toolplane_records::visible;
use tracing::field::{Field, Visit};
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::format::Writer;

/// What most lines have room in.
const LINE_BYTES: usize = 512;
/// How names and what is beside them look where there are colours.
const ITALIC: &str = "\u{1b}[3m";
const DIMMED: &str = "\u{1b}[2m";
const RESET: &str = "\u{1b}[0m";

/// Writes fields in one line, in which no value can act and no two values look alike: what would act is spelled out (`\n`, `\u{2028}`), and a
/// backslash of a value is doubled. Where values are plain texts and numbers that costs next to nothing: there is a line for each
/// call and each decision.
#[derive(Debug)]
pub(super) struct TextFields;

impl<'w> FormatFields<'w> for TextFields {
    fn format_fields<R: RecordFields>(&self, mut writer: Writer<'w>, fields: R) -> fmt::Result {
        let mut line = Line { text: String::with_capacity(LINE_BYTES), colours: writer.has_ansi_escapes() };
        fields.record(&mut line);
        writer.write_str(&line.text)
    }
}

struct Line {
    text: String,
    colours: bool,
}

impl Line {
    /// Begins a field; false for one that is not written.
    fn begin(&mut self, field: &Field) -> bool {
        let name = field.name();
        // What another crate's macros know of a line; it is in the line already.
        if name.starts_with("log.") {
            return false;
        }
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        if name != "message" {
            self.name(name.strip_prefix("r#").unwrap_or(name), "");
        }
        true
    }

    /// A name and what stands between it and its value.
    fn name(&mut self, name: &str, more: &str) {
        let [italic, dimmed, reset] = if self.colours { [ITALIC, DIMMED, RESET] } else { [""; 3] };
        self.text.extend([italic, name, reset]);
        if !more.is_empty() {
            self.text.extend([italic, more, reset]);
        }
        self.text.extend([dimmed, "=", reset]);
    }

    /// A value that says itself how it looks.
    fn shown(&mut self, value: fmt::Arguments<'_>) {
        let begin = self.text.len();
        // Text takes all that is written to it; a value that fails is written as far as it came.
        let _ = self.text.write_fmt(value);
        if !is_plain(&self.text[begin..], b'\\') {
            let value = self.text.split_off(begin);
            self.text.push_str(&visible::line(&value.replace('\\', "\\\\")));
        }
    }
}

/// Whether a text has nothing to spell out and not this either. All of it is looked at, many bytes at a time: nearly every text is plain.
fn is_plain(text: &str, but: u8) -> bool {
    text.bytes().fold(true, |so_far, byte| so_far & matches!(byte, b' '..=b'~') & (byte != but) & (byte != b'\\'))
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            return self.record_debug(field, &format_args!("{value}"));
        }
        if !self.begin(field) {
            return;
        }
        if is_plain(value, b'"') {
            self.text.push('"');
            self.text.push_str(value);
            self.text.push('"');
        } else {
            // Quotes and backslashes are escaped by this, and all that does not print.
            let _ = write!(self.text, "{value:?}");
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        if self.begin(field) {
            let _ = write!(self.text, "{value}");
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        if self.begin(field) {
            let _ = write!(self.text, "{value}");
        }
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        if self.begin(field) {
            self.text.push_str(if value { "true" } else { "false" });
        }
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        if !self.begin(field) {
            return;
        }
        self.shown(format_args!("{value}"));
        let mut source = value.source();
        if source.is_none() {
            return;
        }
        self.text.push(' ');
        self.name(field.name(), ".sources");
        let mut before = "[";
        while let Some(error) = source {
            self.text.push_str(before);
            self.shown(format_args!("{error}"));
            (source, before) = (error.source(), ", ");
        }
        self.text.push(']');
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if self.begin(field) {
            self.shown(format_args!("{value:?}"));
        }
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

    fn written<N>(fields: N, colours: bool, log: impl Fn()) -> String
    where
        N: for<'w> FormatFields<'w> + Send + Sync + 'static,
    {
        let lines = Lines::default();
        let subscriber =
            tracing_subscriber::fmt().without_time().with_ansi(colours).with_writer(lines.clone()).fmt_fields(fields);
        tracing::subscriber::with_default(subscriber.finish(), log);
        String::from_utf8(lines.0.lock().clone()).unwrap()
    }

    #[derive(Debug, thiserror::Error)]
    #[error("it broke")]
    struct Broke(#[source] io::Error);

    #[test]
    fn plain_lines_are_what_they_are_by_default() {
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
            tracing::error!(error = &error as &dyn Error, shown = %error, debugged = ?Some("x"), "with größe");
            tracing::info!(r#type = "word", r#fn = 1_u64);
            tracing::info!("only a message {}", 1);
            tracing::info!(message = "as a field", after = "x");
            span.record("count", 3_u64);
        };
        let (expected, told) = (written(DefaultFields::new(), false, log), written(TextFields, false, log));
        assert_eq!(told, expected);
        assert_eq!(told.lines().count(), 6, "{told}");
        assert!(
            told.contains(r#"outer{name="a b" count=2}:"#) && told.contains(r#"text="plain" number=7 less=-3"#),
            "{told}"
        );
        let expected = written(DefaultFields::new(), true, log);
        assert_eq!(written(TextFields, true, log), expected, "with colours too");
    }

    /// The values that are told in one line, as each way to give a value to a line tells them.
    fn told(value: &str) -> [String; 4] {
        let error = Broke(io::Error::other(value.to_owned()));
        let lines = written(TextFields, false, || {
            tracing::info!(x = value);
            tracing::info!(x = %value);
            tracing::info!("{value}");
            tracing::info!(x = &error as &dyn Error);
        });
        let lines: Vec<String> = lines.lines().map(str::to_owned).collect();
        lines.try_into().unwrap_or_else(|lines| panic!("{value:?} begins a line of its own: {lines:?}"))
    }

    #[test]
    fn no_two_values_look_alike_and_none_acts() {
        let values = [
            "b\u{2028}c",
            r"b\u{2028}c",
            r"b\\u{2028}c",
            "b\nc",
            r"b\nc",
            "b\u{1b}[31mc",
            r"b\u{1b}[31mc",
            "b\tc",
            "b\u{7f}c",
        ];
        for way in 0..4 {
            let lines: std::collections::BTreeSet<String> =
                values.iter().map(|value| told(value)[way].clone()).collect();
            assert_eq!(lines.len(), values.len(), "{lines:#?}");
            assert!(lines.iter().all(|line| !line.chars().any(|c| c.is_control() || c == '\u{2028}')), "{lines:?}");
        }
        let [quoted, shown, message, error] = told("b\u{2028}c");
        assert!(quoted.ends_with(r#"x="b\u{2028}c""#) && shown.ends_with(r"x=b\u{2028}c"), "{quoted} {shown}");
        assert!(
            message.ends_with(r" b\u{2028}c") && error.ends_with(r"x=it broke x.sources=[b\u{2028}c]"),
            "{message} {error}"
        );
        assert!(told(r"b\u{2028}c")[1].ends_with(r"x=b\\u{2028}c"));
    }
}
