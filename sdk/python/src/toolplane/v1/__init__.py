"""The messages and stubs of `toolplane.v1`, generated from `proto/`. Written by `cargo xtask sdk python`: do not edit."""
