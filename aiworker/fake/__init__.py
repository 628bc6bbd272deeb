"""A stand-in for AI providers on loopback: their APIs and their failures, the same each time. For tests and demos."""
