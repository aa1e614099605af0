//! The styles of OpenAPI: how a text, a list or an object becomes a part of a URL, a header or a cookie.

use toolplane_records::operation::{BodyPart, OperationParameter, ParameterStyle};

use super::encode;
use super::value::Piece;

type Rule = String;

/// How pairs of a query, or of a form, are written.
#[derive(Clone, Copy)]
pub(super) struct Shape<'a> {
    pub(super) name: &'a str,
    pub(super) style: ParameterStyle,
    pub(super) explode: bool,
    pub(super) encode: fn(&str, bool) -> String,
    pub(super) allow_reserved: bool,
}

impl<'a> Shape<'a> {
    /// That of a parameter in the query.
    pub(super) fn of(parameter: &'a OperationParameter) -> Self {
        Self {
            name: &parameter.name,
            style: parameter.style,
            explode: parameter.explode,
            encode: encode::query,
            allow_reserved: parameter.allow_reserved,
        }
    }

    /// That of a field in a form.
    pub(super) fn of_field(part: &'a BodyPart, style: ParameterStyle) -> Self {
        let encode = |text: &str, _: bool| encode::form(text);
        Self { name: &part.name, style, explode: part.explode, encode, allow_reserved: false }
    }

    fn value(&self, text: &str) -> String {
        (self.encode)(text, self.allow_reserved)
    }

    fn key(&self, text: &str) -> String {
        (self.encode)(text, false)
    }
}

/// `name=value` pairs, as many as the style makes.
pub(super) fn pairs(shape: &Shape<'_>, piece: &Piece) -> Result<Vec<String>, Rule> {
    let name = shape.key(shape.name);
    let one = |text: String| vec![format!("{name}={text}")];
    let joined =
        |delimiter: &str, texts: Vec<String>| if texts.is_empty() { Vec::new() } else { one(texts.join(delimiter)) };
    // Only a space and a bar are encoded as such; commas between values are not.
    let delimiter = match shape.style {
        ParameterStyle::SpaceDelimited => "%20",
        ParameterStyle::PipeDelimited => "%7C",
        _ => ",",
    };
    Ok(match piece {
        Piece::Text(text) => one(shape.value(text)),
        Piece::List(texts) if shape.explode => texts.iter().flat_map(|text| one(shape.value(text))).collect(),
        Piece::List(texts) => joined(delimiter, texts.iter().map(|text| shape.value(text)).collect()),
        Piece::Map(members) if shape.explode && shape.style == ParameterStyle::Form => {
            members.iter().map(|(member, text)| format!("{}={}", shape.key(member), shape.value(text))).collect()
        }
        Piece::Map(members) => {
            let texts = members.iter().flat_map(|(member, text)| [shape.key(member), shape.value(text)]);
            joined(delimiter, texts.collect())
        }
        Piece::Deep(members) => {
            let pair = |(path, text): &(String, String)| {
                format!("{}={}", shape.key(&format!("{}{path}", shape.name)), shape.value(text))
            };
            members.iter().map(pair).collect()
        }
    })
}

/// One expression of a path. It is never empty, and never more than what it stands for.
pub(super) fn path(parameter: &OperationParameter, piece: &Piece) -> Result<String, Rule> {
    let value = |text: &str| encode::path(text, parameter.allow_reserved);
    let name = encode::path(&parameter.name, false);
    let prefix = match parameter.style {
        ParameterStyle::Label => ".",
        ParameterStyle::Matrix => ";",
        _ => "",
    };
    let matrix = parameter.style == ParameterStyle::Matrix;
    let between = match (parameter.style, parameter.explode) {
        (ParameterStyle::Label, true) => ".",
        (ParameterStyle::Matrix, true) => ";",
        _ => ",",
    };
    let named = |texts: Vec<String>| match matrix {
        true if parameter.explode => texts.iter().map(|text| format!("{name}={text}")).collect(),
        true => vec![format!("{name}={}", texts.join(","))],
        false => texts,
    };
    let texts: Vec<String> = match piece {
        Piece::Text(text) if text.is_empty() => return Err("must not be empty: it is a part of the path".to_owned()),
        Piece::Text(text) if matrix => vec![format!("{name}={}", value(text))],
        Piece::Text(text) => vec![value(text)],
        Piece::List(texts) => named(texts.iter().map(|text| value(text)).collect()),
        Piece::Map(members) if parameter.explode => {
            members.iter().map(|(member, text)| format!("{}={}", value(member), value(text))).collect()
        }
        Piece::Map(members) => {
            let texts: Vec<String> = members.iter().flat_map(|(member, text)| [value(member), value(text)]).collect();
            if matrix { vec![format!("{name}={}", texts.join(","))] } else { texts }
        }
        Piece::Deep(_) => return Err("is nested deeper than a path can say".to_owned()),
    };
    let written = texts.join(between);
    let is_empty = match piece {
        Piece::List(texts) => texts.is_empty(),
        Piece::Map(members) | Piece::Deep(members) => members.is_empty(),
        Piece::Text(_) => false,
    };
    if is_empty || written.is_empty() {
        return Err("must not be empty: it is a part of the path".to_owned());
    }
    let written = format!("{prefix}{written}");
    if written == "." || written == ".." {
        return Err("must not be `.` or `..`: it is a part of the path".to_owned());
    }
    Ok(written)
}

/// The value of a header; nothing in it is encoded.
pub(super) fn header(explode: bool, piece: &Piece) -> Result<String, Rule> {
    Ok(match piece {
        Piece::Text(text) => text.clone(),
        Piece::List(texts) => texts.join(","),
        Piece::Map(members) => {
            let between = if explode { "=" } else { "," };
            let texts: Vec<String> = members.iter().map(|(member, text)| format!("{member}{between}{text}")).collect();
            texts.join(",")
        }
        Piece::Deep(_) => return Err("is nested deeper than a header can say".to_owned()),
    })
}

/// Cookies, `name=value` each.
pub(super) fn cookies(parameter: &OperationParameter, piece: &Piece) -> Result<Vec<String>, Rule> {
    if parameter.style != ParameterStyle::Cookie {
        return pairs(&Shape::of(parameter), piece);
    }
    let shape = Shape { encode: |text, _| text.to_owned(), ..Shape::of(parameter) };
    let shape = Shape { style: ParameterStyle::Form, ..shape };
    let cookies = pairs(&shape, piece)?;
    let plain = |c: char| c.is_ascii_graphic() && !matches!(c, ';' | '"' | '\\');
    match cookies.iter().all(|cookie| cookie.chars().all(plain)) {
        true => Ok(cookies),
        false => Err("must hold only visible ASCII characters without `;`, `\"` and `\\`".to_owned()),
    }
}
