//! Reading secrets from where they are. What is read is not understood here.

mod command;
mod file;
mod token;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::config::{CommandConfig, OAuth2Config, SecretSource, SourceConfig};
use crate::error::SourceFault;
use crate::secret::{MAX_SECRET_BYTES, Secret};
use crate::tokens::TokenClient;

pub(crate) use file::FileStamp;
#[cfg(test)]
pub(crate) use token::read as read_token_answer;

/// How a variable of the worker's environment is read.
pub type Environment = Arc<dyn Fn(&str) -> Option<OsString> + Send + Sync>;

/// What sources are read with.
#[derive(Clone)]
pub(crate) struct Means {
    pub(crate) environment: Environment,
    pub(crate) tokens: Arc<dyn TokenClient>,
}

/// Where a credential comes from.
#[derive(Debug)]
pub(crate) enum Source {
    Plain(Plain),
    Token { client_secret: Plain, config: OAuth2Config },
}

/// A source that gives the secret itself.
#[derive(Clone, Debug)]
pub(crate) enum Plain {
    File(PathBuf),
    Env(String),
    Command(CommandConfig),
}

/// What a source gave.
#[derive(Debug)]
pub(crate) enum Reading {
    /// The file is as it was.
    Same,
    New(NewReading),
}

/// A secret, and what goes with it.
#[derive(Debug)]
pub(crate) struct NewReading {
    pub(crate) secret: Secret,
    /// How the file was when it was read.
    pub(crate) stamp: Option<FileStamp>,
    /// How long it is good, of a token.
    pub(crate) lifetime: Option<Duration>,
    /// What was needed to get it, and must be in no output either.
    pub(crate) beside: Option<Secret>,
}

impl Source {
    /// The source of a checked configuration.
    pub(crate) fn new(config: &SourceConfig) -> Option<Self> {
        match &config.oauth2_client_credentials {
            Some(oauth2) => {
                let SecretSource { file, env, command, .. } = &oauth2.client_secret;
                let client_secret = Plain::new(file.as_ref(), env.as_ref(), command.as_ref())?;
                Some(Self::Token { client_secret, config: oauth2.clone() })
            }
            None => Plain::new(config.file.as_ref(), config.env.as_ref(), config.command.as_ref()).map(Self::Plain),
        }
    }

    /// What it is called in lists.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Plain(Plain::File(_)) => "file",
            Self::Plain(Plain::Env(_)) => "env",
            Self::Plain(Plain::Command(_)) => "command",
            Self::Token { .. } => "oauth2_client_credentials",
        }
    }

    /// Reads it; a file that is as `seen` is not read again.
    pub(crate) async fn read(&self, means: &Means, seen: Option<FileStamp>) -> Result<Reading, SourceFault> {
        match self {
            Self::Plain(plain) => plain.read(means, seen).await,
            Self::Token { client_secret, config } => {
                let Reading::New(secret) = client_secret.read(means, None).await? else { return Ok(Reading::Same) };
                let secret = token::client_secret(&secret.secret)?;
                let (token, lifetime) = token::fetch(means.tokens.as_ref(), config, &secret).await?;
                let reading = NewReading { secret: token, stamp: None, lifetime: Some(lifetime), beside: Some(secret) };
                Ok(Reading::New(reading))
            }
        }
    }
}

impl Plain {
    fn new(file: Option<&PathBuf>, env: Option<&String>, command: Option<&CommandConfig>) -> Option<Self> {
        file.cloned()
            .map(Self::File)
            .or_else(|| env.cloned().map(Self::Env))
            .or_else(|| command.cloned().map(Self::Command))
    }

    async fn read(&self, means: &Means, seen: Option<FileStamp>) -> Result<Reading, SourceFault> {
        let (secret, stamp) = match self {
            Self::File(path) => {
                let path = path.clone();
                // Disks may be slow, and those of a network away.
                let looked = tokio::task::spawn_blocking(move || file::look(&path, seen)).await;
                match looked.map_err(|_| SourceFault::Io)?? {
                    Some((secret, stamp)) => (secret, Some(stamp)),
                    None => return Ok(Reading::Same),
                }
            }
            Self::Env(name) => {
                let value = (means.environment)(name).ok_or(SourceFault::NotSet)?;
                let bytes = value.into_vec();
                (Secret::new(bytes), None)
            }
            Self::Command(command) => (command::run(command).await?, None),
        };
        if secret.len() > MAX_SECRET_BYTES {
            return Err(SourceFault::TooLong);
        }
        Ok(Reading::New(NewReading { secret, stamp, lifetime: None, beside: None }))
    }
}
