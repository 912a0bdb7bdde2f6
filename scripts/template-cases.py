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

# One template a line of what Python makes of each; PromptTemplateTest has what is refused instead.
VALUES = {
    "m": [{"role": "u", "n": 2}, {"role": "a", "n": 1}],
    "s": "Grüße, it's a foo_bar x1y 😀b",
    "d": {"b": 1, "A": 2, "items": 3},
    "limits": {"largest": 2**64 - 1, "least": 0.0005, "tiny": 1.5e-07, "huge": 1e22, "one": 1.0},
}
LINES = r"""
{{ -2 ** 2 }} {{ -1|abs }} {{ - 3 | string | length }} {{ 2 ** 3 ** 2 }} {{ 2 ** -1 }} {{ 7 // -2 }}
{{ -7 % 3 }} {{ 7.5 // 2 }} {{ 2 + 3 * 4 - 1 }} {{ 1 ~ 2 * 3 }} {{ not 1 == 2 }} {{ 2 * 3 ~ 4 }}
{{ 1 < 2 < 3 }} {{ 3 > 2 > 2 }} {{ 1 == 1.0 == true }} {{ 1 in [1] in [[1]] }} {{ 1 != 2 != 1 }}
{{ true and false or 'x' }} {{ 1 or 2 }} {{ '' or 'y' }} {{ 0 and 1 }} {{ 'a' if false }}|{{ not none }}
{{ 1/3 }} {{ 1/2000 }} {{ 0.0001 }} {{ 0.00001 }} {{ 1e15 }} {{ 1e16 }} {{ 1.5e300 }} {{ -0.0 }} {{ 123456789.125 }}
{{ limits | tojson }} {{ limits.largest }} {{ limits.least }} {{ limits }}
{{ s | title }}|{{ s.title() }}|{{ s | capitalize }}|{{ 'foo-bar (baz' | title }}|{{ s | upper }}
{{ '3.7' | int }} {{ 'x' | float }} {{ 'x' | int(5) }} {{ 'x' | int(default=6) }} {{ '12' | float }} {{ none | int }}
{{ 3.9 | int }} {{ ' 7 ' | int }} {{ '1e2' | int(4) }} {{ '-2.5' | int }} {{ true | int }}
{{ 'aaa' | replace('a', 'b', 2) }} {{ 'aaa'.replace('a', 'b', 1) }} {{ 'aaa' | replace('aa', 'b') }} {{ 'ab' | replace('', '', 0) if false }}
{{ ['b', 'A', 'c'] | sort | join }} {{ ['b', 'A', 'c'] | sort(reverse=true) | join }} {{ ['b', 'A'] | sort(case_sensitive=true) | join }}
{{ m | sort(attribute='n') | map(attribute='role') | join }} {{ ['a', 'A', 'b'] | unique | join }} {{ ['b', 'A'] | min }} {{ ['b', 'A', 'C'] | max }}
{{ ['b', 'B', 'a'] | sort(true) | join }} {{ ['b', 'B', 'a'] | max }} {{ ['B', 'b', 'c'] | min }}
{{ m | sum(attribute='n') }} {{ [1, 2] | sum(start=3) }} {{ [1.5, 2] | sum }} {{ m | join(',', attribute='role') }}
{{ 'a b  c '.split(none, 1) }} {{ 'a\u3000b\xa0c'.split() }} {{ 'a,b,c'.split(',', maxsplit=1) }} {{ 'a,b,c'.split(sep=',') }}
{{ 'aXbXc'.rsplit('X', 1) }} {{ 'aXbXc'.rsplit('X', maxsplit=5) }} {{ ''.split() }} {{ ''.split('x') }} {{ 'abc'.split('b', 0) }}
{{ s.find('b') }} {{ s.find('😀') }} {{ s.find('?') }} {{ 'abab'.count('ab') }} {{ 'abc'.startswith(('x', 'a')) }} {{ 'abc'.endswith('c') }}
{{ 'a\x0bb\x0cc\u2028d\r\ne\n\nf\n'.splitlines() | tojson }} {{ ''.splitlines() }}
{{ d['items'] }} {{ d.items is defined }} {{ d.keys is callable }} {{ d.b }} {{ d.none is defined }} {{ d.items() | length }} {{ d.get('A') }} {{ d.get('x', 4) }}
{{ 'x' is in ['x'] }} {{ 4 is in [1, 2] }} {{ 3 is divisibleby 3 }} {{ 3 is divisibleby(2) }} {{ s is not none }} {{ 3 is gt 2 }} {{ 3 is le(2) }} {{ 'a' is string and true }}
{{ x is undefined }} {{ [1] is sequence }} {{ {} is mapping }} {{ 1 is integer }} {{ 1.0 is float }} {{ true is boolean }} {{ true is number }} {{ true is integer }} {{ 'x' is iterable }} {{ 1 is iterable }} {{ 2 is even }}
{{ ['\u200b', '\xa0', '\x80', 'é', 'it\'s "x"', "it's", '\n\\', '\U000e0001'] }}
{{ {'a': [1, {'b': []}]} | tojson(indent=2, separators=(', ', ': ')) }} {{ {'a': [1, 2]} | tojson(indent=2) }} {{ {'a': [1, 2]} | tojson(separators=(',', ':')) }}
{{ ['é', '\x7f', '\x01', '</x>', '"'] | tojson(ensure_ascii=false) }} {{ {none: 1, true: 2, 1.5: 3, 4: 5} | tojson }} {{ {} | tojson(indent=2) }}
{{ 'ß' | upper }} {{ 'ΑΣ' | lower }} {{ 'İ' | lower }} {{ '  x\u3000\x85' | trim }}|{{ 'xxaxx' | trim('x') }} {{ ' x '.lstrip() }}| {{ 'xyx'.rstrip('x') }}
{{ "a\nb\n\nc" | indent }} {{ "a\nb" | indent(2, first=true) }} {{ "a\n\nb" | indent(2, blank=true) }} {{ 'a\nb' | indent('> ') }} {{ 'a' | indent(width=3, first=true) }}
{{ [1, 2, 3][1:] }} {{ [1, 2, 3][-5:2] }} {{ 'häß😀'[-2:] }} {{ [1, 2][5] }}|{{ [1, 2, 3, 4][::2] }} {{ [1, 2, 3, 4][3:0:-2] }} {{ 'abc'[::-1] }} {{ [1, 2, 3][:-1] }} {{ [1, 2, 3][-9::-1] }}
{{ [1, 2] == [1, 2.0] }} {{ 1 == true }} {{ '1' == 1 }} {{ undefined_a == 1 }} {{ 'x' in undefined_a }} {{ undefined_a | length }} {{ undefined_a | list }} {{ undefined_a | trim }}|{{ undefined_a ~ 1 }}
{{ m | map(attribute='x', default='-') | join }} {{ m | map('length') | join }} {{ m | selectattr('n', 'gt', 1) | list | length }} {{ m | map(attribute='role') | map('upper') | join('+') }} {{ m | map(attribute='role') | map('replace', 'u', 'v') | join }} {{ [0, 1, ''] | select | list }} {{ [1, 'a'] | reject('string') | list }}
{{ 10 | string | length }} {{ 1.0 | string }} {{ true | string }} {{ 'abc' | list }} {{ 'ab😀' | reverse }} {{ [1, 2] | reverse | list }} {{ 'abc' | first }} {{ [] | first }}|{{ d | length }} {{ d | list }} {{ d | first }} {{ [1, 'a', none, true, 1.5] | join(',') }}
{{ namespace(a=1).a }} {{ dict(a=1, b='x') }} {{ dict({'q': 1}, z=2) }} {{ range(5, 0, -2) | list }} {{ range(3) | join }} {{ 'a'.join(['x', 'y']) }}
{{ 1_000 }} {{ 1.5e3 }} {{ "a" "b" }} {{ '\'' }} {{ "\u00e9\x41\t|" }} {{ 'a' ~ 'b' * 2 }} {{ none ~ 1 ~ true ~ 1.0 }}
{% set ns = namespace() %}{% set ns.a = 1 %}{{ ns.a }} {{ ns.b is defined }}{% set a, b = 1, [2] %}{{ a }}{{ b }}{% set x = 1 if false %}{{ x is defined }}
{% if 1 %}{% set y = 3 %}{% endif %}{{ y }} {% for q in [1] %}{% set y = 4 %}{% endfor %}{{ y }} {% filter upper %}a{{ 'b' }}{% endfilter %}
{% for i in range(4) if i != 1 %}{{ loop.index }}{{ loop.length }}{{ i }}{{ loop.revindex0 }}{{ loop.previtem }};{% else %}none{% endfor %}{% for i in [] %}{% else %}none{% endfor %}
{% macro f(a, b=2) %}{{ a }}{{ b }}{% endmacro %}{{ f(1) }} {{ f(1, 3) }} {{ f(b=1) }} {{ f(b=4, a=5) }}{% macro g(n) %}{% if n %}{{ n }}{{ g(n - 1) }}{% endif %}{% endmacro %} {{ g(5) }} {{ f(g(2), b=g(1)) | upper }}
{% for k, v in d.items() %}{{ k }}{{ v }}{% if loop.first %}{% continue %}{% endif %},{% if v == 2 %}{% break %}{% endif %}{% endfor %} {% for k in d | dictsort %}{{ k[0] }}{% endfor %}
{% raw -%}  a {{ x }} {%- endraw %}|{% raw %} {% b %} {% endraw %}|{# c #}|{#- c -#}  |  {%- if true -%} x {%- endif +%} |{%+ if true %}y{% endif %}
"""
# The same in several lines: what the marks do to the ends of lines and to spaces around them.
MARKS = ["{% if true %}", "{%- if true %}", "{% if true -%}", "{%+ if true %}", "{% if true +%}",
         "{# c #}", "{#- c #}", "{# c -#}", "{{ 1 }}", "{{- 1 }}", "{{ 1 -}}",
         "{% raw %}\n {{ {% endraw %}", "{% raw %}\n  {% endraw %}", "{% raw -%} \n a\n  {%- endraw -%}"]


def lines():
    yield from LINES.strip().split("\n")
    for mark in MARKS:
        for before, behind in (("a\n  ", "\n  b\n"), ("a ", "  b"), ("\n\n\t", "\n\n"), ("", "\n\n")):
            yield before + mark + behind + ("{% endif %}" if "if" in mark else "") + behind


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
    for source in [] if files else lines():
        text = _compile_jinja_template(source).render(**VALUES)
        recorded.append({"name": "", "template": source, "cases": [{"values": VALUES, "text": text}]})
    with gzip.GzipFile(out, "wb", mtime=0) as file:
        file.write(json.dumps(recorded).encode())


main(sys.argv[1], sys.argv[2:])
