"""Embedding: providers behind one protocol, preparation of packaged models, the query cache."""
