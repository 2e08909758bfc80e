"""hawse for frameworks of agents: `openai_agents`, `deepagents`, `pydantic_ai`, `inspect_ai`.

Each module needs its extra, such as `pip install 'hawse[openai-agents]'`, and is imported on its own.
"""
