//! The recipe for encryption, as it is written, and what people are told when something is not as it should be.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use toolplane_testkit::process::Process;
use toolplane_testkit::{binary, ports};

use crate::bed::PATIENCE;

/// A folder with the files of the recipe, and where the cluster listens.
struct Recipe {
    folder: tempfile::TempDir,
    port: u16,
    process: Option<Process>,
}

impl Recipe {
    /// Follows the comment of `deploy/examples/tls/toolplane.toml`.
    fn prepared() -> Self {
        let recipe = Self { folder: tempfile::tempdir().unwrap(), port: ports::free(), process: None };
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/examples/tls/toolplane.toml");
        let text = std::fs::read_to_string(example).unwrap();
        for line in text.lines().filter_map(|line| line.strip_prefix("#   toolplane keys ")) {
            let (words, file) = line.split_once(" > ").map_or((line, None), |(words, file)| (words, Some(file)));
            let output = recipe.toolplane(&format!("keys {words}"));
            assert!(output.status.success(), "{line}: {output:?}");
            if let Some(file) = file {
                std::fs::write(recipe.path(file), &output.stdout).unwrap();
            }
        }
        std::fs::write(recipe.path("toolplane.toml"), text.replace("7420", &recipe.port.to_string())).unwrap();
        recipe
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn toolplane(&self, words: &str) -> Output {
        let mut command = Command::new(binary::toolplane().unwrap());
        command.current_dir(self.folder.path()).args(words.split_whitespace());
        command.env_remove("TOOLPLANE_TOKEN").output().unwrap()
    }

    fn serve(&mut self) {
        let mut command = Command::new(binary::toolplane().unwrap());
        command.current_dir(self.folder.path()).args(["serve", "--config", "toolplane.toml"]);
        self.process = Some(Process::start("the cluster", &mut command, &self.path("log")).unwrap());
    }

    /// What the command line says to these options of the connection.
    fn ask(&self, scheme: &str, host: &str, options: &str) -> Output {
        self.toolplane(&format!("--endpoint {scheme}://{host}:{} --token-file my-key {options} tools ls", self.port))
    }

    async fn until_it_answers(&mut self, options: &str) {
        let start = std::time::Instant::now();
        loop {
            let output = self.ask("https", "localhost", options);
            if output.status.success() {
                return;
            }
            self.process.as_mut().unwrap().expect_running().unwrap();
            assert!(start.elapsed() < PATIENCE, "{output:?}");
            toolplane_wait::look_again().await;
        }
    }

    fn told(&self, scheme: &str, host: &str, options: &str, words: [&str; 2]) {
        let output = self.ask(scheme, host, options);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        for word in words {
            assert!(said.contains(word), "`{word}` is not in: {said}");
        }
    }

    fn checked(&self, expected: &str) {
        let output = self.toolplane("serve --config toolplane.toml --check-config");
        let said = String::from_utf8(output.stderr).unwrap();
        match expected {
            "" => assert!(output.status.success(), "{said}"),
            expected => {
                assert_eq!(output.status.code(), Some(2), "{said}");
                assert!(said.contains(expected), "`{expected}` is not in: {said}");
            }
        }
    }
}

#[tokio::test]
async fn the_recipe_works_as_written_and_mistakes_are_told_as_such() {
    let mut recipe = Recipe::prepared();
    recipe.checked("");
    recipe.serve();
    recipe.until_it_answers("--ca-file tls/ca.pem").await;
    let status = recipe.toolplane(&format!("--endpoint https://[::1]:{} --ca-file tls/ca.pem status", recipe.port));
    assert_eq!(status.status.code(), Some(2), "it listens on 127.0.0.1 alone");
    let status = recipe.toolplane(&format!("--endpoint https://127.0.0.1:{} --ca-file tls/ca.pem status", recipe.port));
    let said = String::from_utf8(status.stdout).unwrap();
    assert!(status.status.success() && said.contains("scheduler") && said.contains("ready"), "{said}");

    // Plain text to the port, an authority that was not configured, another authority, another name.
    recipe.told("http", "localhost", "", ["the port speaks TLS", "use `https://`"]);
    recipe.told("https", "localhost", "", ["not signed by a trusted authority", "--ca-file"]);
    assert!(recipe.toolplane("keys tls other").status.success());
    recipe.told("https", "localhost", "--ca-file other/ca.pem", ["not signed by a trusted authority", "--ca-file"]);
    recipe.told(
        "https",
        "localhost",
        "--ca-file tls/ca.pem --server-name else.example",
        ["for another name", "tools.example.org"],
    );
    // A client that speaks HTTP in clear text is told in words it understands.
    for (said, answer) in [
        (toolplane_runtime::tls::HTTP2_PREFACE, &b"\0\0\0\x04\0\0\0\0\0"[..]),
        (&b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"[..], &b"HTTP/1.1 400 "[..]),
    ] {
        let mut stream = TcpStream::connect(("127.0.0.1", recipe.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(said).unwrap();
        let mut told = Vec::new();
        while !toolplane_runtime::tls::is_of_tls(&told) {
            let mut part = [0; 256];
            let read = stream.read(&mut part).unwrap();
            assert!(read > 0, "{told:?}");
            told.extend_from_slice(&part[..read]);
        }
        assert!(told.starts_with(answer), "{told:?}");
    }

    // Clients that must show a certificate.
    drop(recipe.process.take());
    let file = recipe.path("toolplane.toml");
    let text = std::fs::read_to_string(&file).unwrap().replace("#: client_ca_file", "client_ca_file");
    std::fs::write(&file, &text).unwrap();
    recipe.serve();
    let own = "--ca-file tls/ca.pem --cert-file tls/client.pem --key-file tls/client.key";
    recipe.until_it_answers(own).await;
    let strange = "--ca-file tls/ca.pem --cert-file other/client.pem --key-file other/client.key";
    for options in ["--ca-file tls/ca.pem", strange] {
        assert_eq!(recipe.ask("https", "localhost", options).status.code(), Some(2), "{options}");
    }
    // A plain port, where TLS is expected.
    drop(recipe.process.take());
    let plain = text[..text.find("[server.tls]").unwrap()].to_owned();
    std::fs::write(&file, plain).unwrap();
    recipe.serve();
    let start = std::time::Instant::now();
    while !recipe.ask("http", "localhost", "").status.success() {
        assert!(start.elapsed() < PATIENCE);
        toolplane_wait::look_again().await;
    }
    recipe.told("https", "localhost", "--ca-file tls/ca.pem", ["does not speak TLS", "use `http://`"]);
}

#[test]
fn the_configuration_is_refused_before_anybody_connects() {
    let recipe = Recipe::prepared();
    let file = recipe.path("toolplane.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(recipe.toolplane("keys tls other").status.success());
    std::fs::write(recipe.path("empty.pem"), "nothing").unwrap();
    let end = r#"
[[hooks]]
id = "h"
events = ["pre_tool_use"]
command = ["/usr/bin/no-such-program"]
"#;
    for (from, to, expected) in [
        ("tls/server.key", "other/server.key", "it is not the key of the certificate"),
        ("tls/server.pem", "tls/missing.pem", "`server.tls.cert_file`"),
        ("tls/server.pem", "empty.pem", "it holds no certificate"),
        ("ca_file = \"tls/ca.pem\"\ntoken", "ca_file = \"empty.pem\"\ntoken", "`peers.ca_file`"),
        (
            "ca_file = \"tls/ca.pem\"\ntoken",
            "scheduler = \"https://localhost:1\"\nca_file = \"other/ca.pem\"\ntoken",
            "peers that trust `peers.ca_file` would refuse it",
        ),
        ("[peers]", "[executor]\npools = [\"shel\"]\n[peers]", "`shel`, which is not a pool"),
        ("token_file = \"peer-key\"\n", &format!("token_file = \"peer-key\"\n{end}"), "no-such-program"),
    ] {
        assert!(text.contains(from), "{from}");
        std::fs::write(&file, text.replace(from, to)).unwrap();
        recipe.checked(expected);
    }
    std::fs::write(&file, &text).unwrap();
    recipe.checked("");
    // A role that needs others has to know where they are.
    let output = recipe.toolplane("serve --role scheduler --config toolplane.toml --check-config");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && said.contains("`peers.surface`: must say where"), "{said}");
}
