"""Embedding: providers behind one protocol, preparation of packaged models, the query cache."""

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
"""Read when onnxruntime is imported, which from 1.29 on reports its use to its maker otherwise."""
