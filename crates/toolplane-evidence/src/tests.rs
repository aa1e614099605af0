//! What was written is proved, and nothing else.

use proptest::prelude::*;
use serde_json::value::RawValue;
use toolplane_records::time::Timestamp;

use super::*;

fn key() -> (SigningKey, PublicKey) {
    let (key, _) = SigningKey::make().unwrap();
    let public = key.public();
    (key, public)
}

fn begin(continues: Option<Head>, until: i64) -> Begin {
    Begin {
        format: String::new(),
        tenant: "acme".to_owned(),
        from: continues.map(|head| head.until),
        until: Timestamp::from_millis(until),
        session_ref: String::new(),
        invocation_id: String::new(),
        made_at: Timestamp::from_millis(until),
        made_by: "toolplane test".to_owned(),
        continues,
    }
}

/// An export of `count` records, as lines, and where it ends.
fn export(key: &SigningKey, count: usize, continues: Option<Head>, until: i64) -> (Vec<String>, Head) {
    let (mut chain, first) = Chain::begin(begin(continues, until));
    let mut lines = vec![first];
    for at in 0..count {
        let kind = if at % 3 == 0 { "invocation" } else { "event" };
        let record = RawValue::from_string(format!("{{\"at\":{at},\n\"text\":\"é\"}}")).unwrap();
        lines.push(chain.add(kind, &format!("inv_{at}"), record));
    }
    let (last, head) = chain.seal(key);
    lines.push(last);
    (lines, head)
}

fn verify(key: PublicKey, bytes: &[u8]) -> Result<Verified, Fault> {
    let mut verifier = Verifier::new(key);
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    for line in bytes.split(|byte| *byte == b'\n') {
        if !verifier.line(line) {
            break;
        }
    }
    verifier.finish()
}

fn joined(lines: &[String]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
}

#[test]
fn an_export_is_proved_with_its_key_and_no_other() {
    let ((key, public), (_, other)) = (key(), key());
    let (lines, head) = export(&key, 7, None, 5_000);
    let verified = verify(public, &joined(&lines)).unwrap();
    assert_eq!((verified.exports, verified.records, verified.calls, verified.head), (1, 7, 3, head));
    let fault = verify(other, &joined(&lines)).unwrap_err();
    assert_eq!(fault, Fault { line: 9, wrong: Wrong::OtherKey(public.fingerprint()) });
}

#[test]
fn keys_come_back_from_their_files() {
    let (key, file) = SigningKey::make().unwrap();
    let read = SigningKey::read(&file).unwrap();
    assert_eq!(read.public(), key.public());
    assert_eq!(PublicKey::read(&key.public().to_pem()), Ok(key.public()));
    assert!(!format!("{read:?}").contains(file.lines().nth(1).unwrap()));
    assert_eq!(PublicKey::read(&file), Err(KeyError::NoPem("PUBLIC KEY")));
    assert!(SigningKey::read("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----").is_err());
}

#[test]
fn each_way_to_tamper_is_told_by_its_name_and_its_line() {
    let (key, public) = key();
    let (lines, _) = export(&key, 7, None, 5_000);
    let told = |lines: &[String]| verify(public, &joined(lines)).unwrap_err();
    let changed = |change: &dyn Fn(&mut Vec<String>)| {
        let mut lines = lines.clone();
        change(&mut lines);
        told(&lines)
    };
    let fault = |line, wrong| Fault { line, wrong };
    let of = Wrong::Changed(BadLine::Sum);
    assert_eq!(changed(&|lines| lines[3] = lines[3].replace("\"at\":2", "\"at\":3")), fault(4, of));
    assert_eq!(changed(&|lines| drop(lines.remove(3))), fault(4, Wrong::Missing(1)));
    assert_eq!(changed(&|lines| drop(lines.drain(2..5))), fault(3, Wrong::Missing(3)));
    assert_eq!(changed(&|lines| drop(lines.remove(0))), fault(1, Wrong::Missing(1)));
    assert_eq!(changed(&|lines| lines.swap(3, 5)), fault(4, Wrong::Reordered(6)));
    assert_eq!(changed(&|lines| lines.insert(4, lines[2].clone())), fault(5, Wrong::Repeated(3)));
    assert_eq!(changed(&|lines| lines.truncate(5)), fault(6, Wrong::CutOff));
    assert_eq!(changed(&|lines| lines.push(lines[1].clone())), fault(10, Wrong::AfterSeal));
    assert_eq!(changed(&|lines| lines.clear()).wrong, Wrong::Changed(BadLine::Form("it is too short".to_owned())));
    // A line that was written anew has its sum; the next one does not follow it.
    let forged = |line: &String| {
        let (mut line, _) = Line::read(line.as_bytes()).unwrap();
        line.record = RawValue::from_string("7".to_owned()).unwrap();
        line.write().0
    };
    assert_eq!(changed(&|lines| lines[3] = forged(&lines[3])), fault(5, Wrong::Replaced));
    // All lines from there on written anew: only the signature tells.
    let again = changed(&|lines| {
        let mut prev = Line::read(lines[2].as_bytes()).unwrap().1;
        for (at, written) in lines.iter_mut().enumerate().skip(3) {
            let (mut line, _) = Line::read(written.as_bytes()).unwrap();
            line.prev = prev;
            if at == 3 {
                line.record = RawValue::from_string("7".to_owned()).unwrap();
            }
            (*written, prev) = line.write();
        }
    });
    assert_eq!(again, fault(9, Wrong::WrongSignature));
}

