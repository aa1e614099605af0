use std::io;

use redis::{ErrorKind, RedisError, ServerErrorKind, Value};

use super::{Class, Failure, of_kind};

/// The error for an answer as it comes over the wire.
fn answered(line: &str) -> RedisError {
    let value = redis::parse_redis_value(format!("-{line}\r\n").as_bytes()).and_then(Value::extract_error);
    value.expect_err("the line is an error")
}

#[test]
fn every_answer_of_the_server_has_its_class() {
    let table = [
        (Class::NoOp, "LOADING Redis is loading the dataset in memory"),
        (Class::NoOp, "CLUSTERDOWN The cluster is down"),
        (Class::Moving, "TRYAGAIN Multiple keys request during rehashing of slot"),
        (Class::NoOp, "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."),
        (Class::NoOp, "NOREPLICAS Not enough good replicas to write."),
        (Class::NoOp, "MISCONF Errors writing to the AOF file: No space left on device"),
        (Class::NoOp, "OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'"),
        (Class::NoOp, "OOM command not allowed when used memory > 'maxmemory'. script: 0ee, on @user_script:1."),
        (Class::NoOp, "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."),
        (Class::NoOp, "NOAUTH Authentication required."),
        (Class::NoOp, "WRONGPASS invalid username-password pair or user is disabled."),
        (Class::NoOp, "NOPERM User agent has no permissions to run the 'evalsha' command"),
        (Class::NoOp, "CROSSSLOT Keys in request don't hash to the same slot"),
        (Class::NoOp, "EXECABORT Transaction discarded because of previous errors."),
        (Class::NoOp, "DENIED Redis is running in protected mode"),
        (Class::NoOp, "ERR max number of clients reached"),
        (Class::NoOp, "ERR unknown command 'FCALL'"),
        (Class::Elsewhere, "MOVED 3999 127.0.0.1:6381"),
        (Class::Moving, "ASK 3999 127.0.0.1:6381"),
        (Class::Elsewhere, "READONLY You can't write against a read only replica."),
        (Class::NoScript, "NOSCRIPT No matching script. Please use EVAL."),
        (Class::Torn, "ERR user_script:7: attempt to index a nil value script: 0f3, on @user_script:7."),
        (
            Class::Torn,
            "ERR The user executing the script can't run this command or subcommand script: b8b, on @user_script:2.",
        ),
        (Class::Torn, "NOPERM The user executing the script can't access a key script: b8b, on @user_script:2."),
        (Class::Torn, "ERR Error running script (call to f_0f3): @user_script:7: Script killed by user"),
        (Class::Torn, "WRONGTYPE Operation against a key holding the wrong kind of value script: 0f3"),
        (Class::Ambiguous, "UNHEARDOF of today"),
    ];
    for (class, line) in table {
        assert_eq!(Failure::after(&answered(line)).class, class, "{line}");
    }
}

#[test]
fn every_kind_of_the_client_has_its_class() {
    let table = [
        (Class::Ambiguous, ErrorKind::Parse),
        (Class::NoOp, ErrorKind::AuthenticationFailed),
        (Class::Ambiguous, ErrorKind::UnexpectedReturnType),
        (Class::NoOp, ErrorKind::InvalidClientConfig),
        (Class::Ambiguous, ErrorKind::Io),
        (Class::NoOp, ErrorKind::Client),
        (Class::Ambiguous, ErrorKind::Extension),
        (Class::NoOp, ErrorKind::MasterNameNotFoundBySentinel),
        (Class::NoOp, ErrorKind::NoValidReplicasFoundBySentinel),
        (Class::NoOp, ErrorKind::EmptySentinelList),
        (Class::NoOp, ErrorKind::ClusterConnectionNotFound),
        (Class::NoOp, ErrorKind::RESP3NotSupported),
        (Class::NoOp, ErrorKind::Server(ServerErrorKind::ResponseError)),
        (Class::NoOp, ErrorKind::Server(ServerErrorKind::ExecAbort)),
        (Class::NoOp, ErrorKind::Server(ServerErrorKind::BusyLoading)),
        (Class::NoScript, ErrorKind::Server(ServerErrorKind::NoScript)),
        (Class::Elsewhere, ErrorKind::Server(ServerErrorKind::Moved)),
        (Class::Moving, ErrorKind::Server(ServerErrorKind::Ask)),
        (Class::Moving, ErrorKind::Server(ServerErrorKind::TryAgain)),
        (Class::NoOp, ErrorKind::Server(ServerErrorKind::ClusterDown)),
        (Class::NoOp, ErrorKind::Server(ServerErrorKind::CrossSlot)),
        (Class::NoOp, ErrorKind::Server(ServerErrorKind::MasterDown)),
        (Class::Elsewhere, ErrorKind::Server(ServerErrorKind::ReadOnly)),
        (Class::NoOp, ErrorKind::Server(ServerErrorKind::NotBusy)),
        (Class::NoOp, ErrorKind::Server(ServerErrorKind::NoSub)),
        (Class::NoOp, ErrorKind::Server(ServerErrorKind::NoPerm)),
    ];
    for (class, kind) in table {
        assert_eq!(of_kind(kind), class, "{kind:?}");
    }
}

#[test]
fn of_io_errors_only_a_refused_connection_is_certain() {
    let table = [
        (Class::NoOp, io::ErrorKind::ConnectionRefused),
        (Class::Ambiguous, io::ErrorKind::TimedOut),
        (Class::Ambiguous, io::ErrorKind::ConnectionReset),
        (Class::Ambiguous, io::ErrorKind::UnexpectedEof),
        (Class::Ambiguous, io::ErrorKind::BrokenPipe),
        (Class::Ambiguous, io::ErrorKind::ConnectionAborted),
        (Class::Ambiguous, io::ErrorKind::Other),
    ];
    for (class, kind) in table {
        let failure = Failure::after(&RedisError::from(io::Error::from(kind)));
        assert_eq!(failure.class, class, "{kind:?}");
    }
}
