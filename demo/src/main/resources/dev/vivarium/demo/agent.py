"""A small agent for the runtime `command`. It calls the model, runs the model's commands in bash, reads messages, and
requests reviews.

It is complete: the lines on its standard input and output are the protocol of the runtime. The environment contains the
address of the model.
"""

import json
import os
import select
import signal
import subprocess
import urllib.request

INTERRUPT_AGAIN = 0.5

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


def use(call, ears):
    name, given = call["name"], call["input"]
    ears.interrupted = False
    tell("agent.tool_use", tool_use_id=call["id"], tool_name=name, tool_input=given, status="running")
    content, failed = run(given["command"], ears) if name == "Bash" else (decision(call["id"], given, ears), False)
    tell("agent.tool_result", tool_use_id=call["id"], tool_name=name, content=content, is_error=failed)
    return {"type": "tool_result", "tool_use_id": call["id"], "content": content, "is_error": failed}


def run(command, ears):
    # No standard input for bash, because the agent reads it.
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    bash = subprocess.Popen(["bash", "-c", command], text=True, **streams)
    while True:
        try:
            return bash.communicate(timeout=INTERRUPT_AGAIN)[0], bash.returncode != 0
        except subprocess.TimeoutExpired:
            if ears.interrupted:
                # Repeat the interrupt. Bash may not have started when it arrived. Or one of many commands had just
                # exited: bash then attributes the interrupt to that command and continues with the next.
                os.killpg(0, signal.SIGINT)


def decision(asked, given, ears):
    say("review", id=asked, reason=given["reason"], description=given["description"])
    answer = ears.wait_for("review")
    words = [answer.get("decision") or answer["status"], answer.get("comment")]
    return ": ".join(word for word in words if word)


class Ears:
    """Input of the agent on its standard input. It reads on demand, so it returns all input up to that moment."""

    def __init__(self):
        self.interrupted = False
        self._lines = []
        self._rest = b""
        # An interrupt ends the command in bash. The agent continues with its messages.
        signal.signal(signal.SIGINT, self._interrupt)

    def wait_for(self, kind):
        """Waits for the next line of a kind and keeps the others."""
        while True:
            for said in self._lines:
                if said["type"] == kind:
                    self._lines.remove(said)
                    return said
            if not self._listen():
                raise SystemExit("the server closed the connection")

    def messages(self):
        """Returns the text of all messages so far."""
        while select.select([0], [], [], 0)[0] and self._listen():
            pass
        heard = [said["content"] for said in self._lines if said["type"] == "message"]
        self._lines = [said for said in self._lines if said["type"] != "message"]
        return heard

    def _listen(self):
        more = os.read(0, 65536)
        *lines, self._rest = (self._rest + more).split(b"\n")
        self._lines += [json.loads(line) for line in lines]
        return bool(more)

    def _interrupt(self, *_):
        self.interrupted = True


def main():
    ears = Ears()
    task = ears.wait_for("task")["task"]
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
        news = [use(block, ears) for block in content if block["type"] == "tool_use"]
        news += [{"type": "text", "text": words} for words in ears.messages()]
        if not news:
            say("result", summary=texts[-1] if texts else "")
            return
        messages.append({"role": "user", "content": news})


main()
