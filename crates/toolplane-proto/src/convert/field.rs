//! Reading and writing single fields: identifiers, instants, nested messages and lists.

use std::fmt::Display;
use std::str::FromStr;

use prost_types::Timestamp as WireTimestamp;
use toolplane_records::SmolStr;
use toolplane_records::ids::SurfaceId;
use toolplane_records::time::Timestamp;

use crate::convert::convert_error::ConvertError;

/// Reads a required identifier or digest.
///
/// Fails with a [`ConvertError`] when the text is empty or cannot be parsed.
pub fn id<T>(field: &str, text: &str) -> Result<T, ConvertError>
where
    T: FromStr,
    T::Err: Display,
{
    if text.is_empty() {
        return Err(ConvertError::missing(field));
    }
    text.parse().map_err(|error| ConvertError::new(field, error))
}

/// Reads an identifier or digest that is absent when empty.
///
/// Fails with a [`ConvertError`] when the text is not empty and cannot be parsed.
pub fn optional_id<T>(field: &str, text: &str) -> Result<Option<T>, ConvertError>
where
    T: FromStr,
    T::Err: Display,
{
    if text.is_empty() { Ok(None) } else { id(field, text).map(Some) }
}

/// Reads the surface a request is about: the default one of the tenant when empty.
///
/// Fails with a [`ConvertError`] when the text is not empty and no identifier.
pub fn surface(text: &str) -> Result<SurfaceId, ConvertError> {
    SurfaceId::named(text).map_err(|error| ConvertError::new("surface_id", error))
}

/// Reads a list of identifiers.
///
/// Fails with a [`ConvertError`] that names the first text that is empty or cannot be parsed, e.g. `field[2]`.
pub fn ids<T>(field: &str, texts: &[String]) -> Result<Vec<T>, ConvertError>
where
    T: FromStr,
    T::Err: Display,
{
    texts.iter().enumerate().map(|(at, text)| id(&format!("{field}[{at}]"), text)).collect()
}

/// Writes an identifier or digest that may be absent: empty when it is.
pub fn text<T: Display>(value: &Option<T>) -> String {
    value.as_ref().map_or_else(String::new, T::to_string)
}

/// Writes a list of identifiers.
pub fn texts<T: Display>(values: &[T]) -> Vec<String> {
    values.iter().map(T::to_string).collect()
}

/// Reads a nested message that must be there.
///
/// Fails with a [`ConvertError`] when there is no message, or when one of its fields is wrong: the error then names the
/// path of that field from `field` on.
pub fn required<M, R>(field: &str, message: Option<M>) -> Result<R, ConvertError>
where
    R: TryFrom<M, Error = ConvertError>,
{
    optional(field, message)?.ok_or_else(|| ConvertError::missing(field))
}

/// Reads a nested message that may be absent.
///
/// Fails with a [`ConvertError`] when there is a message and one of its fields is wrong; the error names the path of
/// that field from `field` on.
pub fn optional<M, R>(field: &str, message: Option<M>) -> Result<Option<R>, ConvertError>
where
    R: TryFrom<M, Error = ConvertError>,
{
    message.map(R::try_from).transpose().map_err(|error| error.within(field))
}

/// Reads a list of messages.
///
/// Fails with a [`ConvertError`] for the first message that has a wrong field; the error names its path, e.g.
/// `field[2].name`.
pub fn list<M, R>(field: &str, messages: Vec<M>) -> Result<Vec<R>, ConvertError>
where
    R: TryFrom<M, Error = ConvertError>,
{
    let read = |(at, message)| R::try_from(message).map_err(|error| error.within(&format!("{field}[{at}]")));
    messages.into_iter().enumerate().map(read).collect()
}

/// Writes a nested record that may be absent.
pub fn out<'a, R, M: From<&'a R>>(record: &'a Option<R>) -> Option<M> {
    record.as_ref().map(M::from)
}

/// Writes a list of records.
pub fn outs<'a, R, M: From<&'a R>>(records: &'a [R]) -> Vec<M> {
    records.iter().map(M::from).collect()
}

/// Writes an instant.
pub fn instant(at: Timestamp) -> Option<WireTimestamp> {
    let millis = at.as_millis();
    // The remainder is 0..1000, so its nanoseconds fit.
    let nanos = i32::try_from(millis.rem_euclid(1000) * 1_000_000).unwrap_or_default();
    Some(WireTimestamp { seconds: millis.div_euclid(1000), nanos })
}

/// Reads a required instant; parts of a millisecond are dropped.
///
/// Fails with a [`ConvertError`] when there is no instant, and as [`optional_time`] does.
pub fn time(field: &str, at: Option<WireTimestamp>) -> Result<Timestamp, ConvertError> {
    optional_time(field, at)?.ok_or_else(|| ConvertError::missing(field))
}

/// Reads an instant that may be absent; parts of a millisecond are dropped.
///
/// Fails with a [`ConvertError`] when the instant is not between the years -9999 and 9999, or its nanoseconds are not 0
/// to 999,999,999.
pub fn optional_time(field: &str, at: Option<WireTimestamp>) -> Result<Option<Timestamp>, ConvertError> {
    let Some(at) = at else { return Ok(None) };
    let millis = i64::from(at.nanos) / 1_000_000;
    match at.seconds.checked_mul(1000).and_then(|whole| whole.checked_add(millis)) {
        Some(whole) if (0..1_000_000_000).contains(&at.nanos) && Timestamp::from_millis(whole).as_millis() == whole => {
            Ok(Some(Timestamp::from_millis(whole)))
        }
        _ => Err(ConvertError::new(field, "is not an instant between the years -9999 and 9999")),
    }
}

/// Writes a text that may be absent, and says so.
pub fn maybe(text: &Option<SmolStr>) -> Option<String> {
    text.as_deref().map(str::to_owned)
}

/// Reads texts as records keep them.
pub fn kept(texts: Vec<String>) -> Vec<SmolStr> {
    texts.into_iter().map(SmolStr::from).collect()
}

/// Reads ports, which are at most 65535.
pub fn ports(field: &str, numbers: &[u32]) -> Result<Vec<u16>, ConvertError> {
    let port = |(at, number): (usize, &u32)| {
        u16::try_from(*number).map_err(|_| ConvertError::new(format!("{field}[{at}]"), "is above 65535"))
    };
    numbers.iter().enumerate().map(port).collect()
}

/// Reads the version of the standard: this one when left out.
pub fn version(text: &str) -> SmolStr {
    if text.is_empty() { toolplane_records::schema_version() } else { text.into() }
}
