//! The command line as people and scripts type it.

use std::process::{Command, Output};

use serde_json::Value;
use toolplane_testkit::binary;

/// The program, typed at one endpoint.
pub(crate) struct Shell {
    endpoint: String,
    token: Option<String>,
}

impl Shell {
    /// Commands for this endpoint.
    pub(crate) fn at(endpoint: impl Into<String>) -> Self {
        Self { endpoint: endpoint.into(), token: None }
    }

    /// The same commands, typed by who has this API key.
    pub(crate) fn with(self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self }
    }

    /// What a command printed, and how it ended.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(binary::toolplane().unwrap());
        command.args(arguments).env("TOOLPLANE_ENDPOINT", &self.endpoint).env("USER", "tester");
        if let Some(token) = &self.token {
            command.env("TOOLPLANE_TOKEN", token);
        }
        command.output().unwrap()
    }

    /// Standard output of a command that must end with `code`.
    #[track_caller]
    pub(crate) fn says(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{out}\n{err}");
        out.into_owned()
    }

    /// Standard error of a command that must end with `code`.
    #[track_caller]
    pub(crate) fn complains(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{err}");
        err
    }

    /// The first record of a command that must end with `code`.
    #[track_caller]
    pub(crate) fn json(&self, code: i32, arguments: &[&str]) -> Value {
        let said = self.says(code, &[&["-o", "json"], arguments].concat());
        serde_json::from_str(said.lines().next().unwrap_or_default()).unwrap_or_else(|error| panic!("{error}: {said}"))
    }
}
