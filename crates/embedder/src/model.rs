//! The network and its tokens: one text becomes one vector.

use std::{
    fmt::Display,
    path::Path,
    sync::{Mutex, PoisonError},
};

use ort::{
    environment::Environment,
    session::{Session, SessionInputValue, builder::GraphOptimizationLevel},
    value::Tensor,
};
use tokenizers::{Tokenizer, TruncationParams};

use crate::{Files, Unusable};

/// What the model was made for.
const MOST_TOKENS: usize = 256;
/// More of a text never matters: no token has so many bytes on average.
const MOST_BYTES: usize = MOST_TOKENS * 64;

/// A process has one, with the library it was loaded from first.
static ENVIRONMENT: Mutex<Option<Environment>> = Mutex::new(None);

/// The network and its tokens.
pub(crate) struct Model {
    session: Session,
    tokenizer: Tokenizer,
    inputs: Vec<String>,
}

impl Model {
    pub(crate) fn load(files: &Files) -> Result<Self, Unusable> {
        let environment = environment(&files.library)?;
        let session = session(&environment, &files.network).map_err(|why| unusable(&files.network, why))?;
        let inputs = session.inputs().iter().map(|input| input.name().to_owned()).collect();
        let mut tokenizer =
            Tokenizer::from_file(&files.tokenizer).map_err(|why| unusable(&files.tokenizer, why))?;
        let cut = TruncationParams { max_length: MOST_TOKENS, ..TruncationParams::default() };
        tokenizer.with_truncation(Some(cut)).map_err(|why| unusable(&files.tokenizer, why))?;
        tokenizer.with_padding(None);
        Ok(Self { session, tokenizer, inputs })
    }

    /// The mean of what the network makes of the tokens, with length 1.
    pub(crate) fn vector(&mut self, text: &str) -> Result<Vec<f32>, Unusable> {
        let text = text.get(..text.floor_char_boundary(MOST_BYTES)).unwrap_or(text);
        let tokens = self.tokenizer.encode_fast(text, true).map_err(no_vector)?;
        let all = |numbers: &[u32]| -> Result<SessionInputValue<'static>, Unusable> {
            let numbers: Vec<i64> = numbers.iter().copied().map(i64::from).collect();
            Ok(Tensor::from_array(([1, numbers.len()], numbers)).map_err(no_vector)?.into())
        };
        let inputs = self.inputs.iter().map(|name| {
            let numbers = match name.as_str() {
                "input_ids" => tokens.get_ids(),
                "attention_mask" => tokens.get_attention_mask(),
                "token_type_ids" => tokens.get_type_ids(),
                other => return Err(no_vector(format!("it wants {other}"))),
            };
            Ok((name.clone(), all(numbers)?))
        });
        let inputs: Vec<_> = inputs.collect::<Result<_, Unusable>>()?;
        let outputs = self.session.run(inputs).map_err(no_vector)?;
        let (_, output) = outputs.iter().next().ok_or_else(|| no_vector("it has no output"))?;
        let (shape, numbers) = output.try_extract_tensor::<f32>().map_err(no_vector)?;
        let length = shape.last().and_then(|length| usize::try_from(*length).ok()).unwrap_or(0);
        if length == 0 || numbers.len() != length * tokens.len() {
            return Err(no_vector("its output has another shape than all-MiniLM-L6-v2's"));
        }
        mean(numbers, length).ok_or_else(|| no_vector("its output is no number"))
    }
}

/// The direction of the mean of vectors of this length.
fn mean(numbers: &[f32], length: usize) -> Option<Vec<f32>> {
    let mut sum = vec![0.0_f32; length];
    for vector in numbers.chunks_exact(length) {
        for (sum, number) in sum.iter_mut().zip(vector) {
            *sum += number;
        }
    }
    let norm = sum.iter().map(|number| number * number).sum::<f32>().sqrt();
    (norm.is_finite() && norm > 0.0).then(|| sum.iter().map(|number| number / norm).collect())
}

fn environment(library: &Path) -> Result<Environment, Unusable> {
    let mut known = ENVIRONMENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(environment) = &*known {
        return Ok(environment.clone());
    }
    let loaded = ort::init_from(library).map_err(|why| unusable(library, why))?;
    let built = loaded.with_name("glasshouse").with_telemetry(false).build();
    let environment = built.map_err(|why| unusable(library, why))?;
    *known = Some(environment.clone());
    Ok(environment)
}

/// A network that computes on the thread that asks it.
fn session(environment: &Environment, network: &Path) -> Result<Session, ort::Error> {
    Session::builder(environment)?
        .with_intra_threads(1)?
        .with_inter_threads(1)?
        .with_optimization_level(GraphOptimizationLevel::All)?
        // Texts have many lengths, and a plan of the memory would be kept for each.
        .with_memory_pattern(false)?
        .commit_from_file(network)
}

fn unusable(file: &Path, why: impl Display) -> Unusable {
    Unusable::File { file: file.to_owned(), why: why.to_string() }
}

fn no_vector(why: impl Display) -> Unusable {
    Unusable::NoVector(why.to_string())
}
