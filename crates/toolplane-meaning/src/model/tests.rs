//! A model the tests make themselves: a vocabulary of words, and weights out of a small generator.

use std::collections::HashMap;
use std::path::Path;

use candle_core::{Device, Tensor};
use serde_json::{Value, json};

use super::{FolderModel, ModelFault};
use crate::embedder::Embedder as _;

const WORDS: [&str; 12] =
    ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "send", "mail", "read", "file", "weather", "do", "they", "fit"];
const HIDDEN: usize = 16;

fn config() -> Value {
    json!({
        "vocab_size": WORDS.len(), "hidden_size": HIDDEN, "num_hidden_layers": 2, "num_attention_heads": 4,
        "intermediate_size": 32, "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "max_position_embeddings": 12,
        "type_vocab_size": 2, "initializer_range": 0.02, "layer_norm_eps": 1e-12, "pad_token_id": 0,
        "position_embedding_type": "absolute", "model_type": "bert",
    })
}

fn tokenizer() -> Value {
    let vocabulary: serde_json::Map<String, Value> =
        WORDS.iter().zip(0..).map(|(word, id)| ((*word).to_owned(), json!(id))).collect();
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": { "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                        "strip_accents": null, "lowercase": true },
        "pre_tokenizer": { "type": "BertPreTokenizer" },
        "post_processor": { "type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2] },
        "decoder": null,
        "model": { "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                   "max_input_chars_per_word": 100, "vocab": vocabulary },
    })
}

/// The weights of every layer the configuration asks for.
fn weights(seed: u64) -> HashMap<String, Tensor> {
    let mut state = seed;
    let mut tensors = HashMap::new();
    let mut put = |name: String, shape: &[usize], norm: bool| {
        let numbers: Vec<f32> = (0..shape.iter().product())
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                if norm { 1.0 } else { ((state >> 40) as f32 / (1_u64 << 24) as f32) - 0.5 }
            })
            .collect();
        tensors.insert(name, Tensor::from_vec(numbers, shape, &Device::Cpu).unwrap());
    };
    let mut linear = |name: &str, from: usize, to: usize| {
        put(format!("{name}.weight"), &[to, from], false);
        put(format!("{name}.bias"), &[to], false);
    };
    for layer in 0..2 {
        let at = format!("encoder.layer.{layer}");
        for part in ["self.query", "self.key", "self.value", "output.dense"] {
            linear(&format!("{at}.attention.{part}"), HIDDEN, HIDDEN);
        }
        linear(&format!("{at}.intermediate.dense"), HIDDEN, 32);
        linear(&format!("{at}.output.dense"), 32, HIDDEN);
    }
    for (name, rows) in [("word", WORDS.len()), ("position", 12), ("token_type", 2)] {
        put(format!("embeddings.{name}_embeddings.weight"), &[rows, HIDDEN], false);
    }
    let norms = (0..2)
        .flat_map(|layer| ["attention.output", "output"].map(|part| format!("encoder.layer.{layer}.{part}.LayerNorm")));
    for name in norms.chain(["embeddings.LayerNorm".to_owned()]) {
        put(format!("{name}.weight"), &[HIDDEN], true);
        put(format!("{name}.bias"), &[HIDDEN], false);
    }
    tensors
}

fn write(folder: &Path, seed: u64) {
    std::fs::write(folder.join("config.json"), config().to_string()).unwrap();
    std::fs::write(folder.join("tokenizer.json"), tokenizer().to_string()).unwrap();
    candle_core::safetensors::save(&weights(seed), folder.join("model.safetensors")).unwrap();
}

fn open(folder: &Path) -> Result<FolderModel, ModelFault> {
    FolderModel::open(folder, 1)
}

#[test]
fn texts_have_vectors_of_length_one_that_depend_on_the_text_alone() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), 1);
    let model = open(folder.path()).unwrap();
    let long = "read file ".repeat(500);
    let texts = ["send mail", "weather", "", "Send MAIL", &long];
    let together = model.embed(&texts).unwrap();
    for (text, vector) in texts.iter().zip(&together) {
        let length: f32 = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        assert!((length - 1.0).abs() < 1e-4 && vector.len() == model.dimension(), "{text}: {length}");
        // Alone it has no padding beside it.
        let alone = &model.embed(&[text]).unwrap()[0];
        let same: f32 = alone.iter().zip(vector).map(|(a, b)| a * b).sum();
        assert!(same > 0.9999, "{text}: {same}");
    }
    assert_eq!(together[0], together[3], "case does not matter to this model");
    assert_ne!(together[0], together[1]);
}

// Each test has a process of its own, and nothing else begins threads in it.
#[cfg(target_os = "linux")]
#[test]
fn it_computes_with_the_threads_it_was_given_alone() {
    let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), 1);
    let before = threads();
    let model = FolderModel::open(folder.path(), 2).unwrap();
    model.embed(&["read file weather mail send"; 200]).unwrap();
    assert_eq!(threads(), before + 2);
}

#[test]
fn other_weights_are_another_model() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(one.path(), 1);
    write(other.path(), 2);
    let id = |folder: &Path| {
        let model = open(folder).unwrap();
        model.model().as_str().split_once('@').unwrap().1.to_owned()
    };
    assert_eq!(id(one.path()), id(one.path()));
    assert_ne!(id(one.path()), id(other.path()));
}

#[test]
fn what_cannot_be_used_is_refused_with_its_file() {
    let check = |file: &str, text: Option<&str>, told: &str| {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), 1);
        std::fs::create_dir(folder.path().join("1_Pooling")).unwrap();
        match text {
            Some(text) => std::fs::write(folder.path().join(file), text).unwrap(),
            None => std::fs::remove_file(folder.path().join(file)).unwrap(),
        }
        let fault: ModelFault = open(folder.path()).unwrap_err();
        assert_eq!(fault.file, file);
        assert!(fault.to_string().contains(told), "{fault}");
    };
    check("tokenizer.json", None, "is not in the folder");
    check("model.safetensors", None, "is not in the folder");
    check("config.json", Some("{"), "cannot be used");
    check("tokenizer.json", Some("{}"), "cannot be used");
    check("model.safetensors", Some("weights"), "cannot be used");
    check("config.json", Some(&config().to_string().replace("bert", "t5")), "only `bert`");
    check("1_Pooling/config.json", Some(r#"{"pooling_mode_max_tokens":true}"#), "another pooling");
    let wider = config().to_string().replace("\"intermediate_size\":32", "\"intermediate_size\":64");
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), 1);
    std::fs::write(folder.path().join("config.json"), wider).unwrap();
    assert_eq!(open(folder.path()).unwrap_err().file, "model.safetensors");
}
