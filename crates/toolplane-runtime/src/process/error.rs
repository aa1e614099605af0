//! Why a process cannot go on.

use std::error::Error;
use std::fmt;

use toolplane_records::codes::Code;

use crate::config::{ConfigError, LogFormat};
use crate::server::ServerError;
use crate::tasks::TaskFailure;
use crate::telemetry::{self, TelemetryError};

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

    /// What an operator reads: what is wrong, and where the cause and the cure are told. As two lines of text, or as one of a log in JSON.
    pub(super) fn told(&self, format: LogFormat) -> Vec<u8> {
        match format {
            LogFormat::Text => {
                let place = self.code.map(|code| format!("  {}\n", code.place())).unwrap_or_default();
                format!("error: {}\n{place}", self.cause).into_bytes()
            }
            LogFormat::Json => telemetry::last_line(format, &self.cause.to_string(), self.code),
        }
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
        let text = |error: &RoleError| String::from_utf8(error.told(LogFormat::Text)).unwrap();
        assert_eq!(
            text(&error),
            "error: `server.listen`: must be an address\n  see docs/errors.md#CONFIG_VALUE_INVALID\n"
        );
        let without = RoleError::without_code("no signals");
        assert_eq!(text(&without), "error: no signals\n");
        let json =
            |error: &RoleError| serde_json::from_slice::<serde_json::Value>(&error.told(LogFormat::Json)).unwrap();
        let told = json(&error);
        assert_eq!(
            [&told["level"], &told["message"], &told["error_code"], &told["see"], &told["target"]],
            [
                "ERROR",
                "`server.listen`: must be an address",
                "CONFIG_VALUE_INVALID",
                "docs/errors.md#CONFIG_VALUE_INVALID",
                "toolplane_runtime::process"
            ]
        );
        assert!(told["timestamp"].as_str().is_some_and(|at| at.ends_with('Z')), "{told}");
        assert_eq!(json(&without).get("error_code"), None);
    }
}
