//! From a binding and an input to one HTTP request, as plain values.

mod body;
mod encode;
mod headers;
mod multipart;
mod style;
mod value;

use std::fmt;

use bytes::Bytes;
use toolplane_catalog::values::{invalid_binding, invalid_input};
use toolplane_records::error::ToolError;
use toolplane_records::operation::{OperationBinding, OperationParameter, ParameterPlace, ParameterStyle};
use toolplane_records::payload::JsonPayload;
use url::Url;

pub use headers::is_reserved_header;
use value::{Input, Piece};

/// Longest URL, in bytes.
const MAX_URL_BYTES: usize = 8192;

/// A request that may be sent once its credentials are put in.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// The method, in capitals.
    pub method: String,
    /// Where it goes: always below the server of the binding.
    pub url: Url,
    /// Headers in lower case, each once.
    pub headers: Vec<(String, String)>,
    /// The exact bytes of the body.
    pub body: Option<Bytes>,
}

impl fmt::Debug for HttpRequest {
    /// Queries, headers and bodies may hold secrets: only what goes where is shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        let body = self.body.as_ref().map_or(0, Bytes::len);
        write!(f, "HttpRequest({} {}, {headers:?}, {body} bytes)", self.method, self.url.origin().ascii_serialization())
    }
}

/// The request that `input` makes of an operation. Credentials are not in it: who sends it puts them in at the last moment.
///
/// `boundary` separates the parts of a multipart body: 1 to 70 letters and digits made by chance, so that no file can hold it.
///
/// # Errors
///
/// - [`INPUT_INVALID`](toolplane_records::codes::INPUT_INVALID), with the field, when a value cannot be written in the style
///   of its parameter, would leave its path segment, cannot stand in a header, is no base64, or a required one is missing.
/// - [`BINDING_INVALID`](toolplane_records::codes::BINDING_INVALID) when the binding itself makes no request.
pub fn request(binding: &OperationBinding, input: &JsonPayload, boundary: &str) -> Result<HttpRequest, Box<ToolError>> {
    let input = Input::read(input)?;
    let mut written = Written::default();
    for parameter in &binding.parameters {
        match input.at(&parameter.input)? {
            Some(value) => written.parameter(parameter, value)?,
            None if parameter.required => return Err(invalid_input(&parameter.input.join("."), "is missing")),
            None => {}
        }
    }
    let url = written.url(binding)?;
    let mut headers = written.headers;
    if !written.cookies.is_empty() {
        headers.push(("cookie".to_owned(), written.cookies.join("; ")));
    }
    let accept = if binding.accept.is_empty() { "*/*".to_owned() } else { binding.accept.join(", ") };
    headers.push(("accept".to_owned(), accept));
    let body = match &binding.body {
        Some(body) => body::write(body, &input, boundary)?,
        None => None,
    };
    if let Some((media_type, _)) = &body {
        headers.push(("content-type".to_owned(), media_type.clone()));
    }
    Ok(HttpRequest { method: binding.method.clone(), url, headers, body: body.map(|(_, bytes)| bytes) })
}

/// The parts of a request, as the parameters are gone through.
#[derive(Debug, Default)]
struct Written {
    /// Path expressions by name.
    path: Vec<(String, String)>,
    query: Vec<String>,
    headers: Vec<(String, String)>,
    cookies: Vec<String>,
}

impl Written {
    fn parameter(&mut self, parameter: &OperationParameter, value: value::At<'_>) -> Result<(), Box<ToolError>> {
        let piece = match &parameter.media_type {
            Some(kind) if parameter.place == ParameterPlace::Querystring => {
                return body::whole_query(kind, &value).map(|query| self.query.push(query));
            }
            Some(kind) => Piece::Text(body::as_text(kind, &value)?),
            None => value.piece(parameter.style == ParameterStyle::DeepObject)?,
        };
        match parameter.place {
            ParameterPlace::Path => {
                let segment = style::path(parameter, &piece).map_err(|rule| value.invalid(rule))?;
                self.path.push((parameter.name.clone(), segment));
            }
            ParameterPlace::Query | ParameterPlace::Querystring => {
                let shape = style::Shape::of(parameter);
                self.query.extend(style::pairs(&shape, &piece).map_err(|rule| value.invalid(rule))?);
            }
            ParameterPlace::Header => {
                let text = style::header(parameter.explode, &piece).map_err(|rule| value.invalid(rule))?;
                let name = parameter.name.to_ascii_lowercase();
                if !headers::is_name(&name) || is_reserved_header(&name) {
                    return Err(invalid_binding(format!("`{name}` is not a header that calls may set")));
                }
                if !headers::is_value(&text) {
                    return Err(
                        value.invalid("must hold no line break and nothing but visible ASCII characters".into())
                    );
                }
                self.headers.retain(|(other, _)| *other != name);
                self.headers.push((name, text));
            }
            ParameterPlace::Cookie => {
                self.cookies.extend(style::cookies(parameter, &piece).map_err(|rule| value.invalid(rule))?);
            }
        }
        Ok(())
    }

    /// The URL, proved to be the server, the path as it was expanded, and nothing else.
    fn url(&mut self, binding: &OperationBinding) -> Result<Url, Box<ToolError>> {
        let broken = |why: &str| invalid_binding(format!("the operation `{}` {why}", binding.operation));
        let mut path = String::new();
        let (mut rest, fixed) = binding.path.split_once('?').unwrap_or((binding.path.as_str(), ""));
        while let Some((before, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').ok_or_else(|| broken("has a `{` without `}` in its path"))?;
            let value = self.path.iter().find(|(other, _)| other == name);
            path.push_str(&encode::literal(before));
            path.push_str(&value.ok_or_else(|| broken("has no parameter for a part of its path"))?.1);
            rest = after;
        }
        path.push_str(&encode::literal(rest));
        if !path.starts_with('/') {
            return Err(broken("has a path that does not begin with `/`"));
        }
        if path.split('/').any(|segment| segment == "." || segment == "..") {
            return Err(invalid_input("", "makes a path segment of `.` or `..`"));
        }
        let server = Url::parse(&binding.server).map_err(|_| broken("has a server that is not a URL"))?;
        let expected = format!("{}{path}", server.path().trim_end_matches('/'));
        let mut text = format!("{}{path}", binding.server);
        if !fixed.is_empty() {
            self.query.insert(0, encode::literal(fixed));
        }
        if !self.query.is_empty() {
            text.push('?');
            text.push_str(&self.query.join("&"));
        }
        if text.len() > MAX_URL_BYTES {
            return Err(invalid_input("", format!("makes a URL longer than {MAX_URL_BYTES} bytes")));
        }
        let url = Url::parse(&text).map_err(|_| broken("makes no URL"))?;
        let same_place = url.origin() == server.origin()
            && url.host_str() == Some(&binding.allowed_host)
            && url.port_or_known_default() == Some(binding.allowed_port);
        if !same_place || url.path() != expected || url.fragment().is_some() {
            return Err(broken("makes a URL that leads elsewhere"));
        }
        Ok(url)
    }
}
