"""An agent of Agno behind its own server, with tools like those that the bench has Glasshouse's agent call.

`server.py PORT MODEL_SERVER FOLDER [--keep]`: where it listens, the address of the model server with `/v1`, and where
the agent's files and, with `--keep`, its sessions are stored.
"""

import sys
from pathlib import Path

import uvicorn
from agno.agent import Agent
from agno.db.sqlite import SqliteDb
from agno.models.openai.like import OpenAILike
from agno.os import AgentOS

port, model_server, folder = int(sys.argv[1]), sys.argv[2], Path(sys.argv[3])


async def write_file(path: str, content: str) -> str:
    """Writes a file."""
    (folder / path.lstrip("/")).write_text(content)
    return f"Wrote {path}."


async def read_file(path: str) -> str:
    """Reads a file."""
    return (folder / path.lstrip("/")).read_text()


agent = Agent(
    id="bench",
    model=OpenAILike(id="scripted", base_url=model_server, api_key="none"),
    db=SqliteDb(db_file=str(folder / "agno.db")) if "--keep" in sys.argv else None,
    tools=[write_file, read_file],
    telemetry=False,
)
server = AgentOS(agents=[agent], telemetry=False).get_app()

if __name__ == "__main__":
    uvicorn.run(server, host="127.0.0.1", port=port, log_level="error")
