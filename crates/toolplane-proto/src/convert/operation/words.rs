//! The words of operations and their numbers.

use toolplane_records::operation as records;

use crate::convert::ConvertError;
use crate::v1;

pub(super) fn place_number(place: records::ParameterPlace) -> i32 {
    use records::ParameterPlace as P;
    match place {
        P::Path => v1::ParameterPlace::Path.into(),
        P::Query => v1::ParameterPlace::Query.into(),
        P::Querystring => v1::ParameterPlace::Querystring.into(),
        P::Header => v1::ParameterPlace::Header.into(),
        P::Cookie => v1::ParameterPlace::Cookie.into(),
    }
}

pub(super) fn place(number: i32) -> Result<records::ParameterPlace, ConvertError> {
    use records::ParameterPlace as P;
    Ok(match v1::ParameterPlace::try_from(number) {
        Ok(v1::ParameterPlace::Path) => P::Path,
        Ok(v1::ParameterPlace::Query) => P::Query,
        Ok(v1::ParameterPlace::Querystring) => P::Querystring,
        Ok(v1::ParameterPlace::Header) => P::Header,
        Ok(v1::ParameterPlace::Cookie) => P::Cookie,
        Ok(v1::ParameterPlace::Unspecified) => return Err(ConvertError::missing("place")),
        Err(_) => return Err(unknown("place", number)),
    })
}

pub(super) fn style_number(style: records::ParameterStyle) -> i32 {
    use records::ParameterStyle as S;
    match style {
        S::Matrix => v1::ParameterStyle::Matrix.into(),
        S::Label => v1::ParameterStyle::Label.into(),
        S::Simple => v1::ParameterStyle::Simple.into(),
        S::Form => v1::ParameterStyle::Form.into(),
        S::SpaceDelimited => v1::ParameterStyle::SpaceDelimited.into(),
        S::PipeDelimited => v1::ParameterStyle::PipeDelimited.into(),
        S::DeepObject => v1::ParameterStyle::DeepObject.into(),
        S::Cookie => v1::ParameterStyle::Cookie.into(),
    }
}

pub(super) fn style(number: i32) -> Result<Option<records::ParameterStyle>, ConvertError> {
    use records::ParameterStyle as S;
    Ok(Some(match v1::ParameterStyle::try_from(number) {
        Ok(v1::ParameterStyle::Unspecified) => return Ok(None),
        Ok(v1::ParameterStyle::Matrix) => S::Matrix,
        Ok(v1::ParameterStyle::Label) => S::Label,
        Ok(v1::ParameterStyle::Simple) => S::Simple,
        Ok(v1::ParameterStyle::Form) => S::Form,
        Ok(v1::ParameterStyle::SpaceDelimited) => S::SpaceDelimited,
        Ok(v1::ParameterStyle::PipeDelimited) => S::PipeDelimited,
        Ok(v1::ParameterStyle::DeepObject) => S::DeepObject,
        Ok(v1::ParameterStyle::Cookie) => S::Cookie,
        Err(_) => return Err(unknown("style", number)),
    }))
}

pub(super) fn encoding_number(encoding: records::BodyEncoding) -> i32 {
    use records::BodyEncoding as E;
    match encoding {
        E::Json => v1::BodyEncoding::Json.into(),
        E::Form => v1::BodyEncoding::Form.into(),
        E::Multipart => v1::BodyEncoding::Multipart.into(),
        E::Text => v1::BodyEncoding::Text.into(),
        E::Bytes => v1::BodyEncoding::Bytes.into(),
    }
}

pub(super) fn encoding(number: i32) -> Result<records::BodyEncoding, ConvertError> {
    use records::BodyEncoding as E;
    Ok(match v1::BodyEncoding::try_from(number) {
        Ok(v1::BodyEncoding::Json) => E::Json,
        Ok(v1::BodyEncoding::Form) => E::Form,
        Ok(v1::BodyEncoding::Multipart) => E::Multipart,
        Ok(v1::BodyEncoding::Text) => E::Text,
        Ok(v1::BodyEncoding::Bytes) => E::Bytes,
        Ok(v1::BodyEncoding::Unspecified) => return Err(ConvertError::missing("encoding")),
        Err(_) => return Err(unknown("encoding", number)),
    })
}

fn unknown(field: &str, number: i32) -> ConvertError {
    ConvertError::new(field, format!("has the unknown value {number}"))
}
