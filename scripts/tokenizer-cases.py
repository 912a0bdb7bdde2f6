"""Records what Hugging Face's tokenizers make of texts: tokenizer-cases.py FOLDER [VOCABULARY [CASES]]

Trains small tokenizers of each kind on this project's own files, and writes NAME.json.gz with the
tokenizer and the tokens of some texts: the fixtures of JsonTokenizerTest. With parts.json.gz in
place of a folder it writes that alone: untrained tokenizers, one for each part of the format, and
the tokens of texts made by chance; and bytes that are no UTF-8 with what Python reads in them.
Needs the package tokenizers, which comes with vLLM (scripts/real-vllm install).
"""

import glob
import gzip
import json
import os
import random
import sys

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
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


LETTERS = (
    "a A ab AB b x Σ ΑΣ ΟΔΟΣ ß İ é e\u0301 ﬁ ½ ٣ Ⅷ 日 😀 ▁ _ - -- . ' 's 'S 1 22 12345 \n \r\n \t \u00a0"
    " \u3000 <m> <M> <mask> <mas <l> <r> <w> <W> <both> <s> ||"
).split(" ")
ADDED = [
    AddedToken("<m>", normalized=False),
    AddedToken("<mask>", normalized=False),
    AddedToken("<l>", lstrip=True, normalized=False),
    AddedToken("<r>", rstrip=True, normalized=False),
    AddedToken("<both>", lstrip=True, rstrip=True, normalized=False),
    AddedToken("<w>", single_word=True, normalized=False),
    AddedToken("ab", single_word=True, normalized=False),
]
NORMAL = [AddedToken("<W>", normalized=True), AddedToken("||", lstrip=True, normalized=True)]


def part(pre_tokenizer, normalizer=None, added=(), post=None, **model):
    """An untrained tokenizer with a few merges: of bytes, or of letters where the model says so."""
    if model.pop("letters", False):
        vocabulary = ["<unk>", "<s>"] + (["<0x%02X>" % i for i in range(256)] if "byte_fallback" in model else [])
        vocabulary += list("aAbxé1-.▁_< m>") + ["ab", "▁a", "▁ab", "▁▁", "--"]
        merges = [("a", "b"), ("▁", "a"), ("▁a", "b"), ("▁", "▁"), ("-", "-")]
    else:
        vocabulary = sorted(pre_tokenizers.ByteLevel.alphabet()) + ["ab", "Ġa", "Ġab", "ĠĠ", "--", "<s>", "ABx"]
        merges = [("a", "b"), ("Ġ", "a"), ("Ġa", "b"), ("Ġ", "Ġ"), ("-", "-")]
    ids = {token: number for number, token in enumerate(vocabulary)}
    made = Tokenizer(models.BPE(ids, merges, **model))
    made.pre_tokenizer = pre_tokenizer
    if normalizer:
        made.normalizer = normalizer
    if post:
        made.post_processor = post
    made.add_special_tokens([AddedToken("<s>", normalized=False)])
    made.add_tokens(list(added))
    return made


def parts(file):
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    words = pre_tokenizers.ByteLevel(add_prefix_space=False)
    sequence, split = pre_tokenizers.Sequence, pre_tokenizers.Split
    meta = lambda scheme, cut: pre_tokenizers.Metaspace(prepend_scheme=scheme, split=cut)
    llama3, start = Regex(LLAMA3), [("<s>", 261)]
    both = processors.TemplateProcessing(single="<s> $A <s>", special_tokens=start)
    made = {
        "added": part(words, added=ADDED),
        "added, other pieces": part(sequence([split(llama3, "isolated"), level]), added=ADDED),
        "added, normalised": part(words, normalizers.Lowercase(), ADDED + NORMAL),
        "NFC": part(words, normalizers.NFC()),
        "NFD": part(words, normalizers.NFD()),
        "NFKC": part(level, normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])),
        "NFKD": part(words, normalizers.NFKD()),
        "lower": part(words, normalizers.Lowercase()),
        "replace": part(words, normalizers.Sequence([normalizers.Replace("ab", "b-"), normalizers.Replace(Regex(r"\s+"), " ")])),
        "prepend": part(level, normalizers.Prepend("▁")),
        "digits": part(sequence([pre_tokenizers.Digits(individual_digits=True), words])),
        "numbers": part(sequence([pre_tokenizers.Digits(), level])),
        "whole pieces": part(words, ignore_merges=True),
        "frame": part(words, post=processors.Sequence([processors.ByteLevel(trim_offsets=False), both])),
        "inverted": part(sequence([split(Regex(r"\w+"), "removed", invert=True), level])),
        "two patterns": part(sequence([split(llama3, "isolated"), split(Regex(r"[a-z]-"), "isolated"), words])),
        "unknown": part(None, letters=True, unk_token="<unk>"),
        "unknowns": part(None, letters=True, unk_token="<unk>", fuse_unk=True),
        "bytes": part(None, letters=True, unk_token="<unk>", byte_fallback=True),
        "bytes, Llama": part(None, normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]), ADDED, letters=True, unk_token="<unk>", byte_fallback=True),
        "meta always": part(meta("always", True), added=ADDED, letters=True, unk_token="<unk>"),
        "meta first": part(meta("first", True), added=ADDED, letters=True, unk_token="<unk>"),
        "meta never": part(meta("never", True), letters=True, unk_token="<unk>"),
        "meta whole": part(meta("first", False), added=ADDED, letters=True, unk_token="<unk>", byte_fallback=True),
    }
    for behavior in ("removed", "isolated", "merged_with_previous", "merged_with_next"):
        made["split " + behavior] = part(sequence([split("-", behavior), split(Regex(r"\s"), behavior), level]))
    chance = random.Random(7)
    texts = [""] + ["".join(chance.choice(LETTERS + [" "] * 12) for _ in range(chance.randrange(1, 25))) for _ in range(60)]
    content = {"texts": texts, "parts": [], "bytes": []}
    for name, tokenizer in made.items():
        tokens = [tokenizer.encode(text).ids for text in texts]
        content["parts"].append({"name": name, "tokenizer": json.loads(tokenizer.to_str()), "tokens": tokens})
    for _ in range(300):
        some = "aé日😀".encode() + bytes([0xC0, 0xF8, 0xFF, 0x80, 0xE2, 0x82, 0xF0, 0x9F, 0xC3])
        raw = bytes(chance.choice(some) for _ in range(chance.randrange(1, 12)))
        content["bytes"].append({"bytes": list(raw), "text": raw.decode(errors="replace")})
    with gzip.GzipFile(file, "wb", mtime=0) as out:
        out.write(json.dumps(content).encode())


if sys.argv[1].endswith("parts.json.gz"):
    parts(sys.argv[1])
    sys.exit()
main(sys.argv[1], *(int(each) for each in (sys.argv[2:] + ["1200", "60"][len(sys.argv) - 2 :])))
