//! `cargo xtask clouds`: what is asked of every object store, asked of a server that speaks S3 and of one that speaks Azure Blob
//! Storage. Google Cloud Storage is built and not asked: no server of ours speaks its language.

use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, Stdio};

use crate::command::{self, TaskError};
use crate::needs;

/// Starts the servers, makes a bucket in each, and runs the tests of a build that has the clouds.
pub(crate) fn run() -> Result<(), TaskError> {
    let programs = needs::clouds()?;
    let (s3, azure) = (free_port()?, free_port()?);
    let mut moto = Command::new(&programs.moto);
    let _moto = Server::start(moto.args(["-H", "127.0.0.1", "-p", &s3]))?;
    let mut azurite = Command::new(&programs.azurite);
    azurite.args(["--blobHost", "127.0.0.1", "--blobPort", &azure, "--inMemoryPersistence"]);
    let _azurite = Server::start(azurite.args(["--disableTelemetry", "--skipApiVersionCheck"]))?;
    let mut buckets = Command::new("python3");
    buckets.arg(command::root().join("crates/xtask/src/clouds/buckets.py")).args([&s3, &azure]);
    command::run(buckets)?;

    let arguments = ["test", "--package", "toolplane-results", "--features", "s3,gcs,azure", "--lib", "clouds"];
    let mut tests = command::cargo(&arguments);
    tests.envs([
        ("TOOLPLANE_TEST_S3", "s3://test"),
        ("AWS_ENDPOINT", &format!("http://127.0.0.1:{s3}")),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
        ("TOOLPLANE_TEST_AZURE", "az://test"),
        ("AZURITE_BLOB_STORAGE_URL", &format!("http://127.0.0.1:{azure}")),
        ("AZURE_STORAGE_USE_EMULATOR", "true"),
    ]);
    command::run(tests)
}

/// A port nobody listens on.
fn free_port() -> Result<String, TaskError> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    let address = listener.map_err(|error| TaskError::Answer(format!("no port is free: {error}")))?;
    Ok(address.port().to_string())
}

/// A server that ends with this.
struct Server(Child);

impl Server {
    fn start(command: &mut Command) -> Result<Self, TaskError> {
        let program = command::shown(command);
        let started = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        started.map(Self).map_err(|source| TaskError::Start { program, source })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail only when it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
