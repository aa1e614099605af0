//! Operations of HTTP APIs.

mod words;

use toolplane_records::operation as records;

use crate::convert::{ConvertError, field};
use crate::v1;
use crate::v1::token_source::Source;

impl From<&records::OperationBinding> for v1::OperationBinding {
    fn from(record: &records::OperationBinding) -> Self {
        let way = |way: &Vec<records::CredentialRequirement>| v1::CredentialWay { needed: field::outs(way) };
        Self {
            operation: record.operation.clone(),
            method: record.method.clone(),
            server: record.server.clone(),
            path: record.path.clone(),
            parameters: field::outs(&record.parameters),
            body: field::out(&record.body),
            credentials: record.credentials.iter().map(way).collect(),
            accept: record.accept.clone(),
            response_schema: record.response_schema.clone(),
            allowed_host: record.allowed_host.clone(),
            allowed_port: record.allowed_port.into(),
            idempotent: record.idempotent,
            max_response_bytes: record.max_response_bytes,
        }
    }
}

impl TryFrom<v1::OperationBinding> for records::OperationBinding {
    type Error = ConvertError;

    fn try_from(message: v1::OperationBinding) -> Result<Self, ConvertError> {
        let way = |(at, way): (usize, v1::CredentialWay)| field::list(&format!("credentials[{at}].needed"), way.needed);
        let port = u16::try_from(message.allowed_port);
        Ok(Self {
            operation: message.operation,
            method: message.method,
            server: message.server,
            path: message.path,
            parameters: field::list("parameters", message.parameters)?,
            body: field::optional("body", message.body)?,
            credentials: message.credentials.into_iter().enumerate().map(way).collect::<Result<_, _>>()?,
            accept: message.accept,
            response_schema: message.response_schema,
            allowed_host: message.allowed_host,
            allowed_port: port.map_err(|_| ConvertError::new("allowed_port", "is above 65535"))?,
            idempotent: message.idempotent,
            max_response_bytes: message.max_response_bytes,
        })
    }
}

impl From<&records::OperationParameter> for v1::OperationParameter {
    fn from(record: &records::OperationParameter) -> Self {
        Self {
            place: words::place_number(record.place),
            name: record.name.clone(),
            input: record.input.clone(),
            required: record.required,
            style: words::style_number(record.style),
            explode: record.explode,
            allow_reserved: record.allow_reserved,
            media_type: record.media_type.clone(),
        }
    }
}

impl TryFrom<v1::OperationParameter> for records::OperationParameter {
    type Error = ConvertError;

    fn try_from(message: v1::OperationParameter) -> Result<Self, ConvertError> {
        Ok(Self {
            place: words::place(message.place)?,
            name: message.name,
            input: message.input,
            required: message.required,
            style: words::style(message.style)?.ok_or_else(|| ConvertError::missing("style"))?,
            explode: message.explode,
            allow_reserved: message.allow_reserved,
            media_type: message.media_type,
        })
    }
}

impl From<&records::OperationBody> for v1::OperationBody {
    fn from(record: &records::OperationBody) -> Self {
        Self {
            media_type: record.media_type.clone(),
            encoding: words::encoding_number(record.encoding),
            required: record.required,
            input: record.input.clone(),
            parts: field::outs(&record.parts),
        }
    }
}

impl TryFrom<v1::OperationBody> for records::OperationBody {
    type Error = ConvertError;

    fn try_from(message: v1::OperationBody) -> Result<Self, ConvertError> {
        Ok(Self {
            media_type: message.media_type,
            encoding: words::encoding(message.encoding)?,
            required: message.required,
            input: message.input,
            parts: field::list("parts", message.parts)?,
        })
    }
}

impl From<&records::BodyPart> for v1::BodyPart {
    fn from(record: &records::BodyPart) -> Self {
        Self {
            name: record.name.clone(),
            field: record.field.clone(),
            style: record.style.map_or(0, words::style_number),
            explode: record.explode,
            media_type: record.media_type.clone(),
            file: record.file,
        }
    }
}

impl TryFrom<v1::BodyPart> for records::BodyPart {
    type Error = ConvertError;

    fn try_from(message: v1::BodyPart) -> Result<Self, ConvertError> {
        Ok(Self {
            name: message.name,
            field: message.field,
            style: words::style(message.style)?,
            explode: message.explode,
            media_type: message.media_type,
            file: message.file,
        })
    }
}

impl From<&records::CredentialRequirement> for v1::CredentialRequirement {
    fn from(record: &records::CredentialRequirement) -> Self {
        Self {
            scheme: record.scheme.clone(),
            placement: Some((&record.placement).into()),
            source: field::out(&record.source),
            scopes: record.scopes.clone(),
            credential: record.credential.clone(),
            field: record.field.clone(),
        }
    }
}

impl TryFrom<v1::CredentialRequirement> for records::CredentialRequirement {
    type Error = ConvertError;

    fn try_from(message: v1::CredentialRequirement) -> Result<Self, ConvertError> {
        Ok(Self {
            scheme: message.scheme,
            placement: field::required("placement", message.placement)?,
            source: field::optional("source", message.source)?,
            scopes: message.scopes,
            credential: message.credential,
            field: message.field,
        })
    }
}

impl From<&records::TokenSource> for v1::TokenSource {
    fn from(record: &records::TokenSource) -> Self {
        let source = match record {
            records::TokenSource::ClientCredentials { token_url } => Source::ClientCredentials(token_url.clone()),
            records::TokenSource::OpenIdConnect { url } => Source::OpenIdConnect(url.clone()),
            records::TokenSource::Given => Source::Given(true),
        };
        Self { source: Some(source) }
    }
}

impl TryFrom<v1::TokenSource> for records::TokenSource {
    type Error = ConvertError;

    fn try_from(message: v1::TokenSource) -> Result<Self, ConvertError> {
        let missing = || ConvertError::missing("client_credentials, open_id_connect or given");
        Ok(match message.source.ok_or_else(missing)? {
            Source::ClientCredentials(token_url) => Self::ClientCredentials { token_url },
            Source::OpenIdConnect(url) => Self::OpenIdConnect { url },
            Source::Given(_) => Self::Given,
        })
    }
}
