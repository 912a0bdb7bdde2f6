#!/usr/bin/env python3
"""Asks a gateway in front of vLLM by the clients that users have, and compares what they saw with
what the gateway wrote down.

  real-vllm-clients.py URL REQUESTS_FILE [CALLS]

URL            of the gateway, without /v1
REQUESTS_FILE  what the gateway was given as --log-requests
CALLS          how many calls (default: 200)

Exit code: 0 all was booked as the clients saw it, 1 something was not.
"""
import collections
import concurrent.futures
import json
import sys
import time

import anthropic
import httpx
import openai

URL, LOG = sys.argv[1].rstrip("/"), sys.argv[2]
CALLS = int(sys.argv[3]) if len(sys.argv) > 3 else 200
MODEL = "pocket"
OPENAI = openai.OpenAI(base_url=URL + "/v1", api_key="none", timeout=300, max_retries=0)
ANTHROPIC = anthropic.Anthropic(base_url=URL, api_key="none", timeout=300, max_retries=0)
PLAIN = httpx.Client(base_url=URL, timeout=300)
SCHEMA = {
    "type": "object",
    "properties": {"word": {"type": "string", "enum": ["river", "stone"]}},
    "required": ["word"],
    "additionalProperties": False,
}
FUNCTION = {"name": "look_up", "description": "Looks a word up.", "parameters": SCHEMA}
TOOL = {"type": "function", "function": FUNCTION}


class Seen:
    """What a client saw of one call; None for what it was not told."""

    def __init__(self, ended=True, prompt=None, output=None, status=200):
        self.ended, self.prompt, self.output, self.status = ended, prompt, output, status


def question(number):
    return f"Question {number}: what does the word number {number % 7} mean?"


def chat(number):
    return {
        "model": MODEL,
        "messages": [{"role": "user", "content": question(number)}],
        "max_tokens": 12,
        "temperature": 0,
        "extra_headers": {"x-request-id": f"call-{number}"},
    }


def told(usage):
    return Seen(True, usage.prompt_tokens, usage.completion_tokens)


def chat_whole(number):
    return told(OPENAI.chat.completions.create(**chat(number)).usage)


def chat_stream(number):
    with OPENAI.chat.completions.create(**chat(number), stream=True) as stream:
        for _ in stream:
            pass
    return Seen()


def chat_stream_usage(number):
    usage = None
    options = {"include_usage": True}
    with OPENAI.chat.completions.create(
        **chat(number), stream=True, stream_options=options
    ) as stream:
        for event in stream:
            usage = event.usage or usage
    return told(usage)


def chat_several(number):
    answer = OPENAI.chat.completions.create(**(chat(number) | {"n": 2, "temperature": 1}))
    assert len(answer.choices) == 2
    return told(answer.usage)


def chat_tool(number):
    choice = {"type": "function", "function": {"name": "look_up"}}
    asked = chat(number) | {"max_tokens": 120}
    answer = OPENAI.chat.completions.create(**asked, tools=[TOOL], tool_choice=choice)
    calls = answer.choices[0].message.tool_calls
    # So small a model does not always come to the end of its arguments.
    assert calls or answer.choices[0].finish_reason == "length", answer
    return told(answer.usage)


def chat_tool_stream(number):
    ends, asked = [], chat(number) | {"max_tokens": 120}
    choice = {"type": "function", "function": {"name": "look_up"}}
    with OPENAI.chat.completions.create(
        **asked, tools=[TOOL], tool_choice=choice, stream=True
    ) as stream:
        for event in stream:
            ends += [choice.finish_reason for choice in event.choices if choice.finish_reason]
    assert len(ends) == 1, ends
    return Seen()


def chat_schema(number):
    form = {"type": "json_schema", "json_schema": {"name": "word", "schema": SCHEMA}}
    answer = OPENAI.chat.completions.create(
        **(chat(number) | {"max_tokens": 120}), response_format=form
    )
    if answer.choices[0].finish_reason == "length":
        return told(answer.usage)
    assert json.loads(answer.choices[0].message.content)["word"] in ("river", "stone")
    return told(answer.usage)


def chat_cancelled(number):
    asked = chat(number) | {"max_tokens": 300}
    with OPENAI.chat.completions.create(
        **asked, stream=True, extra_body={"ignore_eos": True}
    ) as stream:
        for count, _ in enumerate(stream):
            if count == 5:
                break
    return Seen(ended=False)


def completion(number):
    return {
        "model": MODEL,
        "prompt": question(number),
        "max_tokens": 12,
        "temperature": 0,
        "extra_headers": {"x-request-id": f"call-{number}"},
    }


def completion_whole(number):
    return told(OPENAI.completions.create(**completion(number)).usage)


def completion_several(number):
    answer = OPENAI.completions.create(**(completion(number) | {"n": 3, "temperature": 1}))
    assert len(answer.choices) == 3
    return told(answer.usage)


def completion_stream(number):
    with OPENAI.completions.create(**completion(number), stream=True) as stream:
        for _ in stream:
            pass
    return Seen()


def response(number):
    return {
        "model": MODEL,
        "instructions": "Say what a word means.",
        "input": question(number),
        "max_output_tokens": 12,
        "temperature": 0,
        "extra_headers": {"x-request-id": f"call-{number}"},
    }


def response_whole(number):
    usage = OPENAI.responses.create(**response(number)).usage
    return Seen(True, usage.input_tokens, usage.output_tokens)


