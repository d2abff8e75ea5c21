"""Callbacks for frameworks: `elastic_run.integrations.transformers`, `elastic_run.integrations.lightning`. Each
imports its framework, so import the one that you use."""
