"""Records what Hugging Face's tokenizers make of texts: tokenizer-cases.py FOLDER [VOCABULARY [CASES]]

Trains small tokenizers of each kind on this project's own files, and writes NAME.json.gz with the
tokenizer and the tokens of some texts: the fixtures of JsonTokenizerTest. Needs the package
tokenizers, which comes with vLLM (scripts/real-vllm install).
"""

import glob
import gzip
import json
import os
import random
import sys

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers import processors, trainers

ROOT = os.path.join(os.path.dirname(__file__), "..")
SPECIAL = ["<|im_start|>", "<|im_end|>", "<s>"]
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CASED = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
ODD = [
    "Äpfel übermäßig größer, naïve café – “Zitat” … 1234567 12 3",
    "日本語のテキストです。 中文文本，标点。 한국어 텍스트 123",
    "Привет, как дела? Ελληνικά γλώσσα العربية עברית",
    "emoji 😀👍🏽 👨‍👩‍👧 ẞ ſ ﬁ K",
    "a\u0301 e\u0301 \u00a0nbsp\u3000wide  \t tabs\r\n\r\n  lines\n\n\n  x",
    "I'm we'll you'd THEY'RE don'T it'S x'ſ 'tis rock'n'roll ''s",
    "  leading   spaces and trailing   ",
    "\n",
    " ",
    "",
    "   \n   \n  a",
    "0123456789 3.14159 1,000,000 ½ Ⅷ ٣٤",
    "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n",
    "x<|im_end|>y <|im_end|> z",
    "\ud7ff\ue000 \U0001F600\U0010FFFF \x00\x01\x7f\x80\x9f",
]


def byte_level(texts, size, pattern=None, normalizer=None, ignore_merges=False, begin=False):
    made = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    if normalizer:
        made.normalizer = normalizer
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=pattern is None)
    if pattern:
        split = pre_tokenizers.Split(Regex(pattern), "isolated")
        level = pre_tokenizers.Sequence([split, level])
    made.pre_tokenizer = level
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(texts, trainer)
    if begin:
        token = [("<s>", made.token_to_id("<s>"))]
        made.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=token)
    return made


def sentence_piece(texts, size, normalizer=None, pre_tokenizer=None):
    model = models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    trained = Tokenizer(model)
    trained.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    numbers = ["<0x%02X>" % number for number in range(256)]
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=["<unk>"] + SPECIAL + numbers,
        limit_alphabet=200,
        show_progress=False,
    )
    trained.train_from_iterator(texts, trainer)
    file = json.loads(trained.to_str())
    added = file["added_tokens"]
    file["added_tokens"] = [each for each in added if not each["content"].startswith("<0x")]
    if normalizer:
        empty = Tokenizer(models.BPE())
        empty.normalizer = normalizer
        if pre_tokenizer:
            empty.pre_tokenizer = pre_tokenizer
        other = json.loads(empty.to_str())
        file["normalizer"], file["pre_tokenizer"] = other["normalizer"], other["pre_tokenizer"]
    else:
        file["pre_tokenizer"]["split"] = False
    return Tokenizer.from_str(json.dumps(file))


def main(folder, size, count):
    texts = []
    for pattern in ("docs/**/*.md", "kvasir-core/src/main/**/*.java"):
        for name in sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True)):
            with open(name, encoding="utf-8") as file:
                texts.append(file.read())
    words = texts + ODD
    spaces = normalizers.Replace(" ", "▁")
    prepended = normalizers.Sequence([normalizers.Prepend("▁"), spaces])
    merged = pre_tokenizers.Split(" ", "merged_with_previous")
    made = {
        "gpt2": byte_level(words, size),
        "llama3": byte_level(words, size, LLAMA3, ignore_merges=True, begin=True),
        "qwen2": byte_level(words, size, LLAMA3.replace("{1,3}", ""), normalizers.NFC()),
        "cased": byte_level(words, size, CASED),
        "llama2": sentence_piece(words, size, prepended),
        "metaspace": sentence_piece(words, size),
        "gemma": sentence_piece(words, size, spaces, merged),
    }
    chance = random.Random(5)
    cases = list(ODD)
    for _ in range(count):
        text = chance.choice(texts)
        begin = chance.randrange(max(1, len(text) - 400))
        part = text[begin : begin + chance.randrange(20, 400)]
        if chance.random() < 0.5:
            at = chance.randrange(len(part) + 1)
            part = part[:at] + chance.choice(ODD) + part[at:]
        cases.append(part)
    os.makedirs(folder, exist_ok=True)
    for name, tokenizer in made.items():
        tokens = [
            {
                "text": text,
                "tokens": tokenizer.encode(text, add_special_tokens=False).ids,
                "framed": tokenizer.encode(text).ids,
            }
            for text in cases
        ]
        content = {"tokenizer": json.loads(tokenizer.to_str()), "cases": tokens}
        with gzip.GzipFile(os.path.join(folder, name + ".json.gz"), "wb", mtime=0) as out:
            out.write(json.dumps(content).encode())


main(sys.argv[1], *(int(each) for each in (sys.argv[2:] + ["1200", "60"][len(sys.argv) - 2 :])))
