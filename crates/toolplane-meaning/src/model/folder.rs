//! What is in the folder of a model.

use std::path::Path;

use candle_transformers::models::bert::Config;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tokenizers::{Tokenizer, TruncationParams};

/// Most tokens of a text that count: tools and questions are short, and time grows with their square.
const MAX_TOKENS: usize = 256;
/// Tokens a model must take at least: the signs at both ends and something between them.
const MIN_TOKENS: usize = 8;
/// Largest weights that are read. A bigger model would not answer a question in time without a graphics card.
const MAX_WEIGHTS: u64 = 4 << 30;
/// Largest of the other files.
const MAX_TEXT: u64 = 64 << 20;

/// Why a folder is no model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{file}` {reason}")]
pub struct ModelFault {
    /// The file, as it is named in the folder; or the threads it was to compute with.
    pub file: &'static str,
    /// What is wrong with it.
    pub reason: String,
}

impl ModelFault {
    pub(super) fn new(file: &'static str, reason: impl std::fmt::Display) -> Self {
        Self { file, reason: format!("cannot be used: {reason}") }
    }
}

/// How the vectors of tokens become that of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pooling {
    /// Their mean.
    Mean,
    /// The first one.
    First,
}

pub(super) struct Folder {
    pub(super) config: Config,
    pub(super) tokenizer: Tokenizer,
    pub(super) weights: Vec<u8>,
    pub(super) pooling: Pooling,
    /// The beginning of a digest of all that vectors depend on.
    pub(super) revision: String,
}

#[derive(Deserialize)]
struct PoolingFile {
    #[serde(default)]
    pooling_mode_cls_token: bool,
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
}

#[derive(Deserialize)]
struct SentenceFile {
    max_seq_length: Option<usize>,
}

impl Folder {
    pub(super) fn read(path: &Path) -> Result<Self, ModelFault> {
        let mut digest = Sha256::new();
        let mut read = |file: &'static str, most: u64| -> Result<Option<Vec<u8>>, ModelFault> {
            let bytes = bounded(&path.join(file), most).map_err(|error| ModelFault::new(file, error))?;
            if let Some(bytes) = &bytes {
                digest.update((bytes.len() as u64).to_le_bytes());
                digest.update(bytes);
            }
            Ok(bytes)
        };
        let mut needed = |file: &'static str, most: u64| {
            read(file, most)?.ok_or(ModelFault { file, reason: "is not in the folder".to_owned() })
        };
        let config: Config = json("config.json", &needed("config.json", MAX_TEXT)?)?;
        if let Some(kind) = config.model_type.as_deref().filter(|kind| *kind != "bert") {
            return Err(ModelFault::new("config.json", format!("`model_type` is `{kind}`; only `bert` is known here")));
        }
        if config.num_attention_heads == 0 || !config.hidden_size.is_multiple_of(config.num_attention_heads) {
            return Err(ModelFault::new("config.json", "`hidden_size` must be a multiple of `num_attention_heads`"));
        }
        let tokens = needed("tokenizer.json", MAX_TEXT)?;
        let weights = needed("model.safetensors", MAX_WEIGHTS)?;
        let sentence = read("sentence_bert_config.json", MAX_TEXT)?;
        let sentence: Option<SentenceFile> =
            sentence.map(|bytes| json("sentence_bert_config.json", &bytes)).transpose()?;
        let pooling = read("1_Pooling/config.json", MAX_TEXT)?;
        let pooling = pooling.map(|bytes| json("1_Pooling/config.json", &bytes)).transpose()?;
        let most = sentence.and_then(|file| file.max_seq_length).unwrap_or(MAX_TOKENS);
        Ok(Self {
            tokenizer: tokenizer(&tokens, most.min(MAX_TOKENS).min(config.max_position_embeddings))?,
            pooling: pooling_of(pooling)?,
            revision: hex::encode(&digest.finalize()[..8]),
            config,
            weights,
        })
    }
}

fn tokenizer(bytes: &[u8], most: usize) -> Result<Tokenizer, ModelFault> {
    let fault = |error: tokenizers::Error| ModelFault::new("tokenizer.json", error);
    if most < MIN_TOKENS {
        return Err(ModelFault::new("config.json", format!("the model takes {most} tokens; {MIN_TOKENS} are needed")));
    }
    let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(fault)?;
    let truncation = TruncationParams { max_length: most, ..TruncationParams::default() };
    tokenizer.with_truncation(Some(truncation)).map_err(fault)?;
    // Whoever made the file may have asked for one length of all texts; here a batch is as long as its longest one.
    tokenizer.with_padding(None);
    Ok(tokenizer)
}

fn pooling_of(file: Option<PoolingFile>) -> Result<Pooling, ModelFault> {
    match file.map(|file| (file.pooling_mode_mean_tokens, file.pooling_mode_cls_token)) {
        None | Some((true, false)) => Ok(Pooling::Mean),
        Some((false, true)) => Ok(Pooling::First),
        Some(_) => {
            let known = "asks for another pooling than the mean of all tokens or the first one";
            Err(ModelFault { file: "1_Pooling/config.json", reason: known.to_owned() })
        }
    }
}

fn json<T: for<'de> Deserialize<'de>>(file: &'static str, bytes: &[u8]) -> Result<T, ModelFault> {
    serde_json::from_slice(bytes).map_err(|error| ModelFault::new(file, error))
}

/// The bytes of a file; `None` where there is none.
fn bounded(path: &Path, most: u64) -> std::io::Result<Option<Vec<u8>>> {
    let length = match std::fs::metadata(path) {
        Ok(file) => file.len(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if length > most {
        return Err(std::io::Error::other(format!("it has {length} bytes; at most {most} are read")));
    }
    std::fs::read(path).map(Some)
}
