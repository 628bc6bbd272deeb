"""What the stand-in answers: recordings where one fits, else simple rules that always give the same."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

Answer = Callable[[str, dict[str, Any]], Any]

SPEAKER = re.compile(r"\A([\w .-]{1,40}):\s+")
SENTENCE = re.compile(r"(?<=[.!?])\s+")
FIRST_PERSON = re.compile(r"\b(?:I|I'm|my|we|our)\b", re.IGNORECASE)
EVENT = re.compile(r"\b(?:yesterday|today|deployed|decided|met|moved|finished|started)\b", re.IGNORECASE)
HABIT = re.compile(r"\b(?:always|before|after|first|then|every)\b", re.IGNORECASE)


def by_rule(name: str, data: dict[str, Any]) -> Any:
    """Return an answer for the tool or schema `name` made from the prompt's data by plain rules."""
    if name == "save_memories":
        return {"memories": _memories(data["segments"])}
    if name == "save_summary":
        texts = data.get("transcript") or data.get("notes") or []
        return {"summary": f"The conversation began with: {' '.join(' '.join(texts).split())[:300]}"}
    if name == "write_message":
        return {"message": f"I have worked with {data['source']} on {data['topic']}. Please go on, {data['target']}."}
    return {}


def _memories(segments: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a memory for each sentence in the first person, with its speaker for the subject."""
    found = []
    for segment in segments:
        match = SPEAKER.match(segment["text"])
        speaker = match.group(1) if match else "The user"
        if speaker.lower() in {"assistant", "ai"}:
            continue
        text = segment["text"][match.end() :] if match else segment["text"]
        for sentence in SENTENCE.split(text):
            if FIRST_PERSON.search(sentence) and not sentence.endswith("?"):
                kind = "episodic" if EVENT.search(sentence) else "procedural" if HABIT.search(sentence) else "semantic"
                number = segment["n"]
                content = f"{'The user' if speaker.lower() == 'user' else speaker} said: {sentence}"
                found.append({"content": content, "type": kind, "tags": ["demo"], "first": number, "last": number})
    return found


def by_recording(folder: Path) -> Answer:
    """Return an answer function that plays the recordings of a folder.

    A recording is a JSON file {"transcript", "answers": {name: [answer of part 1, ...]}}; it fits a prompt that holds
    the beginning of its transcript. Where none fits, the rules answer.
    """
    recordings = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]

    def answer(name: str, data: dict[str, Any]) -> Any:
        texts = [segment["text"] for segment in data.get("segments", [])] + list(data.get("transcript", []))
        for recording in recordings:
            opening = recording["transcript"].split("\n")[0].strip()[:40]
            if name in recording["answers"] and any(text.startswith(opening) for text in texts):
                return recording["answers"][name]
        return by_rule(name, data)

    return answer
