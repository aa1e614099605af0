//! The way to the guarded resource: one connection per visit, so that the end of the process ends the visit.

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use toolplane_proto::v1;

use crate::history::{Access, AccessStep, Effect};

/// Who visits what.
#[derive(Debug)]
pub(crate) struct Visit(Access);

impl Visit {
    /// The visit of an execution.
    pub(crate) fn new(key: &str, alone: bool, dispatch: &v1::Dispatch, effect: &Effect) -> Self {
        Self(Access {
            key: key.to_owned(),
            exclusive: alone,
            invocation: effect.invocation.clone(),
            grant: dispatch.lock_fence,
            fence: effect.fence,
            worker: effect.worker.clone(),
            step: AccessStep::Enter,
            accepted: false,
        })
    }
}

/// A visit that was let in.
#[derive(Debug)]
pub(crate) struct Door {
    connection: BufReader<TcpStream>,
    visit: Access,
}

impl Door {
    /// Goes in; an error when the resource has seen a newer fence.
    pub(crate) async fn enter(address: &str, visit: Visit) -> Result<Self, String> {
        let connection = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
        let mut door = Self { connection: BufReader::new(connection), visit: visit.0 };
        door.ask(AccessStep::Enter).await?;
        Ok(door)
    }

    /// Changes the resource.
    pub(crate) async fn write(&mut self) -> Result<(), String> {
        self.ask(AccessStep::Write).await
    }

    /// Goes out.
    pub(crate) async fn leave(mut self) {
        // Who was overtaken is out already.
        let _ = self.ask(AccessStep::Leave).await;
    }

    async fn ask(&mut self, step: AccessStep) -> Result<(), String> {
        self.visit.step = step;
        let mut line = serde_json::to_string(&self.visit).map_err(|error| error.to_string())?;
        line.push('\n');
        let wrong = |error: std::io::Error| error.to_string();
        self.connection.get_mut().write_all(line.as_bytes()).await.map_err(wrong)?;
        let mut answer = String::new();
        self.connection.read_line(&mut answer).await.map_err(wrong)?;
        if answer.trim() == "yes" { Ok(()) } else { Err(format!("the resource said `{}`", answer.trim())) }
    }
}
