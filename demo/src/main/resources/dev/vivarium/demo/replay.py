"""The model of `viv demo --keep`. It replays the script, because the running server may have no model."""

import json
import os

SCRIPT = json.loads(os.environ["DEMO_SCRIPT"])
played = set()


def ask(messages):
    step = next_step(news(messages[-1]["content"]))
    content = [{"type": "thinking", "thinking": step["thinking"]}] if "thinking" in step else []
    content.append({"type": "text", "text": step["text"]})
    for tool in step.get("tools", []):
        content.append({"type": "tool_use", "id": f"demo_{len(messages)}", **tool})
    return content


def news(content):
    if isinstance(content, str):
        return content
    return "\n".join(block.get("content") or block.get("text", "") for block in content)


def next_step(text):
    for number, step in enumerate(SCRIPT["steps"]):
        rule = step["when"]
        lacks = rule.get("lacks")
        if number not in played and rule.get("contains", "") in text and (lacks is None or lacks not in text):
            if step.get("times", 1) == 1:
                played.add(number)
            return step
    return SCRIPT["otherwise"]
