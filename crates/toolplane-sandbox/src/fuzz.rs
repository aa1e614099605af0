//! Frames between a worker and its launcher, which shares a process tree with what it runs, and requests to a worker's proxy.

use toolplane_fuzz::fuzz;

use crate::network::request;
use crate::wire::{LauncherReport, encode, read_frame, take_frame};

/// A reader that gets pieces takes the same frames as one that gets all at once.
#[test]
fn frames() {
    let report = |text: &str| [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat();
    let corpus = [
        report("{}"),
        report("\"Ready\""),
        report("null"),
        [report("1"), report("2")].concat(),
        encode(&"text").unwrap(),
    ];
    fuzz!("frames", corpus, |bytes: &[u8]| {
        let mut rest = bytes;
        let whole = read_frame::<serde_json::Value>(&mut rest);
        let mut buffer = bytes.to_vec();
        match take_frame::<serde_json::Value>(&mut buffer) {
            Ok(Some(value)) => {
                assert_eq!(whole.unwrap(), value);
                assert_eq!(rest, buffer);
            }
            Ok(None) | Err(_) => assert!(whole.is_err()),
        }
        let _ = take_frame::<LauncherReport>(&mut bytes.to_vec());
    });
}

/// What is sent on is again one head, with one host, and says of the host what was judged.
#[test]
fn proxy_requests() {
    let corpus = [
        b"CONNECT docs.rs:443 HTTP/1.1\r\nHost: docs.rs:443\r\n\r\n".to_vec(),
        b"CONNECT [2001:db8::1]:443 HTTP/1.1\r\n\r\n".to_vec(),
        b"GET http://a.example:8080/x?y HTTP/1.1\r\nHost: b\r\nAccept: */*\r\nConnection: close\r\n\r\n".to_vec(),
        b"POST http://a.example HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc".to_vec(),
    ];
    fuzz!("proxy-requests", corpus, |bytes: &[u8]| {
        let Some(end) = request::end_of_head(bytes) else { return };
        let Some(found) = request::read(&bytes[..end]) else { return };
        let request::Request { target, plain } = found;
        let head = plain.map(|plain| plain.head()).unwrap_or_default();
        assert!(target.port > 0 && !target.host.is_empty() && target.host.len() <= 253, "{target:?}");
        if target.tunnel {
            return assert!(head.is_empty());
        }
        assert_eq!(request::end_of_head(&head), Some(head.len()));
        let text = String::from_utf8(head).unwrap();
        let hosts: Vec<_> = text.split("\r\n").filter(|line| line.to_ascii_lowercase().starts_with("host:")).collect();
        assert_eq!(hosts.len(), 1, "{text:?}");
        assert!(hosts[0].to_ascii_lowercase().contains(&target.host), "{text:?}");
    });
}
