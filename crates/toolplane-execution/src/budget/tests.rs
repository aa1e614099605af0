use std::fs;
use std::path::Path;
use std::time::Duration;

use toolplane_sandbox::Usage;

use super::{Budget, WorkspaceBounds};

const MIB: u64 = 1024 * 1024;

fn bounds(tenant: Usage, worker: Usage) -> WorkspaceBounds {
    WorkspaceBounds { call: Usage { bytes: MIB, files: 10 }, tenant, worker, reserve_bytes: 0 }
}

fn of(bytes: u64, files: u64) -> Usage {
    Usage { bytes, files }
}

#[test]
fn a_run_gets_what_its_tenant_has_and_the_others_left() {
    let budget = Budget::new(bounds(of(8 * MIB, 80), of(10 * MIB, 1000)));
    let (a, b) = (Path::new("/a"), Path::new("/b"));
    assert_eq!(budget.quota(a).unwrap().most, of(8 * MIB, 80));
    budget.note(b, of(5 * MIB, 20), Duration::ZERO);
    assert_eq!(budget.quota(a).unwrap().most, of(5 * MIB, 80));
    assert_eq!(budget.quota(b).unwrap().most, of(8 * MIB, 80), "its own files are not the others'");
    budget.note(b, of(11 * MIB, 20), Duration::ZERO);
    let refused = budget.quota(a).unwrap_err();
    assert_eq!(refused.error_code, "workspace.full");
    assert!(refused.message.contains("workspaces of this worker"), "{}", refused.message);
}

#[test]
fn a_write_is_judged_by_what_it_adds() {
    let workspace = tempfile::tempdir().unwrap();
    fs::write(workspace.path().join("large"), vec![1; 900_000]).unwrap();
    let budget = Budget::new(bounds(of(MIB, 3), of(10 * MIB, 1000)));
    let admit = |before, after| budget.admit(workspace.path(), before, after).map_err(|error| error.message);
    assert_eq!(admit(None, 1000), Ok(()));
    assert_eq!(admit(Some(900_000), 900_000), Ok(()));
    assert!(admit(Some(1000), 500_000).unwrap_err().contains("would hold"));
    assert_eq!(admit(Some(900_000), 10), Ok(()), "what shrinks is never in the way");
    assert_eq!(admit(None, 0), Ok(()), "the third file");
    assert!(admit(None, 0).unwrap_err().contains("files of at most 3"));
}
