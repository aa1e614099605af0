//! Why a process cannot go on.

use std::error::Error;
use std::fmt;

use toolplane_records::codes::Code;

use crate::config::ConfigError;
use crate::server::ServerError;
use crate::tasks::TaskFailure;
use crate::telemetry::TelemetryError;

/// Why a role could not be started or ended badly. Printed as its cause.
#[derive(Debug)]
pub struct RoleError {
    code: Option<Code>,
    cause: Box<dyn Error + Send + Sync>,
}

impl RoleError {
    /// `cause`, whose code is `code`.
    pub fn new(code: &str, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { code: Code::find(code), cause: cause.into() }
    }

    /// What the operating system refuses, or what is a bug: the page of errors could not tell more than the text.
    pub fn without_code(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { code: None, cause: cause.into() }
    }

    /// The lines an operator reads: what is wrong, and where the cause and the cure are told.
    pub(super) fn lines(&self) -> Vec<String> {
        let place = self.code.map(|code| format!("  {}", code.place()));
        std::iter::once(format!("error: {}", self.cause)).chain(place).collect()
    }
}

impl fmt::Display for RoleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(f)
    }
}

impl Error for RoleError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.source()
    }
}

impl From<ConfigError> for RoleError {
    fn from(error: ConfigError) -> Self {
        Self::new(error.code(), error)
    }
}

impl From<ServerError> for RoleError {
    fn from(error: ServerError) -> Self {
        Self::new(error.code(), error)
    }
}

impl From<TelemetryError> for RoleError {
    fn from(error: TelemetryError) -> Self {
        Self::new(error.code(), error)
    }
}

impl From<TaskFailure> for RoleError {
    fn from(failure: TaskFailure) -> Self {
        Self::without_code(failure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_is_told_where_the_cure_is() {
        let error = RoleError::from(ConfigError::value("server.listen", "must be an address"));
        assert_eq!(
            error.lines(),
            ["error: `server.listen`: must be an address", "  see docs/errors.md#CONFIG_VALUE_INVALID"]
        );
        assert_eq!(RoleError::without_code("no signals").lines(), ["error: no signals"]);
    }
}
