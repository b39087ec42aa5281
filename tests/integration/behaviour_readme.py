"""README.md shows what the demo answers."""
import glob
import os
import re
import subprocess

from support import HERE, need

ROOT = os.path.realpath(os.path.join(HERE, "..", ".."))


def shown():
    """The README's commands with the pieces of their answers: lines are broken there, and ... leaves something out."""
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
        console = re.search(r"```console\n(.*?)```", f.read(), re.DOTALL).group(1)
    for command, answer in re.findall(r"^\$ (curl [^\n]*)\n(.*?)(?=^\$ |\Z)", console, re.DOTALL | re.MULTILINE):
        if answer.strip():
            yield command, [squeezed(piece) for piece in answer.split("...")]


def squeezed(text):
    return re.sub(r"\s+", "", text)


def test_the_readme_shows_what_the_demo_answers(env):
    texts = []
    for path in sorted(glob.glob(os.path.join(ROOT, "loadtest", "demo", "*.sql"))):
        with open(path, encoding="utf-8") as f:
            texts.append(f.read())
    sql = "\n".join(texts)
    need(sql.count("1000000") == 1, "the demo has more than one million of rows")
    daemon = env.daemon(env.database(sql.replace("1000000", "10")))  # of events the README shows none
    count = 0
    for command, pieces in shown():
        command = command.replace("http://127.0.0.1:8080", daemon.root)
        body = subprocess.run(command, shell=True, capture_output=True, text=True, check=True).stdout
        body = squeezed(body.replace(daemon.root, "http://127.0.0.1:8080"))
        at = 0
        for piece in pieces:
            found = body.find(piece, at)
            need(found >= 0, f"{command} does not answer {piece}, but {body[:600]}")
            at = found + len(piece)
        need(body.startswith(pieces[0]) and body.endswith(pieces[-1]), f"{command} answers more: {body[:600]}")
        count += 1
    need(count >= 9, f"only {count} commands were found")
