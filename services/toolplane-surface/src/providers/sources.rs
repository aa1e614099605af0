//! Asking a provider where it is: a document that is kept here, a file, or a worker that asks a server or has the tools itself.

use std::path::Path;

use futures_util::future::BoxFuture;
use toolplane_providers::native;
use toolplane_records::provider::{Provider, ProviderDocument, ProviderSource};
use toolplane_records::vocabulary::ProviderFault;

use super::Documents;
use super::calls::Calls;
use super::found::{file, mcp, openapi, worker};
use super::look::{Fault, Said};
use super::looks::Discover;
use crate::options::ProviderOptions;

/// Every way to ask a provider.
#[derive(Clone, Debug)]
pub(crate) struct Sources {
    documents: Documents,
    /// For what only workers can ask.
    calls: Option<Calls>,
}

impl Sources {
    pub(crate) fn new(documents: Documents, options: &ProviderOptions) -> Self {
        Self { documents, calls: Calls::of(options) }
    }

    fn calls(&self) -> Result<&Calls, Fault> {
        let nobody = || Fault::new(ProviderFault::Misconfigured, "this process knows no scheduler (`peers.scheduler`)");
        self.calls.as_ref().ok_or_else(nobody)
    }

    async fn said(&self, provider: &Provider, name: &str) -> Result<Said, Fault> {
        match &provider.source {
            ProviderSource::Openapi { document: ProviderDocument::Uploaded { digest }, .. } => {
                let document = self.documents.read(&provider.tenant, digest).await;
                let document = document.map_err(|error| Fault::new(ProviderFault::Internal, error.to_string()))?;
                let document = document.map_err(|error| Fault::new(ProviderFault::Misconfigured, error.to_string()))?;
                let provider = provider.clone();
                blocking(move || openapi::read(&provider, &document, None)).await
            }
            ProviderSource::File { path } => {
                let (provider, path) = (provider.clone(), path.clone());
                blocking(move || file::read(&provider, Path::new(&path))).await
            }
            ProviderSource::Worker { native_prefix } => {
                let calls = self.calls()?;
                calls.check_served(&native::list_tool(native_prefix)).await?;
                let silent = || Fault::new(ProviderFault::ProtocolError, "the worker gave no structured content");
                let list = calls.list(provider, name).await?.ok_or_else(silent)?;
                let (provider, prefix) = (provider.clone(), native_prefix.clone());
                blocking(move || worker::read(&provider, &prefix, &list)).await
            }
            ProviderSource::Openapi { document: ProviderDocument::Url { url }, .. } => {
                let document = self.calls()?.fetch(provider, name, url).await?;
                let (provider, url) = (provider.clone(), url.clone());
                blocking(move || openapi::read(&provider, &document, Some(&url))).await
            }
            ProviderSource::McpStdio { .. } | ProviderSource::McpHttp { .. } => {
                let silent = || Fault::new(ProviderFault::Internal, "the worker did not say what the server has");
                let list = self.calls()?.list(provider, name).await?.ok_or_else(silent)?;
                let provider = provider.clone();
                blocking(move || mcp::read(&provider, &list)).await
            }
        }
    }
}

impl Discover for Sources {
    fn ask<'a>(&'a self, provider: &'a Provider, name: &'a str) -> BoxFuture<'a, Result<Said, Fault>> {
        Box::pin(self.said(provider, name))
    }
}

/// Work that takes its time, away from the threads that serve calls.
async fn blocking(work: impl FnOnce() -> Result<Said, Fault> + Send + 'static) -> Result<Said, Fault> {
    match tokio::task::spawn_blocking(work).await {
        Ok(said) => said,
        Err(_) => Err(Fault::new(ProviderFault::Internal, "the process is ending, or what was read cannot be")),
    }
}
