"""A small agent for the runtime `command`: it asks the model, runs what the model wants in bash, and hears messages.

It is all that an agent needs: the lines that it prints and reads are the protocol of the runtime, and the model is
where the environment says.
"""

import json
import os
import queue
import subprocess
import sys
import threading
import urllib.request

BASH = {
    "name": "Bash",
    "description": "Runs a line of shell in the workspace.",
    "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
}


def say(kind, **fields):
    print(json.dumps({"type": kind, **fields}), flush=True)


def tell(event_type, **data):
    say("event", event_type=event_type, data=data)


def ask(messages):
    body = {"model": os.environ["MODEL"], "max_tokens": 4096, "tools": [BASH], "messages": messages}
    request = urllib.request.Request(
        os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages",
        json.dumps(body).encode(),
        {
            "Content-Type": "application/json",
            "x-api-key": os.environ["ANTHROPIC_API_KEY"],
            "anthropic-version": "2023-06-01",
        },
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)["content"]


def run(call):
    command = call["input"]["command"]
    tell("agent.tool_use", tool_use_id=call["id"], tool_name="Bash", tool_input={"command": command})
    ended = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    failed = ended.returncode != 0
    tell("agent.tool_result", tool_use_id=call["id"], tool_name="Bash", content=ended.stdout, is_error=failed)
    return {"type": "tool_result", "tool_use_id": call["id"], "content": ended.stdout, "is_error": failed}


def listen(heard):
    for line in sys.stdin:
        said = json.loads(line)
        if said["type"] == "message":
            heard.put(said["content"])


def main():
    task = json.loads(sys.stdin.readline())["task"]
    heard = queue.Queue()
    threading.Thread(target=listen, args=[heard], daemon=True).start()
    messages = [{"role": "user", "content": f"{task['title']}\n\n{task['description']}".strip()}]
    while True:
        content = ask(messages)
        messages.append({"role": "assistant", "content": content})
        texts = [block["text"] for block in content if block["type"] == "text"]
        for block in content:
            if block["type"] == "thinking":
                tell("agent.thinking", text=block["thinking"])
        for text in texts:
            tell("agent.message", text=text)
        news = [run(block) for block in content if block["type"] == "tool_use"]
        while not heard.empty():
            news.append({"type": "text", "text": heard.get()})
        if not news:
            say("result", summary=texts[-1] if texts else "")
            return
        messages.append({"role": "user", "content": news})


main()
