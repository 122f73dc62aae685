"""Model calls: spans that each repeat their prompt -> conversations that say each thing once."""
