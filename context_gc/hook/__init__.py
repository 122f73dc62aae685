"""The hook that archives the sessions of Claude Code."""
