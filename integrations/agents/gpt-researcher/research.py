"""GPT Researcher answers one question, with the same model and the same search as Glasshouse in the bench.

`research.py MODEL_SERVER EMBEDDINGS_SERVER MODEL QUERIES SOURCES QUESTION`: the addresses end with `/v1`; SEARX_URL in the
environment is the search. Its last line is a JSON object with the report, the addresses that it read, and the seconds.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path

model_server, embeddings_server, model, queries, sources, question = sys.argv[1:]
os.environ["OPENAI_BASE_URL"] = model_server
os.environ["OPENAI_API_KEY"] = "none"

import gpt_researcher.context.compression  # noqa: E402
import gpt_researcher.utils.llm  # noqa: E402
from gpt_researcher import GPTResearcher  # noqa: E402

# What it would cost elsewhere is counted with tables that it fetches from the internet. The bench counts tokens itself.
gpt_researcher.utils.llm.estimate_llm_cost = lambda *_: 0.0
gpt_researcher.context.compression.estimate_embedding_cost = lambda *_, **__: 0.0

SETTINGS = {
    "RETRIEVER": "searx",
    "FAST_LLM": f"openai:{model}",
    "SMART_LLM": f"openai:{model}",
    "STRATEGIC_LLM": f"openai:{model}",
    "EMBEDDING": "openai:words",
    "EMBEDDING_KWARGS": {"openai_api_base": embeddings_server, "check_embedding_ctx_length": False},
    "MAX_ITERATIONS": int(queries),
    "MAX_SEARCH_RESULTS_PER_QUERY": int(sources),
    # As much as the model's window holds beside the sources.
    "SMART_TOKEN_LIMIT": 1000,
    "STRATEGIC_TOKEN_LIMIT": 500,
    "TOTAL_WORDS": 150,
    "CURATE_SOURCES": False,
}


async def research(config: Path) -> dict:
    began = time.monotonic()
    researcher = GPTResearcher(query=question, config_path=str(config), verbose=False)
    await researcher.conduct_research()
    report = await researcher.write_report()
    seconds = time.monotonic() - began
    return {"report": report, "read": researcher.get_source_urls(), "seconds": seconds}


with tempfile.TemporaryDirectory() as folder:
    settings = Path(folder) / "settings.json"
    settings.write_text(json.dumps(SETTINGS))
    # It leaves logs where it is started.
    os.chdir(folder)
    result = asyncio.run(research(settings))
print(json.dumps(result), flush=True)
