"""Adapters for agent frameworks: `openai_agents`, `deepagents`, `pydantic_ai`, `inspect_ai`.

Each module needs its extra, such as `pip install 'hawse[openai-agents]'`, and must be imported separately.
"""
