//! Where a provider is.

use toolplane_records::provider as records;

use crate::convert::mcp::{workspace, workspace_number};
use crate::convert::{ConvertError, field};
use crate::v1;
use crate::v1::openapi_source::Document;
use crate::v1::provider::Source;

impl From<&records::ProviderSource> for Source {
    fn from(record: &records::ProviderSource) -> Self {
        match record.clone() {
            records::ProviderSource::McpStdio { argv, env, pass_env, read_only_paths, workspace } => {
                let workspace = workspace_number(workspace);
                Self::McpStdio(v1::McpStdioSource { argv, env, pass_env, read_only_paths, workspace })
            }
            records::ProviderSource::McpHttp { url, headers } => Self::McpHttp(v1::McpHttpSource { url, headers }),
            records::ProviderSource::Openapi { document, selection, server_url, server_variables } => {
                let document = match document {
                    records::ProviderDocument::Url { url } => Document::Url(url),
                    records::ProviderDocument::Uploaded { digest } => Document::Uploaded(digest.to_string()),
                };
                let selection = (!selection.is_all()).then(|| selection.into());
                Self::Openapi(v1::OpenapiSource { document: Some(document), selection, server_url, server_variables })
            }
            records::ProviderSource::Worker { native_prefix } => Self::Worker(v1::WorkerSource { native_prefix }),
            records::ProviderSource::File { path } => Self::File(v1::FileSource { path }),
        }
    }
}

impl TryFrom<Source> for records::ProviderSource {
    type Error = ConvertError;

    fn try_from(message: Source) -> Result<Self, ConvertError> {
        Ok(match message {
            Source::McpStdio(v1::McpStdioSource { argv, env, pass_env, read_only_paths, workspace: number }) => {
                let workspace = workspace(number).map_err(|error| error.within("mcp_stdio"))?;
                Self::McpStdio { argv, env, pass_env, read_only_paths, workspace }
            }
            Source::McpHttp(v1::McpHttpSource { url, headers }) => Self::McpHttp { url, headers },
            Source::Openapi(openapi) => {
                let document = match openapi.document.ok_or_else(|| ConvertError::missing("openapi.url"))? {
                    Document::Url(url) => records::ProviderDocument::Url { url },
                    Document::Uploaded(digest) => {
                        records::ProviderDocument::Uploaded { digest: field::id("openapi.uploaded", &digest)? }
                    }
                };
                Self::Openapi {
                    document,
                    selection: openapi.selection.map(Into::into).unwrap_or_default(),
                    server_url: openapi.server_url,
                    server_variables: openapi.server_variables,
                }
            }
            Source::Worker(v1::WorkerSource { native_prefix }) => Self::Worker { native_prefix },
            Source::File(v1::FileSource { path }) => Self::File { path },
        })
    }
}

impl From<records::OperationSelection> for v1::OperationSelection {
    fn from(record: records::OperationSelection) -> Self {
        let records::OperationSelection { operations, tags, methods, except } = record;
        Self { operations, tags, methods, except }
    }
}

impl From<v1::OperationSelection> for records::OperationSelection {
    fn from(message: v1::OperationSelection) -> Self {
        let v1::OperationSelection { operations, tags, methods, except } = message;
        Self { operations, tags, methods, except }
    }
}
