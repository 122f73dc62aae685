"""Provider messages: requests, logs and rows of OpenAI and Anthropic -> traces that hold every field of them."""
