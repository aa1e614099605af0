//! Golden files: what clients of other protocols are given, to the byte. `TOOLPLANE_WRITE_GOLDEN=1` writes them anew.

use std::path::PathBuf;

use toolplane_forms::{Formed, FormedBody, Reader, Story, View, acp, of_call, of_ending, of_event, shown_after};

use crate::samples::{all, approval};

fn check(name: &str, actual: &str) {
    check_file(&format!("{name}.txt"), actual);
}

fn check_file(name: &str, actual: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("TOOLPLANE_WRITE_GOLDEN").is_some() {
        std::fs::write(&path, actual).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(golden, actual, "{} differs", path.display());
}

fn shown(formed: &Formed) -> String {
    match &formed.body {
        FormedBody::Json(json) => json.text().to_owned(),
        FormedBody::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}

/// One file for each form, with every call in it.
#[test]
fn every_call_in_every_form() {
    for view in View::ALL {
        let mut file = String::new();
        for sample in all() {
            let told = of_call(view, &sample.story());
            let told = told.map_or_else(|| "(no result yet)".to_owned(), |formed| shown(&formed));
            file.push_str(&format!("# {}\n{told}\n\n", sample.name));
        }
        check(view.as_str(), &file);
    }
}

/// What the packages for Python and TypeScript read in tests of their own: results in the forms of models, which the packages write, too.
#[test]
fn results_for_the_packages() {
    for view in [View::OpenAiResponses, View::OpenAiChat, View::Anthropic, View::Gemini, View::ToolResult] {
        let told = all().into_iter().filter_map(|sample| Some((sample.name, of_call(view, &sample.story())?)));
        let members: Vec<String> = told.map(|(name, formed)| format!("  \"{name}\": {}", shown(&formed))).collect();
        check_file(&format!("shared/{view}.json"), &format!("{{\n{}\n}}\n", members.join(",\n")));
    }
}

/// One file for each form that can be followed: what a watcher is told, step by step.
#[test]
fn a_stream_in_every_form() {
    for view in View::ALL {
        let mut file = String::new();
        for sample in all().iter().filter(|sample| ["success", "shell", "error"].contains(&sample.name)) {
            let story = sample.story();
            file.push_str(&format!("# {}\n", sample.name));
            let mut so_far = Vec::new();
            for event in &sample.events {
                let told = of_event(view, &Story { shown: &so_far, ..story }, event);
                shown_after(&mut so_far, event);
                file.extend(told.map(|formed| format!("{}: {}\n", event.sequence, shown(&formed))));
            }
            let ended = sample.result.iter().flat_map(|result| of_ending(view, &story, result));
            file.extend(ended.map(|formed| format!("end: {}\n", shown(&formed))));
            file.push('\n');
        }
        check(&format!("{view}.stream"), &file);
    }
}

#[test]
fn a_question_as_a_request_for_permission() {
    let own = acp::request(&approval(), Reader::default()).json();
    let named = acp::request(&approval(), Reader { session: Some("s9"), root: None, call: Some("call_7") }).json();
    check("acp.permission", &format!("{own}\n{named}\n"));
}
