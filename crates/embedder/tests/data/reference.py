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
tokenizer.enable_truncation(256)
tokenizer.no_padding()
session = onnxruntime.InferenceSession(f"{folder}/model.onnx", providers=["CPUExecutionProvider"])
for text in TEXTS:
    tokens = tokenizer.encode(text.replace("\\n", "\n"))
    every = {
        "input_ids": tokens.ids,
        "attention_mask": tokens.attention_mask,
        "token_type_ids": tokens.type_ids,
    }
    wanted = {i.name: numpy.array([every[i.name]], dtype=numpy.int64) for i in session.get_inputs()}
    vector = session.run(None, wanted)[0][0].mean(axis=0)
    vector /= numpy.linalg.norm(vector)
    print(text, " ".join(f"{number:.5f}" for number in vector), sep="\t")
