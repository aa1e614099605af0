//! One look at what a provider has, and what it came to.

use toolplane_providers::{Found, Known, Limits, Listing, Outcome};
use toolplane_records::codes;
use toolplane_records::provider::Provider;
use toolplane_records::vocabulary::ProviderFault;
use toolplane_runtime::ApiError;

/// Why a provider did not say what it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) code: ProviderFault,
    /// For people; may hold what the provider wrote.
    pub(crate) message: String,
}

impl Fault {
    pub(crate) fn new(code: ProviderFault, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// What a provider says of itself. Written by others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerSaid {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) protocol: String,
}

/// What a provider says it has.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    pub(crate) tools: Vec<Found>,
    /// It has more than it could say: what is missing is not gone.
    pub(crate) in_part: bool,
    pub(crate) server: ServerSaid,
}

/// What a look came to.
#[derive(Clone, Debug)]
pub(crate) struct Look(Result<(Listing, ServerSaid), Fault>);

impl Look {
    /// It said nothing that could be taken in.
    pub(crate) fn failed(fault: Fault) -> Self {
        Self(Err(fault))
    }

    /// Puts what a provider said in order, beside what is known of its tools. Away from the threads that serve calls: a thousand schemas
    /// take their time.
    pub(super) async fn of(provider: Provider, said: Said, known: Known) -> Result<Self, ApiError> {
        let ordering = tokio::task::spawn_blocking(move || {
            let Said { tools, in_part, server } = said;
            let listing = Listing::of(&provider, tools, &known, &Limits::default());
            (if in_part { listing.in_part() } else { listing }, server)
        });
        let (listing, server) = ordering.await.map_err(|error| ApiError::internal(codes::CHECK_FAILED, error))?;
        Ok(Self(Ok((listing, bounded(server)))))
    }

    /// What follows for how the provider is.
    pub(super) fn outcome(&self) -> Outcome {
        match &self.0 {
            Ok(_) => Outcome::Well,
            Err(Fault { code, message }) => Outcome::Badly { fault: *code, message: message.clone() },
        }
    }

    pub(crate) fn listing(&self) -> Option<&Listing> {
        self.0.as_ref().ok().map(|(listing, _)| listing)
    }

    pub(crate) fn fault(&self) -> Option<&Fault> {
        self.0.as_ref().err()
    }

    pub(crate) fn server(&self) -> ServerSaid {
        self.0.as_ref().map(|(_, server)| server.clone()).unwrap_or_default()
    }
}

/// What others wrote, as much of it as is kept.
fn bounded(server: ServerSaid) -> ServerSaid {
    let cut = |text: String| text.chars().take(200).collect();
    ServerSaid { name: cut(server.name), version: cut(server.version), protocol: cut(server.protocol) }
}