def response_stream(number):
    usage = None
    with OPENAI.responses.create(**response(number), stream=True) as stream:
        for event in stream:
            if event.type in ("response.completed", "response.incomplete"):
                usage = event.response.usage
    return Seen(True, usage.input_tokens, usage.output_tokens)


def message(number):
    return {
        "model": MODEL,
        "system": "Say what a word means.",
        "messages": [{"role": "user", "content": question(number)}],
        "max_tokens": 12,
        "extra_headers": {"x-request-id": f"call-{number}"},
    }


def input_tokens(usage):
    cached = (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
    return usage.input_tokens + cached


def message_whole(number):
    usage = ANTHROPIC.messages.create(**message(number)).usage
    return Seen(True, input_tokens(usage), usage.output_tokens)


def message_stream(number):
    with ANTHROPIC.messages.stream(**message(number)) as stream:
        usage = stream.get_final_message().usage
    return Seen(True, None, usage.output_tokens)


def message_tool(number):
    tool = {"name": "look_up", "description": "Looks a word up.", "input_schema": SCHEMA}
    try:
        answer = ANTHROPIC.messages.create(
            **(message(number) | {"max_tokens": 120}),
            tools=[tool],
            tool_choice={"type": "tool", "name": "look_up"},
        )
    except anthropic.BadRequestError as refused:
        # vLLM says so where the model's arguments are no object.
        assert "AnthropicContentBlock" in str(refused), refused
        return Seen(status=400)
    called = any(block.type == "tool_use" for block in answer.content)
    assert called or answer.stop_reason == "max_tokens", answer
    return Seen(True, input_tokens(answer.usage), answer.usage.output_tokens)


def message_cancelled(number):
    asked = message(number) | {"max_tokens": 300}
    with ANTHROPIC.messages.create(**asked, stream=True) as stream:
        for count, _ in enumerate(stream):
            if count == 4:
                break
    return Seen(ended=False)


def count_tokens(number):
    asked = {key: value for key, value in message(number).items() if key != "max_tokens"}
    assert ANTHROPIC.messages.count_tokens(**asked).input_tokens > 5
    return Seen(True, None, None)


def tokenize(number):
    headers = {"x-request-id": f"call-{number}"}
    asked = {"model": MODEL, "prompt": question(number)}
    tokens = PLAIN.post("/tokenize", json=asked, headers=headers).json()["tokens"]
    asked = {"model": MODEL, "tokens": tokens}
    text = PLAIN.post("/detokenize", json=asked).json()["prompt"]
    assert question(number) in text, text
    return Seen(True, None, None)


KINDS = [
    chat_whole,
    chat_stream,
    chat_stream_usage,
    chat_several,
    chat_tool,
    chat_tool_stream,
    chat_schema,
    chat_cancelled,
    completion_whole,
    completion_several,
    completion_stream,
    response_whole,
    response_stream,
    message_whole,
    message_stream,
    message_tool,
    message_cancelled,
    count_tokens,
    tokenize,
]


def call(number):
    kind = KINDS[number % len(KINDS)]
    try:
        return number, kind.__name__, kind(number), None
    except Exception as failure:  # what a client throws is what is to be told
        return number, kind.__name__, None, f"{type(failure).__name__}: {failure}"


def booked():
    """What the gateway wrote down, by the number of the call."""
    lines = {}
    with open(LOG) as file:
        for line in file:
            entry = json.loads(line)
            if entry["id"].startswith("call-"):
                lines[int(entry["id"].split("-")[1])] = entry
    return lines


def wrong(number, kind, seen, failure, line):
    """What does not fit; empty where all does."""
    if failure:
        return f"the client failed: {failure[:300]}"
    if line is None:
        return "the gateway wrote nothing down"
    if not seen.ended:
        # All of a short answer may have been on its way when the client left.
        return "" if line["outcome"] in ("gone", "complete") else f"outcome {line['outcome']}"
    if line["outcome"] != "complete" or line["status"] != seen.status:
        return f"outcome {line['outcome']}, status {line['status']}"
    if seen.prompt is not None and seen.prompt != line.get("told_prompt_tokens"):
        return f"prompt of {line.get('told_prompt_tokens')} tokens, the client saw {seen.prompt}"
    if seen.output is not None and seen.output != line.get("output_tokens"):
        return f"answer of {line.get('output_tokens')} tokens, the client saw {seen.output}"
    return ""


def main():
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(8) as callers:
        results = list(callers.map(call, range(CALLS)))
    for _ in range(100):
        lines = booked()
        if len(lines) >= sum(1 for result in results if result[3] is None):
            break
        time.sleep(0.1)
    mistakes = 0
    kinds, outcomes = collections.Counter(), collections.Counter()
    for number, kind, seen, failure in results:
        line = lines.get(number)
        what = wrong(number, kind, seen, failure, line)
        kinds[kind] += 1
        outcomes[line["outcome"] if line else "not booked"] += 1
        if what:
            mistakes += 1
            print(f"call {number}, {kind}: {what}")
    print(f"{CALLS} calls of {len(kinds)} kinds in {time.monotonic() - start:.0f} s,", end=" ")
    print(", ".join(f"{count} {name}" for name, count in sorted(outcomes.items())), end="; ")
    print(f"{mistakes} not booked as the client saw it")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
