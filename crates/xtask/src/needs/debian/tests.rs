use super::*;

const LISTED: &str = "bookworm-security http://mirror.example/security/\nnodistro https://node.example/\n\
                      bookworm http://mirror.example/debian/\nbookworm http://other.example/debian/\n";

#[test]
fn the_mirror_is_that_of_the_systems_own_release() {
    let debian = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nVERSION_CODENAME=bookworm\nID=debian\n";
    assert_eq!(mirror_of(debian, LISTED), Some("http://mirror.example/debian/"));
    assert_eq!(mirror_of(&debian.replace("bookworm", "trixie"), LISTED), None);
    // Another system's packages do not fit, even if a release of it should have the same name.
    assert_eq!(mirror_of(&debian.replace("ID=debian", "ID=ubuntu"), LISTED), None);
    assert_eq!(mirror_of("", LISTED), None);
}

#[test]
fn a_folder_with_other_packages_is_not_taken_for_ready() {
    let folder = tempfile::tempdir().unwrap();
    let packages = |names| Packages { release: "trixie", names, without: &[] };
    assert!(!packages(&["a"]).are_in(folder.path()));
    packages(&["a"]).keep(folder.path()).unwrap();
    assert!(packages(&["a"]).are_in(folder.path()));
    assert!(!packages(&["a", "b"]).are_in(folder.path()));
}
