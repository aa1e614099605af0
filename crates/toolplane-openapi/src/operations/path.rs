//! The path of one operation: what of it callers give, and what is asked for each time.
//!
//! Paths of documents should be nothing but paths. Some have a query all the same: what is fixed there is a part of what is asked
//! for, and what is a place for a value is a parameter of the query.

use toolplane_records::operation::{OperationParameter, ParameterPlace, ParameterStyle};

use super::Found;
use super::parameters::Parameter;
use crate::error::{Fault, shown};

/// The path of the binding, with the pairs of its query that no caller gives. `all` gets the parameters that the document only
/// names in the path, and loses those that the path fixes.
pub(super) fn read(one: &Found<'_>, all: &mut Vec<Parameter<'_>>, notes: &mut Vec<String>) -> Result<String, Fault> {
    let (path, query) = one.asked_path().split_once('?').unwrap_or((one.asked_path(), ""));
    let mut fixed: Vec<&str> = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let place_of = value.strip_prefix('{').and_then(|value| value.strip_suffix('}'));
        if name.is_empty() || name.contains(['{', '}']) || place_of.unwrap_or(value).contains(['{', '}']) {
            let rule = format!("has the query `{}`, in which no value can be told from the rest", shown(query));
            return Err(Fault::at(&one.item_place, rule));
        }
        match place_of {
            Some(place) => in_query(name, place, all, notes),
            None => {
                all.retain(|one| !is(one, ParameterPlace::Query, name));
                fixed.push(pair);
            }
        }
    }
    in_path(one, path, all, notes)?;
    Ok(if fixed.is_empty() { path.to_owned() } else { format!("{path}?{}", fixed.join("&")) })
}

fn is(parameter: &Parameter<'_>, place: ParameterPlace, name: &str) -> bool {
    parameter.binding.place == place && parameter.binding.name == name
}

/// The parameter of a pair: that of the query, else the one the document says is in the path, else one that takes any value.
fn in_query(name: &str, place: &str, all: &mut Vec<Parameter<'_>>, notes: &mut Vec<String>) {
    if all.iter().any(|one| is(one, ParameterPlace::Query, name)) {
        return;
    }
    if let Some(one) = all.iter_mut().find(|one| is(one, ParameterPlace::Path, place)) {
        one.binding.place = ParameterPlace::Query;
        one.binding.name = name.to_owned();
        one.binding.style = ParameterStyle::Form;
        return;
    }
    notes.push(format!("the document does not describe `{}` of the query", shown(name)));
    all.push(undescribed(ParameterPlace::Query, name));
}

/// Every place of the path has a parameter: one that the document forgot takes any value.
fn in_path(one: &Found<'_>, path: &str, all: &mut Vec<Parameter<'_>>, notes: &mut Vec<String>) -> Result<(), Fault> {
    let place = &one.item_place;
    if !path.starts_with('/') {
        return Err(Fault::at(place, "must begin with `/`"));
    }
    let mut rest = path;
    while let Some((_, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else {
            return Err(Fault::at(place, "has a `{` without `}`"));
        };
        if name.is_empty() {
            return Err(Fault::at(place, "has a parameter without a name"));
        }
        if !all.iter().any(|one| is(one, ParameterPlace::Path, name)) {
            notes.push(format!("the document does not describe `{}` of the path", shown(name)));
            all.push(undescribed(ParameterPlace::Path, name));
        }
        rest = after;
    }
    Ok(())
}

fn undescribed<'d>(place: ParameterPlace, name: &str) -> Parameter<'d> {
    let in_path = place == ParameterPlace::Path;
    let binding = OperationParameter {
        place,
        name: name.to_owned(),
        input: Vec::new(),
        required: in_path,
        style: if in_path { ParameterStyle::Simple } else { ParameterStyle::Form },
        explode: !in_path,
        allow_reserved: false,
        media_type: None,
    };
    Parameter { binding, schema: None, description: "", example: None, deprecated: false }
}