#[test]
fn exports_go_on_from_one_another() {
    let (key, public) = key();
    let (first, head) = export(&key, 2, None, 5_000);
    let (second, end) = export(&key, 3, Some(head), 9_000);
    let both = [first.clone(), second.clone()].concat();
    let verified = verify(public, &joined(&both)).unwrap();
    assert_eq!((verified.exports, verified.records, verified.head), (2, 5, end));
    let alone = verify(public, &joined(&second)).unwrap();
    assert_eq!(alone.begin.continues, Some(head));
    let mut after = Verifier::new(public).after(Verified { head: end, ..alone });
    let _ = after.line(second[0].as_bytes());
    assert_eq!(after.finish().unwrap_err().wrong, Wrong::DoesNotContinue);
    let other = export(&key, 2, None, 5_000).0;
    let swapped = [other, second].concat();
    // The same records, but another export: its signature is the same only because nothing in it differs.
    assert_eq!(verify(public, &joined(&swapped)).map(|verified| verified.records), Ok(5));
    let shorter = [export(&key, 1, None, 5_000).0, both[first.len()..].to_vec()].concat();
    assert_eq!(verify(public, &joined(&shorter)).unwrap_err(), Fault { line: 4, wrong: Wrong::DoesNotContinue });
}

/// A chain says that all of one thing is there. An export of something else, or of another time, in its middle would be a hole.
#[test]
fn exports_of_something_else_do_not_go_on_from_one_another() {
    let (key, public) = key();
    let (first, head) = export(&key, 2, None, 5_000);
    let goes_on = |change: &dyn Fn(&mut Begin)| {
        let mut begin = begin(Some(head), 9_000);
        change(&mut begin);
        let (chain, line) = Chain::begin(begin);
        let second = vec![line, chain.seal(&key).0];
        let together = verify(public, &joined(&[first.clone(), second.clone()].concat())).map_err(|fault| fault.wrong);
        // The same in a file of its own.
        let before = verify(public, &joined(&first)).unwrap();
        let mut verifier = Verifier::new(public).after(before);
        let _ = second.iter().all(|line| verifier.line(line.as_bytes()));
        let alone = verifier.finish().map_err(|fault| fault.wrong);
        assert_eq!(together.as_ref().err(), alone.as_ref().err());
        alone.map(|_| ())
    };
    assert_eq!(goes_on(&|_| {}), Ok(()));
    assert_eq!(goes_on(&|begin| begin.tenant = "other".to_owned()), Err(Wrong::OtherScope));
    assert_eq!(goes_on(&|begin| begin.session_ref = "s1".to_owned()), Err(Wrong::OtherScope));
    assert_eq!(goes_on(&|begin| begin.invocation_id = "inv_1".to_owned()), Err(Wrong::OtherScope));
    assert_eq!(goes_on(&|begin| begin.from = Some(Timestamp::from_millis(6_000))), Err(Wrong::DoesNotContinue));
}

/// What stands after the seal belongs to no export, be it a line of one or anything else.
#[test]
fn what_comes_after_the_seal_was_put_there() {
    let (key, public) = key();
    let (lines, _) = export(&key, 2, None, 5_000);
    for extra in ["{}", "", "a note"] {
        let more = [lines.clone(), vec![extra.to_owned()]].concat();
        assert_eq!(verify(public, &joined(&more)).unwrap_err(), Fault { line: 5, wrong: Wrong::AfterSeal }, "{extra}");
    }
}

proptest! {
    /// Whatever is done to the bytes of an export is found, and at no later line than the one it was done to, or the one after it.
    #[test]
    fn any_change_is_found(count in 0usize..6, place in any::<prop::sample::Index>(), flip in 1u8..=255, kind in 0..5u8) {
        let (key, public) = key();
        let (lines, _) = export(&key, count, None, 5_000);
        let bytes = joined(&lines);
        let at = place.index(bytes.len());
        let line = place.index(lines.len());
        let (mut tampered, mut lines) = (bytes.clone(), lines);
        match kind {
            0 => tampered[at] ^= flip,
            1 => drop(tampered.remove(at)),
            2 => drop(lines.remove(line)),
            3 => lines.insert(line, lines[line].clone()),
            _ => { let next = (line + 1) % lines.len(); lines.swap(line, next); }
        }
        let tampered = if kind < 2 { tampered } else { joined(&lines) };
        // The line break at the very end says nothing.
        prop_assume!(tampered != bytes && !(at == bytes.len() - 1 && kind == 1));
        let fault = verify(public, &tampered).unwrap_err();
        let done_to = match kind {
            0 | 1 => bytes[..at].iter().filter(|byte| **byte == b'\n').count(),
            _ => line,
        } as u64;
        prop_assert!(fault.line <= done_to + 2, "{fault}, tampered in line {}", done_to + 1);
    }
}
