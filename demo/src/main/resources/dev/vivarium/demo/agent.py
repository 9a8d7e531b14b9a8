"""A small agent for the runtime `command`: it asks the model, runs what the model wants in bash, hears messages, and
asks people.

It is all that an agent needs: the lines that it prints and reads are the protocol of the runtime, and the model is
where the environment says.
"""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import urllib.request

BASH = {
    "name": "Bash",
    "description": "Runs a line of shell in the workspace.",
    "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
}

ASK = {
    "name": "AskPerson",
    "description": "Asks a person for a decision, and waits for it.",
    "input_schema": {
        "type": "object",
        "properties": {"reason": {"type": "string"}, "description": {"type": "string"}},
        "required": ["reason", "description"],
    },
}


def say(kind, **fields):
    print(json.dumps({"type": kind, **fields}), flush=True)


def tell(event_type, **data):
    say("event", event_type=event_type, data=data)


def ask(messages):
    body = {"model": os.environ["MODEL"], "max_tokens": 4096, "tools": [BASH, ASK], "messages": messages}
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


def use(call, answers):
    name, given = call["name"], call["input"]
    tell("agent.tool_use", tool_use_id=call["id"], tool_name=name, tool_input=given)
    content, failed = run(given["command"]) if name == "Bash" else (decision(call["id"], given, answers), False)
    tell("agent.tool_result", tool_use_id=call["id"], tool_name=name, content=content, is_error=failed)
    return {"type": "tool_result", "tool_use_id": call["id"], "content": content, "is_error": failed}


def run(command):
    ended = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return ended.stdout, ended.returncode != 0


def decision(asked, given, answers):
    say("review", id=asked, reason=given["reason"], description=given["description"])
    answer = answers.get()
    words = [answer.get("decision") or answer["status"], answer.get("comment")]
    return ": ".join(word for word in words if word)


def listen(heard, answers):
    for line in sys.stdin:
        said = json.loads(line)
        if said["type"] == "message":
            heard.put(said["content"])
        elif said["type"] == "review":
            answers.put(said)


def main():
    task = json.loads(sys.stdin.readline())["task"]
    heard, answers = queue.Queue(), queue.Queue()
    threading.Thread(target=listen, args=[heard, answers], daemon=True).start()
    # An interrupt is for what bash runs: that ends, and the agent goes on with what it was told.
    signal.signal(signal.SIGINT, lambda *_: None)
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
        news = [use(block, answers) for block in content if block["type"] == "tool_use"]
        while not heard.empty():
            news.append({"type": "text", "text": heard.get()})
        if not news:
            say("result", summary=texts[-1] if texts else "")
            return
        messages.append({"role": "user", "content": news})


main()
