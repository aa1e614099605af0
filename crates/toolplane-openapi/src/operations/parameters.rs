//! Parameters of one operation: those of its path, and its own in place of them.

use serde_json::{Map, Value};
use toolplane_records::credential::CredentialPlacement;
use toolplane_records::operation::{CredentialRequirement, OperationParameter, ParameterPlace, ParameterStyle};

use super::{Found, path};
use crate::document::Document;
use crate::error::{Fault, shown};
use crate::request::is_reserved_header;

/// A parameter, with what the document says of its values.
#[derive(Debug)]
pub(super) struct Parameter<'d> {
    /// How it is written; where it is in the input is decided later.
    pub(super) binding: OperationParameter,
    /// The schema of its values, and its place.
    pub(super) schema: Option<(&'d Value, String)>,
    pub(super) description: &'d str,
    pub(super) example: Option<&'d Value>,
    pub(super) deprecated: bool,
}

/// The parameters callers give, the path as it is asked for, and notes of what callers do not give.
pub(super) fn read<'d>(
    document: &'d Document,
    one: &Found<'d>,
    credentials: &[Vec<CredentialRequirement>],
) -> Result<(Vec<Parameter<'d>>, String, Vec<String>), Fault> {
    let mut all: Vec<Parameter<'d>> = Vec::new();
    let mut notes = Vec::new();
    let lists =
        [(one.item, format!("{}/parameters", one.item_place)), (one.members, format!("{}/parameters", one.place))];
    for (members, place) in lists {
        let Some(list) = members.get("parameters") else { continue };
        let Some(list) = list.as_array() else { return Err(Fault::at(place, "must be an array")) };
        for (index, value) in list.iter().enumerate() {
            let parameter = parameter(document, value, &format!("{place}/{index}"))?;
            let same = |other: &Parameter<'_>| {
                other.binding.place == parameter.binding.place && other.binding.name == parameter.binding.name
            };
            all.retain(|other| !same(other));
            all.push(parameter);
        }
    }
    let path = path::read(one, &mut all, &mut notes)?;
    all.retain(|parameter| {
        let binding = &parameter.binding;
        let reason = if binding.place == ParameterPlace::Header && is_reserved_header(&binding.name) {
            "is set by the platform"
        } else if is_credential(binding, credentials) {
            "is a credential"
        } else if binding.place == ParameterPlace::Path && !path.contains(&format!("{{{}}}", binding.name)) {
            "is not in the path"
        } else {
            return true;
        };
        notes.push(format!("the parameter `{}` {reason}, and is no input", shown(&binding.name)));
        false
    });
    let most = document.limits().max_parameters;
    if all.len() > most {
        return Err(Fault::at(&one.place, format!("has {} parameters; at most {most} are allowed", all.len())));
    }
    let whole = all.iter().filter(|parameter| parameter.binding.place == ParameterPlace::Querystring).count();
    let pairs = all.iter().any(|parameter| parameter.binding.place == ParameterPlace::Query);
    if whole > 1 || (whole == 1 && pairs) {
        return Err(Fault::at(&one.place, "has a parameter that is the whole query, and others in the query"));
    }
    Ok((all, path, notes))
}

fn is_credential(parameter: &OperationParameter, credentials: &[Vec<CredentialRequirement>]) -> bool {
    credentials.iter().flatten().any(|needed| match (&needed.placement, parameter.place) {
        (CredentialPlacement::Header { name, .. }, ParameterPlace::Header) => {
            name.eq_ignore_ascii_case(&parameter.name)
        }
        (CredentialPlacement::Query { name }, ParameterPlace::Query)
        | (CredentialPlacement::Cookie { name }, ParameterPlace::Cookie) => *name == parameter.name,
        _ => false,
    })
}

fn parameter<'d>(document: &'d Document, value: &'d Value, place: &str) -> Result<Parameter<'d>, Fault> {
    let (members, place) = document.follow(value, place)?;
    let text = |key: &str| members.get(key).and_then(Value::as_str);
    let flag = |key: &str| members.get(key).and_then(Value::as_bool);
    let Some(name) = text("name").filter(|name| !name.is_empty()) else {
        return Err(Fault::at(format!("{place}/name"), "is missing"));
    };
    let at = match text("in") {
        Some("path") => ParameterPlace::Path,
        Some("query") => ParameterPlace::Query,
        Some("querystring") => ParameterPlace::Querystring,
        Some("header") => ParameterPlace::Header,
        Some("cookie") => ParameterPlace::Cookie,
        other => {
            let rule =
                format!("is `{}`; known are path, query, querystring, header and cookie", shown(other.unwrap_or("")));
            return Err(Fault::at(format!("{place}/in"), rule));
        }
    };
    let style = style(text("style"), at, &place)?;
    let (media_type, schema) = content(members, &place);
    if at == ParameterPlace::Querystring && media_type.is_none() {
        return Err(Fault::at(format!("{place}/content"), "is missing"));
    }
    let in_form = matches!(style, ParameterStyle::Form | ParameterStyle::Cookie | ParameterStyle::DeepObject);
    let binding = OperationParameter {
        place: at,
        name: name.to_owned(),
        input: Vec::new(),
        required: at == ParameterPlace::Path || flag("required") == Some(true),
        style,
        explode: flag("explode").unwrap_or(in_form),
        allow_reserved: flag("allowReserved") == Some(true),
        media_type,
    };
    let examples = members.get("examples").and_then(Value::as_object).into_iter().flatten();
    let example = members.get("example").or_else(|| examples.filter_map(|(_, one)| one.get("value")).next());
    Ok(Parameter {
        binding,
        schema,
        description: text("description").unwrap_or_default(),
        example,
        deprecated: flag("deprecated") == Some(true),
    })
}

fn style(named: Option<&str>, at: ParameterPlace, place: &str) -> Result<ParameterStyle, Fault> {
    use ParameterPlace::{Cookie, Header, Path, Query, Querystring};
    let style = match (named, at) {
        (None, Path | Header) | (Some("simple"), Path | Header) => ParameterStyle::Simple,
        (None, Query | Querystring | Cookie) | (Some("form"), Query | Querystring | Cookie) => ParameterStyle::Form,
        (Some("matrix"), Path) => ParameterStyle::Matrix,
        (Some("label"), Path) => ParameterStyle::Label,
        (Some("spaceDelimited"), Query) => ParameterStyle::SpaceDelimited,
        (Some("pipeDelimited"), Query) => ParameterStyle::PipeDelimited,
        (Some("deepObject"), Query) => ParameterStyle::DeepObject,
        (Some("cookie"), Cookie) => ParameterStyle::Cookie,
        (Some(other), _) => {
            let rule = format!("is `{}`, which a parameter in this place cannot have", shown(other));
            return Err(Fault::at(format!("{place}/style"), rule));
        }
    };
    Ok(style)
}

/// The media type and schema of `content`, else the schema alone.
fn content<'d>(members: &'d Map<String, Value>, place: &str) -> (Option<String>, Option<(&'d Value, String)>) {
    let content = members.get("content").and_then(Value::as_object).and_then(|content| content.iter().next());
    match content {
        Some((kind, media)) => {
            let at = format!("{place}/content/{}/schema", super::pointer_token(kind));
            (Some(kind.clone()), media.get("schema").map(|schema| (schema, at)))
        }
        None => (None, members.get("schema").map(|schema| (schema, format!("{place}/schema")))),
    }
}
