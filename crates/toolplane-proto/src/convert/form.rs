//! Forms: which one a request asks for, and what is answered.

use toolplane_forms as forms;

use crate::convert::ConvertError;
use crate::v1;
use crate::v1::formed::Body;

/// The form a request asks for in its field `form`; nothing where it asks for none. Fails with the field that is wrong.
pub fn asked(form: Option<v1::FormSpec>) -> Result<Option<forms::Asked>, ConvertError> {
    let Some(form) = form.filter(|form| *form != v1::FormSpec::default()) else { return Ok(None) };
    let v1::FormSpec { view, session_id, workspace_root, call_id } = form;
    let asked = forms::Asked::read(forms::Words { view, session_id, workspace_root, call_id });
    asked.map(Some).map_err(|bad| ConvertError::new(format!("form.{}", bad.field), bad.rule))
}

impl From<forms::Formed> for v1::Formed {
    fn from(formed: forms::Formed) -> Self {
        let body = match formed.body {
            forms::FormedBody::Json(json) => Body::Json((&json).into()),
            forms::FormedBody::Bytes(bytes) => Body::Binary(bytes),
        };
        Self { media_type: formed.media_type.to_owned(), body: Some(body) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_without_a_form_asks_for_none() {
        assert_eq!(asked(None), Ok(None));
        assert_eq!(asked(Some(v1::FormSpec::default())), Ok(None));
        let form = |view: &str| Some(v1::FormSpec { view: view.to_owned(), ..Default::default() });
        assert_eq!(asked(form("a2a")).unwrap().map(|asked| asked.view), Some(forms::View::A2a));
        assert_eq!(asked(form("xml")).unwrap_err().field, "form.view");
    }
}
