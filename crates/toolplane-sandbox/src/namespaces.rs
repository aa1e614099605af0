//! The namespaces a sandbox has of its own.

/// Namespaces every sandbox has of its own.
pub(crate) const NAMESPACES: &[&str] = &["user", "mnt", "pid", "net", "ipc", "uts", "cgroup"];
