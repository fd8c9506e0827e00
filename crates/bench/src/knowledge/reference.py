"""How fast Python's onnxruntime embeds texts with the built-in model's own files, as one would write it at first.

python reference.py FOLDER < texts.json   (an array; needs onnxruntime, tokenizers and numpy)
Prints the texts a second, one at a time and in batches of 32.
"""

import json
import sys
import time

import numpy
import onnxruntime
import tokenizers

folder = sys.argv[1]
tokenizer = tokenizers.Tokenizer.from_file(f"{folder}/tokenizer.json")
tokenizer.enable_truncation(256)
tokenizer.enable_padding()
session = onnxruntime.InferenceSession(f"{folder}/model.onnx")
names = [wanted.name for wanted in session.get_inputs()]
texts = json.load(sys.stdin)


def embed(batch):
    tokens = tokenizer.encode_batch(batch)
    mask = numpy.array([each.attention_mask for each in tokens])
    every = {
        "input_ids": numpy.array([each.ids for each in tokens]),
        "attention_mask": mask,
        "token_type_ids": numpy.array([each.type_ids for each in tokens]),
    }
    output = session.run(None, {name: every[name] for name in names})[0]
    mean = (output * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1)[:, None]
    return mean / numpy.linalg.norm(mean, axis=1, keepdims=True)


embed(texts[:8])
for size in (1, 32):
    started = time.perf_counter()
    for at in range(0, len(texts), size):
        embed(texts[at : at + size])
    print(len(texts) / (time.perf_counter() - started))
