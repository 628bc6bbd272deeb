"""PostgreSQL and Valkey from the package index, started, watched and stopped beside the service."""
