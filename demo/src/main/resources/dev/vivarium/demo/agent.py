"""A small agent for the runtime `command`: it asks the model, runs what the model wants in bash, hears messages, and
asks people.

It is all that an agent needs: the lines that it prints and reads are the protocol of the runtime, and the model is
where the environment says.
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
    tell("agent.tool_use", tool_use_id=call["id"], tool_name=name, tool_input=given)
    content, failed = run(given["command"], ears) if name == "Bash" else (decision(call["id"], given, ears), False)
    tell("agent.tool_result", tool_use_id=call["id"], tool_name=name, content=content, is_error=failed)
    return {"type": "tool_result", "tool_use_id": call["id"], "content": content, "is_error": failed}


def run(command, ears):
    # Without a standard input: that is the agent's own.
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    bash = subprocess.Popen(["bash", "-c", command], text=True, **streams)
    while True:
        try:
            return bash.communicate(timeout=INTERRUPT_AGAIN)[0], bash.returncode != 0
        except subprocess.TimeoutExpired:
            if ears.interrupted:
                # It came before there was anything to end, or just when one command of many ended by itself: bash
                # takes it for that command's own then, and goes on with the next.
                os.killpg(0, signal.SIGINT)


def decision(asked, given, ears):
    say("review", id=asked, reason=given["reason"], description=given["description"])
    answer = ears.wait_for("review")
    words = [answer.get("decision") or answer["status"], answer.get("comment")]
    return ": ".join(word for word in words if word)


class Ears:
    """What the agent is told on its standard input. It listens when it wants to know, so what was said by then it has."""

    def __init__(self):
        self.interrupted = False
        self._lines = []
        self._rest = b""
        # An interrupt is for what bash runs: that ends, and the agent goes on with what it was told.
        signal.signal(signal.SIGINT, self._interrupt)

    def wait_for(self, kind):
        """The next of a kind; the others are kept."""
        while True:
            for said in self._lines:
                if said["type"] == kind:
                    self._lines.remove(said)
                    return said
            if not self._listen():
                raise SystemExit("nobody is there any more")

    def messages(self):
        """The words of all that has been said until now."""
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
