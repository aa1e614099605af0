//! What of a worker's posture the evidence of its calls repeats; pure.

use toolplane_records::SmolStr;
use toolplane_records::evidence::SandboxFacts;
use toolplane_records::payload::JsonPayload;

/// Most layers of a sandbox that are named.
const MAX_LAYERS: usize = 32;
/// Longest name of one.
const MAX_LAYER_BYTES: usize = 64;

/// What the posture a worker told says of its sandbox.
pub(super) fn sandbox_of(posture: &JsonPayload) -> Option<SandboxFacts> {
    #[derive(serde::Deserialize)]
    struct Layer {
        name: String,
        #[serde(default)]
        held: bool,
    }
    #[derive(serde::Deserialize)]
    struct Posture {
        backend: String,
        #[serde(default)]
        available: bool,
        #[serde(default)]
        layers: Vec<Layer>,
    }
    let read: Posture = posture.parse().ok()?;
    let named = |held: bool| {
        let of_kind = read.layers.iter().filter(move |layer| layer.held == held);
        let short = of_kind.filter(|layer| layer.name.len() <= MAX_LAYER_BYTES);
        short.take(MAX_LAYERS).map(|layer| SmolStr::from(layer.name.as_str())).collect()
    };
    Some(SandboxFacts {
        backend: read.backend.chars().take(MAX_LAYER_BYTES).collect::<String>().into(),
        available: read.available,
        held: named(true),
        missing: named(false),
        posture_digest: Some(posture.digest()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_posture_is_told_by_the_names_of_its_layers() {
        let posture = JsonPayload::from_checked(
            r#"{"available":false,"backend":"bubblewrap 0.8.0","layers":[{"name":"seccomp","held":true,"required":true,
                "detail":"x"},{"name":"cgroup","held":false,"required":false,"detail":"y"}],"missing_reason":"z"}"#,
        );
        let facts = sandbox_of(&posture).unwrap();
        assert_eq!(
            (facts.held.as_slice(), facts.missing.as_slice()),
            (&["seccomp".into()][..], &["cgroup".into()][..])
        );
        assert_eq!((facts.available, facts.posture_digest), (false, Some(posture.digest())));
        assert_eq!(sandbox_of(&JsonPayload::from_checked("{}")), None);
    }
}
