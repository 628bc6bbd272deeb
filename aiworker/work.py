"""What extraction and compression share: their input, their provider, the account of their tokens."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from pydantic import BaseModel

from accounts.access import Access
from aiworker.jobinputs import job_inputs
from aiworker.models import Job
from aiworker.providers import key_for, provider_of
from aiworker.providers.base import Prompt, Provider, Usage
from aiworker.providers.calls import ask
from aiworker.sealing import key_open, key_seal
from aiworker.usage import cost_micros, cost_present, usage_add
from api.timestamps import timestamp_format, timestamp_parse

AnswerT = TypeVar("AnswerT", bound=BaseModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """A transcript to work on and what is known about it. `api_key` None means the operator's."""

    transcript: str = field(repr=False)
    date: datetime
    tool: str
    provider: str
    api_key: str | None = field(default=None, repr=False)
    namespace: str | None = None
    session_id: str | None = None
    origin: str = ""

    def pack(self) -> bytes:
        """Return the bytes that a job keeps until it ends; the key is in them sealed."""
        packed = {
            "transcript": self.transcript, "date": timestamp_format(self.date), "tool": self.tool,
            "provider": self.provider, "namespace": self.namespace, "session_id": self.session_id,
            "origin": self.origin, "sealed_key": key_seal(self.api_key) if self.api_key else None,
        }  # fmt: skip
        return json.dumps(packed, ensure_ascii=False).encode()

    @classmethod
    def unpack(cls, packed: bytes) -> "Material":
        """Return what pack has packed. Raises NoApiKey when the sealed key has lapsed."""
        values: dict[str, Any] = json.loads(packed)
        sealed = values.pop("sealed_key")
        return cls(
            **values | {"date": timestamp_parse(values["date"]), "api_key": key_open(sealed) if sealed else None}
        )


@dataclass(slots=True)
class Desk:
    """One job's connection to its provider, which keeps the account of its tokens; a context manager."""

    access: Access
    purpose: str
    provider: Provider
    check: Callable[[], None]
    used: Usage = field(default_factory=Usage)

    @classmethod
    def of(cls, access: Access, material: Material, purpose: str, check: Callable[[], None]) -> "Desk":
        """Return the desk for a job's material. Raises NoApiKey."""
        name, key = key_for(material.provider, material.api_key)
        return cls(access, purpose, provider_of(name, key), check)

    def __enter__(self) -> "Desk":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.provider.close()

    def ask(self, prompt: Prompt, model: type[AnswerT]) -> AnswerT:
        """Return the provider's answer as `model`; no transaction may be open. Raises ProviderError."""
        return ask(self.provider, prompt, model, spent=self._spent, check=self.check)

    def _spent(self, usage: Usage) -> None:
        self.used += usage
        usage_add(
            access=self.access, provider=self.provider.name, model=self.provider.model, purpose=self.purpose,
            usage=usage,
        )  # fmt: skip

    def account(self, usage: Usage | None = None) -> dict[str, Any]:
        """Return {"provider", "model", "input_tokens", "output_tokens", "cost_usd"} of this job."""
        used = usage or self.used
        return {
            "provider": self.provider.name, "model": self.provider.model, "input_tokens": used.input_tokens,
            "output_tokens": used.output_tokens, "cost_usd": cost_present(cost_micros(self.provider.model, used)),
        }  # fmt: skip


def material_of(access: Access, job: Job) -> Material:
    """Return the material of a job, outside of any transaction."""
    return Material.unpack(b"".join(job_inputs(access, job)))
