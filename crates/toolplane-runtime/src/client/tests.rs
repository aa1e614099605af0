use super::*;

#[test]
fn waits_grow_within_bounds() {
    let backoff = Backoff { first: Duration::from_millis(10), most: Duration::from_millis(100), tries: 9 };
    for (tried, full) in [(1, 10), (2, 20), (3, 40), (4, 80), (5, 100), (40, 100)] {
        let wait = backoff.wait(tried, None);
        assert!((full / 2..=full).contains(&wait.as_millis()), "{tried}: {wait:?}");
    }
    assert!(
        backoff.wait(1, Some(Duration::from_secs(60))) >= Duration::from_millis(50),
        "what the peer asks for counts"
    );
    assert!(backoff.wait(1, Some(Duration::from_secs(60))) <= Duration::from_millis(100), "up to the bound");
}

#[tokio::test]
async fn only_absence_is_tried_again() {
    let backoff = Backoff { first: Duration::from_millis(1), most: Duration::from_millis(1), tries: 3 };
    for (code, expected) in [(Code::Unavailable, 3), (Code::NotFound, 1), (Code::Aborted, 1)] {
        let mut tries = 0;
        let outcome: Result<(), Status> = retry(backoff, || {
            tries += 1;
            async move { Err(Status::new(code, "")) }
        })
        .await;
        assert_eq!((outcome.expect_err("always").code(), tries), (code, expected));
    }
}

#[tokio::test]
async fn urls_are_checked_before_the_first_call() {
    for url in ["", "127.0.0.1:7420", "ftp://127.0.0.1", "http://", "https://127.0.0.1:1"] {
        assert!(connect(url, &PeerSettings::default()).is_err(), "{url}");
    }
    connect("http://127.0.0.1:1", &PeerSettings::default()).expect("lazy: nobody has to be there");
    assert_eq!(own_url("0.0.0.0:7420".parse().expect("address"), true), "https://127.0.0.1:7420");
    assert_eq!(own_url("[::]:1".parse().expect("address"), false), "http://[::1]:1");
}
