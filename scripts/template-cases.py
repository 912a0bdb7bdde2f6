"""Records what transformers makes of conversations by chat templates:

template-cases.py OUT.json.gz [TEMPLATE.jinja ...]

Writes this file's own templates, and those that are named, each with what Python's jinja2 rendered:
the fixture of PromptTemplateTest, and a way to try the templates of a vLLM (its wheel and its
sources have dozens). Needs the package transformers, which comes with vLLM.
"""

import gzip
import json
import sys

from transformers.utils.chat_template_utils import _compile_jinja_template

TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Tells the \"weather\" of a place – now.",
        "parameters": {
            "type": "object",
            "properties": {
                "place": {"type": "string", "description": "where"},
                "days": {"type": "integer", "minimum": 1, "default": 2.5},
                "exact": {"type": "boolean", "enum": [True, False, None]},
            },
            "required": ["place"],
        },
    },
}
CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "weather", "arguments": {"place": "Ålesund", "days": 3}},
}
CONVERSATIONS = [
    [{"role": "user", "content": "Hello, what's \"up\"?\n  Two lines "}],
    [
        {"role": "system", "content": "  Be brief.  "},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "<think>\nhm\n</think>\n\nYes?"},
        {"role": "user", "content": "日本語 & <tags> 😀"},
    ],
    [
        {"role": "user", "content": "weather?"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "name": "weather", "content": "{\"sun\": true}"},
        {"role": "assistant", "content": "Sunny."},
        {"role": "user", "content": "and tomorrow?"},
    ],
    [
        {
            "role": "user",
            "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}],
        }
    ],
]
TEMPLATES = {
    "chatml": (
        "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n"
        "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    ),
    "spaces": """
{#- a comment that takes the line before -#}
{{- bos_token }}
{%- if messages[0].role == 'system' %}
    {%- set system = messages[0].content | trim %}
    {%- set rest = messages[1:] %}
{%- else %}
    {%- set system = "none" %}
    {%- set rest = messages %}
{%- endif %}
  {% if system %}
[{{ system }}]
  {% endif %}
{% for message in rest %}
    {% if message.content is string %}
  {{ loop.index }}/{{ loop.length }} {{ message['role'] | upper }}: {{ message.content }}
    {% elif message.content is none %}
  nothing
    {% else %}
      {%- for part in message.content if part.type == 'text' -%}
        {{ part['text'] }}{{ ", " if not loop.last else "." }}
      {%- endfor %}

    {% endif %}
{% else %}
no messages
{% endfor %}
end {#- x #}
  {# y #}
tail
""",
    "tools": """
{%- macro call(name, arguments, open='<') -%}
{{ open }}{{ name }}|{{ arguments | tojson }}|{{ arguments.items() | list | length }}>
{%- endmacro -%}
{%- set ns = namespace(count=0, last='') -%}
{%- if tools is defined and tools -%}
{{ "# Tools\\n" }}
{%- for tool in tools %}{{ tool | tojson(indent=4) }}
{{ tool.function.parameters.properties | dictsort | map(attribute=0) | join('+') }}
{%- for name, spec in tool.function.parameters.properties.items() %}
 - {{ name }}: {{ spec.type }}{% if spec.default is defined %} = {{ spec.default }}{% endif %}
{%- if name in tool.function.parameters.required %}!{% endif %}
{%- endfor %}
{% endfor %}
{%- endif -%}
{%- for m in messages -%}
{%- set ns.count = ns.count + 1 -%}
{%- if m.tool_calls is defined and m.tool_calls -%}
{%- for t in m['tool_calls'] %}{{ call(t.function.name, t.function.arguments, open='<<') }}{% endfor -%}
{%- elif m.role == 'tool' %}
result {{ m.content }} of {{ m.get('name', 'none') }} {{ m.get('other') }}
{%- elif m.content is string -%}
{%- if '</think>' in m.content %}{{ m.content.split('</think>')[-1].lstrip('\\n') }}
{%- else %}{{ m.content | replace('\\n', ' ') | trim }}{% endif -%}
{%- endif -%}
{%- set ns.last = m.role -%}
{%- endfor %}
{{ ns.count }} {{ ns.last }}{{ '' if add_generation_prompt else '!' }}
""",
    "operators": """
{%- set n = messages | length -%}
{{ n // 2 }} {{ n % 2 }} {{ n / 2 }} {{ -n }} {{ 2 ** n }} {{ n * 1.5 }} {{ n ~ 'x' ~ none ~ true }}
{{ 'a' if n > 1 else 'b' }} {{ n in [1, 2] }} {{ n not in (4, 5) }} {{ 1 < n and n <= 4 or 'never' }}
{{ not n }} {{ messages[-1].role }} {{ messages[::-1][0].role }} {{ 'abcdef'[1:-1] }} {{ 'abc'[::-1] }}
{{ ['x', 1, 2.0, none, {'k': 'it\\'s'}] }} {{ {'a': [1, 'b']} }} {{ 1e3 | int if false else 7 }}
{{ undefined_name }}|{{ undefined_name is defined }}|{{ undefined_name | default('d') }}
{{ messages | map(attribute='role') | list }} {{ messages | selectattr('role', 'equalto', 'user') | list | length }}
{{ messages | rejectattr('role', 'eq', 'user') | map(attribute='role') | join(', ') }}
{{ range(3) | list }} {{ range(1, 6, 2) | join('-') }} {{ 'x' * 3 }} {{ [1] + [2] }}
{{ "Title case of it" | title }} {{ "cAP" | capitalize }} {{ "  s ".strip() }}|{{ "xxaxx".strip('x') }}
{{ 'a,b,,c'.split(',') }} {{ 'a b  c'.split() }} {{ 'a-b-c'.rsplit('-', 1) }} {{ 'k' in {'k': 1} }}
{{ "line1\\nline2\\n\\nline4" | indent(2) }} {{ "x" | indent(2, true) }}
{% for r in messages %}{% if loop.first %}{% continue %}{% endif %}{{ loop.index0 }}{{ r.role[0] }}
{%- if loop.index > 2 %}{% break %}{% endif %}{% endfor %}
{% for a, b in [(1, 2), (3, 4)] %}{{ a }}{{ b }}{{ loop.cycle('p', 'q') }}{{ loop.nextitem is defined }}{% endfor %}
{% set block %}kept {{ n }}{% endset %}{{ block | upper }} {{ true }} {{ 3 is odd }} {{ n is number }}
{% raw %}{{ not }} {% this %}{% endraw %}
{{ {'b': 1, 'a': {'x': [1, 2.5, "é\\t\\""]}} | tojson }} {{ [] | tojson(indent=2) }} {{ 'q"\\u00e9' | tojson }}
{% generation %}said{% endgeneration %} {{ strings | default([]) | first | default('none', true) }}
""",
    "strict": (
        "{% for m in messages %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}"
        "{{ raise_exception('roles must take turns') }}{% endif %}{{ m.role }};{% endfor %}"
    ),
}


def cases(source):
    template = _compile_jinja_template(source)
    for messages in CONVERSATIONS:
        for extra in ({"add_generation_prompt": True}, {"tools": [TOOL], "enable_thinking": False}):
            values = {"messages": messages, "bos_token": "<s>", "eos_token": "</s>", **extra}
            try:
                yield values, template.render(**values)
            except Exception:  # whatever the template refuses
                yield values, None


def main(out, files):
    sources = dict(TEMPLATES)
    for name in files:
        with open(name, encoding="utf-8") as file:
            sources[name] = file.read()
    recorded = [
        {
            "name": name,
            "template": source,
            "cases": [{"values": v, "text": text} for v, text in cases(source)],
        }
        for name, source in sources.items()
    ]
    with gzip.GzipFile(out, "wb", mtime=0) as file:
        file.write(json.dumps(recorded).encode())


main(sys.argv[1], sys.argv[2:])
