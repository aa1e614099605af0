//! How lines of the log look: text for people, or one JSON object each.

use std::io::{self, Write};
use std::sync::Arc;

use parking_lot::Mutex;
use toolplane_records::visible;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, Registry};

use super::fields::TextFields;
use crate::config::LogFormat;

/// Lines in this format, to `out`, each in one piece. `colours` are for text.
pub(super) fn layer<S, W>(format: LogFormat, colours: bool, out: W) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let layer = tracing_subscriber::fmt::layer().log_internal_errors(false);
    match format {
        LogFormat::Text => layer.with_ansi(colours).fmt_fields(TextFields).with_writer(out).boxed(),
        LogFormat::Json => layer.json().flatten_event(true).with_writer(JsonLines(out)).boxed(),
    }
}

/// What `log` logs, as the lines it would be whatever is filtered.
pub(super) fn rendered(format: LogFormat, log: impl FnOnce()) -> Vec<u8> {
    let lines = Lines::default();
    tracing::subscriber::with_default(Registry::default().with(layer(format, false, lines.clone())), log);
    std::mem::take(&mut *lines.0.lock())
}

/// Lines of JSON: what would act where they are shown, or end a line for some reader (`U+2028`), is written with the escapes of JSON. The
/// values stay what they are.
struct JsonLines<W>(W);

struct JsonLine<W>(W);

impl<'a, W: MakeWriter<'a>> MakeWriter<'a> for JsonLines<W> {
    type Writer = JsonLine<W::Writer>;

    fn make_writer(&'a self) -> Self::Writer {
        JsonLine(self.0.make_writer())
    }

    fn make_writer_for(&'a self, line: &Metadata<'_>) -> Self::Writer {
        JsonLine(self.0.make_writer_for(line))
    }
}

impl<W: Write> Write for JsonLine<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match std::str::from_utf8(line) {
            Ok(text) => self.0.write_all(visible::json(text).as_bytes())?,
            Err(_) => self.0.write_all(line)?,
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Lines that are kept.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.lock().write(line)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Lines {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_value_in_json_is_told_exactly_and_by_escapes_of_json_alone() {
        for value in ["b\u{2028}c", r"b\u{2028}c", r"b\u2028c", "b\u{85}\u{1b}[31m\n\u{202e}c", "größe 😀", "\u{e0041}"]
        {
            let span = || tracing::info_span!("outer", of = value);
            let line = rendered(LogFormat::Json, || {
                let _entered = span().entered();
                tracing::info!(text = value, shown = %value, "{value}");
            });
            let text = String::from_utf8(line).unwrap();
            assert!(text.ends_with("}\n"), "{text}");
            let acts = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{202e}' | '\u{e0041}');
            assert!(!text.trim_end().chars().any(acts), "{text}");
            let told: Value = serde_json::from_str(&text).unwrap();
            for told in [&told["text"], &told["shown"], &told["message"], &told["span"]["of"]] {
                assert_eq!(told, value, "{text}");
            }
        }
        let told = rendered(LogFormat::Json, || tracing::info!(text = "b\u{2028}c"));
        assert!(String::from_utf8(told).unwrap().contains(r#""text":"b\u2028c""#));
    }

    #[test]
    fn a_line_of_text_is_one_line() {
        let told = rendered(LogFormat::Text, || tracing::warn!(text = "b\u{2028}c", "a\nb"));
        let told = String::from_utf8(told).unwrap();
        assert!(told.contains(" WARN ") && told.ends_with("a\\nb text=\"b\\u{2028}c\"\n"), "{told}");
    }
}
