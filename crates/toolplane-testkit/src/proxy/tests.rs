use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use super::{Fault, Proxy};

/// Answers every chunk with itself.
fn echo() -> std::net::SocketAddr {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            std::thread::spawn(move || {
                let mut chunk = [0; 64];
                while let Ok(read @ 1..) = stream.read(&mut chunk) {
                    let _ = stream.write_all(&chunk[..read]);
                }
            });
        }
    });
    address
}

fn ask(stream: &mut TcpStream, text: &str) -> Result<String, std::io::ErrorKind> {
    let mut chunk = [0; 64];
    stream.write_all(text.as_bytes()).map_err(|error| error.kind())?;
    let read = stream.read(&mut chunk).map_err(|error| error.kind())?;
    Ok(String::from_utf8_lossy(&chunk[..read]).into_owned())
}

fn connect(proxy: &Proxy) -> TcpStream {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.port())).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn each_fault_does_what_it_says() {
    let proxy = Proxy::start(echo()).await.unwrap();
    let mut stream = connect(&proxy);
    assert_eq!(ask(&mut stream, "one"), Ok("one".to_owned()));

    proxy.set(Fault::Blackhole);
    assert_eq!(ask(&mut stream, "two"), Err(std::io::ErrorKind::WouldBlock));
    proxy.set(Fault::Pass);
    assert_eq!(ask(&mut stream, "three"), Ok("three".to_owned()), "what vanished stays away");

    proxy.set(Fault::SwallowReply(b"wanted".to_vec()));
    assert_eq!(ask(&mut stream, "other"), Ok("other".to_owned()));
    assert_eq!(ask(&mut stream, "the wanted one"), Ok(String::new()), "an end instead of the answer");
    assert_eq!(proxy.swallowed(), 1);
    let mut stream = connect(&proxy);
    assert_eq!(ask(&mut stream, "the wanted one"), Ok("the wanted one".to_owned()), "only once");

    proxy.set(Fault::Drop);
    assert_eq!(stream.read(&mut [0; 8]).map_err(|error| error.kind()), Ok(0));
    proxy.set(Fault::Pass);
    let mut stream = connect(&proxy);
    assert_eq!(ask(&mut stream, "four"), Ok("four".to_owned()));
    proxy.set(Fault::Reset);
    assert_eq!(stream.read(&mut [0; 8]).map_err(|error| error.kind()), Err(std::io::ErrorKind::ConnectionReset));
    assert_eq!(proxy.accepted(), 3);
}
