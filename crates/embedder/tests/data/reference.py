"""Makes reference.tsv: what Python's onnxruntime and tokenizers make of texts with the model's own files.

python3 reference.py FOLDER > reference.tsv   (needs onnxruntime, tokenizers and numpy)
"""

import sys

import numpy
import onnxruntime
import tokenizers

TEXTS = [
    "How do I close my account?",
    "A customer may close a checking account when its balance is zero and no transfer is pending.",
    "what similarity laws must be obeyed when constructing aeroelastic models of heated high speed aircraft .",
    "Ünïcödé, naïve café — “quotes”… and e\u0301 decomposed",
    "Как закрыть счёт в банке?",
    "銀行口座を閉じるには 漢字 and kana かな",
    "fn main() { println!(\"{}\", 0x1f + 3.14e-2); }\\n\\t// tabs\\nand lines",
    "one two three four five six seven eight nine ten " * 60,
    "supercalifragilisticexpialidocious" * 4,
    "x",
]

folder = sys.argv[1]
tokenizer = tokenizers.Tokenizer.from_file(f"{folder}/tokenizer.json")
tokenizer.no_truncation()
tokenizer.no_padding()
session = onnxruntime.InferenceSession(f"{folder}/model.onnx", providers=["CPUExecutionProvider"])
before, after = tokenizer.encode("").ids


def direction(vectors):
    mean = numpy.mean(vectors, axis=0)
    return mean / numpy.linalg.norm(mean)


def part(tokens):
    ids = [before, *tokens, after]
    every = {"input_ids": ids, "attention_mask": [1] * len(ids), "token_type_ids": [0] * len(ids)}
    wanted = {i.name: numpy.array([every[i.name]], dtype=numpy.int64) for i in session.get_inputs()}
    return direction(session.run(None, wanted)[0][0])


for text in TEXTS:
    tokens = tokenizer.encode(text.replace("\\n", "\n"), add_special_tokens=False).ids
    # What is too long for the network is read in parts of like length.
    size = -(-len(tokens) // -(-len(tokens) // 254))
    vector = direction([part(tokens[at : at + size]) for at in range(0, len(tokens), size)])
    print(text, " ".join(f"{number:.5f}" for number in vector), sep="\t")
