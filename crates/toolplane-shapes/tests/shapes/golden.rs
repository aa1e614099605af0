//! Golden files: what vendors are given, to the byte, and what was lost. `TOOLPLANE_WRITE_GOLDEN=1` writes them anew.

use std::fmt::Write as _;
use std::path::PathBuf;

use toolplane_shapes::{Options, Shape, cards, export};

use crate::samples::all;

fn check(name: &str, actual: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.txt"));
    if std::env::var_os("TOOLPLANE_WRITE_GOLDEN").is_some() {
        std::fs::write(&path, actual).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(golden, actual, "{} differs", path.display());
}

/// One file for each shape, and for each of its strict modes, with every tool in it.
#[test]
fn every_tool_in_every_shape() {
    for shape in Shape::ALL {
        for strict in [false, true].into_iter().filter(|strict| !strict || shape.has_strict()) {
            let tools = all();
            let out = export(&tools, Options { shape, strict });
            let mut file = String::new();
            for (tool, one) in tools.iter().zip(&out.exported) {
                writeln!(
                    file,
                    "# {} ({} tokens{})",
                    tool.full_name,
                    one.tokens,
                    if one.strict { ", strict" } else { "" }
                )
                .unwrap();
                writeln!(file, "{}", one.definition).unwrap();
                for loss in &one.losses {
                    writeln!(file, "- {} {} {} {}", loss.pointer, loss.rule, loss.done, loss.note).unwrap();
                }
                file.push('\n');
            }
            check(&format!("{shape}{}", if strict { ".strict" } else { "" }), &file);
        }
    }
}

#[test]
fn every_tool_as_a_card() {
    let told = cards(&all(), None);
    let lines: Vec<String> =
        told.cards.iter().map(|(_, card)| format!("{:>4}  {}\n", card.tokens, card.text)).collect();
    check("cards", &lines.concat());
}

/// A budget is kept, and what comes first is told first.
#[test]
fn cards_keep_a_budget() {
    let tools = all();
    let whole = cards(&tools, None);
    for most in [0, 20, whole.tokens / 2, whole.tokens] {
        let some = cards(&tools, Some(most));
        assert!(some.tokens <= most && some.cards.len() + some.left_out.len() == tools.len());
        assert_eq!(some.cards, whole.cards[..some.cards.len()]);
    }
    assert!(cards(&tools, Some(whole.tokens)).left_out.is_empty());
}
