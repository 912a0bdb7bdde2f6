"""A worker as vLLM's server is one to a proxy: uvicorn and Starlette, which decode paths.

real-envoy-worker.py PORT    answers a chat with the fields that came, and where they came
"""

import sys

import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route


async def chat(request):
    fields = await request.json()
    usage = {"prompt_tokens": 9, "completion_tokens": 3}
    told = {"salt": fields.get("cache_salt"), "priority": fields.get("priority")}
    return JSONResponse({"seen": sorted(fields), "usage": usage} | told)


async def models(_request):
    return JSONResponse({"data": [{"id": "tiny"}]})


async def nothing(_request):
    return PlainTextResponse("")


app = Starlette(
    routes=[
        Route("/v1/chat/completions", chat, methods=["POST"]),
        Route("/v1/models", models),
        Route("/health", nothing),
        Route("/metrics", nothing),
    ]
)

if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
